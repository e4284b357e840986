//! Checks of the MSM: bases with known logarithms, so that every sum is one multiple of the generator, and blst's
//! own MSM once. Benches are in msm_bench.rs.

pub use crate::msm_bench::bench;

use crate::harness::{Failure, Harness};
use crate::points::{
    bases_of, expect_point, host_points, inner_product, parts_buffer, random_scalar, random_scalars, words_of,
    TestGroup, Words, G1, G2,
};
use blstrs::{G1Projective, Scalar};
use cuzk::backend::cuda::sys::{DeviceBuffer, Event, MsmPlan, MsmStreams, MsmTerm, MsmTrace, Poll, Stream, STOPPED};
use ff::Field;
use group::Group;
use std::ffi::c_void;
use std::ptr::null;

/// Sizes, windows, shapes of bases and scalars, chunks, terms, pieces, streams, stopping.
pub fn test(harness: &mut Harness) {
    harness.check("sizes_g1", |h| sizes::<G1>(h, &[0, 1, 2, 3, 31, 32, 33, 1023, 1024, 1025, 65_535, 65_537]));
    harness.check("sizes_g2", |h| sizes::<G2>(h, &[0, 1, 2, 3, 127, 129, 4_097]));
    harness.check("windows", windows);
    harness.check("shapes_g1", |h| shapes::<G1>(h, 700));
    harness.check("shapes_g2", |h| shapes::<G2>(h, 200));
    harness.check("blst", against_blst);
    harness.check("chunks", chunks);
    harness.check("terms", |h| {
        for consumed in [[0; 4], [1; 4], [0, 1, 0, 1]] {
            terms(h, &MsmPlan::new(G1::CURVE, false, 3_077, BUDGET, 0)?, consumed)?;
            terms(h, &MsmPlan::apart(G1::CURVE, false, 3_077, BUDGET, 15)?, consumed)?;
        }
        Ok(())
    });
    harness.check("apart", |h| {
        for (windows, count) in [(15, 1), (15, 511), (15, 8_192), (15, 8_193), (11, 100_003), (14, 1 << 20)] {
            apart::<G1>(h, windows, count, SCALARS[0])?;
        }
        apart::<G2>(h, 15, 5_000, SCALARS[0])
    });
    // As a WindowPoSt's that is padded with its last sector: a part of the second split is full, none of the first.
    harness.check("apart_repeated", |h| apart::<G1>(h, 15, 1 << 22, SCALARS[10]));
    harness.check("apart_skewed", |h| SCALARS.iter().try_for_each(|&shape| apart::<G1>(h, 15, 30_001, shape)));
    harness.check("pieces_g1", |h| pieces::<G1>(h, 20_000));
    harness.check("pieces_g2", |h| pieces::<G2>(h, 3_000));
    harness.check("two_streams", two_streams);
    harness.check("stop", stop);
    harness.check("skew", skew);
    harness.check("large", |h| sizes::<G1>(h, &[(1 << 22) + 1, 1 << 24]));
    harness.check("large_g2", |h| sizes::<G2>(h, &[(1 << 20) - 1]));
}

/// The small ones.
pub fn sanitize(harness: &mut Harness) {
    harness.check("sizes_g1", |h| sizes::<G1>(h, &[0, 1, 2, 33, 257]));
    harness.check("shapes_g1", |h| shapes::<G1>(h, 40));
    harness.check("pieces_g1", |h| pieces::<G1>(h, 500));
    harness.check("sizes_g2", |h| sizes::<G2>(h, &[33]));
    harness.check("apart", |h| [SCALARS[0], SCALARS[5]].iter().try_for_each(|&shape| apart::<G1>(h, 15, 520, shape)));
}

/// Working memory of the tests, far more than they need.
const BUDGET: u64 = 12 << 30;

/// What an MSM runs on.
pub struct Lanes {
    side: Option<Stream>,
    events: [Event; 2],
}

impl Lanes {
    /// One stream or two.
    pub fn new(two: bool) -> Result<Self, Failure> {
        let side = if two { Some(Stream::new()?) } else { None };
        Ok(Self { side, events: [Event::new()?, Event::new()?] })
    }

    /// For a call.
    pub fn streams<'a>(&'a self, stream: &'a Stream) -> MsmStreams<'a> {
        MsmStreams { stream, side: self.side.as_ref(), events: &self.events }
    }
}

