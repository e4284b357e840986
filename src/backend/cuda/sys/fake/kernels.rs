//! cuda/exports/{curve,ntt,rows,groth16}.h on the host. A scalar's device form is blst's Montgomery form, a point's is
//! blst's affine point.

use std::ffi::c_void;
use std::slice::from_raw_parts;

use blstrs::{G1Affine, G2Affine, Scalar as Fr};
use ff::{Field, PrimeField};
use group::prime::PrimeCurveAffine;

use super::{call, check_device};
use crate::backend::cuda::sys::rows::{DeviceZ, RawMatrix, RawSegment};
use crate::backend::cuda::sys::{Poll, Status, STOPPED};
use crate::r1cs::{Column, ColumnClass, ESCAPE};
use crate::srs::{Point, PointFault};

/// A field element as an array, so that pointers need no alignment beyond its own.
const FR: u64 = 32;
const INVALID: i32 = crate::backend::cuda::sys::INVALID;

/// Asks as a kernel of several launches would.
pub(super) fn ask(poll: *const Poll) -> Result<(), i32> {
    // SAFETY: null, or a poll that is valid for the call.
    let Some(poll) = (unsafe { poll.as_ref() }) else { return Ok(()) };
    for _ in 0..2 {
        if (poll.ask)(poll.context) != 0 {
            return Err(STOPPED);
        }
    }
    Ok(())
}

/// `count` values of device memory.
///
/// # Safety
/// T is valid for whatever bytes are there.
pub(super) unsafe fn device<'a, T>(pointer: *const c_void, count: u64) -> Result<&'a [T], i32> {
    check_device(pointer, count * size_of::<T>() as u64)?;
    match count {
        0 => Ok(&[]),
        // SAFETY: the range is live device memory, as was checked.
        _ => Ok(unsafe { from_raw_parts(pointer.cast(), count as usize) }),
    }
}

/// The same to write to.
///
/// # Safety
/// As for `device`, and nobody else uses the range.
pub(super) unsafe fn device_mut<'a, T>(pointer: *mut c_void, count: u64) -> Result<&'a mut [T], i32> {
    check_device(pointer, count * size_of::<T>() as u64)?;
    match count {
        0 => Ok(&mut []),
        // SAFETY: as above.
        _ => Ok(unsafe { std::slice::from_raw_parts_mut(pointer.cast(), count as usize) }),
    }
}

fn load<P: Point + PrimeCurveAffine>(
    points: *mut c_void,
    bytes: *const c_void,
    count: u64,
    base: u64,
    bad: *mut u64,
) -> Result<(), i32> {
    check_device(bad, 8)?;
    // SAFETY: bytes are bytes; points are overwritten before they are read.
    let (bytes, points) = unsafe { (device::<u8>(bytes, count * P::BYTES as u64)?, device_mut::<P>(points, count)?) };
    for ((index, bytes), point) in bytes.chunks_exact(P::BYTES).enumerate().zip(points) {
        *point = P::identity();
        match P::decode(bytes) {
            Ok(decoded) => *point = decoded,
            // To the device infinity is a point.
            Err(PointFault::Infinity) if bytes[0] == 0x40 && bytes[1..].iter().all(|byte| *byte == 0) => {}
            // SAFETY: a word of device memory, as was checked.
            Err(_) => unsafe { *bad = (*bad).min(base + index as u64) },
        }
    }
    Ok(())
}

#[no_mangle]
extern "C" fn czk_g1_load(
    points: *mut c_void,
    bytes: *const c_void,
    count: u64,
    base: u64,
    bad: *mut u64,
    _stream: *mut c_void,
) -> Status {
    call("g1_load", || load::<G1Affine>(points, bytes, count, base, bad))
}

#[no_mangle]
extern "C" fn czk_g2_load(
    points: *mut c_void,
    bytes: *const c_void,
    count: u64,
    base: u64,
    bad: *mut u64,
    _stream: *mut c_void,
) -> Status {
    call("g2_load", || load::<G2Affine>(points, bytes, count, base, bad))
}

fn store<P: Point>(bytes: *mut c_void, points: *const c_void, count: u64) -> Result<(), i32> {
    // SAFETY: bytes are bytes; the points are what other functions here wrote.
    let (bytes, points) = unsafe { (device_mut::<u8>(bytes, count * P::BYTES as u64)?, device::<P>(points, count)?) };
    bytes.chunks_exact_mut(P::BYTES).zip(points).for_each(|(bytes, point)| point.encode(bytes));
    Ok(())
}

#[no_mangle]
extern "C" fn czk_g1_store(bytes: *mut c_void, points: *const c_void, count: u64, _stream: *mut c_void) -> Status {
    call("g1_store", || store::<G1Affine>(bytes, points, count))
}

#[no_mangle]
extern "C" fn czk_g2_store(bytes: *mut c_void, points: *const c_void, count: u64, _stream: *mut c_void) -> Status {
    call("g2_store", || store::<G2Affine>(bytes, points, count))
}

