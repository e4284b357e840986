use blstrs::{G1Projective, G2Projective};
use group::{Curve, Group};

use super::*;
use crate::srs::{SrsOptions, VerifyingKey};

/// An SRS of one input and nothing else, and its bytes.
fn smallest() -> (SrsFile, Vec<u8>) {
    let (g1, g2) = (G1Projective::generator().to_affine(), G2Projective::generator().to_affine());
    let vk =
        VerifyingKey { alpha_g1: g1, beta_g1: g1, beta_g2: g2, gamma_g2: g2, delta_g1: g1, delta_g2: g2, ic: vec![g1] };
    let mut bytes = vk.to_bytes();
    for count in [0u32, 0, 1, 0, 0] {
        bytes.extend(count.to_be_bytes());
        bytes.extend(g1.to_uncompressed().repeat(count as usize));
    }
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    (SrsFile::from_source(Path::new("smallest"), Box::new(bytes.clone()), &options).unwrap(), bytes)
}

// The network's files are too large for a test, so the comparison is tested with a digest of our own.
#[test]
fn the_digest_is_that_of_the_whole_file() {
    let (srs, bytes) = smallest();
    let expected = &blake2b_simd::blake2b(&bytes).to_hex()[..32];
    let mut seen = Vec::new();
    let mut report = |percent| {
        seen.push(percent);
        ControlFlow::Continue(())
    };
    verify_digest(&srs, expected, &mut Progress { report: &mut report, done: 0, total: 0 }).unwrap();
    assert_eq!(seen, [0]);

    let mut report = |_| ControlFlow::Continue(());
    let other = "0".repeat(32);
    let mut progress = Progress { report: &mut report, done: 0, total: 0 };
    let Error::ParamsCorrupt(fault) = verify_digest(&srs, &other, &mut progress).unwrap_err() else {
        panic!("another error")
    };
    assert_eq!((fault.expected, fault.found), (format!("digest {other}"), format!("digest {expected}")));
}