/// A term without indices over canonical scalars.
pub fn term(bases: &DeviceBuffer<u8>, scalars: &DeviceBuffer<Words>, base_count: usize) -> MsmTerm {
    MsmTerm {
        bases: bases.as_ptr(),
        base_count: base_count as u64,
        indices: null(),
        scalars: scalars.as_ptr(),
        count: scalars.len() as u64,
        canonical: 1,
        consumed: 0,
    }
}

/// Runs a plan on terms whose buffers the caller keeps.
fn run<T: TestGroup>(harness: &Harness, plan: &MsmPlan, terms: &[MsmTerm], lanes: &Lanes) -> Result<T::Point, Failure> {
    let stream = &harness.stream;
    let mut workspace = DeviceBuffer::<u8>::new(plan.workspace_bytes as usize)?;
    workspace.fill(0x5a, stream)?;
    let parts = parts_buffer(T::CURVE, stream)?;
    // SAFETY: all buffers live until to_vec has waited for the stream.
    unsafe { plan.run(terms, workspace.as_ptr(), &lanes.streams(stream), None, None, parts.as_ptr())? };
    Ok(plan.combine(&parts.to_vec(stream)?, T::point)?)
}

fn msm<T: TestGroup>(
    harness: &Harness,
    bases: &DeviceBuffer<u8>,
    scalars: &[Words],
    windows: u32,
) -> Result<T::Point, Failure> {
    let plan = MsmPlan::new(T::CURVE, false, scalars.len() as u64, BUDGET, windows)?;
    let scalars = DeviceBuffer::from_slice(scalars, &harness.stream)?;
    run::<T>(harness, &plan, &[term(bases, &scalars, bases.len() / T::CURVE.affine_bytes())], &Lanes::new(false)?)
}

fn multiple<T: TestGroup>(logs: &[Words], scalars: &[Words]) -> T::Point {
    T::Point::generator() * inner_product(scalars, logs)
}

fn sizes<T: TestGroup>(harness: &Harness, counts: &[usize]) -> Result<(), Failure> {
    let logs = random_scalars(1, counts.iter().copied().max().unwrap_or(0));
    let bases = bases_of::<T>(&logs, &harness.stream)?;
    for &count in counts {
        let scalars = random_scalars(2 + count as u64, count);
        let found = msm::<T>(harness, &bases, &scalars, 0)?;
        expect_point(found, multiple::<T>(&logs[..count], &scalars), format!("{count} points"))?;
    }
    Ok(())
}

/// Scalars at the edges of digits and of the sign.
fn edge_scalars() -> Vec<Words> {
    let half = Scalar::from(2).invert().unwrap(); // (r + 1) / 2
    let mut scalars = vec![Scalar::ZERO, Scalar::ONE, -Scalar::ONE, half, half - Scalar::ONE, half + Scalar::ONE];
    let mut power = Scalar::ONE;
    for _ in 0..255 {
        scalars.extend([power, power - Scalar::ONE, -power]);
        power = power.double();
    }
    scalars.iter().map(words_of).collect()
}

fn windows(harness: &Harness) -> Result<(), Failure> {
    let scalars = edge_scalars();
    let logs = random_scalars(3, scalars.len());
    let bases = bases_of::<G1>(&logs, &harness.stream)?;
    let expected = multiple::<G1>(&logs, &scalars);
    for windows in 11..=51 {
        expect_point(msm::<G1>(harness, &bases, &scalars, windows)?, expected, format!("{windows} windows"))?;
    }
    Ok(())
}

type Pattern = fn(u64) -> Words;

fn minus(words: Words) -> Words {
    words_of(&-crate::points::scalar_of(&words))
}

/// Logarithms of bases: each is a way in which additions meet equal, opposite or infinite points.
const BASES: &[(&str, Pattern)] = &[
    ("random", |i| random_scalar(4, i)),
    ("all equal", |_| [5, 0, 0, 0]),
    ("alternating P and -P", |i| if i % 2 == 0 { [7, 0, 0, 0] } else { minus([7, 0, 0, 0]) }),
    ("every third infinite", |i| if i % 3 == 0 { [0; 4] } else { random_scalar(5, i) }),
    ("all infinite", |_| [0; 4]),
    ("pairs 32 apart", |i| random_scalar(6, i / 64 * 32 + i % 32)),
    ("pairs 61 apart, opposite", |i| {
        if i / 61 % 2 == 0 {
            random_scalar(7, i % 61)
        } else {
            minus(random_scalar(7, i % 61))
        }
    }),
    ("1, 2, 3, …", |i| [i + 1, 0, 0, 0]),
];