#[no_mangle]
extern "C" fn czk_ntt_tables_bytes() -> u64 {
    4096
}

#[no_mangle]
extern "C" fn czk_ntt_tables(tables: *mut c_void, _stream: *mut c_void) -> Status {
    call("ntt_tables", || check_device(tables, 4096))
}

#[no_mangle]
extern "C" fn czk_fr_from_montgomery(
    out: *mut c_void,
    input: *const c_void,
    count: u64,
    _stream: *mut c_void,
) -> Status {
    call("fr_from_montgomery", || {
        check_device(input, FR * count)?;
        check_device(out, FR * count)?;
        // SAFETY: both ranges were checked.
        unsafe { std::ptr::copy(input.cast::<u8>(), out.cast(), (FR * count) as usize) };
        Ok(())
    })
}

#[no_mangle]
extern "C" fn czk_fr_to_canonical(out: *mut c_void, input: *const c_void, count: u64, _stream: *mut c_void) -> Status {
    call("fr_to_canonical", || {
        for i in 0..count as usize {
            // SAFETY: 32 bytes each; out may be in, and each is read before it is written.
            unsafe {
                let value = device::<Fr>(input, count)?[i].to_repr();
                device_mut::<[u8; 32]>(out, count)?[i] = value;
            }
        }
        Ok(())
    })
}

/// In-place transform in natural order by a root of order `data.len()`.
fn transform(data: &mut [Fr], root: Fr) {
    let n = data.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits().checked_shr(usize::BITS - bits).unwrap_or(0);
        if i < j {
            data.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        let step = root.pow_vartime([(n / (2 * half)) as u64]);
        for block in data.chunks_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            let mut twiddle = Fr::ONE;
            for (a, b) in low.iter_mut().zip(high) {
                let product = *b * twiddle;
                (*a, *b) = (*a + product, *a - product);
                twiddle *= step;
            }
        }
        half *= 2;
    }
}

fn root(lg_size: u32) -> Fr {
    Fr::ROOT_OF_UNITY.pow_vartime([1u64 << (Fr::S - lg_size)])
}

/// Coefficients from values on the domain.
fn inverse(values: &[Fr], lg_size: u32) -> Vec<Fr> {
    let mut data = values.to_vec();
    transform(&mut data, root(lg_size).invert().expect("roots aren't zero"));
    let scale = Fr::from(1u64 << lg_size).invert().expect("not zero");
    data.iter_mut().for_each(|value| *value *= scale);
    data
}

/// a · b = low + xⁿ high, and (a · b − c) / (xⁿ − 1) = high for c = a ∘ b on the domain.
fn quotient(a: &[Fr], b: &[Fr], lg_size: u32) -> Vec<Fr> {
    let n = a.len();
    let wide = |values: &[Fr]| {
        let mut data = inverse(values, lg_size);
        data.resize(2 * n, Fr::ZERO);
        transform(&mut data, root(lg_size + 1));
        data
    };
    let product: Vec<Fr> = wide(a).iter().zip(wide(b)).map(|(a, b)| a * b).collect();
    inverse(&product, lg_size + 1).split_off(n)
}

#[no_mangle]
extern "C" fn czk_quotient(
    _tables: *const c_void,
    a: *mut c_void,
    b: *mut c_void,
    work: *mut c_void,
    lg_size: u32,
    h: *mut *mut c_void,
    _stream: *mut c_void,
    poll: *const Poll,
) -> Status {
    call("quotient", || {
        let n = 1 << lg_size;
        // SAFETY: three different vectors; any 32 bytes that the rows wrote are reduced scalars.
        let (a_values, b_values) = unsafe { (device::<Fr>(a, n)?, device::<Fr>(b, n)?) };
        check_device(work, FR * n)?;
        ask(poll)?;
        let quotient = quotient(a_values, b_values, lg_size);
        // As on a card: in `work` where one pass does all, else in `b`.
        let to = if lg_size <= 9 { work } else { b };
        // SAFETY: as above; nothing reads the vectors any more.
        unsafe {
            device_mut::<Fr>(to, n)?.copy_from_slice(&quotient);
            let destroyed = if lg_size <= 9 { [a, b] } else { [a, work] };
            destroyed.iter().try_for_each(|vector| device_mut::<u8>(*vector, FR * n).map(|bytes| bytes.fill(0xa5)))?;
            *h = to;
        }
        ask(poll)
    })
}

#[no_mangle]
extern "C" fn czk_rows_dictionary(
    out: *mut c_void,
    canonical: *const c_void,
    count: u32,
    _stream: *mut c_void,
) -> Status {
    call("rows_dictionary", || {
        // SAFETY: 32 and 64 bytes each; the output is overwritten.
        let (values, out) =
            unsafe { (device::<[u8; 32]>(canonical, count.into())?, device_mut::<[Fr; 2]>(out, count.into())?) };
        for (value, out) in values.iter().zip(out) {
            *out = [Option::from(Fr::from_repr(*value)).ok_or(INVALID)?, Fr::ZERO];
        }
        Ok(())
    })
}

