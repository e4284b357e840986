//! The kernels' C interface (cuda/exports) and its status, as Rust sees them. One module per header.
//!
//! A build for tests without CUDA links [`fake`] instead of the kernels: the same C functions, on the host.

mod curve;
#[cfg(all(not(cuda), feature = "testing"))]
pub mod fake;
mod groth16;
mod msm;
mod ntt;
mod rows;
mod runtime;
#[cfg(all(cuda, feature = "testing"))]
pub mod testing;

pub use curve::Curve;
pub use groth16::gather;
pub use msm::{
    fixed_base, fixed_base_workspace_bytes, ones_indices, ones_workspace_bytes, sum, sum_workspace_bytes, MsmPhase,
    MsmPlan, MsmStreams, MsmTerm, MsmTrace, OnesBits, MSM_PARTS, MSM_TERMS,
};
#[cfg(all(cuda, feature = "testing"))]
pub use ntt::fr_bench;
#[cfg(cuda)]
pub use ntt::{fr_from_canonical, Transform};
pub use ntt::{fr_from_montgomery, fr_to_canonical, Ntt};
pub use rows::{DeviceRows, DeviceZ, RowsOf};
pub use runtime::{
    calls, copy, device_count, device_info, device_memory, driver_version, fill, use_device, Calls, DeviceBuffer,
    DeviceInfo, Event, PinnedBuffer, Stream,
};

use std::ffi::c_void;
use std::fmt;

/// `czk_status_t`: what every exported function returns by value.
#[repr(C)]
#[must_use]
pub struct Status {
    code: i32,
    message: [u8; 252],
}

const _: () = assert!(size_of::<Status>() == 256);

/// An operation's question stopped it.
pub const STOPPED: i32 = -1;
/// An argument breaks the function's contract.
pub const INVALID: i32 = -2;
/// The workspace is smaller than the function needs.
pub const WORKSPACE: i32 = -3;

/// A failed CUDA call, launch or precondition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaError {
    /// A `cudaError_t` (positive), or one of this module's negative codes.
    pub code: i32,
    /// "expression: reason (file:line)".
    pub message: String,
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CUDA error {}: {}", self.code, self.message)
    }
}

impl std::error::Error for CudaError {}

impl Status {
    /// `Ok` for code 0, else the code with its message.
    pub fn ok(self) -> Result<(), CudaError> {
        if self.code == 0 {
            return Ok(());
        }
        let end = self.message.iter().position(|&byte| byte == 0).unwrap_or(self.message.len());
        Err(CudaError { code: self.code, message: String::from_utf8_lossy(&self.message[..end]).into_owned() })
    }
}

/// `czk_poll_t`: the question that a long operation asks between launches, with two events that it may record.
#[repr(C)]
pub struct Poll {
    /// Non-zero stops the operation with [`STOPPED`].
    pub ask: extern "C" fn(context: *mut c_void) -> i32,
    /// Handed to `ask`.
    pub context: *mut c_void,
    /// From [`Event::as_ptr`].
    pub events: [*mut c_void; 2],
}
