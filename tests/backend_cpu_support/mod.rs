//! A circuit of any size with bits and full-size values, its SRS on disk, and a control that follows a script.

#![allow(dead_code)]

#[path = "../common/pool.rs"]
mod pool;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bellpepper_core::{Circuit as Synthesize, ConstraintSystem, LinearCombination, SynthesisError};
use blstrs::{Bls12, G1Affine, G2Affine, Scalar as Fr};
use cuzk::assignment::{Assignment, Builder, Layouts};
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::{Answer, Backend, Circuit, Control, Sums, Uncontrolled};
use cuzk::r1cs::{Flat, R1cs};
use cuzk::srs::{SrsFile, SrsOptions};
use cuzk::{Error, Result};
use ff::Field;
pub use pool::pool;

/// x ↦ (x + b)(x − 3b + 2) for bits b, with the value made public every `public_every` steps.
#[derive(Clone)]
pub struct Steps {
    pub count: usize,
    pub public_every: usize,
    pub start: Option<Fr>,
}

impl Synthesize<Fr> for Steps {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut value = self.start;
        let mut x = cs.alloc(|| "start", || value.ok_or(SynthesisError::AssignmentMissing))?;
        for step in 0..self.count {
            let bit = value.map(|v| Fr::from(u64::from(v.to_bytes_le()[step % 31] & 1)));
            let b = cs.alloc(|| "bit", || bit.ok_or(SynthesisError::AssignmentMissing))?;
            cs.enforce(|| "boolean", |lc| lc + b, |lc| lc + CS::one() - b, |lc| lc);
            let next = value.zip(bit).map(|(v, b)| (v + b) * (v - b * Fr::from(3) + Fr::from(2)));
            let y = cs.alloc(|| "next", || next.ok_or(SynthesisError::AssignmentMissing))?;
            let shifted = |lc: LinearCombination<Fr>| lc + x - (Fr::from(3), b) + (Fr::from(2), CS::one());
            cs.enforce(|| "step", |lc| lc + x + b, shifted, |lc| lc + y);
            if step % self.public_every == 0 {
                let public = cs.alloc_input(|| "public", || next.ok_or(SynthesisError::AssignmentMissing))?;
                cs.enforce(|| "is public", |lc| lc + y, |lc| lc + CS::one(), |lc| lc + public);
            }
            (x, value) = (y, next);
        }
        Ok(())
    }
}

/// A circuit, its SRS and its layout.
pub struct Fixture {
    pub dir: tempfile::TempDir,
    pub circuit: Arc<Circuit>,
    pub layouts: Arc<Layouts>,
    pub steps: Steps,
}

pub fn open(path: &Path) -> SrsFile {
    SrsFile::open(path, &SrsOptions { allow_unknown_params: true, ..SrsOptions::default() }).unwrap()
}

impl Fixture {
    pub fn new(count: usize, public_every: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let steps = Steps { count, public_every, start: None };
        let r1cs = R1cs::record(steps.clone(), Flat).unwrap();
        let path = dir.path().join("steps.params");
        cuzk::setup::write_params(&r1cs, [7; 32], &path, &pool(2)).unwrap();
        let layouts = Arc::new(Layouts::growing(r1cs.aux_count));
        let circuit = Circuit::new("steps", Arc::new(r1cs), Arc::new(open(&path))).unwrap();
        Fixture { dir, circuit, layouts, steps }
    }

    pub fn with_start(&self, start: u64) -> Steps {
        // Full-size from the first step on.
        let start = Fr::from(start + 2).invert().unwrap();
        Steps { start: Some(start), ..self.steps.clone() }
    }

    pub fn assignment(&self, start: u64) -> Arc<Assignment> {
        let builder = Builder::new(&self.layouts, self.circuit.r1cs().input_count);
        Arc::new(builder.synthesize(self.with_start(start)).unwrap())
    }

    pub fn batch(&self, starts: std::ops::Range<u64>) -> Vec<Arc<Assignment>> {
        starts.map(|start| self.assignment(start)).collect()
    }

    pub fn loaded(&self, threads: usize) -> CpuBackend {
        let backend = CpuBackend::new(pool(threads));
        backend.load(&self.circuit, &Uncontrolled).unwrap();
        backend
    }
}

/// What bellperson's prover makes of r = s = 0, as sums: (C, A − α, B − β).
pub fn bellpersons(fixture: &Fixture, start: u64) -> (G1Affine, G1Affine, G2Affine) {
    use bellperson::groth16::{create_proof, Parameters};
    let file = std::fs::File::open(fixture.circuit.srs().path()).unwrap();
    let params = Parameters::<Bls12>::read(std::io::BufReader::new(file), true).unwrap();
    let proof = create_proof::<Bls12, _, _>(fixture.with_start(start), &params, Fr::ZERO, Fr::ZERO).unwrap();
    let vk = fixture.circuit.srs().vk();
    use group::prime::PrimeCurveAffine;
    let a = proof.a.to_curve() - vk.alpha_g1;
    let b = proof.b.to_curve() - vk.beta_g2;
    (proof.c, a.into(), b.into())
}

pub fn affine(sums: &Sums) -> (G1Affine, G1Affine, G2Affine) {
    (sums.h_l.into(), sums.a.into(), sums.b_g2.into())
}

/// Proves a batch and checks that each item is finished exactly once, from the calling thread.
pub fn prove(
    backend: &dyn Backend,
    circuit: &Arc<Circuit>,
    assignments: &[Arc<Assignment>],
    control: &dyn Control,
) -> Vec<Result<Sums>> {
    let mut results: Vec<Option<Result<Sums>>> = vec![None; assignments.len()];
    let caller = std::thread::current().id();
    backend.prove(circuit, assignments, control, &mut |i, result| {
        assert_eq!(std::thread::current().id(), caller);
        assert!(results[i].replace(result).is_none(), "item {i} finished twice");
    });
    results.into_iter().map(|result| result.expect("every item is finished")).collect()
}

/// What runs when the batch yields.
pub type Urgent<'a> = Box<dyn Fn(&dyn Backend) + Sync + 'a>;

/// Answers the n-th question as the script says, counting from 0.
#[derive(Default)]
pub struct Script<'a> {
    pub asked: AtomicUsize,
    pub answers: Mutex<BTreeMap<usize, Answer>>,
    /// Panics at this question.
    pub panic_at: Option<usize>,
    pub urgent: Option<Urgent<'a>>,
    /// Questions asked when each urgent call began.
    pub urgent_at: Mutex<Vec<usize>>,
    /// What a load said of how far it is.
    pub progress: Mutex<Vec<(u64, u64)>>,
}

impl<'a> Script<'a> {
    pub fn answering(answers: impl IntoIterator<Item = (usize, Answer)>) -> Self {
        Script { answers: Mutex::new(answers.into_iter().collect()), ..Script::default() }
    }

    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Control for Script<'_> {
    fn ask(&self) -> Answer {
        let question = self.asked.fetch_add(1, Ordering::SeqCst);
        assert!(self.panic_at != Some(question), "told to panic at question {question}");
        self.answers.lock().unwrap().remove(&question).unwrap_or(Answer::Continue)
    }

    fn run_urgent(&self, backend: &dyn Backend) {
        self.urgent_at.lock().unwrap().push(self.asked());
        self.urgent.as_ref().expect("a script that yields has something urgent")(backend);
    }

    fn progress(&self, done: u64, total: u64) {
        self.progress.lock().unwrap().push((done, total));
    }
}

pub fn is_cancelled(result: &Result<Sums>) -> bool {
    matches!(result, Err(Error::Cancelled))
}
