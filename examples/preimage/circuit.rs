//! The circuit that is proved.

use bellpepper::gadgets::multipack::{bytes_to_bits, pack_into_inputs};
use bellpepper::gadgets::sha256::sha256;
use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;

/// "I know bytes whose SHA-256 digest is the public one." Their number belongs to the circuit, their values don't.
#[derive(Clone)]
pub struct Preimage(pub Vec<u8>);

impl Circuit<Fr> for Preimage {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let bits = bytes_to_bits(&self.0)
            .into_iter()
            .enumerate()
            .map(|(i, bit)| Ok(Boolean::from(AllocatedBit::alloc(cs.namespace(|| format!("bit {i}")), Some(bit))?)));
        let bits = bits.collect::<Result<Vec<_>, SynthesisError>>()?;
        let digest = sha256(cs.namespace(|| "sha256"), &bits)?;
        pack_into_inputs(cs.namespace(|| "digest"), &digest)
    }
}
