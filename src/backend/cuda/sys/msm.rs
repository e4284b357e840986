//! cuda/exports/msm.h: MSM, sums of selected points, fixed-base multiplication.

use super::{CudaError, Curve, Event, Poll, Status, Stream};
use group::Group;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// Most terms in one MSM.
pub const MSM_TERMS: usize = 4;
/// Room, in points, for the parts of an MSM.
pub const MSM_PARTS: usize = 256;

fn group_of(curve: Curve) -> i32 {
    match curve {
        Curve::G1 => 1,
        Curve::G2 => 2,
    }
}

/// `czk_msm_term_t`: `count` scalars, of which the i-th belongs to base i, or to base `indices[i]` where there are
/// indices. All device pointers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MsmTerm {
    /// Affine points in device form.
    pub bases: *const c_void,
    /// Number of bases: every index is below it.
    pub base_count: u64,
    /// Null, or `count` numbers of bases.
    pub indices: *const u32,
    /// `count` scalars of 32 bytes, which may be overwritten if they are `consumed`.
    pub scalars: *const c_void,
    /// Number of scalars.
    pub count: u64,
    /// 1: the scalars are canonical, little-endian; 0: in device form.
    pub canonical: i32,
    /// 1: nobody needs the scalars afterwards, and they may be overwritten, which is faster. 0: they stay.
    pub consumed: i32,
}

/// `czk_msm_plan_t`: windows, chunks and workspace of an MSM.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MsmPlan {
    group: i32,
    keep: i32,
    /// Number of windows that the 255 bits are shared out among.
    pub windows: u32,
    /// Windows that are sorted and summed as one.
    pub windows_together: u32,
    count_max: u64,
    /// Digits that one pass of the tree takes.
    pub chunk_items: u64,
    slots: u64,
    sort_bytes: u64,
    /// Size of the workspace.
    pub workspace_bytes: u64,
}

#[repr(C)]
struct RawStreams {
    stream: *mut c_void,
    side_stream: *mut c_void,
    events: [*mut c_void; 2],
}

/// Where an MSM runs: everything on `stream`, or every other chunk beside it on `side`.
pub struct MsmStreams<'a> {
    /// The result is complete when this stream gets there.
    pub stream: &'a Stream,
    /// A second stream, for every other chunk.
    pub side: Option<&'a Stream>,
    /// Recorded to order the two.
    pub events: &'a [Event; 2],
}

impl MsmStreams<'_> {
    fn raw(&self) -> RawStreams {
        RawStreams {
            stream: self.stream.as_ptr(),
            side_stream: self.side.map_or(null_mut(), Stream::as_ptr),
            events: [self.events[0].as_ptr(), self.events[1].as_ptr()],
        }
    }
}

/// A phase of an MSM, for [`MsmTrace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MsmPhase {
    /// Counting and cutting digits.
    Digits,
    /// Sorting them, and finding where buckets begin.
    Sort,
    /// Adding up the buckets.
    Accumulate,
    /// Weighted sums of buckets.
    Reduce,
}

#[repr(C)]
struct RawTrace {
    events: *mut *mut c_void,
    phases: *mut u8,
    capacity: u32,
    used: u32,
}

/// Times of an MSM's phases: reusable room for up to `capacity` entries.
pub struct MsmTrace {
    owners: Vec<Event>,
    events: Vec<*mut c_void>,
    phases: Vec<u8>,
    used: u32,
}

impl MsmTrace {
    /// Room for `capacity` phases; later ones are not timed.
    pub fn new(capacity: usize) -> Result<Self, CudaError> {
        let owners = (0..2 * capacity).map(|_| Event::timing()).collect::<Result<Vec<_>, _>>()?;
        let events = owners.iter().map(Event::as_ptr).collect();
        Ok(Self { owners, events, phases: vec![0; capacity], used: 0 })
    }

    /// Forgets what was recorded.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Milliseconds spent in `phase`, once the streams have been waited for.
    pub fn ms(&self, phase: MsmPhase) -> Result<f64, CudaError> {
        let mut total = 0.0;
        for entry in 0..self.used as usize {
            if self.phases[entry] == phase as u8 {
                total += f64::from(self.owners[2 * entry + 1].ms_since(&self.owners[2 * entry])?);
            }
        }
        Ok(total)
    }

