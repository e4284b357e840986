//! cuda/exports/testing.h: test and bench kernels of the field and the curves.

use super::{CudaError, Curve, DeviceBuffer, Status, Stream};
use std::ffi::c_void;

extern "C" {
    fn czk_test_trap(stream: *mut c_void) -> Status;
    fn czk_test_spin(stop: *const i32, stream: *mut c_void) -> Status;
    fn czk_test_fp(
        op: i32,
        r: *mut c_void,
        a: *const c_void,
        b: *const c_void,
        c: *const c_void,
        count: u64,
        stream: *mut c_void,
    ) -> Status;
    fn czk_test_fp2(
        op: i32,
        r: *mut c_void,
        a: *const c_void,
        b: *const c_void,
        count: u64,
        stream: *mut c_void,
    ) -> Status;
    fn czk_test_curve(
        group: i32,
        op: i32,
        r: *mut c_void,
        p: *const c_void,
        q: *const c_void,
        z: *const c_void,
        count: u64,
        stream: *mut c_void,
    ) -> Status;
    fn czk_test_batch(
        group: i32,
        r: *mut c_void,
        p: *const c_void,
        q: *const c_void,
        count: u64,
        per_thread: u64,
        scratch: *mut c_void,
        stream: *mut c_void,
    ) -> Status;
    fn czk_test_xyzz(
        group: i32,
        xyzz: *mut c_void,
        p: *const c_void,
        z: *const c_void,
        count: u64,
        stream: *mut c_void,
    ) -> Status;
    fn czk_bench_field(
        which: i32,
        min_blocks: i32,
        iterations: i32,
        words: *mut c_void,
        count: u64,
        threads: *mut u64,
        registers: *mut i32,
        stream: *mut c_void,
    ) -> Status;
}

/// Copies the operands to the device, runs `launch` on a poisoned output of the size of the first, and returns that.
fn on_device<T: Copy>(
    operands: &[&[T]],
    stream: &Stream,
    launch: impl FnOnce(*mut c_void, &[DeviceBuffer<T>]) -> Status,
) -> Result<Vec<T>, CudaError> {
    let mut r = DeviceBuffer::<T>::new(operands[0].len())?;
    r.fill(0xa5, stream)?;
    let buffers =
        operands.iter().map(|values| DeviceBuffer::from_slice(values, stream)).collect::<Result<Vec<_>, _>>()?;
    launch(r.as_ptr(), &buffers).ok()?;
    r.to_vec(stream)
}

/// Operation `op` of cuda/testing/fp_ops.cuh on each of a, b, c.
pub fn test_fp(op: i32, [a, b, c]: [&[[u32; 12]]; 3], stream: &Stream) -> Result<Vec<[u32; 12]>, CudaError> {
    assert!(a.len() == b.len() && a.len() == c.len());
    on_device(&[a, b, c], stream, |r, d| {
        // SAFETY: all four hold a.len() elements.
        unsafe { czk_test_fp(op, r, d[0].as_ptr(), d[1].as_ptr(), d[2].as_ptr(), a.len() as u64, stream.as_ptr()) }
    })
}

/// Operation `op` of Fp2 on each of a, b.
pub fn test_fp2(op: i32, [a, b]: [&[[u32; 24]]; 2], stream: &Stream) -> Result<Vec<[u32; 24]>, CudaError> {
    assert!(a.len() == b.len());
    on_device(&[a, b], stream, |r, d| {
        // SAFETY: all three hold a.len() elements.
        unsafe { czk_test_fp2(op, r, d[0].as_ptr(), d[1].as_ptr(), a.len() as u64, stream.as_ptr()) }
    })
}

