//! Benches of the MSM: median of five warm runs, the result of each checked against known logarithms.

use crate::harness::{Failure, Harness};
use crate::msm::{term, Lanes};
use crate::points::{
    bases_of, expect_point, inner_product, mix, parts_buffer, random_scalars, TestGroup, Words, G1, G2,
};
use cuzk::backend::cuda::sys::{copy, CudaError, DeviceBuffer, MsmPhase, MsmPlan, MsmTerm, MsmTrace};
use group::Group;
use rayon::prelude::*;

/// G1 2^18 … 2^27, G2 2^18 … 2^25, skewed scalars, a fifth of zeros.
pub fn bench(harness: &mut Harness) {
    harness.check("g1_small", |h| random::<G1>(h, &[18, 20, 22, 24]));
    harness.check("g2", |h| random::<G2>(h, &[18, 20, 22, 24, 25]));
    harness.check("g1_skew", skew);
    harness.check("g1_27", full);
    if std::env::args().any(|arg| arg == "msm/profile") {
        harness.check("profile", profile);
    }
}

/// Working memory: what the budget of a 16 GiB card leaves.
const BUDGET: u64 = 6 << 30;

struct Bases<T: TestGroup> {
    logs: Vec<Words>,
    device: DeviceBuffer<u8>,
    group: std::marker::PhantomData<T>,
}

impl<T: TestGroup> Bases<T> {
    fn new(harness: &Harness, count: usize) -> Result<Self, Failure> {
        let logs = random_scalars(41, count);
        let device = bases_of::<T>(&logs, &harness.stream)?;
        Ok(Self { logs, device, group: std::marker::PhantomData })
    }
}

/// Median of one plan, its phases on one stream, and the check.
fn time<T: TestGroup>(
    harness: &Harness,
    what: &str,
    bases: &Bases<T>,
    scalars: &[Words],
    windows: u32,
) -> Result<f64, Failure> {
    let stream = &harness.stream;
    let plan = MsmPlan::new(T::CURVE, false, scalars.len() as u64, BUDGET, windows)?;
    let workspace = DeviceBuffer::<u8>::new(plan.workspace_bytes as usize)?;
    let parts = parts_buffer(T::CURVE, stream)?;
    let (pristine, device) = (DeviceBuffer::from_slice(scalars, stream)?, DeviceBuffer::from_slice(scalars, stream)?);
    let whole = term(&bases.device, &pristine, bases.logs.len());
    let consumed = MsmTerm { consumed: 1, ..term(&bases.device, &device, bases.logs.len()) };
    let (one, two) = (Lanes::new(false)?, Lanes::new(true)?);
    let mut trace = MsmTrace::new(1024)?;
    // SAFETY: all buffers live until to_vec has waited for the stream.
    unsafe {
        plan.run(&[consumed], workspace.as_ptr(), &one.streams(stream), None, Some(&mut trace), parts.as_ptr())?;
    }
    let found = plan.combine(&parts.to_vec(stream)?, T::point)?;
    let expected = T::Point::generator() * inner_product(scalars, &bases.logs[..scalars.len()]);
    expect_point(found, expected, what)?;
    let median = |lanes: &Lanes, term: MsmTerm| -> Result<f64, CudaError> {
        // SAFETY: as above; median_ms_after waits for its last event.
        harness.median_ms_after(
            |stream| unsafe { copy(device.as_ptr(), pristine.as_ptr(), pristine.bytes(), stream) },
            |stream| unsafe {
                plan.run(&[term], workspace.as_ptr(), &lanes.streams(stream), None, None, parts.as_ptr())
            },
        )
    };
    let (ms_one, ms_two, ms_whole) = (median(&one, consumed)?, median(&two, consumed)?, median(&two, whole)?);
    let phases = [MsmPhase::Digits, MsmPhase::Sort, MsmPhase::Accumulate, MsmPhase::Reduce];
    let [digits, sort, accumulate, reduce] = phases.map(|phase| trace.ms(phase));
    println!(
        "msm {what}: {ms_two:.2} ms on two streams ({ms_whole:.2} with scalars that stay), {ms_one:.2} on one \
         (digits {:.2}, sort {:.2}, accumulate {:.2}, reduce {:.2}); {} windows, {} together, chunks of {}, {} MiB",
        digits?,
        sort?,
        accumulate?,
        reduce?,
        plan.windows,
        plan.windows_together,
        plan.chunk_items,
        plan.workspace_bytes >> 20
    );
    Ok(ms_two)
}

fn random<T: TestGroup>(harness: &Harness, lgs: &[u32]) -> Result<(), Failure> {
    let most = 1usize << lgs.iter().max().unwrap();
    let bases = Bases::<T>::new(harness, most)?;
    let scalars = random_scalars(42, most);
    for &lg in lgs {
        time(harness, &format!("{:?} 2^{lg}", T::CURVE), &bases, &scalars[..1 << lg], 0)?;
    }
    Ok(())
}

/// 2^24 equal scalars beside random ones.
fn skew(harness: &Harness) -> Result<(), Failure> {
    let bases = Bases::<G1>::new(harness, 1 << 24)?;
    let scalars = random_scalars(43, 1 << 24);
    let random = time(harness, "G1 2^24 random", &bases, &scalars, 0)?;
    let equal = time(harness, "G1 2^24 equal", &bases, &vec![scalars[0]; 1 << 24], 0)?;
    println!("equal scalars take {:.2} times as long as random ones", equal / random);
    Ok(())
}

/// 2^27 random scalars, the same with 106 M of them not zero, and other numbers of windows.
fn full(harness: &Harness) -> Result<(), Failure> {
    let bases = Bases::<G1>::new(harness, 1 << 27)?;
    let mut scalars = random_scalars(44, 1 << 27);
    for lg in [25, 26, 27] {
        time(harness, &format!("G1 2^{lg}"), &bases, &scalars[..1 << lg], 0)?;
    }
    for windows in [11, 12] {
        time(harness, &format!("G1 2^27, {windows} windows"), &bases, &scalars, windows)?;
    }
    scalars.par_iter_mut().enumerate().for_each(|(i, scalar)| {
        if mix(45, i as u64) % 1000 >= 790 {
            *scalar = [0; 4];
        }
    });
    let left = scalars.par_iter().filter(|scalar| **scalar != [0; 4]).count();
    time(harness, &format!("G1 2^27, {left} not zero"), &bases, &scalars, 0)?;
    Ok(())
}

/// One MSM of 2^27 on one stream, for a profiler; runs only if it is named.
fn profile(harness: &Harness) -> Result<(), Failure> {
    let (stream, count) = (&harness.stream, 1 << 27);
    let bases = Bases::<G1>::new(harness, count)?;
    let plan = MsmPlan::new(G1::CURVE, false, count as u64, BUDGET, 0)?;
    let workspace = DeviceBuffer::<u8>::new(plan.workspace_bytes as usize)?;
    let parts = parts_buffer(G1::CURVE, stream)?;
    let scalars = DeviceBuffer::from_slice(&random_scalars(44, count), stream)?;
    let (terms, lanes) = ([term(&bases.device, &scalars, count)], Lanes::new(false)?);
    // SAFETY: all buffers live until the stream has been waited for.
    unsafe { plan.run(&terms, workspace.as_ptr(), &lanes.streams(stream), None, None, parts.as_ptr())? };
    Ok(stream.wait()?)
}