    fn raw(&mut self) -> RawTrace {
        let capacity = self.phases.len() as u32;
        RawTrace { events: self.events.as_mut_ptr(), phases: self.phases.as_mut_ptr(), capacity, used: self.used }
    }
}

extern "C" {
    fn czk_msm_plan(
        group: i32,
        keep: i32,
        count_max: u64,
        budget_bytes: u64,
        windows: u32,
        together: u32,
        plan: *mut MsmPlan,
    ) -> Status;
    fn czk_msm_run(
        plan: *const MsmPlan,
        terms: *const MsmTerm,
        term_count: u32,
        workspace: *mut c_void,
        streams: *const RawStreams,
        poll: *const Poll,
        trace: *mut RawTrace,
        parts: *mut c_void,
    ) -> Status;
    fn czk_msm_add(
        plan: *const MsmPlan,
        first: i32,
        terms: *const MsmTerm,
        term_count: u32,
        workspace: *mut c_void,
        streams: *const RawStreams,
        poll: *const Poll,
        trace: *mut RawTrace,
    ) -> Status;
    fn czk_msm_end(
        plan: *const MsmPlan,
        workspace: *mut c_void,
        streams: *const RawStreams,
        poll: *const Poll,
        trace: *mut RawTrace,
        parts: *mut c_void,
    ) -> Status;
    fn czk_msm_exponents(plan: *const MsmPlan, exponents: *mut u32, part_count: *mut u32) -> Status;
    fn czk_ones_workspace_bytes(word_count: u64) -> u64;
    fn czk_ones_indices(
        bits: *const u64,
        density: *const u64,
        without: *const u64,
        word_count: u64,
        indices: *mut u32,
        index_max: u64,
        count: *mut u32,
        workspace: *mut c_void,
        workspace_bytes: u64,
        stream: *mut c_void,
    ) -> Status;
    fn czk_sum_workspace_bytes(group: i32, count: u64) -> u64;
    fn czk_sum(
        group: i32,
        bases: *const c_void,
        indices: *const u32,
        count: u64,
        workspace: *mut c_void,
        workspace_bytes: u64,
        stream: *mut c_void,
        poll: *const Poll,
        sum: *mut c_void,
    ) -> Status;
    fn czk_fixed_base_workspace_bytes(group: i32) -> u64;
    fn czk_fixed_base(
        group: i32,
        powers: *const c_void,
        scalars: *const c_void,
        canonical: i32,
        count: u64,
        points: *mut c_void,
        workspace: *mut c_void,
        workspace_bytes: u64,
        stream: *mut c_void,
        poll: *const Poll,
    ) -> Status;
}

fn poll_ptr(poll: Option<&Poll>) -> *const Poll {
    poll.map_or(null(), |poll| poll as *const Poll)
}

/// Writes back how many entries were used.
fn traced(trace: Option<&mut MsmTrace>, call: impl FnOnce(*mut RawTrace) -> Status) -> Result<(), CudaError> {
    let Some(trace) = trace else { return call(null_mut()).ok() };
    let mut raw = trace.raw();
    let status = call(&mut raw);
    trace.used = raw.used;
    status.ok()
}

impl MsmPlan {
    /// For up to `count_max` scalars a call within `budget_bytes` of workspace. `keep`: for [`MsmPlan::add`] and
    /// [`MsmPlan::end`]. `windows`: their number, or 0 to choose it by size.
    /// Errors: INVALID where nothing fits the budget.
    pub fn new(curve: Curve, keep: bool, count_max: u64, budget_bytes: u64, windows: u32) -> Result<Self, CudaError> {
        Self::shaped(curve, keep, count_max, budget_bytes, [windows, 0])
    }

    /// As [`MsmPlan::new`], with each window sorted and summed for itself, as it is at large sizes.
    pub fn apart(curve: Curve, keep: bool, count_max: u64, budget_bytes: u64, windows: u32) -> Result<Self, CudaError> {
        Self::shaped(curve, keep, count_max, budget_bytes, [windows, 1])
    }

