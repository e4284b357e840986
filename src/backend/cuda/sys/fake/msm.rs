//! cuda/exports/msm.h on the host: one part, one window, blst's sums.

use std::ffi::c_void;

use blstrs::{G1Affine, G1Projective, G2Affine, G2Projective, Scalar as Fr};
use ff::PrimeField;
use group::prime::{PrimeCurve, PrimeCurveAffine};
use group::{Curve as _, UncompressedEncoding};

use super::call;
use super::kernels::{ask, device, device_mut};
use crate::backend::cuda::sys::{MsmTerm, Poll, Status, INVALID, WORKSPACE};

/// `czk_msm_plan_t`.
#[repr(C)]
struct RawPlan {
    group: i32,
    keep: i32,
    windows: u32,
    windows_together: u32,
    count_max: u64,
    chunk_items: u64,
    slots: u64,
    sort_bytes: u64,
    workspace_bytes: u64,
}

/// Some workspace, so that it has to be there.
fn workspace_bytes(count: u64) -> u64 {
    4096 + 64 * count
}

trait Curve: PrimeCurve<Scalar = Fr> {
    fn msm(points: &[Self], scalars: &[Fr]) -> Self;
}

impl Curve for G1Projective {
    fn msm(points: &[Self], scalars: &[Fr]) -> Self {
        Self::multi_exp(points, scalars)
    }
}

impl Curve for G2Projective {
    fn msm(points: &[Self], scalars: &[Fr]) -> Self {
        Self::multi_exp(points, scalars)
    }
}

/// Writes a point in uncompressed bytes.
fn write<G: Curve>(to: *mut c_void, sum: &G) -> Result<(), i32>
where
    G::Affine: UncompressedEncoding,
{
    let wrong = if super::is_corrupt() { *sum + G::generator() } else { *sum };
    let bytes = wrong.to_affine().to_uncompressed();
    let bytes = bytes.as_ref();
    // SAFETY: bytes of device memory.
    unsafe { device_mut::<u8>(to, bytes.len() as u64)? }.copy_from_slice(bytes);
    Ok(())
}

#[no_mangle]
extern "C" fn czk_msm_plan(
    group: i32,
    keep: i32,
    count_max: u64,
    budget_bytes: u64,
    _windows: u32,
    _together: u32,
    plan: *mut c_void,
) -> Status {
    let needed = workspace_bytes(count_max);
    if needed > budget_bytes {
        return super::status(INVALID);
    }
    let raw = RawPlan {
        group,
        keep,
        windows: 1,
        windows_together: 1,
        count_max: count_max.max(1),
        chunk_items: count_max,
        slots: 0,
        sort_bytes: 0,
        workspace_bytes: needed,
    };
    // SAFETY: the pointer is to the interface's struct, whose layout RawPlan has.
    unsafe { plan.cast::<RawPlan>().write(raw) };
    super::status(0)
}

/// Scalar `i` of `count`.
fn scalar(scalars: *const c_void, canonical: bool, i: usize, count: u64) -> Result<Fr, i32> {
    // SAFETY: 32 bytes each, in device form where they aren't canonical.
    unsafe {
        match canonical {
            true => Option::from(Fr::from_repr(device::<[u8; 32]>(scalars, count)?[i])).ok_or(INVALID),
            false => Ok(device::<Fr>(scalars, count)?[i]),
        }
    }
}