const SCALARS: &[(&str, Pattern)] = &[
    ("random", |i| random_scalar(8, i)),
    ("zeros", |_| [0; 4]),
    ("ones", |_| [1, 0, 0, 0]),
    ("bits", |i| [i % 2, 0, 0, 0]),
    ("r - 1", |_| minus([1, 0, 0, 0])),
    ("all equal", |_| random_scalar(9, 0)),
    ("s and -s", |i| if i % 2 == 0 { random_scalar(9, i / 2) } else { minus(random_scalar(9, i / 2)) }),
    ("16 bits", |i| [random_scalar(10, i)[0] & 0xffff, 0, 0, 0]),
    ("one in fifty", |i| if i % 50 == 7 { random_scalar(11, i) } else { [0; 4] }),
    ("every 300th the same", |i| random_scalar(8, if i % 300 == 0 { 0 } else { i })),
    ("every 1000th the same", |i| random_scalar(8, if i % 1000 == 0 { 0 } else { i })),
];

fn shapes<T: TestGroup>(harness: &Harness, count: u64) -> Result<(), Failure> {
    for (bases_name, base) in BASES {
        let logs: Vec<Words> = (0..count).map(base).collect();
        let bases = bases_of::<T>(&logs, &harness.stream)?;
        for (scalars_name, scalar) in SCALARS {
            let scalars: Vec<Words> = (0..count).map(scalar).collect();
            let found = msm::<T>(harness, &bases, &scalars, 0)?;
            expect_point(found, multiple::<T>(&logs, &scalars), format!("bases {bases_name}, scalars {scalars_name}"))?;
        }
    }
    Ok(())
}

/// Each window for itself, of scalars that stay and of some that don't: digits are split, or sorted if they are skewed.
fn apart<T: TestGroup>(
    harness: &Harness,
    windows: u32,
    count: usize,
    (name, scalar): (&str, Pattern),
) -> Result<(), Failure> {
    let logs = random_scalars(27, count);
    let bases = bases_of::<T>(&logs, &harness.stream)?;
    let scalars: Vec<Words> = (0..count as u64).map(scalar).collect();
    let plan = MsmPlan::apart(T::CURVE, false, count as u64, BUDGET, windows)?;
    assert_eq!(plan.windows_together, 1);
    let device = DeviceBuffer::from_slice(&scalars, &harness.stream)?;
    for consumed in [0, 1] {
        let term = MsmTerm { consumed, ..term(&bases, &device, count) };
        let found = run::<T>(harness, &plan, &[term], &Lanes::new(true)?)?;
        let what = format!("{count} scalars, {name}, {windows} windows apart, consumed: {consumed}");
        expect_point(found, multiple::<T>(&logs, &scalars), what)?;
        let left = device.to_vec(&harness.stream)?;
        assert!(consumed != 0 || left == scalars, "scalars that stay were overwritten");
    }
    Ok(())
}

fn against_blst(harness: &Harness) -> Result<(), Failure> {
    let (logs, scalars) = (random_scalars(12, 5_000), random_scalars(13, 5_000));
    let bases = bases_of::<G1>(&logs, &harness.stream)?;
    let points = host_points::<G1>(&bases, &harness.stream)?;
    let host_scalars: Vec<Scalar> = scalars.iter().map(crate::points::scalar_of).collect();
    let expected = G1Projective::multi_exp(&points, &host_scalars);
    expect_point(msm::<G1>(harness, &bases, &scalars, 0)?, expected, "blst's MSM")
}

/// The tightest plan for `count` scalars: many chunks.
fn tight_plan<T: TestGroup>(keep: bool, count: u64, windows: u32) -> Result<MsmPlan, Failure> {
    let mut budget = 1 << 20;
    loop {
        match MsmPlan::new(T::CURVE, keep, count, budget, windows) {
            Ok(plan) => {
                assert!(plan.workspace_bytes <= budget, "{plan:?} takes more than {budget}");
                return Ok(plan);
            }
            Err(error) if budget > 1 << 40 => return Err(error.into()),
            Err(_) => budget += budget / 16,
        }
    }
}

