//! Where the multiples of a base point are computed.

use std::marker::PhantomData;

use blstrs::Scalar as Fr;

use super::fixed_base::{Base, FixedBase, PIECE};
#[cfg(any(cuda, feature = "testing"))]
use crate::backend::{
    cuda::{sys::Curve, CudaBackend},
    Backend,
};
use crate::error::Result;
use crate::srs::SrsWriter;
#[cfg(any(cuda, feature = "testing"))]
use crate::srs::{decode_points, Point};

/// Points that the host computes before they are written: 12 MiB in G1.
const HOST_WAVE: usize = 32 * PIECE;
/// Points that a device computes at a time: 96 MiB in G1.
#[cfg(any(cuda, feature = "testing"))]
const DEVICE_WAVE: usize = 1 << 20;

/// Where points are computed.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// (The lifetime needs a use in builds without devices.)
    Host(PhantomData<&'a ()>),
    #[cfg(any(cuda, feature = "testing"))]
    Device(&'a CudaBackend),
}

impl Place<'_> {
    pub(super) const HOST: Self = Place::Host(PhantomData);
}

/// Multiples of one base point.
pub(super) enum Multiplier<'a, G: Base> {
    Host(FixedBase<G>, PhantomData<&'a ()>),
    /// With the base's powers `2^(16 w) · base` as they are stored.
    #[cfg(any(cuda, feature = "testing"))]
    Device(&'a CudaBackend, Vec<u8>),
}

impl<'a, G: Base> Multiplier<'a, G> {
    /// For about `count` multiples of `base`, which must not be infinity.
    pub(super) fn new(place: Place<'a>, base: &G::Projective, count: u64) -> Self {
        match place {
            Place::Host(host) => Multiplier::Host(FixedBase::new(base, count), host),
            #[cfg(any(cuda, feature = "testing"))]
            Place::Device(device) => Multiplier::Device(device, powers::<G>(base)),
        }
    }

    /// Scalars that are best handed over at a time.
    pub(super) fn wave(&self) -> usize {
        match self {
            Multiplier::Host(..) => HOST_WAVE,
            #[cfg(any(cuda, feature = "testing"))]
            Multiplier::Device(..) => DEVICE_WAVE,
        }
    }

    pub(super) fn multiply(&self, scalars: &[Fr]) -> Result<Vec<G::Point>> {
        match self {
            Multiplier::Host(base, _) => Ok(base.multiply(scalars)),
            #[cfg(any(cuda, feature = "testing"))]
            Multiplier::Device(device, powers) => {
                let bytes = device.multiples(curve::<G>(), powers.clone(), scalars.to_vec())?;
                let mut points = vec![G::Point::default(); scalars.len()];
                decode_points(&bytes, &mut points).map_err(|(index, fault)| {
                    crate::error::Error::Internal(format!("multiple {index} on {}: {}", device.name(), fault.found()))
                })?;
                Ok(points)
            }
        }
    }

    /// Appends the multiples to the section that `writer` has begun.
    pub(super) fn write(&self, writer: &mut SrsWriter, scalars: Vec<Fr>) -> Result<()> {
        match self {
            Multiplier::Host(base, _) => writer.points(&base.multiply(&scalars)),
            #[cfg(any(cuda, feature = "testing"))]
            Multiplier::Device(device, powers) => {
                writer.encoded::<G::Point>(&device.multiples(curve::<G>(), powers.clone(), scalars)?)
            }
        }
    }
}

#[cfg(any(cuda, feature = "testing"))]
fn curve<G: Base>() -> Curve {
    if G::Point::BYTES == Curve::G1.affine_bytes() {
        Curve::G1
    } else {
        Curve::G2
    }
}

#[cfg(any(cuda, feature = "testing"))]
fn powers<G: Base>(base: &G::Projective) -> Vec<u8> {
    use group::Group as _;
    let mut power = *base;
    let mut bytes = vec![0; 16 * G::Point::BYTES];
    for place in bytes.chunks_exact_mut(G::Point::BYTES) {
        G::to_point(&G::normalize(&power)).encode(place);
        (0..16).for_each(|_| power = power.double());
    }
    bytes
}
