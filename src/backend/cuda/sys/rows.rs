//! cuda/exports/rows.h: rows of A and B times z on the device.

use super::{CudaError, DeviceBuffer, Status, Stream};
use crate::r1cs::{Matrix, R1cs, Segment};
use blstrs::Scalar as Fr;
use ff::{Field, PrimeField};
use std::ffi::c_void;

/// `CZK_ROWS_LONG`: rows with more non-zeros get a warp each.
const LONG_ABOVE: u32 = 24;
/// Bytes of a coefficient on the device.
const COEFFICIENT_BYTES: usize = 64;
/// An index that no dictionary entry has.
const NO_INDEX: u32 = 0xffff;

#[repr(C)]
struct RawSegment {
    row_count: u32,
    repeat_count: u32,
    input_count: u32,
    aux_base: u32,
    aux_stride: u32,
    input_base: u32,
    input_stride: u32,
    port_count: u32,
    ports: *const c_void,
    dictionary: *const c_void,
    dictionary_one: u32,
    dictionary_minus_one: u32,
}

#[repr(C)]
struct RawMatrix {
    row_starts: *const c_void,
    columns: *const c_void,
    coefficients: *const c_void,
    escape_positions: *const c_void,
    escapes: *const c_void,
    long_rows: *const c_void,
    escape_count: u32,
    long_count: u32,
}

/// `czk_rows_z_t`: a compact assignment on the device, as pointers, so that a back end can take it from an arena.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DeviceZ {
    /// Inputs in device form, ONE first.
    pub inputs: *const c_void,
    /// [`crate::assignment::Assignment::bits`].
    pub bits: *const c_void,
    /// [`crate::assignment::Layout::full_words`].
    pub full_bits: *const c_void,
    /// [`crate::assignment::Layout::rank_directory`].
    pub rank: *const c_void,
    /// Full-size values in device form.
    pub full: *const c_void,
}

extern "C" {
    fn czk_rows_dictionary(out: *mut c_void, canonical: *const c_void, count: u32, stream: *mut c_void) -> Status;
    fn czk_rows(
        segment: *const RawSegment,
        matrix: *const RawMatrix,
        z: *const DeviceZ,
        out: *mut c_void,
        stream: *mut c_void,
    ) -> Status;
    fn czk_copy(to: *mut c_void, from: *const c_void, bytes: u64, stream: *mut c_void) -> Status;
    fn czk_fill(pointer: *mut c_void, byte: i32, bytes: u64, stream: *mut c_void) -> Status;
}

/// Which rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowsOf {
    /// A's, input rows included.
    A,
    /// B's.
    B,
}

struct DeviceMatrix {
    row_starts: DeviceBuffer<u32>,
    columns: DeviceBuffer<u32>,
    coefficients: DeviceBuffer<u16>,
    escape_positions: DeviceBuffer<u32>,
    escapes: DeviceBuffer<u8>,
    long_rows: DeviceBuffer<u32>,
}

struct DeviceSegment {
    first_row: u64,
    row_count: u32,
    repeat_count: u32,
    places: [u32; 5],
    ports: DeviceBuffer<u32>,
    a: DeviceMatrix,
    b: DeviceMatrix,
}

/// Rows of A and B of an R1CS, resident on one device. Immutable.
pub struct DeviceRows {
    input_count: u32,
    constraint_count: u64,
    dictionary: DeviceBuffer<u8>,
    dictionary_one: u32,
    dictionary_minus_one: u32,
    segments: Vec<DeviceSegment>,
}

/// Coefficients in the 64 bytes that products take.
fn coefficients(values: &[Fr], stream: &Stream) -> Result<DeviceBuffer<u8>, CudaError> {
    let canonical: Vec<[u8; 32]> = values.iter().map(|value| value.to_repr()).collect();
    let canonical = DeviceBuffer::from_slice(&canonical, stream)?;
    let out = DeviceBuffer::new(COEFFICIENT_BYTES * values.len())?;
    // SAFETY: both buffers hold `values.len()` entries and outlive the stream's work, which is waited for.
    unsafe { czk_rows_dictionary(out.as_ptr(), canonical.as_ptr(), values.len() as u32, stream.as_ptr()) }.ok()?;
    stream.wait()?;
    Ok(out)
}

