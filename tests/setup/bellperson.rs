//! Files equal bellperson's for the same seed, byte for byte.

use std::fs;

use bellpepper_core::Circuit;
use bellperson::groth16::{generate_random_parameters, Parameters};
use blstrs::{Bls12, Scalar as Fr};
use cuzk::r1cs::{Flat, R1cs};
use cuzk::setup::{write_params, ToxicWaste};
use cuzk::srs::{SrsFile, SrsOptions, VK_POINTS_BYTES};
use rand_chacha::rand_core::SeedableRng;
use rand_chacha::ChaCha20Rng;

use crate::circuits::{Irregular, Powers, Random};
use crate::exponents::compare;
use crate::pool::pool;

fn theirs<C: Circuit<Fr>>(circuit: C, seed: [u8; 32]) -> Vec<u8> {
    let parameters: Parameters<Bls12> = generate_random_parameters(circuit, &mut ChaCha20Rng::from_seed(seed)).unwrap();
    let mut bytes = Vec::new();
    parameters.write(&mut bytes).unwrap();
    bytes
}

fn files_are_equal<C: Circuit<Fr> + Clone>(name: &str, circuit: C) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ours.params");
    let seed = [name.len() as u8; 32];
    let r1cs = R1cs::record(circuit.clone(), Flat).unwrap();
    let vk = write_params(&r1cs, seed, &path, &pool(2)).unwrap();
    let ours = fs::read(&path).unwrap();
    assert!(ours == theirs(circuit, seed), "{name}");

    let srs = SrsFile::open(&path, &SrsOptions { allow_unknown_params: true, ..SrsOptions::default() }).unwrap();
    assert_eq!(srs.vk(), &vk);
    srs.check_counts(&r1cs).unwrap();
    let read = Parameters::<Bls12>::read(&ours[..], true).unwrap();
    assert_eq!(read.vk.ic, vk.ic, "{name}");
}

#[test]
fn a_circuit_without_rows() {
    files_are_equal("nothing", Powers(0));
}

#[test]
fn row_counts_around_powers_of_two() {
    // One row for ONE is added.
    for squarings in [1, 2, 3, 4, 6, 7, 8, 62, 63, 64] {
        files_are_equal(&"x".repeat(squarings), Powers(squarings));
    }
}

#[test]
fn zeros_repeats_and_interleaved_inputs() {
    files_are_equal("irregular", Irregular);
}

#[test]
fn random_systems() {
    for (seed, rows) in [(1, 4), (2, 19), (3, 100), (4, 1000)] {
        println!("seed {seed}");
        files_are_equal("random", Random { rows, seed });
    }
}

// The bench compares the large circuits so.
#[test]
fn a_comparison_in_the_exponent_finds_one_point_that_is_another() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ours.params");
    let (circuit, seed) = (Random { rows: 50, seed: 5 }, [9; 32]);
    let r1cs = R1cs::record(circuit, Flat).unwrap();
    write_params(&r1cs, seed, &path, &pool(2)).unwrap();
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let waste = ToxicWaste::from_seed(seed);
    let compared = |bytes: Vec<u8>, waste: &ToxicWaste| {
        compare(circuit, waste, &SrsFile::from_source(&path, Box::new(bytes), &options).unwrap())
    };
    let good = fs::read(&path).unwrap();
    compared(good.clone(), &waste).unwrap();
    assert_eq!(compared(good.clone(), &ToxicWaste::from_seed([8; 32])), Err("vk".into()));
    let counts = r1cs.query_counts();
    let mut first = VK_POINTS_BYTES as usize + 4;
    for (name, count, size) in [
        ("ic", counts.ic, 96),
        ("h", counts.h, 96),
        ("l", counts.l, 96),
        ("a", counts.a, 96),
        ("b_g1", counts.b, 96),
        ("b_g2", counts.b, 192),
    ] {
        let mut bytes = good.clone();
        bytes.copy_within(first..first + size, first + size);
        assert!(compared(bytes, &waste).unwrap_err().starts_with(&format!("{name}: ")), "{name}");
        first += count as usize * size + 4;
    }
}