    fn shaped(
        curve: Curve,
        keep: bool,
        count_max: u64,
        budget_bytes: u64,
        [windows, together]: [u32; 2],
    ) -> Result<Self, CudaError> {
        let (group, mut plan) = (group_of(curve), std::mem::MaybeUninit::uninit());
        // SAFETY: the call fills the whole struct when it succeeds, and only then it is read.
        unsafe {
            czk_msm_plan(group, keep.into(), count_max, budget_bytes, windows, together, plan.as_mut_ptr()).ok()?;
            Ok(plan.assume_init())
        }
    }

    /// Launches Σ scalar · base over all terms; the parts are for [`MsmPlan::combine`]. Waits only for what the launches
    /// depend on. Errors: STOPPED by `poll`; INVALID for more than `count_max` scalars or 2^31 bases.
    ///
    /// # Safety
    /// All pointers are to device memory that stays valid, and unused by others, until the stream gets there, `consumed`
    /// scalars to memory that may be written: `workspace` of `workspace_bytes`, `parts` with room for [`MSM_PARTS`] points.
    pub unsafe fn run(
        &self,
        terms: &[MsmTerm],
        workspace: *mut c_void,
        streams: &MsmStreams<'_>,
        poll: Option<&Poll>,
        trace: Option<&mut MsmTrace>,
        parts: *mut c_void,
    ) -> Result<(), CudaError> {
        let raw = streams.raw();
        traced(trace, |trace| {
            let count = terms.len() as u32;
            // SAFETY: as the caller promises; terms and streams are read during the call alone.
            unsafe { czk_msm_run(self, terms.as_ptr(), count, workspace, &raw, poll_ptr(poll), trace, parts) }
        })
    }

    /// Launches the addition of all terms to the buckets kept in the workspace, which hold nothing yet if `first`.
    ///
    /// # Safety
    /// As for [`MsmPlan::run`]; the workspace is left alone from the first call to [`MsmPlan::end`].
    pub unsafe fn add(
        &self,
        first: bool,
        terms: &[MsmTerm],
        workspace: *mut c_void,
        streams: &MsmStreams<'_>,
        poll: Option<&Poll>,
        trace: Option<&mut MsmTrace>,
    ) -> Result<(), CudaError> {
        let raw = streams.raw();
        traced(trace, |trace| {
            let count = terms.len() as u32;
            // SAFETY: as the caller promises; terms and streams are read during the call alone.
            unsafe { czk_msm_add(self, first.into(), terms.as_ptr(), count, workspace, &raw, poll_ptr(poll), trace) }
        })
    }

    /// Launches the last step after [`MsmPlan::add`].
    ///
    /// # Safety
    /// As for [`MsmPlan::run`].
    pub unsafe fn end(
        &self,
        workspace: *mut c_void,
        streams: &MsmStreams<'_>,
        poll: Option<&Poll>,
        trace: Option<&mut MsmTrace>,
        parts: *mut c_void,
    ) -> Result<(), CudaError> {
        let raw = streams.raw();
        traced(trace, |trace| {
            // SAFETY: as the caller promises; streams are read during the call alone.
            unsafe { czk_msm_end(self, workspace, &raw, poll_ptr(poll), trace, parts) }
        })
    }

    /// The exponents of the parts: the result is Σ 2^exponent · part.
    pub fn exponents(&self) -> Result<Vec<u32>, CudaError> {
        let mut exponents = [0; MSM_PARTS];
        let mut count = 0;
        // SAFETY: both pointers are valid for the call, which writes at most MSM_PARTS exponents.
        unsafe { czk_msm_exponents(self, exponents.as_mut_ptr(), &mut count) }.ok()?;
        Ok(exponents[..count as usize].to_vec())
    }

    /// Σ 2^exponent · part on the host, from parts that `point` reads.
    pub fn combine<G: Group>(&self, parts: &[u8], point: impl Fn(&[u8]) -> Option<G>) -> Result<G, CudaError> {
        let bytes = if self.group == 1 { Curve::G1 } else { Curve::G2 }.affine_bytes();
        let exponents = self.exponents()?;
        let mut by_exponent = vec![G::identity(); exponents.iter().max().map_or(0, |&most| most as usize + 1)];
        for (&exponent, part) in exponents.iter().zip(parts.chunks_exact(bytes)) {
            by_exponent[exponent as usize] += decoded(part, &point)?;
        }
        Ok(by_exponent.iter().rev().fold(G::identity(), |sum, part| sum.double() + part))
    }
}

