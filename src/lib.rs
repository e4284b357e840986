//! cuzk
