//! A flipped bit anywhere in the vanilla bytes is INVALID, or decodes to the same value.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::{all_samples, Asked};
use crate::error::Status;

/// Bits flipped per sample, one at a time.
const FLIPS: usize = 300;

impl Asked {
    fn vanilla_bytes(&mut self) -> &mut Vec<u8> {
        match self {
            Asked::Porep(input) => &mut input.c1,
            Asked::Update(input) => &mut input.vanilla_proofs[0],
            Asked::Post(input) => &mut input.vanilla_proofs[0],
        }
    }
}

#[test]
fn flipped_bits() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for (name, mut asked) in all_samples() {
        let value = format!("{:?}", asked.check().unwrap());
        let bits = 8 * asked.vanilla_bytes().len() as u64;
        // The heads of the bytes hold counts and names; the rest is sampled.
        let positions = (0..FLIPS as u64 / 2).chain((0..FLIPS / 2).map(|_| rng.next_u64() % bits));
        for bit in positions.collect::<Vec<_>>() {
            asked.vanilla_bytes()[bit as usize / 8] ^= 1 << (bit % 8);
            match asked.check() {
                Ok(checked) => assert_eq!(format!("{checked:?}"), value, "{name}, bit {bit}: passed"),
                Err(error) => assert_eq!(error.status(), Status::Invalid, "{name}, bit {bit}: {error}"),
            }
            asked.vanilla_bytes()[bit as usize / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(format!("{:?}", asked.check().unwrap()), value, "{name}");
    }
}