impl DeviceMatrix {
    fn new(matrix: &Matrix, stream: &Stream) -> Result<Self, CudaError> {
        let columns: Vec<u32> = matrix.columns.iter().map(|column| column.0).collect();
        let (positions, escapes): (Vec<u32>, Vec<Fr>) = matrix.escapes.iter().copied().unzip();
        let lengths = matrix.row_starts.windows(2).map(|pair| pair[1] - pair[0]);
        let long: Vec<u32> =
            (0..).zip(lengths).filter(|&(_, length)| length > LONG_ABOVE).map(|(row, _)| row).collect();
        Ok(DeviceMatrix {
            row_starts: DeviceBuffer::from_slice(&matrix.row_starts, stream)?,
            columns: DeviceBuffer::from_slice(&columns, stream)?,
            coefficients: DeviceBuffer::from_slice(&matrix.coefficients, stream)?,
            escape_positions: DeviceBuffer::from_slice(&positions, stream)?,
            escapes: coefficients(&escapes, stream)?,
            long_rows: DeviceBuffer::from_slice(&long, stream)?,
        })
    }

    fn raw(&self) -> RawMatrix {
        RawMatrix {
            row_starts: self.row_starts.as_ptr(),
            columns: self.columns.as_ptr(),
            coefficients: self.coefficients.as_ptr(),
            escape_positions: self.escape_positions.as_ptr(),
            escapes: self.escapes.as_ptr(),
            long_rows: self.long_rows.as_ptr(),
            escape_count: self.escape_positions.len() as u32,
            long_count: self.long_rows.len() as u32,
        }
    }

    fn bytes(&self) -> u64 {
        self.row_starts.bytes()
            + self.columns.bytes()
            + self.coefficients.bytes()
            + self.escape_positions.bytes()
            + self.escapes.bytes()
            + self.long_rows.bytes()
    }
}

impl DeviceSegment {
    fn new(segment: &Segment, stream: &Stream) -> Result<Self, CudaError> {
        let s = segment;
        Ok(DeviceSegment {
            first_row: s.first_row,
            row_count: s.row_count,
            repeat_count: s.repeat_count,
            places: [s.aux_base, s.aux_stride, s.input_base, s.input_stride, s.port_count],
            ports: DeviceBuffer::from_slice(&s.ports, stream)?,
            a: DeviceMatrix::new(&s.a, stream)?,
            b: DeviceMatrix::new(&s.b, stream)?,
        })
    }
}

impl DeviceRows {
    /// Copies the rows of A and B to the stream's device. Takes its memory here, and none later.
    pub fn new(r1cs: &R1cs, stream: &Stream) -> Result<Self, CudaError> {
        let index_of = |value: Fr| r1cs.dictionary.iter().position(|v| *v == value).map_or(NO_INDEX, |at| at as u32);
        Ok(DeviceRows {
            input_count: r1cs.input_count,
            constraint_count: r1cs.constraint_count,
            dictionary: coefficients(&r1cs.dictionary, stream)?,
            dictionary_one: index_of(Fr::ONE),
            dictionary_minus_one: index_of(-Fr::ONE),
            segments: r1cs.segments.iter().map(|s| DeviceSegment::new(s, stream)).collect::<Result<_, _>>()?,
        })
    }

    /// Bytes of device memory that the rows take.
    pub fn bytes(&self) -> u64 {
        let segments = self.segments.iter().map(|s| s.ports.bytes() + s.a.bytes() + s.b.bytes());
        self.dictionary.bytes() + segments.sum::<u64>()
    }

    /// `out[row] = (A or B)·z` for every row of the QAP, 0 from there to `2^lg_size`.
    ///
    /// # Safety
    /// `out` is a vector of `2^lg_size >= row_count()` elements, and `z` an assignment of this R1CS, on the stream's
    /// device.
    pub unsafe fn evaluate(
        &self,
        of: RowsOf,
        z: &DeviceZ,
        out: *mut c_void,
        lg_size: u32,
        stream: &Stream,
    ) -> Result<(), CudaError> {
        let at = |row: u64| out.cast::<u8>().add(32 * row as usize).cast::<c_void>();
        for segment in &self.segments {
            let [aux_base, aux_stride, input_base, input_stride, port_count] = segment.places;
            let raw = RawSegment {
                row_count: segment.row_count,
                repeat_count: segment.repeat_count,
                input_count: self.input_count,
                aux_base,
                aux_stride,
                input_base,
                input_stride,
                port_count,
                ports: segment.ports.as_ptr(),
                dictionary: self.dictionary.as_ptr(),
                dictionary_one: self.dictionary_one,
                dictionary_minus_one: self.dictionary_minus_one,
            };
            let matrix = match of {
                RowsOf::A => segment.a.raw(),
                RowsOf::B => segment.b.raw(),
            };
            czk_rows(&raw, &matrix, z, at(segment.first_row), stream.as_ptr()).ok()?;
        }
        let mut done = self.constraint_count;
        if of == RowsOf::A {
            czk_copy(at(done), z.inputs, 32 * u64::from(self.input_count), stream.as_ptr()).ok()?;
            done += u64::from(self.input_count);
        }
        czk_fill(at(done), 0, 32 * ((1 << lg_size) - done), stream.as_ptr()).ok()
    }
}