fn decoded<G>(bytes: &[u8], point: impl Fn(&[u8]) -> Option<G>) -> Result<G, CudaError> {
    point(bytes).ok_or_else(|| CudaError {
        code: super::INVALID,
        message: "the device returned bytes that are no point".into(),
    })
}

/// Bytes of workspace for [`ones_indices`] over `word_count` words.
pub fn ones_workspace_bytes(word_count: u64) -> u64 {
    // SAFETY: no pointers.
    unsafe { czk_ones_workspace_bytes(word_count) }
}

/// What [`ones_indices`] reads: bitmaps of `word_count` words in device memory.
#[derive(Clone, Copy, Debug)]
pub struct OnesBits {
    /// One bit per variable.
    pub bits: *const u64,
    /// Variables that the query has points for, in order; null: all.
    pub density: *const u64,
    /// Variables that are left out; null: none.
    pub without: *const u64,
    /// Words of each.
    pub word_count: u64,
}

/// Launches the search for the query's points of all variables whose bit is set: their numbers, ascending, to
/// `indices[0..index_max)`, and how many there are to `count` (device).
///
/// # Safety
/// All pointers are to device memory that stays valid until the stream gets there.
pub unsafe fn ones_indices(
    ones: &OnesBits,
    indices: *mut u32,
    index_max: u64,
    count: *mut u32,
    workspace: (*mut c_void, u64),
    stream: &Stream,
) -> Result<(), CudaError> {
    // SAFETY: as the caller promises.
    unsafe {
        czk_ones_indices(
            ones.bits,
            ones.density,
            ones.without,
            ones.word_count,
            indices,
            index_max,
            count,
            workspace.0,
            workspace.1,
            stream.as_ptr(),
        )
    }
    .ok()
}

/// Bytes of workspace for [`sum`] of `count` points.
pub fn sum_workspace_bytes(curve: Curve, count: u64) -> u64 {
    // SAFETY: no pointers.
    unsafe { czk_sum_workspace_bytes(group_of(curve), count) }
}

/// Launches Σ bases[indices[i]], i in [0, count) (null: bases[i]); the sum is one uncompressed point at `sum`.
///
/// # Safety
/// All pointers are to device memory that stays valid until the stream gets there.
#[allow(clippy::too_many_arguments)]
pub unsafe fn sum(
    curve: Curve,
    bases: *const c_void,
    indices: *const u32,
    count: u64,
    workspace: (*mut c_void, u64),
    stream: &Stream,
    poll: Option<&Poll>,
    sum: *mut c_void,
) -> Result<(), CudaError> {
    let (group, poll) = (group_of(curve), poll_ptr(poll));
    // SAFETY: as the caller promises.
    unsafe { czk_sum(group, bases, indices, count, workspace.0, workspace.1, stream.as_ptr(), poll, sum) }.ok()
}

/// Bytes of workspace for [`fixed_base`].
pub fn fixed_base_workspace_bytes(curve: Curve) -> u64 {
    // SAFETY: no pointers.
    unsafe { czk_fixed_base_workspace_bytes(group_of(curve)) }
}

/// Launches scalar_i · B for i in [0, count) to `points`. `powers`: the 16 points 2^(16 w) · B in device form.
///
/// # Safety
/// All pointers are to device memory that stays valid until the stream gets there.
#[allow(clippy::too_many_arguments)]
pub unsafe fn fixed_base(
    curve: Curve,
    powers: *const c_void,
    scalars: *const c_void,
    canonical: bool,
    count: u64,
    points: *mut c_void,
    workspace: (*mut c_void, u64),
    stream: &Stream,
    poll: Option<&Poll>,
) -> Result<(), CudaError> {
    let (group, canonical, poll) = (group_of(curve), i32::from(canonical), poll_ptr(poll));
    let (space, bytes) = workspace;
    // SAFETY: as the caller promises.
    unsafe { czk_fixed_base(group, powers, scalars, canonical, count, points, space, bytes, stream.as_ptr(), poll) }
        .ok()
}
