//! cuzk: a Groth16 prover over BLS12-381 that keeps a circuit's R1CS and SRS loaded and proves from compact assignments.
//!
//! # Map
//!
//! | module | what it holds | may use |
//! |---|---|---|
//! | [`error`] | one closed [`Error`] and its status codes | nothing |
//! | [`files`] | files that appear whole or not at all | `error` |
//! | [`r1cs`] | rows of A, B and C, in repeated blocks; recording; disk cache | `error` |
//! | [`assignment`] | the compact assignment, its layout, its generic builder | `r1cs` |
//! | [`srs`] | `.params` files: layout, checks, identity; the verifying key | `error` |
//! | [`backend`] | the trait that turns assignments into sums; `cpu/`, `cuda/` | `assignment`, `r1cs`, `srs` |
//! | [`groth16`] | the prover in a few lines; blinding, assembly, verification | `backend` |
//! | [`setup`] | an insecure SRS from a seed, for tests and benches | `r1cs`, `srs`, `backend::cpu` |
//! | [`circuit`] | Filecoin's circuits | `assignment`, `r1cs` |
//! | [`engine`] | one open prover: queue, synthesis, devices, budgets, redos, events | all of the above |
//! | [`vanilla`] | makes real inputs, for the tool, tests and benches | `circuit` |
//!
//! Nothing below knows what is above: a back end never knows an engine, a circuit never knows CUDA.
//!
//! # Any bellpepper circuit
//!
//! ```
//! use std::sync::Arc;
//!
//! use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
//! use blstrs::Scalar as Fr;
//! use cuzk::backend::{self, cpu::CpuBackend};
//! use cuzk::groth16::Prover;
//! use cuzk::r1cs::{Flat, R1cs};
//! use cuzk::srs::{SrsFile, SrsOptions};
//!
//! /// "I know x with x³ + x + 5 = y."
//! struct Cubic(Fr);
//!
//! impl Circuit<Fr> for Cubic {
//!     fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
//!         let value = self.0;
//!         let x = cs.alloc(|| "x", || Ok(value))?;
//!         let square = cs.alloc(|| "x²", || Ok(value * value))?;
//!         let y = cs.alloc_input(|| "y", || Ok(value * value * value + value + Fr::from(5)))?;
//!         cs.enforce(|| "x · x = x²", |lc| lc + x, |lc| lc + x, |lc| lc + square);
//!         cs.enforce(|| "x² · x = y − x − 5", |lc| lc + square, |lc| lc + x, |lc| {
//!             lc + y - x - (Fr::from(5), CS::one())
//!         });
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let file = dir.path().join("cubic.params");
//! let pool = Arc::new(rayon::ThreadPoolBuilder::new().build()?);
//!
//! // Once: record the circuit, and make an SRS. This one is insecure: whoever knows the seed can forge proofs.
//! let r1cs = Arc::new(R1cs::record(Cubic(Fr::from(0)), Flat)?);
//! cuzk::setup::write_params(&r1cs, [1; 32], &file, &pool)?;
//!
//! // In every process: open the SRS and make the circuit resident.
//! let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
//! let srs = Arc::new(SrsFile::open(&file, &options)?);
//! let circuit = backend::Circuit::new("cubic", r1cs, srs)?;
//! let prover = Prover::new(circuit, Arc::new(CpuBackend::new(pool)))?;
//!
//! // As often as wanted: prove, and let others verify.
//! let proof = prover.prove(Cubic(Fr::from(3)))?;
//! assert!(prover.verify(&[Fr::from(35)], &proof)?);
//! assert!(!prover.verify(&[Fr::from(36)], &proof)?);
//! # Ok(())
//! # }
//! ```

#![deny(rustdoc::broken_intra_doc_links)]
#![warn(missing_docs)]

pub mod assignment;
pub mod backend;
pub mod circuit;
pub mod engine;
pub mod error;
pub mod ffi;
pub mod files;
pub mod groth16;
pub mod r1cs;
pub mod setup;
pub mod srs;
pub mod vanilla;

pub use error::{Error, Result, Status};
