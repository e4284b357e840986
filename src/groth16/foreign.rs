//! Proving any bellpepper circuit.

use std::sync::Arc;

use bellpepper_core::Circuit as Synthesize;
use blstrs::Scalar as Fr;

use super::{prove, Proof, Verifier};
use crate::assignment::{Builder, Layouts};
use crate::backend::{Backend, Circuit, Uncontrolled};
use crate::error::{Error, Result};

/// A resident circuit that can be proved again and again, with witnesses of one shape.
///
/// Which variables are bits is learnt from the first witness; one that needs more full-size places makes a new generation of
/// the [layout](crate::assignment), and proofs under way keep theirs.
///
/// Threads: may be shared; each proof uses the back end's threads.
/// Ownership: dropping it unloads the circuit from the back end, also for others that use it there: share the prover.
pub struct Prover {
    circuit: Arc<Circuit>,
    layouts: Arc<Layouts>,
    backend: Arc<dyn Backend>,
    verifier: Verifier,
}

impl Prover {
    /// Makes `circuit` resident on `backend`.
    /// Errors: those of [`Backend::load`].
    pub fn new(circuit: Arc<Circuit>, backend: Arc<dyn Backend>) -> Result<Self> {
        backend.load(&circuit, &Uncontrolled)?;
        let layouts = Arc::new(Layouts::growing(circuit.r1cs().aux_count));
        let verifier = Verifier::new(circuit.srs().vk());
        Ok(Prover { circuit, layouts, backend, verifier })
    }

    /// Synthesises `witness`, proves it and checks the proof.
    ///
    /// `witness` must be the circuit that was recorded, with values.
    /// Errors: INVALID if its counts of variables aren't the R1CS's, or synthesis fails; BAD_WITNESS names the first row that
    /// doesn't hold; SELF_CHECK after two failed checks of a satisfied assignment; those of [`Backend::prove`].
    pub fn prove<C: Synthesize<Fr>>(&self, witness: C) -> Result<Proof> {
        let builder = Builder::new(&self.layouts, self.circuit.r1cs().input_count);
        let assignment = builder.synthesize(witness).map_err(|why| Error::invalid("witness", why.to_string()))?;
        prove(self.backend.as_ref(), &self.circuit, &Arc::new(assignment))
    }

    /// Whether `proof` holds for `inputs` (without ONE). See [`Verifier::verify`].
    pub fn verify(&self, inputs: &[Fr], proof: &Proof) -> Result<bool> {
        self.verifier.verify(inputs, proof)
    }

    /// The circuit.
    pub fn circuit(&self) -> &Arc<Circuit> {
        &self.circuit
    }

    /// Newest generation of the layout that witnesses have asked for so far.
    pub fn layout_generation(&self) -> u32 {
        self.layouts.current().generation()
    }
}

impl Drop for Prover {
    fn drop(&mut self) {
        self.backend.unload(&self.circuit);
    }
}
