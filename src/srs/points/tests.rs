use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use group::{prime::PrimeCurveAffine, Curve, Group};

use super::*;

/// The modulus of Fp, big-endian.
const MODULUS: [u8; 48] = [
    0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7, //
    0x64, 0x77, 0x4b, 0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, //
    0x1e, 0xab, 0xff, 0xfe, 0xb1, 0x53, 0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab,
];

fn multiples<G: Group + Curve>(count: usize) -> Vec<G::AffineRepr> {
    let steps = std::iter::successors(Some(G::generator()), |point| Some(*point + G::generator()));
    steps.take(count).map(|point| point.to_affine()).collect()
}

fn encoded<P: Point>(points: &[P]) -> Vec<u8> {
    let mut bytes = vec![0; points.len() * P::BYTES];
    encode_points(points, &mut bytes);
    bytes
}

fn there_and_back<P: Point + PartialEq + std::fmt::Debug>(points: &[P]) {
    let mut back = vec![P::default(); points.len()];
    decode_points(&encoded(points), &mut back).unwrap();
    assert_eq!(back, points);
    check_subgroup(points).unwrap();
}

#[test]
fn decoding_inverts_encoding_around_the_size_of_a_task() {
    let (g1, g2) = (multiples::<G1Projective>(2 * TASK_POINTS + 1), multiples::<G2Projective>(TASK_POINTS + 1));
    for count in [0, 1, 2, TASK_POINTS - 1, TASK_POINTS, TASK_POINTS + 1, 2 * TASK_POINTS + 1] {
        there_and_back::<G1Affine>(&g1[..count]);
    }
    for count in [0, 1, TASK_POINTS, TASK_POINTS + 1] {
        there_and_back::<G2Affine>(&g2[..count]);
    }
}

#[test]
fn the_first_of_several_faults_is_named() {
    let points = multiples::<G1Projective>(3 * TASK_POINTS);
    let mut bytes = encoded::<G1Affine>(&points);
    let mut back = vec![G1Affine::default(); points.len()];
    for index in [2 * TASK_POINTS + 5, TASK_POINTS + 3, TASK_POINTS + 2, 0] {
        bytes[index * 96 + 95] ^= 1;
        assert_eq!(decode_points(&bytes, &mut back), Err((index as u64, PointFault::NotOnCurve)));
    }
}

#[test]
fn coordinates_at_or_above_the_modulus_are_refused() {
    let mut g1 = [0; 96];
    G1Affine::generator().encode(&mut g1);
    let mut g2 = [0; 192];
    G2Affine::generator().encode(&mut g2);
    for at in [0, 48] {
        let mut bytes = g1;
        bytes[at..at + 48].copy_from_slice(&MODULUS);
        assert_eq!(G1Affine::decode(&bytes), Err(PointFault::Encoding));
    }
    for at in [0, 48, 96, 144] {
        let mut bytes = g2;
        bytes[at..at + 48].copy_from_slice(&MODULUS);
        assert_eq!(G2Affine::decode(&bytes), Err(PointFault::Encoding), "coordinate at {at}");
        bytes[at] = 0xff;
        assert!(G2Affine::decode(&bytes).is_err());
    }
    // Reserved bits on the coordinates behind the first.
    let mut bytes = g1;
    bytes[48] |= 0x20;
    assert_eq!(G1Affine::decode(&bytes), Err(PointFault::Encoding));
}

#[test]
fn flags_are_refused() {
    let mut bytes = [0; 96];
    G1Affine::generator().encode(&mut bytes);
    let with_flags = |flags: u8| {
        let mut bytes = bytes;
        bytes[0] |= flags;
        G1Affine::decode(&bytes).unwrap_err()
    };
    assert_eq!(with_flags(0x80), PointFault::Compressed);
    assert_eq!(with_flags(0xe0), PointFault::Compressed);
    assert_eq!(with_flags(0x40), PointFault::Infinity);
    assert_eq!(with_flags(0x20), PointFault::Encoding);
    assert_eq!(G1Affine::decode(&[0; 96]), Err(PointFault::NotOnCurve));
    assert_eq!(G2Affine::decode(&[0; 192]), Err(PointFault::NotOnCurve));
}

#[test]
fn a_point_of_order_three_is_not_in_the_subgroup() {
    // (0, 2) satisfies y² = x³ + 4.
    let mut bytes = [0; 96];
    bytes[95] = 2;
    assert_eq!(G1Affine::decode(&bytes), Err(PointFault::NotInSubgroup));
}
