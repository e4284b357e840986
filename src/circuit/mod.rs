//! circuit

pub mod registered;
