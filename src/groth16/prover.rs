//! From sums to a checked proof.

use std::sync::Arc;

use group::Curve;

use super::{Blinding, Proof, Verifier};
use crate::assignment::Assignment;
use crate::backend::{Backend, Circuit, Control, Sums, Uncontrolled};
use crate::error::{Error, Result};
use crate::r1cs::R1cs;
use crate::srs::VerifyingKey;

/// Proves one assignment of a resident circuit and checks the proof. After a fault of the device it is proved once more.
///
/// Errors: those of [`Backend::prove`]; BAD_WITNESS names the first row that the assignment doesn't satisfy; SELF_CHECK if
/// a satisfied assignment's proof failed its check twice.
/// Security: ρ and σ are fresh from the OS for every attempt; an unchecked proof never leaves.
pub fn prove(backend: &dyn Backend, circuit: &Arc<Circuit>, assignment: &Arc<Assignment>) -> Result<Proof> {
    let verifier = Verifier::new(circuit.srs().vk());
    let once = || -> Result<Proof> {
        let mut results = prove_batch(backend, circuit, &verifier, std::slice::from_ref(assignment), &Uncontrolled);
        results.pop().expect("one result per assignment")
    };
    match once() {
        Err(Error::SelfCheck(which)) => {
            log::warn!("{which}: the pairing check failed on {}; proving once more", backend.name());
            once()
        }
        result => result,
    }
}

/// Proves a batch and checks every proof; result `i` belongs to `assignments[i]`, and one that fails fails alone.
/// Nothing is tried again: SELF_CHECK says that a second try can help.
pub fn prove_batch(
    backend: &dyn Backend,
    circuit: &Arc<Circuit>,
    verifier: &Verifier,
    assignments: &[Arc<Assignment>],
    control: &dyn Control,
) -> Vec<Result<Proof>> {
    let mut results: Vec<Option<Result<Proof>>> = assignments.iter().map(|_| None).collect();
    backend.prove(circuit, assignments, control, &mut |i, sums| {
        results[i] = Some(sums.and_then(|sums| finish(circuit, verifier, &assignments[i], &sums)));
    });
    let missing = || Err(Error::Internal(format!("{} finished a batch without this result", backend.name())));
    results.into_iter().map(|result| result.unwrap_or_else(missing)).collect()
}

/// Blinds and assembles the proof that `sums` stand for, and checks it.
///
/// Errors: BAD_WITNESS with the first unsatisfied row, or SELF_CHECK if every row is satisfied, so that the sums must be
/// wrong and proving again can help.
/// Threads: runs on the caller's thread; about 3 ms if the check passes.
pub fn finish(circuit: &Circuit, verifier: &Verifier, assignment: &Assignment, sums: &Sums) -> Result<Proof> {
    let proof = assemble(circuit.srs().vk(), sums, &Blinding::fresh());
    if verifier.verify(&assignment.inputs()[1..], &proof)? {
        return Ok(proof);
    }
    match first_unsatisfied_row(circuit.r1cs(), assignment) {
        Some(row) => Err(Error::BadWitness { row }),
        None => Err(Error::SelfCheck(circuit.name().into())),
    }
}

/// A', B' and C' of the module's formulas. Multiplications by secrets take constant time.
pub fn assemble(vk: &VerifyingKey, sums: &Sums, blinding: &Blinding) -> Proof {
    let a = sums.a + vk.alpha_g1;
    let b = sums.b_g2 + vk.beta_g2;
    Proof {
        a: (a * blinding.rho_inverse()).to_affine(),
        b: ((b + vk.delta_g2 * blinding.sigma()) * blinding.rho()).to_affine(),
        c: (sums.h_l + a * blinding.sigma()).to_affine(),
    }
}

/// The proof that a prover with query B in G1 makes for chosen r and s:
/// `A = α + Σ + r·δ`, `B = β + Σ + s·δ`, `C = Σ + s·A + r·B₁ − r·s·δ`. Needs [`Sums::b_g1`].
#[cfg(feature = "testing")]
pub fn assemble_with_r_s(vk: &VerifyingKey, sums: &Sums, r: &blstrs::Scalar, s: &blstrs::Scalar) -> Option<Proof> {
    let a = sums.a + vk.alpha_g1 + vk.delta_g1 * r;
    let b1 = sums.b_g1? + vk.beta_g1 + vk.delta_g1 * s;
    let c = sums.h_l + a * s + b1 * r - vk.delta_g1 * (*r * s);
    let b = sums.b_g2 + vk.beta_g2 + vk.delta_g2 * s;
    Some(Proof { a: a.to_affine(), b: b.to_affine(), c: c.to_affine() })
}

/// The first row of `A·z ∘ B·z = C·z` that `assignment` doesn't satisfy, evaluated on the caller's thread; `None` if all
/// hold. Input rows `x_i · 0 = 0` always hold.
pub fn first_unsatisfied_row(r1cs: &R1cs, assignment: &Assignment) -> Option<u64> {
    r1cs.rows().find(|row| !row.is_satisfied(|k| assignment.z(k))).map(|row| row.index)
}
