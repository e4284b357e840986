//! Points and scalars for the MSM's checks: bases with known logarithms, so that the expected sum of any MSM is one
//! multiple of the generator, at every size.

use crate::harness::Failure;
use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar};
use cuzk::backend::cuda::sys::{
    fixed_base, fixed_base_workspace_bytes, CudaError, Curve, DeviceBuffer, Stream, MSM_PARTS,
};
use ff::Field;
use group::{prime::PrimeCurveAffine, Group};
use rayon::prelude::*;
use std::fmt::Debug;

/// A canonical scalar, lowest word first.
pub type Words = [u64; 4];

/// r, lowest word first.
pub const ORDER: Words = [0xffff_ffff_0000_0001, 0x53bd_a402_fffe_5bfe, 0x3339_d808_09a1_d805, 0x73ed_a753_299d_7d48];

/// What the checks need of a group.
pub trait TestGroup: Sized {
    /// Which one.
    const CURVE: Curve;
    /// Its points on the host.
    type Point: Group<Scalar = Scalar> + Debug;
    /// Uncompressed bytes of a point.
    fn bytes(point: &Self::Point) -> Vec<u8>;
    /// The point of uncompressed bytes.
    fn point(bytes: &[u8]) -> Option<Self::Point>;
}

/// G1 with 96-byte points.
pub struct G1;
/// G2 with 192-byte points.
pub struct G2;

impl TestGroup for G1 {
    const CURVE: Curve = Curve::G1;
    type Point = G1Projective;
    fn bytes(point: &G1Projective) -> Vec<u8> {
        G1Affine::from(point).to_uncompressed().to_vec()
    }
    fn point(bytes: &[u8]) -> Option<G1Projective> {
        let affine: Option<G1Affine> = G1Affine::from_uncompressed_unchecked(bytes.try_into().ok()?).into();
        affine.map(|affine| affine.to_curve())
    }
}

impl TestGroup for G2 {
    const CURVE: Curve = Curve::G2;
    type Point = G2Projective;
    fn bytes(point: &G2Projective) -> Vec<u8> {
        G2Affine::from(point).to_uncompressed().to_vec()
    }
    fn point(bytes: &[u8]) -> Option<G2Projective> {
        let affine: Option<G2Affine> = G2Affine::from_uncompressed_unchecked(bytes.try_into().ok()?).into();
        affine.map(|affine| affine.to_curve())
    }
}

/// The points on the host of a buffer in device form.
pub fn host_points<T: TestGroup>(points: &DeviceBuffer<u8>, stream: &Stream) -> Result<Vec<T::Point>, Failure> {
    let decode = |bytes: &[u8]| T::point(bytes).ok_or_else(|| "no point".into());
    T::CURVE.store(points, stream)?.chunks_exact(T::CURVE.affine_bytes()).map(decode).collect()
}

/// A random word for each seed and index; the same at every call.
pub fn mix(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x632b_e59b_d9b4_e019);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A random scalar: 255 bits, or 254 where those are not below r.
pub fn random_scalar(seed: u64, index: u64) -> Words {
    let mut words: Words = std::array::from_fn(|i| mix(seed, 4 * index + i as u64));
    words[3] &= u64::MAX >> 1;
    if words[3] >= ORDER[3] {
        words[3] &= u64::MAX >> 2;
    }
    words
}

/// `count` of them.
pub fn random_scalars(seed: u64, count: usize) -> Vec<Words> {
    (0..count as u64).into_par_iter().map(|i| random_scalar(seed, i)).collect()
}

/// The scalar on the host.
pub fn scalar_of(words: &Words) -> Scalar {
    Option::from(Scalar::from_u64s_le(words)).expect("canonical")
}

/// The words of a scalar.
pub fn words_of(scalar: &Scalar) -> Words {
    let bytes = scalar.to_bytes_le();
    std::array::from_fn(|i| u64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap()))
}

/// Σ scalars[i] logs[i].
pub fn inner_product(scalars: &[Words], logs: &[Words]) -> Scalar {
    let products = scalars.par_iter().zip(logs).map(|(s, k)| scalar_of(s) * scalar_of(k));
    products.reduce(|| Scalar::ZERO, |a, b| a + b)
}

/// The points 2^(16 w) · generator in device form.
fn powers<T: TestGroup>(stream: &Stream) -> Result<DeviceBuffer<u8>, CudaError> {
    let mut point = T::Point::generator();
    let mut bytes = Vec::new();
    for _ in 0..16 {
        bytes.extend(T::bytes(&point));
        point = (0..16).fold(point, |p, _| p.double());
    }
    let stored = DeviceBuffer::from_slice(&bytes, stream)?;
    let (points, bad) = (DeviceBuffer::<u8>::new(bytes.len())?, DeviceBuffer::from_slice(&[u64::MAX], stream)?);
    // SAFETY: all buffers live until to_vec has waited.
    unsafe { T::CURVE.load(points.as_ptr(), stored.as_ptr(), 16, 0, bad.as_ptr().cast(), stream)? };
    assert_eq!(bad.to_vec(stream)?, [u64::MAX]);
    Ok(points)
}

/// Bases with the logarithms `logs`, made on the device.
pub fn bases_of<T: TestGroup>(logs: &[Words], stream: &Stream) -> Result<DeviceBuffer<u8>, CudaError> {
    let scalars = DeviceBuffer::from_slice(logs, stream)?;
    let powers = powers::<T>(stream)?;
    let bases = DeviceBuffer::<u8>::new(logs.len() * T::CURVE.affine_bytes())?;
    let workspace = DeviceBuffer::<u8>::new(fixed_base_workspace_bytes(T::CURVE) as usize)?;
    let space = (workspace.as_ptr(), workspace.bytes());
    // SAFETY: all buffers outlive the wait below.
    unsafe {
        let (powers, scalars, count) = (powers.as_ptr(), scalars.as_ptr(), logs.len() as u64);
        fixed_base(T::CURVE, powers, scalars, true, count, bases.as_ptr(), space, stream, None)?;
    }
    stream.wait()?;
    Ok(bases)
}

/// Room for the parts of an MSM.
pub fn parts_buffer(curve: Curve, stream: &Stream) -> Result<DeviceBuffer<u8>, CudaError> {
    let mut parts = DeviceBuffer::<u8>::new(MSM_PARTS * curve.affine_bytes())?;
    parts.fill(0xa5, stream)?;
    Ok(parts)
}

/// Fails unless the two are the same point.
pub fn expect_point<G: Group + Debug>(found: G, expected: G, what: impl std::fmt::Display) -> Result<(), Failure> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: {found:?}, expected {expected:?}").into())
    }
}
