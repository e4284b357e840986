//! What has to hold for any bytes that are opened as an SRS or as a `.vk` file. Run by the fuzz target and, on its
//! corpus, by `tests/srs/corpus.rs`; both have the module `srs` at their root.

use std::ops::ControlFlow;
use std::path::Path;

use blstrs::{G1Affine, G2Affine};

use crate::srs::{encode_points, Point, Section, SrsCheck, SrsFile, SrsOptions, VerifyingKey};

/// Opens `bytes` as a `.vk` file and as an SRS, the latter through the same function as a file. Whatever is accepted is
/// encoded to the same bytes, and no part of it is accepted by itself. Returns whether they are a whole, valid SRS.
pub fn check(bytes: &[u8]) -> bool {
    let name = Path::new("fuzz");
    if let Ok(vk) = VerifyingKey::from_bytes(bytes, name) {
        assert_eq!(vk.to_bytes(), bytes);
    }
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let open = |bytes: &[u8]| SrsFile::from_source(name, Box::new(bytes.to_vec()), &options);
    let Ok(srs) = open(bytes) else { return false };
    assert!(open(&bytes[..bytes.len() - 1]).is_err(), "the last byte is needed");
    let mut encoded = srs.vk().to_bytes();
    assert!(bytes.starts_with(&encoded));
    let g1 = [Section::H, Section::L, Section::A, Section::BG1];
    let loaded = g1.into_iter().all(|section| append::<G1Affine>(&srs, section, &mut encoded))
        && append::<G2Affine>(&srs, Section::BG2, &mut encoded);
    let mut last = 0;
    let verified = srs.verify(SrsCheck::Subgroup, None, &mut |percent| {
        assert!(last <= percent && percent <= 100);
        last = percent;
        ControlFlow::Continue(())
    });
    assert!(loaded || verified.is_err(), "a check of subgroups decodes each point");
    assert!(!loaded || encoded == bytes);
    assert_eq!(verified.is_ok(), last == 100);
    verified.is_ok()
}

/// Appends a section as a writer does, from its points. False if a point is refused.
fn append<P: Point>(srs: &SrsFile, section: Section, encoded: &mut Vec<u8>) -> bool {
    let count = srs.count(section) as usize;
    let mut points = vec![P::default(); count];
    let first = encoded.len() + 4;
    encoded.extend((count as u32).to_be_bytes());
    encoded.resize(first + count * P::BYTES, 0);
    let mut raw = vec![0; count * P::BYTES];
    srs.read(section, 0, &mut raw).expect("its length has been checked");
    let loaded = srs.read_points(section, 0, &mut points).is_ok();
    encode_points(&points, &mut encoded[first..]);
    assert!(!loaded || encoded[first..] == raw);
    loaded
}
