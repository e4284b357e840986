//! Inputs: vanilla proofs of all four kinds, made by sealing a small sector through filecoin-proofs-api, or at every size
//! without a sector ([`sectorless`]).
//!
//! For the tool `cuzk gen-vanilla`, for tests and for benches; proving needs none of it. What is made is the same for the
//! same [`SectorSpec`], on every machine.
//!
//! | input | struct | made from |
//! |---|---|---|
//! | PoRep C1 output | [`PorepInput`] | [`SealedSector::porep`] |
//! | SnapDeals partition proofs | [`UpdateInput`] | [`SealedSector::update`] |
//! | WindowPoSt, WinningPoSt sector proofs | [`PostInput`] | [`post`] |

mod input;
mod post;
mod samples;
mod seal;
pub mod sectorless;
mod update;

pub use input::{Input, PorepInput, PostInput, PostSector, UpdateInput, MAX_INPUT_BYTES};
pub use post::post;
pub use samples::{samples_2kib, Samples};
pub use seal::{SealedSector, SectorSpec};

use std::fmt::Display;

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore, SeedableRng};

use crate::error::Error;

/// 32 bytes that depend on `seed` and `purpose` alone. The top two bits of byte 31 are clear, so that the value is below
/// the scalar field's order, as PoSt randomness must be.
fn derived_bytes(seed: u64, purpose: &[u8]) -> [u8; 32] {
    let mut bytes = [0; 32];
    derived_rng(seed, purpose).fill_bytes(&mut bytes);
    bytes[31] &= 0x3f;
    bytes
}

/// The random stream behind [`derived_bytes`].
fn derived_rng(seed: u64, purpose: &[u8]) -> ChaCha20Rng {
    let hash = blake2b_simd::Params::new().hash_length(32).key(purpose).hash(&seed.to_le_bytes());
    let mut key = [0; 32];
    key.copy_from_slice(hash.as_bytes());
    ChaCha20Rng::from_seed(key)
}

/// A step of the reference implementation that failed.
fn failed(step: &'static str) -> impl Fn(anyhow::Error) -> Error {
    move |error| Error::Internal(format!("{step}: {error:#}"))
}

/// A file operation that failed.
fn io_failed<'a>(what: impl Display + 'a) -> impl Fn(std::io::Error) -> Error + 'a {
    move |error| Error::Internal(format!("{what}: {error}"))
}