fn sum_terms<G: Curve>(terms: &[MsmTerm]) -> Result<G, i32>
where
    G::Affine: PrimeCurveAffine<Curve = G>,
{
    let (mut points, mut scalars) = (Vec::new(), Vec::new());
    for term in terms {
        // SAFETY: what the load kernels wrote, and scalars in device form.
        let bases = unsafe { device::<G::Affine>(term.bases, term.base_count)? };
        for i in 0..term.count as usize {
            let value = scalar(term.scalars, term.canonical != 0, i, term.count)?;
            let index = match term.indices.is_null() {
                true => i,
                // SAFETY: a list of `count` numbers.
                false => (unsafe { device::<u32>(term.indices.cast(), term.count)? })[i] as usize,
            };
            let base = bases.get(index).ok_or(super::ILLEGAL_ADDRESS)?;
            if !bool::from(base.is_identity()) {
                points.push(base.to_curve());
                scalars.push(value);
            }
        }
    }
    Ok(if points.is_empty() { G::identity() } else { G::msm(&points, &scalars) })
}

#[no_mangle]
extern "C" fn czk_msm_run(
    plan: *const c_void,
    terms: *const MsmTerm,
    term_count: u32,
    workspace: *mut c_void,
    _streams: *const c_void,
    poll: *const Poll,
    _trace: *mut c_void,
    parts: *mut c_void,
) -> Status {
    call("msm_run", || {
        // SAFETY: valid for the call, as the interface says.
        let (plan, terms) =
            unsafe { (&*plan.cast::<RawPlan>(), std::slice::from_raw_parts(terms, term_count as usize)) };
        if terms.iter().map(|term| term.count).sum::<u64>() > plan.count_max || terms.len() > 4 {
            return Err(INVALID);
        }
        // SAFETY: bytes of device memory.
        unsafe { device_mut::<u8>(workspace, plan.workspace_bytes)? }.fill(0x3c);
        ask(poll)?;
        match plan.group {
            1 => write(parts, &sum_terms::<G1Projective>(terms)?)?,
            _ => write(parts, &sum_terms::<G2Projective>(terms)?)?,
        }
        for term in terms.iter().filter(|term| term.consumed != 0) {
            // SAFETY: bytes of device memory, which nobody needs afterwards.
            unsafe { device_mut::<u8>(term.scalars.cast_mut(), 32 * term.count)? }.fill(0xa7);
        }
        ask(poll)
    })
}

#[no_mangle]
extern "C" fn czk_msm_add(
    _plan: *const c_void,
    _first: i32,
    _terms: *const MsmTerm,
    _term_count: u32,
    _workspace: *mut c_void,
    _streams: *const c_void,
    _poll: *const Poll,
    _trace: *mut c_void,
) -> Status {
    // Only keeping plans are added to, and nothing above makes one.
    call("msm_add", || Err(INVALID))
}

#[no_mangle]
extern "C" fn czk_msm_end(
    _plan: *const c_void,
    _workspace: *mut c_void,
    _streams: *const c_void,
    _poll: *const Poll,
    _trace: *mut c_void,
    _parts: *mut c_void,
) -> Status {
    call("msm_end", || Err(INVALID))
}

#[no_mangle]
extern "C" fn czk_msm_exponents(_plan: *const c_void, exponents: *mut u32, count: *mut u32) -> Status {
    // SAFETY: both pointers are valid, as the interface says.
    unsafe {
        *exponents = 0;
        *count = 1;
    }
    super::status(0)
}

#[no_mangle]
extern "C" fn czk_ones_workspace_bytes(word_count: u64) -> u64 {
    8 * word_count + 256
}

