//! cuda/exports/groth16.h: what a proof needs between the large kernels.

use super::{CudaError, Status, Stream};
use std::ffi::c_void;

extern "C" {
    fn czk_gather(
        out: *mut c_void,
        values: *const c_void,
        slots: *const u32,
        count: u64,
        stream: *mut c_void,
    ) -> Status;
}

/// Launches `out[i] = values[slots[i]]` for i in [0, count), elements of 32 bytes.
///
/// # Safety
/// All pointers are to device memory that stays valid until the stream gets there; every slot is one of `values`.
pub unsafe fn gather(
    out: *mut c_void,
    values: *const c_void,
    slots: *const u32,
    count: u64,
    stream: &Stream,
) -> Result<(), CudaError> {
    czk_gather(out, values, slots, count, stream.as_ptr()).ok()
}
