//! cuda/exports/curve.h: points between their stored forms and the device's.

use super::{CudaError, DeviceBuffer, Status, Stream};
use std::ffi::c_void;

extern "C" {
    fn czk_g1_load(
        points: *mut c_void,
        bytes: *const c_void,
        count: u64,
        base: u64,
        bad: *mut u64,
        stream: *mut c_void,
    ) -> Status;
    fn czk_g2_load(
        points: *mut c_void,
        bytes: *const c_void,
        count: u64,
        base: u64,
        bad: *mut u64,
        stream: *mut c_void,
    ) -> Status;
    fn czk_g1_store(bytes: *mut c_void, points: *const c_void, count: u64, stream: *mut c_void) -> Status;
    fn czk_g2_store(bytes: *mut c_void, points: *const c_void, count: u64, stream: *mut c_void) -> Status;
    #[cfg(cuda)]
    fn czk_g1_to_jacobian(jacobian: *mut c_void, xyzz: *const c_void, count: u64, stream: *mut c_void) -> Status;
    #[cfg(cuda)]
    fn czk_g2_to_jacobian(jacobian: *mut c_void, xyzz: *const c_void, count: u64, stream: *mut c_void) -> Status;
}

/// One of the two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// Points over Fp.
    G1,
    /// Points over Fp2.
    G2,
}

impl Curve {
    /// Bytes of an affine point, stored or in the device's form.
    pub const fn affine_bytes(self) -> usize {
        match self {
            Self::G1 => 96,
            Self::G2 => 192,
        }
    }

    /// Bytes of a point in the device's XYZZ form.
    pub const fn xyzz_bytes(self) -> usize {
        2 * self.affine_bytes()
    }

    /// Bytes of blst's Jacobian point.
    pub const fn jacobian_bytes(self) -> usize {
        3 * self.affine_bytes() / 2
    }

    /// Decodes `count` stored points at `d_bytes` to the device's form at `d_points`, checking each, and lowers
    /// `*d_first_bad` to `base` plus the index of the first bad one.
    ///
    /// # Safety
    /// Device pointers with room for `count` points each, which don't overlap, and a device word; all stay valid until the
    /// stream has run.
    pub unsafe fn load(
        self,
        d_points: *mut c_void,
        d_bytes: *const c_void,
        count: u64,
        base: u64,
        d_first_bad: *mut u64,
        stream: &Stream,
    ) -> Result<(), CudaError> {
        let load = if self == Self::G1 { czk_g1_load } else { czk_g2_load };
        load(d_points, d_bytes, count, base, d_first_bad, stream.as_ptr()).ok()
    }

    /// Launches the encoding of `count` affine points as they are stored.
    ///
    /// # Safety
    /// Device pointers with room for `count` points each; both stay valid until the stream has run.
    pub unsafe fn store_at(
        self,
        d_bytes: *mut c_void,
        d_points: *const c_void,
        count: u64,
        stream: &Stream,
    ) -> Result<(), CudaError> {
        let store = if self == Self::G1 { czk_g1_store } else { czk_g2_store };
        store(d_bytes, d_points, count, stream.as_ptr()).ok()
    }

    /// The stored bytes of affine points.
    pub fn store(self, points: &DeviceBuffer<u8>, stream: &Stream) -> Result<Vec<u8>, CudaError> {
        let bytes = DeviceBuffer::<u8>::new(points.len())?;
        let count = points.len() / self.affine_bytes();
        // SAFETY: both buffers hold `count` points, and the stream is waited for.
        unsafe { self.store_at(bytes.as_ptr(), points.as_ptr(), count as u64, stream)? };
        bytes.to_vec(stream)
    }

    /// blst's Jacobian points (`blst_p1`, `blst_p2`) for `count` points in XYZZ form.
    ///
    /// # Safety
    /// Device pointers with room for `count` points each; both stay valid until the stream has run.
    #[cfg(cuda)]
    pub unsafe fn to_jacobian(
        self,
        d_jacobian: *mut c_void,
        d_xyzz: *const c_void,
        count: u64,
        stream: &Stream,
    ) -> Result<(), CudaError> {
        let convert = if self == Self::G1 { czk_g1_to_jacobian } else { czk_g2_to_jacobian };
        convert(d_jacobian, d_xyzz, count, stream.as_ptr()).ok()
    }
}
