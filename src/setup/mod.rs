//! An **insecure** SRS from a seed, for tests and benches.
//!
//! # Security
//!
//! Whoever knows the seed can forge a proof of anything for the SRS made from it. Nothing of value may depend on such a
//! file; the network's SRS come from a ceremony. A file is never written over another and there is no default path, so
//! that none of this can slip into a directory of real parameters.
//!
//! # What is computed
//!
//! With Lagrange coefficients `L_i = L_i(τ)` of the domain of the R1CS's rows (input rows included) and, per variable
//! `k`, `u_k = Σ_i A_ik L_i`, `v_k = Σ_i B_ik L_i`, `w_k = Σ_i C_ik L_i`:
//!
//! | section | scalar |
//! |---|---|
//! | ic, inputs | `(β u_k + α v_k + w_k) / γ` |
//! | h, `i < n − 1` | `τ^i (τⁿ − 1) / δ` |
//! | l, aux | `(β u_k + α v_k + w_k) / δ` |
//! | a; b_g1, b_g2 | `u_k`; `v_k`, of the variables in A; in B |
//!
//! The scalars cost little; multiplying g1 or g2 with each is what takes time (`fixed_base`).

use std::path::Path;

use rayon::ThreadPool;

#[cfg(any(cuda, feature = "testing"))]
use crate::backend::cuda::CudaBackend;
use crate::error::Result;
use crate::r1cs::R1cs;
use crate::srs::VerifyingKey;

mod columns;
mod fixed_base;
mod lagrange;
mod multiplier;
mod toxic_waste;
mod write;

pub use toxic_waste::ToxicWaste;

use multiplier::Place;

/// Writes the SRS of `r1cs` made from `seed` to `path`, and returns its verifying key. **Insecure**: see [the
/// module](self). The file is the one that bellperson 0.27's `generate_random_parameters` makes of the same circuit and
/// `ChaCha20Rng::from_seed(seed)`, byte for byte.
/// Threads: computes in `pool` and waits for it. Memory: 32 bytes a row, 96 a variable, and at most 128 MiB of tables and
/// 60 MiB of points. Time: benches/setup.
/// Errors: INVALID if something stands at `path`, if an aux variable is in no row, or if τ is a root of the domain or
/// of a variable's polynomial, which no random seed meets.
/// Source: Groth16 (eprint 2016/260); pinned by tests/setup and, for the large circuits, by benches/setup against
/// bellperson.
pub fn write_params(r1cs: &R1cs, seed: [u8; 32], path: &Path, pool: &ThreadPool) -> Result<VerifyingKey> {
    log::warn!("{}: writing an INSECURE SRS, good for tests alone: its seed forges proofs", path.display());
    pool.install(|| write::write_params(r1cs, &ToxicWaste::from_seed(seed), path, Place::HOST))
}

/// [`write_params`] with the points computed on `device`: the same file.
/// Errors: those of [`write_params`]; OUT_OF_MEMORY and DEVICE_LOST of the device.
#[cfg(any(cuda, feature = "testing"))]
pub fn write_params_on(
    device: &CudaBackend,
    r1cs: &R1cs,
    seed: [u8; 32],
    path: &Path,
    pool: &ThreadPool,
) -> Result<VerifyingKey> {
    log::warn!("{}: writing an INSECURE SRS, good for tests alone: its seed forges proofs", path.display());
    pool.install(|| write::write_params(r1cs, &ToxicWaste::from_seed(seed), path, Place::Device(device)))
}

/// [`write_params`] with chosen toxic waste.
#[cfg(feature = "testing")]
pub fn write_params_with(r1cs: &R1cs, waste: &ToxicWaste, path: &Path, pool: &ThreadPool) -> Result<VerifyingKey> {
    pool.install(|| write::write_params(r1cs, waste, path, Place::HOST))
}
