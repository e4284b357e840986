//! A real partition of testdata with its SRS, and bellperson's proofs of it for chosen blinding.
#![allow(dead_code)] // every binary uses some of it

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use bellperson::groth16::{create_proof_batch, Parameters};
use blstrs::{Bls12, Scalar as Fr};
use cuzk::circuit::registered::params_file_name;
use cuzk::circuit::{CheckedProofs, CircuitId, ReferenceCircuit};
use cuzk::r1cs::R1cs;
use cuzk::setup;
use cuzk::vanilla::Input;
use ff::Field;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;
use rayon::ThreadPool;

/// The blindings that are compared: r = s = 0, (0, σ), and (r, s).
pub struct Chosen {
    pub sigma: Fr,
    pub r: Fr,
    pub s: Fr,
}

pub fn chosen() -> Chosen {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    Chosen { sigma: Fr::random(&mut rng), r: Fr::random(&mut rng), s: Fr::random(&mut rng) }
}

pub fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A committed input, checked.
pub fn checked(name: &str) -> CheckedProofs {
    Input::read(&root("testdata").join(name).with_extension("json")).unwrap().check().unwrap()
}

/// The SRS that `cuzk setup` makes with seed 0, where the demo keeps it: the larger ones take minutes and are made once.
pub fn srs(id: CircuitId, r1cs: &R1cs, pool: &ThreadPool) -> PathBuf {
    let dir = root("target/demo/params");
    let path = dir.join(params_file_name(id));
    if !path.exists() {
        fs::create_dir_all(&dir).unwrap();
        let vk = setup::write_params(r1cs, [0; 32], &path, pool).unwrap();
        vk.write(&path.with_extension("vk")).unwrap();
    }
    path
}

/// bellperson's proofs of the first partition, in the order of [`Chosen`].
pub fn bellperson_proofs(checked: &CheckedProofs, srs: &Path) -> Vec<Vec<u8>> {
    let params = Parameters::<Bls12>::read(File::open(srs).unwrap(), false).unwrap();
    let Chosen { sigma, r, s } = chosen();
    let first = checked.partitions().next().unwrap();
    let circuits: Vec<ReferenceCircuit> = (0..3).map(|_| first.circuit().unwrap()).collect();
    let proofs = create_proof_batch(circuits, &params, vec![Fr::ZERO, Fr::ZERO, r], vec![Fr::ZERO, sigma, s]).unwrap();
    let bytes = proofs.iter().map(|proof| {
        let mut bytes = Vec::new();
        proof.write(&mut bytes).unwrap();
        bytes
    });
    bytes.collect()
}
