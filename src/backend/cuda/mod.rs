//! The CUDA back end.
