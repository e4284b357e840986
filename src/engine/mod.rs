//! The engine: what a daemon opens once and asks for proofs.

pub mod budget;
pub mod limits;