/// Operation `op` of cuda/testing/curve_ops.cuh on each of p, q, z: affine points (T) and field elements (Z) of `curve`.
pub fn test_curve<T: Copy, Z: Copy>(
    curve: Curve,
    op: i32,
    [p, q]: [&[T]; 2],
    z: &[Z],
    stream: &Stream,
) -> Result<Vec<T>, CudaError> {
    assert!(p.len() == q.len() && p.len() == z.len());
    assert!(size_of::<T>() == curve.affine_bytes() && 2 * size_of::<Z>() == curve.affine_bytes());
    let z = DeviceBuffer::from_slice(z, stream)?;
    on_device(&[p, q], stream, |r, d| {
        let (group, count) = (curve as i32 + 1, p.len() as u64);
        // SAFETY: all hold p.len() values.
        unsafe { czk_test_curve(group, op, r, d[0].as_ptr(), d[1].as_ptr(), z.as_ptr(), count, stream.as_ptr()) }
    })
}

/// p + q for each pair, with one inversion for `per_thread` pairs.
pub fn test_batch<T: Copy>(
    curve: Curve,
    [p, q]: [&[T]; 2],
    per_thread: u64,
    stream: &Stream,
) -> Result<Vec<T>, CudaError> {
    assert!(p.len() == q.len() && size_of::<T>() == curve.affine_bytes());
    let scratch = DeviceBuffer::<u8>::new(p.len() * curve.affine_bytes() / 2)?;
    on_device(&[p, q], stream, |r, d| {
        let (group, count) = (curve as i32 + 1, p.len() as u64);
        // SAFETY: all hold p.len() points, scratch a field element for each.
        unsafe {
            czk_test_batch(group, r, d[0].as_ptr(), d[1].as_ptr(), count, per_thread, scratch.as_ptr(), stream.as_ptr())
        }
    })
}

/// The device's XYZZ form of each of p, scaled by z.
pub fn test_xyzz<T: Copy, Z: Copy>(
    curve: Curve,
    p: &[T],
    z: &[Z],
    stream: &Stream,
) -> Result<DeviceBuffer<u8>, CudaError> {
    assert!(p.len() == z.len() && size_of::<T>() == curve.affine_bytes());
    let xyzz = DeviceBuffer::new(p.len() * curve.xyzz_bytes())?;
    let (d_p, d_z) = (DeviceBuffer::from_slice(p, stream)?, DeviceBuffer::from_slice(z, stream)?);
    let (group, count) = (curve as i32 + 1, p.len() as u64);
    // SAFETY: all hold p.len() values, and the stream is waited for before they go away.
    unsafe { czk_test_xyzz(group, xyzz.as_ptr(), d_p.as_ptr(), d_z.as_ptr(), count, stream.as_ptr()) }.ok()?;
    stream.wait()?;
    Ok(xyzz)
}

/// Launches bench `which` on `words`, with registers for `min_blocks` blocks of 128 threads; returns its threads and its
/// registers a thread.
pub fn bench_field(
    which: i32,
    min_blocks: i32,
    iterations: i32,
    words: &DeviceBuffer<u32>,
    stream: &Stream,
) -> Result<(u64, i32), CudaError> {
    let (mut threads, mut registers) = (0, 0);
    // SAFETY: the buffer holds as many words as are announced.
    unsafe {
        czk_bench_field(
            which,
            min_blocks,
            iterations,
            words.as_ptr(),
            words.len() as u64,
            &mut threads,
            &mut registers,
            stream.as_ptr(),
        )
    }
    .ok()?;
    Ok((threads, registers))
}

/// Launches a kernel that ends with a trap: the context is lost then.
pub fn trap(stream: &Stream) -> Result<(), CudaError> {
    // SAFETY: no memory is touched.
    unsafe { czk_test_trap(stream.as_ptr()) }.ok()
}

/// Launches a kernel that runs until `*stop` isn't 0.
///
/// # Safety
/// `stop` is in pinned memory, which stays valid until the kernel has ended.
pub unsafe fn spin(stop: *const i32, stream: &Stream) -> Result<(), CudaError> {
    czk_test_spin(stop, stream.as_ptr()).ok()
}
