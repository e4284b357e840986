//! Typed decoding of vanilla proofs, from JSON and bincode, within hard limits.
//!
//! Every list has a largest length that is checked before it grows, every hash must be a canonical field element, and
//! unknown fields and trailing bytes are refused. What comes out has bounded size, whatever went in.

mod list;
mod merkle;
mod node;

pub use list::List;
pub use merkle::{poseidon, sha256, MerklePath, TreeShape};
pub use node::Node;

use bincode::Options;
use serde::Deserialize;

use crate::error::{Error, Result};

/// Longest text of a decoder that is passed on: messages may quote the input.
const MAX_MESSAGE_CHARS: usize = 120;

/// Decodes a JSON document that must end where the bytes end. Errors: INVALID naming `field`.
pub fn from_json<'a, T: Deserialize<'a>>(field: &'static str, bytes: &'a [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| undecodable(field, &error.to_string()))
}

/// Decodes bincode as filecoin-proofs-api writes it (fixed-size integers, little-endian); all bytes must be used.
/// Errors: INVALID naming `field`.
pub fn from_bincode<'a, T: Deserialize<'a>>(field: &'static str, bytes: &'a [u8]) -> Result<T> {
    bincode::DefaultOptions::new()
        .with_fixint_encoding()
        .with_limit(bytes.len() as u64)
        .reject_trailing_bytes()
        .deserialize(bytes)
        .map_err(|error| undecodable(field, &error.to_string()))
}

/// Refuses more than `max` bytes. Errors: INVALID naming `field`.
pub fn check_byte_limit(field: &'static str, count: usize, max: usize) -> Result<()> {
    match count <= max {
        true => Ok(()),
        false => Err(Error::invalid(field, format!("{count} bytes, at most {max} are read"))),
    }
}

/// INVALID, with the decoder's own text cut short.
pub(super) fn undecodable(field: &'static str, message: &str) -> Error {
    let mut reason: String = message.chars().take(MAX_MESSAGE_CHARS).collect();
    if reason.len() < message.len() {
        reason.push('…');
    }
    Error::invalid(field, reason)
}

/// Where in a request a vanilla proof stands.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Field of the request.
    pub field: &'static str,
    /// Partition, or position in the list of vanilla proofs.
    pub partition: usize,
    /// Challenge in it.
    pub challenge: usize,
}

impl Place {
    /// Turns a failed check of `part` into INVALID.
    pub fn require(self, part: &'static str, check: Check) -> Result<()> {
        let Place { field, partition, challenge } = self;
        check.map_err(|reason| Error::invalid(field, format!("[{partition}][{challenge}].{part}: {reason}")))
    }
}

/// A check's outcome; the text says what is wrong.
pub type Check = std::result::Result<(), String>;

/// Passes if `holds`.
pub fn ensure(holds: bool, reason: impl FnOnce() -> String) -> Check {
    match holds {
        true => Ok(()),
        false => Err(reason()),
    }
}

/// Passes if a list has the length `expected`.
pub fn ensure_count(found: usize, expected: usize) -> Check {
    ensure(found == expected, || format!("{found} entries instead of {expected}"))
}
