//! cuzk: a Groth16 prover over BLS12-381 that keeps a circuit's R1CS and SRS loaded and proves from compact assignments.
//!
//! # Map
//!
//! | module | what it holds | may use |
//! |---|---|---|
//! | [`error`] | one closed [`Error`] and its status codes | nothing |
//! | [`r1cs`] | rows of A, B and C, in repeated blocks; recording; disk cache | `error` |
//! | [`assignment`] | the compact assignment, its layout, its generic builder | `r1cs` |
//! | [`srs`] | `.params` files: layout, checks, identity; the verifying key | `error` |
//! | [`backend`] | the trait that turns assignments into sums; `cpu/`, `cuda/` | `assignment`, `r1cs`, `srs` |
//! | [`groth16`] | the prover in a few lines; blinding, assembly, verification | `backend` |
//! | [`setup`] | an insecure SRS from a seed, for tests and benches | `r1cs`, `srs`, `backend::cpu` |
//! | [`circuit`] | Filecoin's circuits | `assignment`, `r1cs` |
//! | [`vanilla`] | makes real inputs, for the tool, tests and benches | `circuit` |
//!
//! Nothing below knows what is above: a back end never knows an engine, a circuit never knows CUDA.

#![deny(rustdoc::broken_intra_doc_links)]
#![warn(missing_docs)]

pub mod assignment;
pub mod backend;
pub mod circuit;
pub mod engine;
pub mod error;
pub mod groth16;
pub mod r1cs;
pub mod setup;
pub mod srs;
pub mod vanilla;

pub use error::{Error, Result, Status};
