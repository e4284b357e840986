//! Proving through the public API: what a caller gets for a false witness, a faulty back end, a wrong circuit.

mod common;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use blstrs::{G1Projective, G2Projective, Scalar as Fr};
use common::{pool, Interleaved, MerklePath, RandomSystem};
use cuzk::assignment::{Assignment, Builder, Layouts};
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::{Backend, Circuit, Control, Done, Sums, Uncontrolled};
use cuzk::error::{Error, Result};
use cuzk::groth16::{prove, prove_batch, verify, Prover, Verifier};
use cuzk::r1cs::{Flat, R1cs};
use cuzk::setup;
use cuzk::srs::{SrsFile, SrsOptions};
use ff::Field;
use group::Group;

fn cpu() -> Arc<CpuBackend> {
    Arc::new(CpuBackend::new(pool(2)))
}

fn circuit<C: bellpepper_core::Circuit<Fr>>(witness: C) -> (Arc<Circuit>, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let file: PathBuf = dir.path().join("test.params");
    let r1cs = Arc::new(R1cs::record(witness, Flat).unwrap());
    setup::write_params(&r1cs, [1; 32], &file, &pool(2)).unwrap();
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    (Circuit::new("test", r1cs, Arc::new(SrsFile::open(&file, &options).unwrap())).unwrap(), dir)
}

fn assignment<C: bellpepper_core::Circuit<Fr>>(circuit: &Circuit, witness: C) -> Arc<Assignment> {
    let layouts = Arc::new(Layouts::growing(circuit.r1cs().aux_count));
    Arc::new(Builder::new(&layouts, circuit.r1cs().input_count).synthesize(witness).unwrap())
}

/// Adds `wrong` to the sums of the first `faults` proofs, as a device with a flipped bit would.
struct Faulty {
    inner: Arc<CpuBackend>,
    faults: usize,
    proofs: AtomicUsize,
    spoil: fn(&mut Sums),
}

impl Backend for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }

    fn load(&self, circuit: &Arc<Circuit>, control: &dyn Control) -> Result<()> {
        self.inner.load(circuit, control)
    }

    fn unload(&self, circuit: &Circuit) {
        self.inner.unload(circuit)
    }

    fn prove(&self, circuit: &Arc<Circuit>, batch: &[Arc<Assignment>], control: &dyn Control, done: Done<'_>) {
        self.inner.prove(circuit, batch, control, &mut |i, sums| {
            let number = self.proofs.fetch_add(1, Ordering::SeqCst);
            done(
                i,
                sums.map(|mut sums| {
                    if number < self.faults {
                        (self.spoil)(&mut sums);
                    }
                    sums
                }),
            )
        })
    }
}

const SPOILS: [fn(&mut Sums); 3] = [
    |sums| sums.a += G1Projective::generator(),
    |sums| sums.b_g2 += G2Projective::generator(),
    |sums| sums.h_l += G1Projective::generator(),
];

#[test]
fn one_fault_of_the_device_costs_one_more_try() {
    let witness = MerklePath::random(2, 1);
    let (circuit, _dir) = circuit(witness.clone());
    let assignment = assignment(&circuit, witness.clone());
    for spoil in SPOILS {
        let backend = Faulty { inner: cpu(), faults: 1, proofs: AtomicUsize::new(0), spoil };
        backend.load(&circuit, &Uncontrolled).unwrap();
        let proof = prove(&backend, &circuit, &assignment).unwrap();
        assert!(verify(circuit.srs().vk(), &[witness.root()], &proof).unwrap());
        assert_eq!(backend.proofs.load(Ordering::SeqCst), 2);
    }
}

#[test]
fn a_lasting_fault_is_a_failed_self_check_and_no_proof() {
    let witness = MerklePath::random(2, 2);
    let (circuit, _dir) = circuit(witness.clone());
    let assignment = assignment(&circuit, witness);
    for spoil in SPOILS {
        let backend = Faulty { inner: cpu(), faults: usize::MAX, proofs: AtomicUsize::new(0), spoil };
        backend.load(&circuit, &Uncontrolled).unwrap();
        let error = prove(&backend, &circuit, &assignment).unwrap_err();
        assert_eq!(error, Error::SelfCheck("test".into()));
        assert_eq!(backend.proofs.load(Ordering::SeqCst), 2, "one redo, no endless retry");
    }
}

#[test]
fn a_fault_in_a_batch_fails_alone() {
    let witness = Interleaved { seed: 2, count: 5 };
    let (circuit, _dir) = circuit(witness.clone());
    let batch: Vec<_> = (0..4).map(|_| assignment(&circuit, witness.clone())).collect();
    let backend = Faulty { inner: cpu(), faults: 1, proofs: AtomicUsize::new(0), spoil: SPOILS[0] };
    backend.load(&circuit, &Uncontrolled).unwrap();
    let verifier = Verifier::new(circuit.srs().vk());
    let results = prove_batch(&backend, &circuit, &verifier, &batch, &Uncontrolled);
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 3);
    assert_eq!(results.iter().filter(|r| **r == Err(Error::SelfCheck("test".into()))).count(), 1);
}