/// Chunks that cut buckets: random scalars, few buckets, and one bucket across many chunks.
fn chunks(harness: &Harness) -> Result<(), Failure> {
    let count = 300_001;
    let logs = random_scalars(14, count);
    let bases = bases_of::<G1>(&logs, &harness.stream)?;
    for windows in [12, 16, 30, 51] {
        let plan = tight_plan::<G1>(false, count as u64, windows)?;
        for (name, scalar) in [SCALARS[0], SCALARS[2], SCALARS[5], SCALARS[6]] {
            let scalars: Vec<Words> = (0..count as u64).map(scalar).collect();
            let device = DeviceBuffer::from_slice(&scalars, &harness.stream)?;
            let found = run::<G1>(harness, &plan, &[term(&bases, &device, count)], &Lanes::new(true)?)?;
            expect_point(found, multiple::<G1>(&logs, &scalars), format!("{name}, {plan:?}"))?;
        }
    }
    Ok(())
}

/// Several terms, one of them gathered by indices.
fn terms(harness: &Harness, plan: &MsmPlan, consumed: [i32; 4]) -> Result<(), Failure> {
    let stream = &harness.stream;
    let counts = [1_000usize, 3_000, 0, 77];
    let logs: Vec<Vec<Words>> = counts.iter().map(|&c| random_scalars(15 + c as u64, c)).collect();
    let scalars: Vec<Vec<Words>> = [1_000, 2_000, 0, 77].iter().map(|&c| random_scalars(16 + c, c as usize)).collect();
    let indices: Vec<u32> = (0..2_000u32).map(|i| i * 7 % 3_000).collect();
    let d_indices = DeviceBuffer::from_slice(&indices, stream)?;
    let (mut bases, mut device, mut terms, mut expected) = (vec![], vec![], vec![], Scalar::ZERO);
    for t in 0..4 {
        bases.push(bases_of::<G1>(&logs[t], stream)?);
        device.push(DeviceBuffer::from_slice(&scalars[t], stream)?);
        terms.push(MsmTerm { consumed: consumed[t], ..term(&bases[t], &device[t], counts[t]) });
        let used: Vec<Words> = match t {
            1 => indices.iter().map(|&i| logs[1][i as usize]).collect(),
            _ => logs[t].clone(),
        };
        expected += inner_product(&scalars[t], &used);
    }
    terms[1].indices = d_indices.as_ptr().cast();
    let found = run::<G1>(harness, plan, &terms, &Lanes::new(false)?)?;
    expect_point(found, G1Projective::generator() * expected, "four terms")
}

/// Bases in pieces of different sizes, buckets kept.
fn pieces<T: TestGroup>(harness: &Harness, count: usize) -> Result<(), Failure> {
    let stream = &harness.stream;
    let (logs, scalars) = (random_scalars(17, count), random_scalars(18, count));
    let bases = bases_of::<T>(&logs, stream)?;
    let (lanes, half) = (Lanes::new(true)?, count as u64 / 2);
    let point = T::CURVE.affine_bytes();
    for plan in [
        MsmPlan::new(T::CURVE, true, half, BUDGET, 0)?,
        tight_plan::<T>(true, half, 20)?,
        MsmPlan::apart(T::CURVE, true, half, BUDGET, 15)?,
    ] {
        let device = DeviceBuffer::from_slice(&scalars, stream)?;
        let mut workspace = DeviceBuffer::<u8>::new(plan.workspace_bytes as usize)?;
        workspace.fill(0x5a, stream)?;
        let parts = parts_buffer(T::CURVE, stream)?;
        let cuts = [0, count / 2, count / 2 + 1, count / 2 + 1, count];
        for (piece, range) in cuts.windows(2).enumerate() {
            let mut term = term(&bases, &device, range[1] - range[0]);
            term.count = (range[1] - range[0]) as u64;
            term.consumed = (piece % 2) as i32;
            term.bases = term.bases.cast::<u8>().wrapping_add(range[0] * point).cast();
            term.scalars = term.scalars.cast::<Words>().wrapping_add(range[0]).cast();
            // SAFETY: all buffers live until to_vec has waited for the stream.
            unsafe { plan.add(piece == 0, &[term], workspace.as_ptr(), &lanes.streams(stream), None, None)? };
        }
        // SAFETY: as above.
        unsafe { plan.end(workspace.as_ptr(), &lanes.streams(stream), None, None, parts.as_ptr())? };
        let found = plan.combine(&parts.to_vec(stream)?, T::point)?;
        expect_point(found, multiple::<T>(&logs, &scalars), format!("pieces, {plan:?}"))?;
    }
    Ok(())
}

