//! cuda/exports/ntt.h: transforms over Fr on the device.
//!
//! Vectors are raw device pointers, so that a back end can take them from an arena: 32 bytes per element in device form,
//! aligned to 16. What the back end doesn't call is there with the kernels alone.

use super::{CudaError, DeviceBuffer, Poll, Status, Stream};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

extern "C" {
    fn czk_ntt_tables_bytes() -> u64;
    fn czk_ntt_tables(tables: *mut c_void, stream: *mut c_void) -> Status;
    #[cfg(cuda)]
    fn czk_ntt(
        tables: *const c_void,
        data: *mut c_void,
        out: *mut c_void,
        lg_size: u32,
        inverse: u32,
        coset: u32,
        stream: *mut c_void,
        poll: *const Poll,
    ) -> Status;
    #[cfg(cuda)]
    fn czk_ntt_to_coset(
        tables: *const c_void,
        data: *mut c_void,
        lg_size: u32,
        stream: *mut c_void,
        poll: *const Poll,
    ) -> Status;
    #[cfg(cuda)]
    fn czk_ntt_derivative(
        tables: *const c_void,
        data: *mut c_void,
        lg_size: u32,
        stream: *mut c_void,
        poll: *const Poll,
    ) -> Status;
    fn czk_quotient(
        tables: *const c_void,
        a: *mut c_void,
        b: *mut c_void,
        work: *mut c_void,
        lg_size: u32,
        h: *mut *mut c_void,
        stream: *mut c_void,
        poll: *const Poll,
    ) -> Status;
    #[cfg(cuda)]
    fn czk_ntt_pass(
        tables: *const c_void,
        data: *mut c_void,
        lg_size: u32,
        pass: u32,
        butterflies: *mut u64,
        stream: *mut c_void,
    ) -> Status;
    #[cfg(cuda)]
    fn czk_fr_from_canonical(out: *mut c_void, input: *const c_void, count: u64, stream: *mut c_void) -> Status;
    fn czk_fr_from_montgomery(out: *mut c_void, input: *const c_void, count: u64, stream: *mut c_void) -> Status;
    fn czk_fr_to_canonical(out: *mut c_void, input: *const c_void, count: u64, stream: *mut c_void) -> Status;
    #[cfg(all(cuda, feature = "testing"))]
    fn czk_fr_bench(kind: i32, data: *mut c_void, blocks: u32, rounds: u32, stream: *mut c_void) -> Status;
}

fn poll_pointer(poll: Option<&Poll>) -> *const Poll {
    poll.map_or(null(), |poll| poll)
}

/// Which transform: of coefficients to values, or back; on the domain, or on the coset of the domain that together with
/// it makes the domain of twice the size.
#[cfg(cuda)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transform {
    /// From values to coefficients.
    pub inverse: bool,
    /// On the coset.
    pub coset: bool,
}

/// Tables of roots for transforms of all sizes, 36 MiB; one per device.
pub struct Ntt {
    tables: *mut c_void,
    /// Where the tables aren't in the caller's memory.
    _owner: Option<DeviceBuffer<u8>>,
}

impl Ntt {
    /// Bytes of device memory that the tables take.
    pub fn table_bytes() -> u64 {
        // SAFETY: no arguments.
        unsafe { czk_ntt_tables_bytes() }
    }

    /// Makes the tables on the stream's device. Transforms on other streams must wait for this one.
    pub fn new(stream: &Stream) -> Result<Self, CudaError> {
        let buffer = DeviceBuffer::new(Self::table_bytes() as usize)?;
        // SAFETY: the buffer has the bytes that the call asks for, and lives as long as the tables.
        let tables = unsafe { Self::at(buffer.as_ptr(), stream)? };
        Ok(Self { _owner: Some(buffer), ..tables })
    }

    /// The same in the caller's memory.
    ///
    /// # Safety
    /// `tables` are [`Self::table_bytes`] bytes on the stream's device that outlive what is returned.
    pub unsafe fn at(tables: *mut c_void, stream: &Stream) -> Result<Self, CudaError> {
        czk_ntt_tables(tables, stream.as_ptr()).ok()?;
        Ok(Self { tables, _owner: None })
    }

    /// Transforms `data` (destroyed) to `out`, both in natural order.
    /// Errors: INVALID if `lg_size` isn't in `[1, 28]`; [`super::STOPPED`] if `poll` says so.
    ///
    /// # Safety
    /// `data` and `out` are different vectors of `2^lg_size` elements on the stream's device.
    #[cfg(cuda)]
    pub unsafe fn transform(
        &self,
        data: *mut c_void,
        out: *mut c_void,
        lg_size: u32,
        which: Transform,
        stream: &Stream,
        poll: Option<&Poll>,
    ) -> Result<(), CudaError> {
        let (inverse, coset) = (which.inverse.into(), which.coset.into());
        let tables = self.tables;
        czk_ntt(tables, data, out, lg_size, inverse, coset, stream.as_ptr(), poll_pointer(poll)).ok()
    }

