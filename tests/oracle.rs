//! The oracle: for the same SRS, witness and blinding, our bytes are bellperson's.
#![cfg(feature = "testing")]

mod common;

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bellpepper_core::Circuit;
use bellperson::groth16::{self as theirs, Parameters};
use blstrs::{Bls12, Scalar as Fr};
use common::preimage::Preimage;
use common::{pool, Interleaved, MerklePath, RandomSystem, ZerosAndRepeats};
use cuzk::assignment::{Assignment, Builder, Layouts};
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::{self, Backend, Sums, Uncontrolled};
use cuzk::groth16::{assemble, assemble_with_r_s, Blinding, Proof, Verifier};
use cuzk::r1cs::{Flat, R1cs};
use cuzk::setup;
use cuzk::srs::{SrsFile, SrsOptions};
use ff::Field;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

/// A resident circuit and one witness of it.
struct Case {
    circuit: Arc<backend::Circuit>,
    assignment: Arc<Assignment>,
    sums: Sums,
    params: Parameters<Bls12>,
}

fn case<C: Circuit<Fr> + Clone>(name: &str, witness: C, file: &Path) -> Case {
    let r1cs = Arc::new(R1cs::record(witness.clone(), Flat).unwrap());
    let layouts = Arc::new(Layouts::growing(r1cs.aux_count));
    let assignment = Arc::new(Builder::new(&layouts, r1cs.input_count).synthesize(witness).unwrap());
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let srs = Arc::new(SrsFile::open(file, &options).unwrap());
    let circuit = backend::Circuit::new(name, r1cs, srs).unwrap();
    let cpu = CpuBackend::new(pool(2));
    cpu.load(&circuit, &Uncontrolled).unwrap();
    let found = Mutex::new(None);
    cpu.prove(&circuit, std::slice::from_ref(&assignment), &Uncontrolled, &mut |i, sums| {
        assert_eq!(i, 0);
        assert!(found.lock().unwrap().replace(sums.unwrap()).is_none(), "finished twice");
    });
    let sums = found.into_inner().unwrap().expect("finished");
    let params = Parameters::read(std::fs::File::open(file).unwrap(), false).unwrap();
    Case { circuit, assignment, sums, params }
}

/// Compares r = s = 0, (0, σ) and random (r, s), and checks that the proof is a proof.
fn compare<C: Circuit<Fr> + Clone + Send>(name: &str, witness: C, file: &Path) {
    let case = case(name, witness.clone(), file);
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let vk = case.circuit.srs().vk();
    let verifier = Verifier::new(vk);
    let (sigma, r, s) = (Fr::random(&mut rng), Fr::random(&mut rng), Fr::random(&mut rng));
    let expected = |r, s| bytes(theirs::create_proof(witness.clone(), &case.params, r, s).unwrap());

    let plain = assemble(vk, &case.sums, &Blinding::chosen(Fr::ONE, Fr::ZERO));
    assert_eq!(plain.to_bytes().to_vec(), expected(Fr::ZERO, Fr::ZERO), "{name}: r = s = 0");
    let shifted = assemble(vk, &case.sums, &Blinding::chosen(Fr::ONE, sigma));
    assert_eq!(shifted.to_bytes().to_vec(), expected(Fr::ZERO, sigma), "{name}: ρ = 1, σ random");
    let general = assemble_with_r_s(vk, &case.sums, &r, &s).expect("the CPU back end sums B_G1 in tests");
    assert_eq!(general.to_bytes().to_vec(), expected(r, s), "{name}: r and s random");
    for proof in [plain, shifted, general] {
        assert!(verifier.verify(&case.assignment.inputs()[1..], &proof).unwrap(), "{name}");
    }
}

fn bytes(proof: theirs::Proof<Bls12>) -> Vec<u8> {
    let mut out = Vec::new();
    proof.write(&mut out).unwrap();
    out
}

/// With an SRS from bellperson's generator.
fn with_their_srs<C: Circuit<Fr> + Clone + Send>(name: &str, witness: C) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("theirs.params");
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    let params: Parameters<Bls12> = theirs::generate_random_parameters(witness.clone(), &mut rng).unwrap();
    params.write(std::fs::File::create(&file).unwrap()).unwrap();
    compare(name, witness, &file);
}

/// With an SRS from our set-up, which bellperson then reads.
fn with_our_srs<C: Circuit<Fr> + Clone + Send>(name: &str, witness: C) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ours.params");
    let r1cs = R1cs::record(witness.clone(), Flat).unwrap();
    setup::write_params(&r1cs, [5; 32], &file, &pool(2)).unwrap();
    compare(name, witness, &file);
}

#[test]
fn merkle_path_in_both_srs() {
    let witness = MerklePath::random(4, 1);
    with_their_srs("merkle path", witness.clone());
    with_our_srs("merkle path", witness);
}

#[test]
fn explicit_zeros_and_repeated_terms_in_both_srs() {
    for count in [1, 2, 31] {
        let witness = ZerosAndRepeats { x: Fr::from(3), count };
        with_their_srs("zeros and repeats", witness.clone());
        with_our_srs("zeros and repeats", witness);
    }
}

#[test]
fn many_interleaved_inputs_in_both_srs() {
    for count in [1, 2, 100] {
        let witness = Interleaved { seed: 4, count };
        with_their_srs("interleaved inputs", witness.clone());
        with_our_srs("interleaved inputs", witness);
    }
}

#[test]
fn sha256_preimage() {
    with_our_srs("preimage", Preimage(vec![0xa5; 64]));
}

#[test]
fn random_systems() {
    for lg_rows in 2..=16 {
        with_our_srs(&format!("random system of 2^{lg_rows} rows"), RandomSystem::new(1 << lg_rows, lg_rows));
    }
    for rows in [1, 2, 3, 5, 63, 64, 65] {
        with_their_srs(&format!("random system of {rows} rows"), RandomSystem::new(rows, 77));
    }
}

#[test]
fn a_hundred_blinded_proofs_of_one_witness_differ_and_hold() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("blinded.params");
    let witness = Interleaved { seed: 9, count: 3 };
    setup::write_params(&R1cs::record(witness.clone(), Flat).unwrap(), [6; 32], &file, &pool(2)).unwrap();
    let inputs = witness.inputs();
    let case = case("blinded", witness, &file);
    let vk = case.circuit.srs().vk();
    let verifier = Verifier::new(vk);
    let proofs: Vec<Proof> = (0..100).map(|_| assemble(vk, &case.sums, &Blinding::fresh())).collect();
    for proof in &proofs {
        assert!(verifier.verify(&inputs, proof).unwrap());
    }
    // Each of A, B and C differs, not just one of them.
    let distinct = |part: fn(&Proof) -> Vec<u8>| proofs.iter().map(part).collect::<HashSet<_>>().len();
    assert_eq!(distinct(|p| p.a.to_compressed().to_vec()), 100);
    assert_eq!(distinct(|p| p.b.to_compressed().to_vec()), 100);
    assert_eq!(distinct(|p| p.c.to_compressed().to_vec()), 100);
    let theirs_vk = theirs::prepare_verifying_key(&case.params.vk);
    for proof in &proofs[..10] {
        let proof = theirs::Proof { a: proof.a, b: proof.b, c: proof.c };
        assert!(theirs::verify_proof(&theirs_vk, &proof, &inputs).unwrap());
    }
}