/// The same workspace again and again, with sorting beside the additions.
fn two_streams(harness: &Harness) -> Result<(), Failure> {
    let (stream, count) = (&harness.stream, 1 << 20);
    let logs = random_scalars(19, count);
    let bases = bases_of::<G1>(&logs, stream)?;
    let plan = tight_plan::<G1>(false, count as u64, 14)?;
    let workspace = DeviceBuffer::<u8>::new(plan.workspace_bytes as usize)?;
    let (lanes, parts) = (Lanes::new(true)?, parts_buffer(G1::CURVE, stream)?);
    for round in 0..4 {
        let scalars = random_scalars(20 + round, count);
        let device = DeviceBuffer::from_slice(&scalars, stream)?;
        let mut trace = MsmTrace::new(64)?;
        let (terms, streams) = ([term(&bases, &device, count)], lanes.streams(stream));
        // SAFETY: all buffers live until to_vec has waited for the stream.
        unsafe { plan.run(&terms, workspace.as_ptr(), &streams, None, Some(&mut trace), parts.as_ptr())? };
        let found = plan.combine(&parts.to_vec(stream)?, G1::point)?;
        expect_point(found, multiple::<G1>(&logs, &scalars), format!("round {round}"))?;
    }
    Ok(())
}

extern "C" fn count_down(context: *mut c_void) -> i32 {
    // SAFETY: the test passes a pointer to its own counter, and asks from one thread.
    let left = unsafe { &mut *context.cast::<u32>() };
    *left = left.saturating_sub(1);
    i32::from(*left == 0)
}

/// Stopping at the first question and later ones, then a run that isn't stopped.
fn stop(harness: &Harness) -> Result<(), Failure> {
    let (stream, count) = (&harness.stream, 1 << 24);
    let logs = random_scalars(24, count);
    let bases = bases_of::<G1>(&logs, stream)?;
    let scalars = DeviceBuffer::from_slice(&logs, stream)?;
    let plan = MsmPlan::new(G1::CURVE, false, count as u64, BUDGET, 0)?;
    let workspace = DeviceBuffer::<u8>::new(plan.workspace_bytes as usize)?;
    let (lanes, parts) = (Lanes::new(true)?, parts_buffer(G1::CURVE, stream)?);
    let events = [Event::new()?, Event::new()?];
    for questions in [1u32, 2, u32::MAX] {
        let mut left = questions;
        let context = (&raw mut left).cast();
        let poll = Poll { ask: count_down, context, events: [events[0].as_ptr(), events[1].as_ptr()] };
        let (terms, streams) = ([term(&bases, &scalars, count)], lanes.streams(stream));
        // SAFETY: all buffers live until the streams have been waited for.
        let outcome = unsafe { plan.run(&terms, workspace.as_ptr(), &streams, Some(&poll), None, parts.as_ptr()) };
        stream.wait()?;
        lanes.side.as_ref().expect("two streams").wait()?;
        let code = outcome.as_ref().err().map_or(0, |error| error.code);
        let expected = if questions == u32::MAX { 0 } else { STOPPED };
        assert_eq!(code, expected, "{questions} questions: {outcome:?}");
        assert!(questions != u32::MAX || left < questions - 1, "asked {} times", questions - left);
    }
    let found = plan.combine(&parts.to_vec(stream)?, G1::point)?;
    expect_point(found, multiple::<G1>(&logs, &logs), "after two stops")
}

/// One bucket a window holds everything.
fn skew(harness: &Harness) -> Result<(), Failure> {
    let count = 1 << 20;
    let logs = random_scalars(25, count);
    let bases = bases_of::<G1>(&logs, &harness.stream)?;
    for scalar in [random_scalar(26, 0), [1, 0, 0, 0], [3, 0, 0, 1 << 40]] {
        let scalars = vec![scalar; count];
        let found = msm::<G1>(harness, &bases, &scalars, 0)?;
        expect_point(found, multiple::<G1>(&logs, &scalars), format!("all {scalar:x?}"))?;
    }
    Ok(())
}
