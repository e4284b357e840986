//! Groth16 (eprint 2016/260): from a compact assignment to a proof that was checked before it is returned.
//!
//! With `ρ ≠ 0` and `σ` fresh from the OS, and the sums that a [back end](crate::backend) computes,
//!
//! - `A = α + Σ z_k A_k`, `B = β₂ + Σ z_k B2_k`, `C = Σ h_i H_i + Σ aux_j L_j`  (an honest proof with r = s = 0),
//! - `A' = ρ⁻¹·A`, `B' = ρ·(B + σ·δ₂)`, `C' = C + σ·A`.
//!
//! `e(A', B') = e(A, B)·e(σ·A, δ₂)`, so (A', B', C') verifies if and only if (A, B, C) does. (A', B') is uniform among the
//! pairs with the right product and C' is determined by it: an honest proof's distribution, without query B in G1.

mod blinding;
mod foreign;
mod proof;
mod prover;
mod verifier;

pub use blinding::Blinding;
pub use foreign::Prover;
pub use proof::{Proof, PROOF_BYTES};
pub use prover::{finish, first_unsatisfied_row, prove, prove_batch};
pub use verifier::{verify, Verifier};

#[cfg(any(test, feature = "testing"))]
pub use prover::assemble;
#[cfg(feature = "testing")]
pub use prover::assemble_with_r_s;
