//! Many multiples of one point, for setup.

use blstrs::Scalar as Fr;

use super::device::Device;
use super::fault::{Fault, Outcome};
use super::owner::Asker;
use super::plan::FR;
use super::sys::{self, fixed_base, fixed_base_workspace_bytes, fr_from_montgomery, Curve};
use crate::error::Error;

/// Powers of the base that the kernel takes: 2^(16 w) · B.
pub(super) const POWERS: u64 = 16;

/// A question for `scalar · B` for many scalars.
pub(super) struct Multiples {
    pub curve: Curve,
    /// [`POWERS`] points, as an SRS stores them.
    pub powers: Vec<u8>,
    pub scalars: Vec<Fr>,
}

/// The multiples, as an SRS stores them.
pub(super) fn multiples(device: &Device, asker: &Asker<'_>, of: &Multiples) -> Outcome<Vec<u8>> {
    let (count, point) = (of.scalars.len() as u64, of.curve.affine_bytes() as u64);
    let workspace = fixed_base_workspace_bytes(of.curve);
    let sizes = [POWERS * point, POWERS * point, FR * count, point * count, point * count, workspace, 8];
    let mut end = 0;
    let places = sizes.map(|size| {
        let at = end;
        end += size.next_multiple_of(256);
        at
    });
    let memory = device.arena.reserve("setup", end)?;
    let at = |which: usize| memory.at(places[which], sizes[which]);
    let [raw, powers, scalars, points, bytes, workspace, bad] = [0, 1, 2, 3, 4, 5, 6].map(at);
    let lane = asker.lane();
    let mut found = u64::MAX;
    let mut out = vec![0; (point * count) as usize];
    let poll = asker.poll();
    // SAFETY: all places are of the reservation, which lives until the stream has been waited for.
    unsafe {
        sys::fill(bad, 0xff, 8, &lane.main)?;
        device.upload(lane, raw, &of.powers, &mut asker.waiting())?;
        device.upload(lane, scalars, scalar_bytes(&of.scalars), &mut asker.waiting())?;
        of.curve.load(powers, raw, POWERS, 0, bad.cast(), &lane.main)?;
        fr_from_montgomery(scalars, scalars, count, &lane.main)?;
        let space = (workspace, sizes[5]);
        fixed_base(of.curve, powers, scalars, false, count, points, space, &lane.main, Some(&poll))
            .map_err(|error| asker.explain(error.into()))?;
        of.curve.store_at(bytes, points, count, &lane.main)?;
        sys::copy(out.as_mut_ptr().cast(), bytes, point * count, &lane.main)?;
        sys::copy((&raw mut found).cast(), bad, 8, &lane.main)?;
    }
    lane.main.wait()?;
    match found {
        u64::MAX => Ok(out),
        _ => Err(Fault::Other(Error::invalid("base", "it is no point of the curve"))),
    }
}

/// Scalars as they lie in memory: Montgomery form.
pub(super) fn scalar_bytes(scalars: &[Fr]) -> &[u8] {
    const _: () = assert!(size_of::<Fr>() as u64 == FR);
    // SAFETY: a Scalar is four u64 without padding.
    unsafe { std::slice::from_raw_parts(scalars.as_ptr().cast(), size_of_val(scalars)) }
}
