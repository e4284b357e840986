//! The CUDA back end. `sys` is the only module that calls C.

#[cfg(cuda)]
pub mod sys;