/// One segment's matrix with z.
struct Rows<'a> {
    segment: &'a RawSegment,
    z: &'a DeviceZ,
    starts: &'a [u32],
    columns: &'a [Column],
    coefficients: &'a [u16],
    escapes: &'a [u32],
    escape_values: &'a [[Fr; 2]],
}

impl Rows<'_> {
    fn value(&self, k: u32) -> Result<Fr, i32> {
        // SAFETY: the arrays are those of an assignment and its layout.
        unsafe {
            let Some(aux) = k.checked_sub(self.segment.input_count) else {
                return Ok(device::<Fr>(self.z.inputs, u64::from(k) + 1)?[k as usize]);
            };
            let (word, bit) = (aux as usize / 64, aux % 64);
            let full = device::<u64>(self.z.full_bits, word as u64 + 1)?[word];
            if full >> bit & 1 == 1 {
                let rank = device::<u32>(self.z.rank, word as u64 + 1)?[word] + (full & ((1 << bit) - 1)).count_ones();
                return Ok(device::<Fr>(self.z.full, u64::from(rank) + 1)?[rank as usize]);
            }
            Ok(Fr::from(device::<u64>(self.z.bits, word as u64 + 1)?[word] >> bit & 1))
        }
    }

    fn index(&self, column: Column, repeat: u32) -> Result<u32, i32> {
        let s = self.segment;
        Ok(match column.class() {
            ColumnClass::LocalAux(value) => s.input_count + s.aux_base + repeat * s.aux_stride + value,
            ColumnClass::LocalInput(value) => s.input_base + repeat * s.input_stride + value,
            ColumnClass::Port(value) => {
                let at = repeat * s.port_count + value;
                // SAFETY: the table of ports.
                (unsafe { device::<u32>(s.ports, u64::from(at) + 1)? })[at as usize]
            }
            ColumnClass::Outside(value) => value,
        })
    }

    fn coefficient(&self, position: usize) -> Result<Fr, i32> {
        let code = self.coefficients[position];
        if code == ESCAPE {
            let at = self.escapes.binary_search(&(position as u32)).map_err(|_| INVALID)?;
            return Ok(self.escape_values[at][0]);
        }
        // SAFETY: the dictionary.
        let known = unsafe { device::<[Fr; 2]>(self.segment.dictionary, u64::from(code) + 1)? };
        Ok(known[usize::from(code)][0])
    }

    fn row(&self, row: usize, repeat: u32) -> Result<Fr, i32> {
        let mut sum = Fr::ZERO;
        for position in self.starts[row] as usize..self.starts[row + 1] as usize {
            sum += self.coefficient(position)? * self.value(self.index(self.columns[position], repeat)?)?;
        }
        Ok(sum)
    }
}

#[no_mangle]
extern "C" fn czk_rows(
    segment: *const RawSegment,
    matrix: *const RawMatrix,
    z: *const DeviceZ,
    out: *mut c_void,
    _stream: *mut c_void,
) -> Status {
    call("rows", || {
        // SAFETY: valid for the call, as the interface says; the arrays are those that `DeviceRows` placed.
        let (rows, out) = unsafe {
            let (s, m, z) = (&*segment, &*matrix, &*z);
            let starts = device::<u32>(m.row_starts, u64::from(s.row_count) + 1)?;
            let terms = u64::from(*starts.last().ok_or(INVALID)?);
            let rows = Rows {
                segment: s,
                z,
                starts,
                columns: device(m.columns, terms)?,
                coefficients: device(m.coefficients, terms)?,
                escapes: device(m.escape_positions, m.escape_count.into())?,
                escape_values: device(m.escapes, m.escape_count.into())?,
            };
            (rows, device_mut::<Fr>(out, u64::from(s.row_count) * u64::from(s.repeat_count))?)
        };
        let count = rows.segment.row_count as usize;
        for (at, out) in out.iter_mut().enumerate() {
            *out = rows.row(at % count, (at / count) as u32)?;
        }
        Ok(())
    })
}

#[no_mangle]
extern "C" fn czk_gather(
    out: *mut c_void,
    values: *const c_void,
    slots: *const u32,
    count: u64,
    _stream: *mut c_void,
) -> Status {
    call("gather", || {
        // SAFETY: 32 bytes each; the output is overwritten.
        let (out, slots) = unsafe { (device_mut::<[u8; 32]>(out, count)?, device::<u32>(slots.cast(), count)?) };
        for (out, slot) in out.iter_mut().zip(slots) {
            // SAFETY: bytes.
            let values = unsafe { device::<[u8; 32]>(values, u64::from(*slot) + 1)? };
            *out = values[*slot as usize];
        }
        Ok(())
    })
}