#[no_mangle]
extern "C" fn czk_ones_indices(
    bits: *const u64,
    density: *const u64,
    without: *const u64,
    word_count: u64,
    indices: *mut u32,
    index_max: u64,
    count: *mut u32,
    workspace: *mut c_void,
    workspace_bytes: u64,
    _stream: *mut c_void,
) -> Status {
    call("ones_indices", || {
        if workspace_bytes < czk_ones_workspace_bytes(word_count) {
            return Err(WORKSPACE);
        }
        // SAFETY: bitmaps of `word_count` words, or null; a list with room for `index_max` numbers.
        let (bits, density, without, list, count) = unsafe {
            device_mut::<u8>(workspace, workspace_bytes)?.fill(0x3c);
            let map = |words: *const u64| {
                if words.is_null() {
                    Ok(None)
                } else {
                    device::<u64>(words.cast(), word_count).map(Some)
                }
            };
            let bits = device::<u64>(bits.cast(), word_count)?;
            let list = device_mut::<u32>(indices.cast(), index_max)?;
            (bits, map(density)?, map(without)?, list, &mut device_mut::<u32>(count.cast(), 1)?[0])
        };
        let bit = |words: &[u64], j: usize| words[j / 64] >> (j % 64) & 1 == 1;
        let (mut rank, mut found) = (0, 0);
        for j in 0..64 * bits.len() {
            let dense = density.is_none_or(|words| bit(words, j));
            if dense && bit(bits, j) && !without.is_some_and(|words| bit(words, j)) {
                if let Some(place) = list.get_mut(found) {
                    *place = rank;
                }
                found += 1;
            }
            rank += u32::from(dense);
        }
        *count = found as u32;
        Ok(())
    })
}

#[no_mangle]
extern "C" fn czk_sum_workspace_bytes(_group: i32, count: u64) -> u64 {
    4096 + 16 * count
}

fn sum<G: Curve>(bases: *const c_void, indices: *const u32, count: u64) -> Result<G, i32>
where
    G::Affine: PrimeCurveAffine<Curve = G>,
{
    let mut sum = G::identity();
    for i in 0..count {
        let index = match indices.is_null() {
            true => i,
            // SAFETY: a list of `count` numbers.
            false => u64::from((unsafe { device::<u32>(indices.cast(), count)? })[i as usize]),
        };
        // SAFETY: what the load kernels wrote.
        let points = unsafe { device::<G::Affine>(bases, index + 1)? };
        sum += points[index as usize];
    }
    Ok(sum)
}

#[no_mangle]
extern "C" fn czk_sum(
    group: i32,
    bases: *const c_void,
    indices: *const u32,
    count: u64,
    workspace: *mut c_void,
    workspace_bytes: u64,
    _stream: *mut c_void,
    poll: *const Poll,
    to: *mut c_void,
) -> Status {
    call("sum", || {
        // SAFETY: bytes of device memory.
        unsafe { device_mut::<u8>(workspace, workspace_bytes)? }.fill(0x3c);
        ask(poll)?;
        match group {
            1 => write(to, &sum::<G1Projective>(bases, indices, count)?),
            _ => write(to, &sum::<G2Projective>(bases, indices, count)?),
        }
    })
}

#[no_mangle]
extern "C" fn czk_fixed_base_workspace_bytes(_group: i32) -> u64 {
    4096
}

fn multiples<P>(
    powers: *const c_void,
    scalars: *const c_void,
    canonical: bool,
    count: u64,
    out: *mut c_void,
) -> Result<(), i32>
where
    P: PrimeCurveAffine<Scalar = Fr>,
    P::Curve: group::Curve<AffineRepr = P>,
{
    // SAFETY: points in device form; 32 bytes a scalar; the output is overwritten.
    let (base, out) = unsafe { (device::<P>(powers, 16)?[0], device_mut::<P>(out, count)?) };
    for (i, out) in out.iter_mut().enumerate() {
        *out = (base * scalar(scalars, canonical, i, count)?).to_affine();
    }
    Ok(())
}

#[no_mangle]
extern "C" fn czk_fixed_base(
    group: i32,
    powers: *const c_void,
    scalars: *const c_void,
    canonical: i32,
    count: u64,
    points: *mut c_void,
    _workspace: *mut c_void,
    _workspace_bytes: u64,
    _stream: *mut c_void,
    poll: *const Poll,
) -> Status {
    call("fixed_base", || {
        ask(poll)?;
        match group {
            1 => multiples::<G1Affine>(powers, scalars, canonical != 0, count, points),
            _ => multiples::<G2Affine>(powers, scalars, canonical != 0, count, points),
        }
    })
}
