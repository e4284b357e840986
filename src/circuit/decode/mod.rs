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

/// Longest text of a decoder that is passed on.
const MAX_MESSAGE_CHARS: usize = 120;

/// Decodes a JSON document that must end where the bytes end. Errors: INVALID naming `field`.
pub fn from_json<'a, T: Deserialize<'a>>(field: &'static str, bytes: &'a [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| undecodable(field, &error.to_string()))
}

/// Decodes entry `index` of the list `field`, at most `max` bytes of bincode as filecoin-proofs-api writes it (fixed-size
/// integers, little-endian); all bytes must be used. Errors: INVALID naming `field` and `index`.
pub fn from_bincode<'a, T: Deserialize<'a>>(
    field: &'static str,
    index: usize,
    bytes: &'a [u8],
    max: usize,
) -> Result<T> {
    check_byte_limit(field, bytes.len(), max)
        .and_then(|()| {
            let options = bincode::DefaultOptions::new().with_fixint_encoding().with_limit(bytes.len() as u64);
            options.reject_trailing_bytes().deserialize(bytes).map_err(|error| match *error {
                bincode::ErrorKind::Io(_) | bincode::ErrorKind::SizeLimit => {
                    Error::invalid(field, format!("ends too early, after {} bytes", bytes.len()))
                }
                _ => undecodable(field, &error.to_string()),
            })
        })
        .map_err(|error| error.in_entry(index))
}

/// Refuses more than `max` bytes. Errors: INVALID naming `field`.
pub fn check_byte_limit(field: &'static str, count: usize, max: usize) -> Result<()> {
    match count <= max {
        true => Ok(()),
        false => Err(Error::invalid(field, format!("{count} bytes, at most {max} are read"))),
    }
}

/// INVALID, with the decoder's own text cut short and without what it quotes of the input: errors go to logs.
pub(super) fn undecodable(field: &'static str, message: &str) -> Error {
    // What stands behind the last "expected" are our own names.
    let split = message.rfind(", expected").unwrap_or(message.len());
    let found = without_quoted(&without_quoted(&message[..split], '"'), '`');
    let message = found + &message[split..];
    let mut reason: String = message.chars().take(MAX_MESSAGE_CHARS).collect();
    if reason.len() < message.len() {
        reason.push('…');
    }
    Error::invalid(field, reason)
}

/// `text` with an ellipsis for what stands between its first and its last `quote`.
fn without_quoted(text: &str, quote: char) -> String {
    match (text.find(quote), text.rfind(quote)) {
        (Some(first), Some(last)) if first < last => format!("{}…{}", &text[..=first], &text[last..]),
        _ => text.to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Known {
        #[allow(dead_code)]
        count: u32,
    }

    #[test]
    fn bincode_errors_name_the_entry() {
        let refused = |bytes: &[u8], max| from_bincode::<u32>("vanilla_proofs", 3, bytes, max).unwrap_err().to_string();
        assert_eq!(from_bincode::<u32>("vanilla_proofs", 3, &[1, 0, 0, 0], 4).unwrap(), 1);
        assert_eq!(refused(&[1, 0, 0], 4), "vanilla_proofs: [3]: ends too early, after 3 bytes");
        assert_eq!(refused(&[0; 5], 4), "vanilla_proofs: [3]: 5 bytes, at most 4 are read");
        assert!(refused(&[0; 5], 5).starts_with("vanilla_proofs: [3]: "));
    }

    #[test]
    fn errors_quote_nothing_of_the_input() {
        for text in [
            r#"{"count": "secret, expected \"secret"}"#,
            r#"{"secret, expected `secret`": 1}"#,
            r#"{"count": 1, "sec\"ret": 1}"#,
            r#"{"count": 1} secret"#,
        ] {
            let error = from_json::<Known>("c1", text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("c1") && error.contains("line 1"), "{error}");
            assert!(!error.contains("sec"), "{error}");
        }
    }
}
