//! The proof that every device must get right when it is opened: a small circuit, an SRS of a known seed, known sums.

use std::path::Path;
use std::sync::Arc;

use bellpepper_core::{Circuit as Synthesize, ConstraintSystem, SynthesisError};
use blstrs::{G1Projective, G2Projective, Scalar as Fr};
use group::Curve;

use super::device::Device;
use super::fault::{Fault, Outcome};
use super::load;
use super::owner::Asker;
use super::prepare::{Prepared, PreparedLayout};
use super::prove;
use crate::assignment::{Assignment, Builder, Layout, Layouts};
use crate::backend::{Circuit, Sums};
use crate::error::{Error, Result};
use crate::r1cs::{Flat, R1cs};
use crate::srs::{SrsFile, SrsOptions};

/// [`Known`]'s SRS, which `setup::write_params` makes of [`SEED`]. Worthless for anything else.
static PARAMS: &[u8] = include_bytes!("known.params");
#[cfg(test)]
const SEED: [u8; 32] = *b"known answer, not a secret seed!";
/// Compressed h_l, a and b_g2.
const SUMS: [&str; 3] = include!("known.sums");

const STEPS: u64 = 25;

/// x ↦ x · (x + b) for a bit b, made public in every fifth step.
struct Known(Option<u64>);

impl Synthesize<Fr> for Known {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> std::result::Result<(), SynthesisError> {
        let missing = SynthesisError::AssignmentMissing;
        let mut value = self.0.map(|start| -Fr::from(start));
        let mut x = cs.alloc(|| "x", || value.ok_or(missing))?;
        for step in 0..STEPS {
            let bit = self.0.map(|start| Fr::from(start >> (step % 8) & 1));
            let b = cs.alloc(|| "b", || bit.ok_or(SynthesisError::AssignmentMissing))?;
            cs.enforce(|| "boolean", |lc| lc + b, |lc| lc + CS::one() - b, |lc| lc);
            let next = value.zip(bit).map(|(v, b)| v * (v + b));
            let y = cs.alloc(|| "y", || next.ok_or(SynthesisError::AssignmentMissing))?;
            cs.enforce(|| "step", |lc| lc + x, |lc| lc + x + b, |lc| lc + y);
            if step % 5 == 0 {
                let public = cs.alloc_input(|| "public", || next.ok_or(SynthesisError::AssignmentMissing))?;
                cs.enforce(|| "is public", |lc| lc + public, |lc| lc + CS::one(), |lc| lc + y);
            }
            (x, value) = (y, next);
        }
        Ok(())
    }
}

fn circuit() -> Result<Arc<Circuit>> {
    let r1cs = R1cs::record(Known(None), Flat)?;
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let srs = SrsFile::from_source(Path::new("known answer"), Box::new(PARAMS), &options)?;
    Circuit::new("known answer", Arc::new(r1cs), Arc::new(srs))
}

fn assignment(r1cs: &R1cs) -> Result<Assignment> {
    let layouts = Arc::new(Layouts::pinned(Layout::derive(r1cs)));
    let built = Builder::new(&layouts, r1cs.input_count).synthesize(Known(Some(0xb5)));
    built.map_err(|error| Error::Internal(error.to_string()))
}

fn texts(sums: &Sums) -> [String; 3] {
    let g1 = |point: &G1Projective| hex::encode(point.to_affine().to_compressed());
    let g2 = |point: &G2Projective| hex::encode(point.to_affine().to_compressed());
    [g1(&sums.h_l), g1(&sums.a), g2(&sums.b_g2)]
}

/// Proves it on `device` as any other circuit. Errors: SELF_CHECK if the sums are others.
pub(super) fn check(device: &Device) -> Outcome<()> {
    let circuit = circuit()?;
    let prepared = Arc::new(Prepared::new(circuit.r1cs()));
    let assignment = assignment(circuit.r1cs())?;
    let layout = PreparedLayout::new(&prepared, assignment.layout());
    let asker = Asker::new(device, None);
    load::load(device, &asker, &circuit, &prepared)?;
    let resident = device.circuits.borrow_mut().remove(&circuit.id());
    let resident = resident.ok_or_else(|| Error::Internal("a circuit that was loaded is gone".into()))?;
    let sums = prove::prove(device, &asker, &resident, &assignment, &layout)?.sums()?;
    match texts(&sums) == SUMS.map(String::from) {
        true => Ok(()),
        false => Err(Fault::Other(Error::SelfCheck(format!("known answer on {}", device.shared.label)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::CpuBackend;
    use crate::backend::{Backend, Uncontrolled};

    #[test]
    fn file_and_sums_are_what_setup_and_the_cpu_make() {
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("known.params");
        let r1cs = R1cs::record(Known(None), Flat).unwrap();
        crate::setup::write_params(&r1cs, SEED, &path, &pool).unwrap();
        assert!(std::fs::read(&path).unwrap() == PARAMS, "known.params is another file");
        let circuit = circuit().unwrap();
        let assignment = Arc::new(assignment(&r1cs).unwrap());
        assert!(assignment.one_count() > 5 && assignment.full().len() > 20);
        let backend = CpuBackend::new(pool);
        backend.load(&circuit, &Uncontrolled).unwrap();
        let mut found = None;
        backend.prove(&circuit, &[assignment], &Uncontrolled, &mut |_, sums| found = Some(texts(&sums.unwrap())));
        assert_eq!(found.unwrap(), SUMS.map(String::from));
    }
}
