//! Points as they stand in an SRS: affine, uncompressed, big-endian. Decoding checks them; all functions that take
//! slices spread over the rayon pool they are called from.

use blst::{blst_p1_affine_in_g1, blst_p1_deserialize, blst_p2_affine_in_g2, blst_p2_deserialize, BLST_ERROR};
use blstrs::{G1Affine, G2Affine};
use rayon::prelude::*;

use super::layout::{G1_BYTES, G2_BYTES};

/// Compressed, infinity and sign flags of an encoding's first byte. None is ever set in an SRS.
const FLAGS: u8 = 0xe0;

/// Points that one task decodes or checks: 4 ms of subgroup checks.
const TASK_POINTS: usize = 256;

/// Why a point was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointFault {
    /// The encoding is compressed.
    Compressed,
    /// The point at infinity, which no SRS contains.
    Infinity,
    /// A coordinate isn't below the field's modulus, or a reserved bit is set.
    Encoding,
    /// The point isn't on the curve.
    NotOnCurve,
    /// The point is on the curve, but not in the subgroup of prime order.
    NotInSubgroup,
}

/// A point of G1 or G2 as back ends and setup hold it.
pub trait Point: Copy + Send + Sync + Default {
    /// Bytes in the file.
    const BYTES: usize;

    /// Decodes one point and checks that it is on the curve and not at infinity. `bytes.len() == Self::BYTES`.
    fn decode(bytes: &[u8]) -> Result<Self, PointFault>;

    /// Writes the point's encoding. `out.len() == Self::BYTES`.
    fn encode(&self, out: &mut [u8]);

    /// Whether a point of the curve is in the subgroup of prime order.
    fn in_subgroup(&self) -> bool;
}

impl PointFault {
    /// What was expected where this was found.
    pub fn expected(self) -> &'static str {
        match self {
            PointFault::Compressed => "an uncompressed point",
            PointFault::Infinity => "a point other than infinity",
            PointFault::Encoding => "coordinates below the modulus",
            PointFault::NotOnCurve => "a point on the curve",
            PointFault::NotInSubgroup => "a point of the prime-order subgroup",
        }
    }

    /// What was found.
    pub fn found(self) -> &'static str {
        match self {
            PointFault::Compressed => "a compressed one",
            PointFault::Infinity => "infinity",
            PointFault::Encoding => "an invalid encoding",
            PointFault::NotOnCurve => "one beside it",
            PointFault::NotInSubgroup => "one outside it",
        }
    }
}

impl Point for G1Affine {
    const BYTES: usize = G1_BYTES as usize;

    fn decode(bytes: &[u8]) -> Result<Self, PointFault> {
        assert_eq!(bytes.len(), Self::BYTES);
        check_flags(bytes[0])?;
        let mut point = G1Affine::default();
        // SAFETY: `bytes` has the 96 bytes that are read, as asserted.
        check_blst(unsafe { blst_p1_deserialize(point.as_mut(), bytes.as_ptr()) })?;
        Ok(point)
    }

    fn encode(&self, out: &mut [u8]) {
        out.copy_from_slice(&self.to_uncompressed());
    }

    fn in_subgroup(&self) -> bool {
        // SAFETY: a reference to an initialised point.
        unsafe { blst_p1_affine_in_g1(self.as_ref()) }
    }
}

impl Point for G2Affine {
    const BYTES: usize = G2_BYTES as usize;

    fn decode(bytes: &[u8]) -> Result<Self, PointFault> {
        assert_eq!(bytes.len(), Self::BYTES);
        check_flags(bytes[0])?;
        let mut point = G2Affine::default();
        // SAFETY: `bytes` has the 192 bytes that are read, as asserted.
        check_blst(unsafe { blst_p2_deserialize(point.as_mut(), bytes.as_ptr()) })?;
        Ok(point)
    }

    fn encode(&self, out: &mut [u8]) {
        out.copy_from_slice(&self.to_uncompressed());
    }

    fn in_subgroup(&self) -> bool {
        // SAFETY: a reference to an initialised point.
        unsafe { blst_p2_affine_in_g2(self.as_ref()) }
    }
}

fn check_flags(first: u8) -> Result<(), PointFault> {
    match first & FLAGS {
        0 => Ok(()),
        flags if flags & 0x80 != 0 => Err(PointFault::Compressed),
        flags if flags & 0x40 != 0 => Err(PointFault::Infinity),
        _ => Err(PointFault::Encoding),
    }
}

fn check_blst(status: BLST_ERROR) -> Result<(), PointFault> {
    match status {
        BLST_ERROR::BLST_SUCCESS => Ok(()),
        BLST_ERROR::BLST_POINT_NOT_ON_CURVE => Err(PointFault::NotOnCurve),
        BLST_ERROR::BLST_POINT_NOT_IN_GROUP => Err(PointFault::NotInSubgroup),
        _ => Err(PointFault::Encoding),
    }
}

/// Decodes `out.len()` points, checked to be on the curve. `bytes.len() == out.len() × P::BYTES`.
/// Errors: the index of the first point that is refused, and why.
pub fn decode_points<P: Point>(bytes: &[u8], out: &mut [P]) -> Result<(), (u64, PointFault)> {
    assert_eq!(bytes.len(), out.len() * P::BYTES);
    first_fault(bytes.par_chunks(TASK_POINTS * P::BYTES).zip(out.par_chunks_mut(TASK_POINTS)).enumerate().filter_map(
        |(task, (bytes, out))| {
            let faults = bytes.chunks_exact(P::BYTES).zip(out).enumerate().filter_map(|(i, (bytes, out))| {
                P::decode(bytes).map(|point| *out = point).err().map(|fault| (i, fault))
            });
            in_task(task, faults)
        },
    ))
}

/// Checks points of the curve to be in the subgroup of prime order. Errors: the index of the first that isn't.
pub fn check_subgroup<P: Point>(points: &[P]) -> Result<(), (u64, PointFault)> {
    first_fault(points.par_chunks(TASK_POINTS).enumerate().filter_map(|(task, points)| {
        let outside = points.iter().enumerate().filter(|(_, point)| !point.in_subgroup());
        in_task(task, outside.map(|(i, _)| (i, PointFault::NotInSubgroup)))
    }))
}

/// Encodes points. `out.len() == points.len() × P::BYTES`.
pub fn encode_points<P: Point>(points: &[P], out: &mut [u8]) {
    assert_eq!(out.len(), points.len() * P::BYTES);
    out.par_chunks_mut(TASK_POINTS * P::BYTES).zip(points.par_chunks(TASK_POINTS)).for_each(|(out, points)| {
        out.chunks_exact_mut(P::BYTES).zip(points).for_each(|(out, point)| point.encode(out));
    });
}

fn in_task(task: usize, mut faults: impl Iterator<Item = (usize, PointFault)>) -> Option<(u64, PointFault)> {
    faults.next().map(|(i, fault)| ((task * TASK_POINTS + i) as u64, fault))
}

fn first_fault(faults: impl ParallelIterator<Item = (u64, PointFault)>) -> Result<(), (u64, PointFault)> {
    faults.min_by_key(|(index, _)| *index).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests;
