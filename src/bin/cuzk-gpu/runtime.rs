//! Checks of the runtime calls: memory, copies, events, and errors that name their expression.

use crate::harness::{Failure, Harness};
use cuzk::backend::cuda::sys::{device_info, device_memory, DeviceBuffer, Event, PinnedBuffer};

/// Copies, fills, events, and the errors of calls that must fail.
pub fn test(harness: &mut Harness) {
    harness.check("copy", copy);
    harness.check("event", event);
    harness.check("error", error);
}

/// Copy bandwidth, as the yardstick of everything that is bound by memory or PCIe.
pub fn bench(harness: &mut Harness) {
    harness.check("bandwidth", bandwidth);
}

/// Without the calls that must fail: compute-sanitizer reports them.
pub fn sanitize(harness: &mut Harness) {
    harness.check("copy", copy);
    harness.check("event", event);
}

fn copy(harness: &Harness) -> Result<(), Failure> {
    let mut values = PinnedBuffer::<u64>::zeroed(10_000)?;
    values.iter_mut().enumerate().for_each(|(i, v)| *v = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut buffer = DeviceBuffer::from_slice(&values, &harness.stream)?;
    assert_eq!(buffer.to_vec(&harness.stream)?, values.to_vec());
    buffer.fill(0xa5, &harness.stream)?;
    assert_eq!(buffer.to_vec(&harness.stream)?, vec![0xa5a5_a5a5_a5a5_a5a5; values.len()]);
    assert!(DeviceBuffer::<u64>::new(0)?.to_vec(&harness.stream)?.is_empty());
    Ok(())
}

fn event(harness: &Harness) -> Result<(), Failure> {
    let (start, stop) = (Event::timing()?, Event::timing()?);
    let mut buffer = DeviceBuffer::<u8>::new(1 << 20)?;
    start.record(&harness.stream)?;
    buffer.fill(1, &harness.stream)?;
    stop.record(&harness.stream)?;
    harness.stream.wait_event(&stop)?;
    stop.wait()?;
    assert!(start.is_done()? && stop.is_done()?);
    assert!(stop.ms_since(&start)? >= 0.0);
    Ok(())
}

fn error(harness: &Harness) -> Result<(), Failure> {
    let (free, total) = device_memory()?;
    assert!(free <= total && total <= harness.device.memory_bytes);
    let refused = DeviceBuffer::<u8>::new(2 * total as usize).err().ok_or("twice the memory was given")?;
    assert_eq!(refused.code, 2, "cudaErrorMemoryAllocation");
    assert!(refused.message.contains("runtime.cu:"), "{}", refused.message);
    assert!(device_info(10_000).is_err());
    // Neither failure is left behind for the next call.
    copy(harness)
}

fn bandwidth(harness: &Harness) -> Result<(), Failure> {
    let bytes = 1usize << 28;
    let host = PinnedBuffer::<u8>::zeroed(bytes)?;
    let mut to = DeviceBuffer::<u8>::new(bytes)?;
    let ms = harness.median_ms(|stream| to.write(&host, stream))?;
    println!("host to device, pinned, {bytes} bytes: {:.1} GB/s", bytes as f64 / ms / 1e6);
    Ok(())
}