    /// From values on the domain to values on the coset, in place. Errors as for [`Self::transform`].
    ///
    /// # Safety
    /// `data` is a vector of `2^lg_size` elements on the stream's device.
    #[cfg(cuda)]
    pub unsafe fn to_coset(
        &self,
        data: *mut c_void,
        lg_size: u32,
        stream: &Stream,
        poll: Option<&Poll>,
    ) -> Result<(), CudaError> {
        czk_ntt_to_coset(self.tables, data, lg_size, stream.as_ptr(), poll_pointer(poll)).ok()
    }

    /// `D = NTT · diag(k) · iNTT`, in place. Errors as for [`Self::transform`].
    ///
    /// # Safety
    /// `data` is a vector of `2^lg_size` elements on the stream's device.
    #[cfg(cuda)]
    pub unsafe fn derivative(
        &self,
        data: *mut c_void,
        lg_size: u32,
        stream: &Stream,
        poll: Option<&Poll>,
    ) -> Result<(), CudaError> {
        czk_ntt_derivative(self.tables, data, lg_size, stream.as_ptr(), poll_pointer(poll)).ok()
    }

    /// Coefficients of the quotient `h = (A·B − C) / (xⁿ − 1)` from the values a and b on the domain, with `c = a ∘ b`:
    /// six transforms. All three vectors are destroyed; returns the one that holds h, in natural order. Errors as for
    /// [`Self::transform`].
    ///
    /// # Safety
    /// `a`, `b` and `work` are three vectors of `2^lg_size` elements on the stream's device.
    pub unsafe fn quotient(
        &self,
        [a, b, work]: [*mut c_void; 3],
        lg_size: u32,
        stream: &Stream,
        poll: Option<&Poll>,
    ) -> Result<*mut c_void, CudaError> {
        let mut h = null_mut();
        czk_quotient(self.tables, a, b, work, lg_size, &mut h, stream.as_ptr(), poll_pointer(poll)).ok()?;
        Ok(h)
    }

    /// For benches: one pass of [`Self::to_coset`]; returns its radix-2 butterflies.
    ///
    /// # Safety
    /// As for [`Self::to_coset`].
    #[cfg(cuda)]
    pub unsafe fn pass(&self, data: *mut c_void, lg_size: u32, pass: u32, stream: &Stream) -> Result<u64, CudaError> {
        let mut butterflies = 0;
        czk_ntt_pass(self.tables, data, lg_size, pass, &mut butterflies, stream.as_ptr()).ok()?;
        Ok(butterflies)
    }
}

/// Device form from canonical little-endian integers of 256 bits, taken modulo r.
///
/// # Safety
/// `out` and `input` are vectors of `count` × 32 bytes on the stream's device, the same one or disjoint.
#[cfg(cuda)]
pub unsafe fn fr_from_canonical(
    out: *mut c_void,
    input: *const c_void,
    count: u64,
    stream: &Stream,
) -> Result<(), CudaError> {
    czk_fr_from_canonical(out, input, count, stream.as_ptr()).ok()
}

/// Device form from blstrs scalars as they lie in memory (Montgomery form).
///
/// # Safety
/// As for [`fr_from_canonical`].
pub unsafe fn fr_from_montgomery(
    out: *mut c_void,
    input: *const c_void,
    count: u64,
    stream: &Stream,
) -> Result<(), CudaError> {
    czk_fr_from_montgomery(out, input, count, stream.as_ptr()).ok()
}

/// Canonical little-endian integers below r from device form.
///
/// # Safety
/// As for [`fr_from_canonical`].
pub unsafe fn fr_to_canonical(
    out: *mut c_void,
    input: *const c_void,
    count: u64,
    stream: &Stream,
) -> Result<(), CudaError> {
    czk_fr_to_canonical(out, input, count, stream.as_ptr()).ok()
}

/// For benches: chains of operations in registers (exports/fr_bench.h).
///
/// # Safety
/// `data` is a vector of `256 · blocks` elements on the stream's device.
#[cfg(all(cuda, feature = "testing"))]
pub unsafe fn fr_bench(
    kind: i32,
    data: *mut c_void,
    blocks: u32,
    rounds: u32,
    stream: &Stream,
) -> Result<(), CudaError> {
    czk_fr_bench(kind, data, blocks, rounds, stream.as_ptr()).ok()
}
