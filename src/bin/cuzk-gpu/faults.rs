//! A kernel that never ends, and then one that traps. Last of all areas: after it the process has no device any more.

use crate::harness::{Failure, Harness};
use crate::subject::{expected, open_with, prove, Subject};
use cuzk::backend::cuda::sys::testing::{spin, trap};
use cuzk::backend::cuda::sys::{CudaError, PinnedBuffer, Stream};
use cuzk::backend::cuda::{CudaConfig, Health};
use cuzk::backend::{Backend, Uncontrolled};
use cuzk::Status;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

/// Both faults.
pub fn test(harness: &mut Harness) {
    harness.check("hang", |_| hang());
    harness.check("trap", |_| trapped());
}

/// None: a checker would report what is meant.
pub fn sanitize(_harness: &mut Harness) {}

/// None.
pub fn bench(_harness: &mut Harness) {}

/// The word that ends the kernel.
static STOP: AtomicPtr<i32> = AtomicPtr::new(std::ptr::null_mut());

fn spinning() -> Result<(), CudaError> {
    let stream = Stream::new()?;
    // SAFETY: `hang` keeps the pinned word until the device thread has ended.
    unsafe { spin(STOP.load(Ordering::SeqCst), &stream)? };
    stream.wait()
}

/// After 2 s without a question the device is quarantined, and every call fails at once.
fn hang() -> Result<(), Failure> {
    let device = open_with(&CudaConfig { device_reserve_bytes: 0, ..CudaConfig::default() })?;
    let stop = PinnedBuffer::<i32>::zeroed(1)?;
    let word = stop.as_ptr().cast_mut();
    STOP.store(word, Ordering::SeqCst);
    let start = Instant::now();
    let error = device.call(spinning).err().ok_or("a kernel that never ends ended")?;
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(error.status(), Status::DeviceLost);
    assert!((2.0..4.0).contains(&seconds), "{seconds} s");
    let start = Instant::now();
    assert_eq!(device.call(spinning).err().map(|error| error.status()), Some(Status::DeviceLost));
    assert!(start.elapsed() < Duration::from_millis(100));
    // SAFETY: the word is this function's; the kernel reads it, and nobody else writes it.
    unsafe { word.write_volatile(1) };
    device.close()?;
    println!("quarantined after {seconds:.2} s: {error}");
    Ok(())
}

fn trapping() -> Result<(), CudaError> {
    let stream = Stream::new()?;
    trap(&stream)?;
    stream.wait()
}

/// The call that meets a trap fails, the device is lost, and every later call fails in less than 100 ms.
fn trapped() -> Result<(), Failure> {
    let device = open_with(&CudaConfig::default())?;
    let subject = Subject::new(310, 5_000, &device)?;
    device.load(&subject.circuit, &Uncontrolled)?;
    let batch = subject.batch(1)?;
    assert_eq!(prove(&*device, &subject.circuit, &batch, &Uncontrolled), expected(&subject.circuit, &batch)?);
    let error = device.call(trapping).err().ok_or("a trap went unnoticed")?;
    assert_eq!(error.status(), Status::DeviceLost);
    assert!(matches!(device.stats().health, Health::Lost(_)));
    let start = Instant::now();
    let found = prove(&*device, &subject.circuit, &batch, &Uncontrolled).remove(0);
    assert_eq!(found.err().map(|error| error.status()), Some(Status::DeviceLost));
    assert!(start.elapsed() < Duration::from_millis(100));
    device.close()?;
    println!("lost: {error}");
    Ok(())
}
