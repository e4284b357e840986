//! The CUDA back end.

#[cfg(cuda)]
pub mod sys;
