//! From what the device returns to [`Sums`]: on the caller's thread, a millisecond.

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective};
use group::prime::PrimeCurveAffine;
use group::Group;

use super::sys::{CudaError, Curve, MsmPlan, MSM_PARTS};
use crate::backend::Sums;
use crate::error::{Error, Result};

/// What one query's sums are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// H with L.
    HL,
    A,
    B2,
    #[cfg(feature = "testing")]
    B1,
}

impl Of {
    #[cfg(feature = "testing")]
    pub(super) const ALL: &'static [Of] = &[Of::HL, Of::A, Of::B2, Of::B1];
    #[cfg(not(feature = "testing"))]
    pub(super) const ALL: &'static [Of] = &[Of::HL, Of::A, Of::B2];

    /// What a build without tests computes.
    #[cfg(feature = "testing")]
    pub(super) const SHIPPED: &'static [Of] = &[Of::HL, Of::A, Of::B2];

    pub(super) const fn curve(self) -> Curve {
        match self {
            Of::B2 => Curve::G2,
            _ => Curve::G1,
        }
    }

    /// Where its results begin: first the sum of its ones, then the parts of its MSM.
    pub(super) const fn offset(self) -> u64 {
        let before = match self {
            Of::HL => 0,
            Of::A => 1,
            #[cfg(feature = "testing")]
            Of::B1 => 2,
            // Behind the places of G1, of which there may be three.
            Of::B2 => 3,
        };
        before * PLACE_G1
    }
}

const PLACE_G1: u64 = (1 + MSM_PARTS as u64) * 96;
/// Where the counts of ones stand, one u32 for each of L, A and B.
pub(super) const COUNTS: u64 = 3 * PLACE_G1 + (1 + MSM_PARTS as u64) * 192;
/// Bytes of all results.
pub(super) const RESULT_BYTES: u64 = COUNTS + 16;

/// The results of one assignment, as the device wrote them.
pub(super) struct RawSums {
    pub bytes: Vec<u8>,
    /// The sums that were computed, each with the plan of its MSM, if it had one.
    pub plans: Vec<(Of, Option<MsmPlan>)>,
}

impl RawSums {
    /// Errors: INTERNAL if a result is no point, which is a fault of the device.
    pub(super) fn sums(&self) -> Result<Sums> {
        let sums = || -> Result<Sums, CudaError> {
            Ok(Sums {
                h_l: self.sum(Of::HL, g1)?,
                a: self.sum(Of::A, g1)?,
                b_g2: self.sum(Of::B2, g2)?,
                #[cfg(feature = "testing")]
                b_g1: self.plans.iter().any(|(of, _)| *of == Of::B1).then(|| self.sum(Of::B1, g1)).transpose()?,
            })
        };
        sums().map_err(|error| Error::Internal(error.to_string()))
    }

    fn sum<G: Group>(&self, of: Of, point: fn(&[u8]) -> Option<G>) -> Result<G, CudaError> {
        let point_bytes = of.curve().affine_bytes();
        let first = of.offset() as usize;
        let ones = &self.bytes[first..first + point_bytes];
        let ones = point(ones).ok_or_else(|| CudaError {
            code: super::sys::INVALID,
            message: format!("the device's sum of ones of {of:?} is no point"),
        })?;
        let plan = self.plans.iter().find(|(other, _)| *other == of).and_then(|(_, plan)| *plan);
        let parts = &self.bytes[first + point_bytes..first + point_bytes * (1 + MSM_PARTS)];
        Ok(match plan {
            Some(plan) => ones + plan.combine(parts, point)?,
            None => ones,
        })
    }
}

fn g1(bytes: &[u8]) -> Option<G1Projective> {
    let affine: Option<G1Affine> = G1Affine::from_uncompressed_unchecked(bytes.try_into().ok()?).into();
    affine.map(|affine| affine.to_curve())
}

fn g2(bytes: &[u8]) -> Option<G2Projective> {
    let affine: Option<G2Affine> = G2Affine::from_uncompressed_unchecked(bytes.try_into().ok()?).into();
    affine.map(|affine| affine.to_curve())
}
