//! One flipped bit in every byte of one input per kind: each is INVALID within a second, or decodes to the same value.
//! Prints a table; a flip that passes with another value, panics or takes longer ends it with an error.
//!
//! Run: `cargo bench --bench vanilla_flips`. `src/circuit/tests/flips.rs` takes a sample of the same.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cuzk::vanilla::{samples_2kib, Input};
use cuzk::Status;
use rayon::prelude::*;

/// Longest that a refusal may take.
const LIMIT: Duration = Duration::from_secs(1);

/// The vanilla bytes of an input.
fn bytes(input: &mut Input) -> &mut Vec<u8> {
    match input {
        Input::Porep(input) => &mut input.c1,
        Input::Update(input) => &mut input.vanilla_proofs[0],
        Input::Post(input) => &mut input.vanilla_proofs[0],
    }
}

/// What became of a flip.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Refused,
    SameValue,
}

/// Flips one bit of byte `at`, a different one from byte to byte, and asks.
fn flip(input: &Input, at: usize, value: &str) -> (Outcome, Duration) {
    let mut input = input.clone();
    bytes(&mut input)[at] ^= 1 << (at % 8);
    let start = Instant::now();
    let outcome = match input.check() {
        Ok(checked) => {
            assert_eq!(format!("{checked:?}"), value, "byte {at}: accepted with another value");
            Outcome::SameValue
        }
        Err(error) => {
            assert_eq!(error.status(), Status::Invalid, "byte {at}: {error}");
            Outcome::Refused
        }
    };
    (outcome, start.elapsed())
}

fn main() {
    let samples = samples_2kib().expect("sealing works").clone();
    let kinds = [
        ("PoRep", Input::Porep(samples.porep)),
        ("SnapDeals", Input::Update(samples.update)),
        ("WindowPoSt", Input::Post(samples.window)),
        ("WinningPoSt", Input::Post(samples.winning)),
    ];
    println!(
        "{:<12} {:>8} {:>8} {:>11} {:>12} {:>8}",
        "kind", "bytes", "refused", "same value", "slowest ms", "seconds"
    );
    for (name, mut input) in kinds {
        let value = format!("{:?}", input.check().expect("the sample is true"));
        let count = bytes(&mut input).len();
        let start = Instant::now();
        let outcomes: Vec<_> = (0..count).into_par_iter().map(|at| flip(&input, at, &value)).collect();
        let slowest = outcomes.iter().map(|(_, took)| *took).max().unwrap_or_default();
        assert!(slowest < LIMIT, "{name}: a refusal took {slowest:?}");
        let mut counts = BTreeMap::new();
        for (outcome, _) in &outcomes {
            *counts.entry(*outcome).or_insert(0) += 1;
        }
        let of = |outcome| counts.get(&outcome).copied().unwrap_or(0);
        let (refused, same) = (of(Outcome::Refused), of(Outcome::SameValue));
        let seconds = start.elapsed().as_secs_f64();
        println!("{name:<12} {count:>8} {refused:>8} {same:>11} {:>12.1} {seconds:>8.1}", slowest.as_secs_f64() * 1e3);
    }
}