#[test]
fn a_false_witness_is_named_by_its_row_and_not_tried_again() {
    let honest = RandomSystem::new(200, 5);
    let (circuit, _dir) = circuit(honest.clone());
    let good = assignment(&circuit, honest);
    let backend = Faulty { inner: cpu(), faults: 0, proofs: AtomicUsize::new(0), spoil: SPOILS[0] };
    backend.load(&circuit, &Uncontrolled).unwrap();
    for (tries, slot) in [0, good.full().len() / 2, good.full().len() - 1].into_iter().enumerate() {
        let mut full = good.full().to_vec();
        full[slot] += Fr::ONE;
        let false_one = Assignment::new(good.layout().clone(), good.inputs().to_vec(), good.bits().to_vec(), full);
        let false_one = Arc::new(false_one.unwrap());
        let row = circuit.r1cs().rows().position(|row| !row.is_satisfied(|k| false_one.z(k))).expect("a false row");
        let error = prove(&backend, &circuit, &false_one).unwrap_err();
        assert_eq!(error, Error::BadWitness { row: row as u64 });
        assert_eq!(backend.proofs.load(Ordering::SeqCst), tries + 1);
    }
}

#[test]
fn a_circuit_that_is_not_loaded_is_closed() {
    let witness = Interleaved { seed: 3, count: 2 };
    let (circuit, _dir) = circuit(witness.clone());
    let assignment = assignment(&circuit, witness);
    let cpu = cpu();
    assert!(matches!(prove(cpu.as_ref(), &circuit, &assignment), Err(Error::Closed(_))));
    cpu.load(&circuit, &Uncontrolled).unwrap();
    prove(cpu.as_ref(), &circuit, &assignment).unwrap();
    // Loaded, but by another back end.
    let other = CpuBackend::new(pool(1));
    assert!(matches!(prove(&other, &circuit, &assignment), Err(Error::Closed(_))));
    cpu.unload(&circuit);
    assert!(matches!(prove(cpu.as_ref(), &circuit, &assignment), Err(Error::Closed(_))));
}

#[test]
fn proofs_made_side_by_side_hold_for_their_own_inputs_alone() {
    let (circuit, _dir) = circuit(MerklePath::random(2, 0));
    let prover = Prover::new(circuit, cpu()).unwrap();
    let witnesses: Vec<_> = (0..8).map(|seed| MerklePath::random(2, seed)).collect();
    let proofs: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            witnesses.iter().map(|witness| scope.spawn(|| prover.prove(witness.clone()).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (i, proof) in proofs.iter().enumerate() {
        for (j, witness) in witnesses.iter().enumerate() {
            assert_eq!(prover.verify(&[witness.root()], proof).unwrap(), i == j, "proof {i}, inputs {j}");
        }
    }
}

#[test]
fn an_srs_of_another_circuit_is_refused_with_counts() {
    let (small, _dir) = circuit(Interleaved { seed: 3, count: 2 });
    let other = Arc::new(R1cs::record(Interleaved { seed: 3, count: 3 }, Flat).unwrap());
    let error = Circuit::new("other", other, small.srs().clone()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::ParamsCorrupt(_)), "{text}");
    assert!(text.contains("ic") && text.contains('3') && text.contains('4'), "{text}");
}

#[test]
fn a_prover_takes_witness_after_witness_and_refuses_other_circuits() {
    let (circuit, _dir) = circuit(MerklePath::random(3, 0));
    let prover = Prover::new(circuit, cpu()).unwrap();
    for seed in 0..3 {
        let witness = MerklePath::random(3, seed);
        let proof = prover.prove(witness.clone()).unwrap();
        assert!(prover.verify(&[witness.root()], &proof).unwrap());
        assert!(!prover.verify(&[witness.root() + Fr::ONE], &proof).unwrap());
    }
    let error = prover.prove(MerklePath::random(2, 0)).unwrap_err();
    assert!(matches!(error, Error::Invalid { field: "witness", .. }), "{error}");
    prover.prove(MerklePath::random(3, 9)).expect("the prover lives on");
}

#[test]
fn a_witness_that_needs_more_room_makes_a_new_generation() {
    let bit = |value_seed| RandomSystem { rows: 40, structure_seed: 8, value_seed };
    let (circuit, _dir) = circuit(bit(0));
    let prover = Prover::new(circuit, cpu()).unwrap();
    let mut generations = Vec::new();
    for seed in 0..6 {
        prover.prove(bit(seed)).unwrap();
        generations.push(prover.layout_generation());
    }
    assert!(generations[0] >= 1, "the first witness holds full-size values");
    assert!(generations.windows(2).all(|pair| pair[0] <= pair[1]), "{generations:?}");
}
