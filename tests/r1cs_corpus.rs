//! Replays the fuzz target's corpus of the R1CS cache.

mod r1cs_support;

#[path = "../fuzz/checks/r1cs_cache.rs"]
mod check;

use std::fs;
use std::path::PathBuf;

use blstrs::Scalar as Fr;
use cuzk::r1cs;
use cuzk::r1cs::{Cache, Flat, R1cs, ESCAPE};
use r1cs_support::program::{one, term, ByName, Program};

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/r1cs_cache")
}

/// Blocks with ports, inputs and a long row.
fn blocks() -> R1cs {
    let mut program = Program::new();
    let bits: Vec<_> = (0..4).map(|_| program.aux()).collect();
    program.enforce(term(bits[0]), term(bits[1]), term(one()));
    for bit in &bits {
        program.inside("block", |program| {
            let (x, y) = (program.aux(), program.input());
            program.enforce(vec![(x, -Fr::from(1 << 50))], term(y), term(*bit));
        });
    }
    R1cs::record(&program, ByName).unwrap()
}

/// A row of 255 terms or more has its length elsewhere.
fn long_row() -> R1cs {
    let mut program = Program::new();
    let bits: Vec<_> = (0..255).map(|_| (program.aux(), Fr::from(2))).collect();
    program.enforce(bits, vec![], vec![]);
    R1cs::record(&program, Flat).unwrap()
}

/// The seeds: small files and bodies that are sound. (One with escapes has a full dictionary, too large for a corpus;
/// escapes of a small dictionary are as valid.)
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::new(dir.path());
    cache.store(check::NAME, &blocks()).unwrap();
    let mut escaped = blocks();
    let last = escaped.segments.last_mut().unwrap();
    last.a.coefficients[0] = ESCAPE;
    last.a.escapes.push((0, Fr::from(9)));
    escaped.validate().unwrap();
    vec![
        ("seed-file", fs::read(cache.path(check::NAME)).unwrap()),
        ("seed-blocks", blocks().to_body()),
        ("seed-long-row", long_row().to_body()),
        ("seed-escapes", escaped.to_body()),
        ("seed-empty", R1cs::record(&Program::new(), Flat).unwrap().to_body()),
    ]
}

/// The seeds in the corpus are what this version writes: after a change of the format the target starts from sound files.
#[test]
fn seeds_are_current() {
    for (name, bytes) in seeds() {
        let path = corpus().join(name);
        if std::env::var_os("CUZK_WRITE_SEEDS").is_some() {
            fs::write(&path, &bytes).unwrap();
        }
        assert_eq!(fs::read(&path).unwrap(), bytes, "{name}; CUZK_WRITE_SEEDS=1 writes it anew");
    }
}

#[test]
fn corpus_is_harmless() {
    let mut files = 0;
    for entry in fs::read_dir(corpus()).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        check::check(&bytes);
        files += 1;
    }
    assert!(files >= seeds().len());
}
