//! The corpora of the fuzz targets, and mutations of them, are refused or accepted without a panic; and the inputs in
//! testdata are what gen-vanilla makes, and true.

#[path = "../fuzz/circuit/checks.rs"]
mod checks;

use std::fs;
use std::path::{Path, PathBuf};

use cuzk::vanilla::{post, Input, SealedSector, SectorSpec};
use filecoin_proofs_api::{RegisteredPoStProof, RegisteredSealProof};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// Mutations of each file of a corpus.
const MUTATIONS: usize = 100;

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Overwrites, cuts, doubles or swaps bytes.
fn mutate(bytes: &mut Vec<u8>, rng: &mut impl RngCore) {
    for _ in 0..1 + rng.next_u32() % 4 {
        let len = bytes.len().max(1) as u64;
        let (at, to) = ((rng.next_u64() % len) as usize, (rng.next_u64() % len) as usize);
        match rng.next_u32() % 5 {
            0 if !bytes.is_empty() => bytes[at] = rng.next_u32() as u8,
            1 => bytes.truncate(at),
            2 if at < to => bytes.extend_from_within(at..to),
            3 if !bytes.is_empty() => bytes.swap(at, to),
            _ if at < to => drop(bytes.drain(at..to)),
            _ => (),
        }
    }
}

/// Replays a corpus; returns its number of files.
fn replay(target: &str, check: fn(&[u8])) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut count = 0;
    for entry in fs::read_dir(root("fuzz/circuit/corpus").join(target)).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        check(&bytes);
        for _ in 0..MUTATIONS {
            let mut mutated = bytes.clone();
            mutate(&mut mutated, &mut rng);
            check(&mutated);
        }
        count += 1;
    }
    count
}

#[test]
fn corpora() {
    assert!(replay("c1_json", checks::c1_json) >= 3);
    assert!(replay("vanilla_bincode", checks::vanilla_bincode) >= 4);
}

/// The inputs that `cuzk gen-vanilla --out testdata --miner 1000 --sector 18 --seed 0` makes.
fn made(dir: &Path) -> Vec<(&'static str, Input)> {
    use RegisteredPoStProof::{StackedDrgWindow2KiBV1_2, StackedDrgWinning2KiBV1};
    use RegisteredSealProof::{StackedDrg2KiBV1_1, StackedDrg2KiBV1_1_Feat_SyntheticPoRep};
    let seal = |name: &str, proof, offset| {
        let spec = SectorSpec { proof, miner: 1000, sector: 18 + offset, seed: offset };
        SealedSector::seal(&dir.join(name), spec).unwrap()
    };
    let first = seal("first", StackedDrg2KiBV1_1, 0);
    let second = seal("second", StackedDrg2KiBV1_1, 1);
    let synthetic = seal("synthetic", StackedDrg2KiBV1_1_Feat_SyntheticPoRep, 0);
    vec![
        ("porep", Input::Porep(first.porep().unwrap())),
        ("porep-synthetic", Input::Porep(synthetic.porep().unwrap())),
        ("update", Input::Update(first.update().unwrap())),
        ("window", Input::Post(post(StackedDrgWindow2KiBV1_2, &[&first, &second], 0).unwrap())),
        ("winning", Input::Post(post(StackedDrgWinning2KiBV1, &[&first], 0).unwrap())),
    ]
}

#[test]
fn testdata() {
    let dir = tempfile::tempdir().unwrap();
    for (name, input) in made(dir.path()) {
        let path = root("testdata").join(name).with_extension("json");
        let committed = Input::read(&path).unwrap();
        assert_eq!(committed, input, "{name}");
        committed.check().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
