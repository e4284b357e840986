//! cuda/exports/rows.h: rows of A and B times z on the device.

use super::{CudaError, DeviceBuffer, Status, Stream};
use crate::r1cs::{Column, Matrix, R1cs, Segment};
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
pub(super) struct RawSegment {
    pub row_count: u32,
    pub repeat_count: u32,
    pub input_count: u32,
    pub aux_base: u32,
    pub aux_stride: u32,
    pub input_base: u32,
    pub input_stride: u32,
    pub port_count: u32,
    pub ports: *const c_void,
    pub dictionary: *const c_void,
    pub dictionary_one: u32,
    pub dictionary_minus_one: u32,
}

#[repr(C)]
pub(super) struct RawMatrix {
    pub row_starts: *const c_void,
    pub columns: *const c_void,
    pub coefficients: *const c_void,
    pub escape_positions: *const c_void,
    pub escapes: *const c_void,
    pub long_rows: *const c_void,
    pub escape_count: u32,
    pub long_count: u32,
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

#[derive(Clone, Copy)]
struct DeviceMatrix {
    row_starts: *const c_void,
    columns: *const c_void,
    coefficients: *const c_void,
    escape_positions: *const c_void,
    escapes: *const c_void,
    long_rows: *const c_void,
    escape_count: u32,
    long_count: u32,
}

struct DeviceSegment {
    first_row: u64,
    row_count: u32,
    repeat_count: u32,
    places: [u32; 5],
    ports: *const c_void,
    a: DeviceMatrix,
    b: DeviceMatrix,
}

/// Rows of A and B of an R1CS, resident on one device. Immutable.
pub struct DeviceRows {
    input_count: u32,
    constraint_count: u64,
    bytes: u64,
    dictionary: *const c_void,
    dictionary_one: u32,
    dictionary_minus_one: u32,
    segments: Vec<DeviceSegment>,
    /// Where they aren't in the caller's memory.
    _owner: Option<DeviceBuffer<u8>>,
}

/// Copies host bytes to device memory, in the order of the stream that the rows are placed on.
pub type Copier<'a, E> = &'a mut dyn FnMut(*mut c_void, &[u8]) -> Result<(), E>;

/// Cuts one piece of device memory into arrays and fills them. Without a copier it only measures.
struct Placer<'a, E> {
    base: *mut c_void,
    used: u64,
    copy: Option<Copier<'a, E>>,
}

/// Every array begins at a multiple of this.
const ALIGN: u64 = 256;

impl<E: From<CudaError>> Placer<'_, E> {
    fn take(&mut self, bytes: u64) -> *mut c_void {
        let at = self.base.cast::<u8>().wrapping_add(self.used as usize);
        self.used += bytes.next_multiple_of(ALIGN);
        at.cast()
    }

    fn place<T>(&mut self, values: &[T]) -> Result<*const c_void, E> {
        let at = self.take(size_of_val(values) as u64);
        // SAFETY: the values are plain integers or arrays of bytes, without padding.
        let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) };
        match &mut self.copy {
            Some(copy) if !bytes.is_empty() => copy(at, bytes)?,
            _ => {}
        }
        Ok(at)
    }

    /// Coefficients in the 64 bytes that products take.
    fn coefficients(&mut self, values: &[Fr], stream: Option<&Stream>) -> Result<*const c_void, E> {
        let canonical: Vec<[u8; 32]> = values.iter().map(|value| value.to_repr()).collect();
        let canonical = self.place(&canonical)?;
        let out = self.take((COEFFICIENT_BYTES * values.len()) as u64);
        if let Some(stream) = stream {
            // SAFETY: both places hold `values.len()` entries, as the caller of `DeviceRows::at` promises.
            unsafe { czk_rows_dictionary(out, canonical, values.len() as u32, stream.as_ptr()) }.ok()?;
        }
        Ok(out)
    }

    fn matrix(&mut self, matrix: &Matrix, stream: Option<&Stream>) -> Result<DeviceMatrix, E> {
        let (positions, escapes): (Vec<u32>, Vec<Fr>) = matrix.escapes.iter().copied().unzip();
        let lengths = matrix.row_starts.windows(2).map(|pair| pair[1] - pair[0]);
        let long: Vec<u32> =
            (0..).zip(lengths).filter(|&(_, length)| length > LONG_ABOVE).map(|(row, _)| row).collect();
        Ok(DeviceMatrix {
            row_starts: self.place(&matrix.row_starts)?,
            columns: self.place(&matrix.columns)?,
            coefficients: self.place(&matrix.coefficients)?,
            escape_positions: self.place(&positions)?,
            escapes: self.coefficients(&escapes, stream)?,
            long_rows: self.place(&long)?,
            escape_count: positions.len() as u32,
            long_count: long.len() as u32,
        })
    }

    fn segment(&mut self, s: &Segment, stream: Option<&Stream>) -> Result<DeviceSegment, E> {
        Ok(DeviceSegment {
            first_row: s.first_row,
            row_count: s.row_count,
            repeat_count: s.repeat_count,
            places: [s.aux_base, s.aux_stride, s.input_base, s.input_stride, s.port_count],
            ports: self.place(&s.ports)?,
            a: self.matrix(&s.a, stream)?,
            b: self.matrix(&s.b, stream)?,
        })
    }

    fn rows(mut self, r1cs: &R1cs, stream: Option<&Stream>) -> Result<DeviceRows, E> {
        let index_of = |value: Fr| r1cs.dictionary.iter().position(|v| *v == value).map_or(NO_INDEX, |at| at as u32);
        let dictionary = self.coefficients(&r1cs.dictionary, stream)?;
        let segments = r1cs.segments.iter().map(|s| self.segment(s, stream)).collect::<Result<_, _>>()?;
        Ok(DeviceRows {
            input_count: r1cs.input_count,
            constraint_count: r1cs.constraint_count,
            bytes: self.used,
            dictionary,
            dictionary_one: index_of(Fr::ONE),
            dictionary_minus_one: index_of(-Fr::ONE),
            segments,
            _owner: None,
        })
    }
}

const _: () = assert!(size_of::<Column>() == 4);

impl DeviceMatrix {
    fn raw(&self) -> RawMatrix {
        RawMatrix {
            row_starts: self.row_starts,
            columns: self.columns,
            coefficients: self.coefficients,
            escape_positions: self.escape_positions,
            escapes: self.escapes,
            long_rows: self.long_rows,
            escape_count: self.escape_count,
            long_count: self.long_count,
        }
    }
}

impl DeviceRows {
    /// Bytes of device memory that the rows of `r1cs` take.
    pub fn bytes_for(r1cs: &R1cs) -> u64 {
        let placer = Placer::<CudaError> { base: std::ptr::null_mut(), used: 0, copy: None };
        placer.rows(r1cs, None).map_or(0, |rows| rows.bytes)
    }

    /// Copies the rows of A and B to the stream's device, into memory of its own.
    pub fn new(r1cs: &R1cs, stream: &Stream) -> Result<Self, CudaError> {
        let owner = DeviceBuffer::<u8>::new(Self::bytes_for(r1cs) as usize)?;
        let mut copy = |to: *mut c_void, bytes: &[u8]| {
            // SAFETY: inside the buffer, and the stream is waited for before the bytes go away.
            unsafe { czk_copy(to, bytes.as_ptr().cast(), bytes.len() as u64, stream.as_ptr()) }.ok()?;
            stream.wait()
        };
        // SAFETY: the buffer has the bytes that are asked for, and lives as long as the rows.
        let rows = unsafe { Self::at(owner.as_ptr(), r1cs, &mut copy, stream)? };
        stream.wait()?;
        Ok(DeviceRows { _owner: Some(owner), ..rows })
    }

    /// Puts the rows of A and B at `base` by `copy`; they are there when the stream gets there.
    ///
    /// # Safety
    /// `base` are [`Self::bytes_for`] bytes on the stream's device that outlive what is returned, and `copy` copies what
    /// it is told to in the order of `stream`.
    pub unsafe fn at<E: From<CudaError>>(
        base: *mut c_void,
        r1cs: &R1cs,
        copy: Copier<'_, E>,
        stream: &Stream,
    ) -> Result<Self, E> {
        Placer { base, used: 0, copy: Some(copy) }.rows(r1cs, Some(stream))
    }

    /// Bytes of device memory that the rows take.
    pub fn bytes(&self) -> u64 {
        self.bytes
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
                ports: segment.ports,
                dictionary: self.dictionary,
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
