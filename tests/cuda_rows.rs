//! Rows times z as the CUDA kernels do it (cuda/r1cs/rows.cuh), on the CPU, against the crate's own evaluation.
#![cfg(cuda_host_twin)]

use blstrs::Scalar as Fr;
use cuzk::assignment::{Assignment, Layout};
use cuzk::r1cs::{Column, ColumnClass, Matrix, R1cs, Segment, ESCAPE};
use ff::{Field, PrimeField};
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use std::sync::Arc;

/// 16-byte aligned storage of 32-byte elements, as on the device.
#[repr(C, align(16))]
#[derive(Clone, Copy, Default)]
struct Element([u64; 4]);

#[repr(C)]
struct RawSegment {
    counts: [u32; 3],
    places: [u32; 5],
    ports: *const u32,
    dictionary: *const Element,
    one: u32,
    minus_one: u32,
}

#[repr(C)]
struct RawMatrix {
    row_starts: *const u32,
    columns: *const Column,
    coefficients: *const u16,
    escape_positions: *const u32,
    escapes: *const Element,
    long_rows: *const u32,
    counts: [u32; 2],
}

#[repr(C)]
struct RawZ {
    inputs: *const Element,
    bits: *const u64,
    full_bits: *const u64,
    rank: *const u32,
    full: *const Element,
}

extern "C" {
    fn czk_host_fr_from_canonical(out: *mut u64, canonical: *const u64);
    fn czk_host_fr_to_canonical(out: *mut u64, a: *const u64);
    fn czk_host_rows_dictionary(out: *mut Element, canonical: *const Element, count: u32);
    fn czk_host_rows(segment: *const RawSegment, matrix: *const RawMatrix, z: *const RawZ, out: *mut Element);
}

fn canonical(value: &Fr) -> Element {
    let bytes = value.to_repr();
    Element(std::array::from_fn(|k| u64::from_le_bytes(bytes[8 * k..8 * k + 8].try_into().unwrap())))
}

fn to_device(value: &Fr) -> Element {
    let mut out = Element::default();
    // SAFETY: four words in, four out.
    unsafe { czk_host_fr_from_canonical(out.0.as_mut_ptr(), canonical(value).0.as_ptr()) };
    out
}

/// Two elements for each.
fn coefficients(values: &[Fr]) -> Vec<Element> {
    let mut out = vec![Element::default(); 2 * values.len()];
    let values: Vec<Element> = values.iter().map(canonical).collect();
    // SAFETY: `len` elements in, twice as many out.
    unsafe { czk_host_rows_dictionary(out.as_mut_ptr(), values.as_ptr(), values.len() as u32) };
    out
}

const ROWS: u32 = 300;
const REPEATS: u32 = 4;
const PORTS: u32 = 5;
const PREFIX: u32 = 10;
const INPUTS: u32 = 1 + 2 * REPEATS;

fn dictionary() -> Vec<Fr> {
    vec![Fr::from(2), Fr::ONE, -Fr::ONE, Fr::from(1 << 20), -Fr::from(3), Fr::from(2).pow_vartime([200])]
}

/// Rows of 0 to 1,000 non-zeros, columns of all classes, a tenth of the coefficients escaped.
fn matrix(rng: &mut ChaCha8Rng) -> Matrix {
    let mut matrix = Matrix { row_starts: vec![0], ..Matrix::default() };
    for row in 0..ROWS {
        let length = [0, 1, 2, 3, 8, 9, 24, 25, 33, 200, 1000][(row % 11) as usize];
        for _ in 0..length {
            let pick = rng.next_u32();
            matrix.columns.push(Column::new(match pick % 8 {
                0 => ColumnClass::Outside(0),
                1 => ColumnClass::LocalInput(pick / 8 % 2),
                2 => ColumnClass::Port(pick / 8 % PORTS),
                3 => ColumnClass::Outside(pick / 8 % (INPUTS + PREFIX)),
                _ => ColumnClass::LocalAux(pick / 8 % ROWS),
            }));
            let code = rng.next_u32() % 10;
            let escaped = code == 9;
            matrix.coefficients.push(if escaped { ESCAPE } else { (code % 6) as u16 });
            if escaped {
                matrix.escapes.push((matrix.columns.len() as u32 - 1, Fr::random(&mut *rng)));
            }
        }
        matrix.row_starts.push(matrix.columns.len() as u32);
    }
    matrix
}

fn r1cs(rng: &mut ChaCha8Rng) -> R1cs {
    let aux_count = PREFIX + ROWS * REPEATS;
    let segment = Segment {
        first_row: 0,
        row_count: ROWS,
        repeat_count: REPEATS,
        aux_base: PREFIX,
        aux_stride: ROWS,
        input_base: 1,
        input_stride: 2,
        port_count: PORTS,
        ports: (0..PORTS * REPEATS).map(|_| rng.next_u32() % (INPUTS + aux_count)).collect(),
        a: matrix(rng),
        b: matrix(rng),
        c: Matrix { row_starts: vec![0; ROWS as usize + 1], ..Matrix::default() },
    };
    let constraint_count = u64::from(ROWS * REPEATS);
    R1cs { input_count: INPUTS, aux_count, constraint_count, dictionary: dictionary(), segments: vec![segment] }
}

/// `full` of 256 variables are full-size, edges among their values.
fn assignment(r1cs: &R1cs, full: u32, rng: &mut ChaCha8Rng) -> Assignment {
    let words = r1cs.aux_count.div_ceil(64) as usize;
    let mut full_words = vec![0u64; words];
    let mut bits = vec![0u64; words];
    for aux in 0..r1cs.aux_count as usize {
        let is_full = rng.next_u32() % 256 < full;
        let words = if is_full { &mut full_words } else { &mut bits };
        words[aux / 64] |= u64::from(is_full || rng.next_u32() % 2 == 0) << (aux % 64);
    }
    let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE];
    let mut value = || if rng.next_u32() % 4 == 0 { edges[rng.next_u32() as usize % 3] } else { Fr::random(&mut *rng) };
    let inputs = std::iter::once(Fr::ONE).chain((1..INPUTS).map(|_| value())).collect();
    let layout = Arc::new(Layout::from_words(r1cs.aux_count, full_words).unwrap());
    let values = (0..layout.full_count()).map(|_| value()).collect();
    Assignment::new(layout, inputs, bits, values).unwrap()
}

fn evaluate(r1cs: &R1cs, matrix: &Matrix, assignment: &Assignment) -> Vec<Fr> {
    let (s, layout) = (&r1cs.segments[0], assignment.layout());
    let dictionary = coefficients(&r1cs.dictionary);
    let segment = RawSegment {
        counts: [s.row_count, s.repeat_count, r1cs.input_count],
        places: [s.aux_base, s.aux_stride, s.input_base, s.input_stride, s.port_count],
        ports: s.ports.as_ptr(),
        dictionary: dictionary.as_ptr(),
        one: 1,
        minus_one: 2,
    };
    let (positions, escapes): (Vec<u32>, Vec<Fr>) = matrix.escapes.iter().copied().unzip();
    let escapes = coefficients(&escapes);
    let raw = RawMatrix {
        row_starts: matrix.row_starts.as_ptr(),
        columns: matrix.columns.as_ptr(),
        coefficients: matrix.coefficients.as_ptr(),
        escape_positions: positions.as_ptr(),
        escapes: escapes.as_ptr(),
        long_rows: std::ptr::null(),
        counts: [positions.len() as u32, 0],
    };
    let inputs: Vec<Element> = assignment.inputs().iter().map(to_device).collect();
    let full: Vec<Element> = assignment.full().iter().map(to_device).collect();
    let z = RawZ {
        inputs: inputs.as_ptr(),
        bits: assignment.bits().as_ptr(),
        full_bits: layout.full_words().as_ptr(),
        rank: layout.rank_directory().as_ptr(),
        full: full.as_ptr(),
    };
    let mut out = vec![Element([u64::MAX; 4]); r1cs.constraint_count as usize];
    // SAFETY: the structs point to vectors of the lengths that the segment names, alive until the end of the call.
    unsafe { czk_host_rows(&segment, &raw, &z, out.as_mut_ptr()) };
    let back = |value: &Element| {
        let (mut words, mut bytes) = ([0u64; 4], [0; 32]);
        // SAFETY: four words in, four out.
        unsafe { czk_host_fr_to_canonical(words.as_mut_ptr(), value.0.as_ptr()) };
        bytes.chunks_exact_mut(8).zip(words).for_each(|(bytes, word)| bytes.copy_from_slice(&word.to_le_bytes()));
        Fr::from_repr(bytes).unwrap()
    };
    out.iter().map(back).collect()
}

#[test]
fn rows_equal_the_crates_evaluation() {
    let mut rng = ChaCha8Rng::seed_from_u64(21);
    let r1cs = r1cs(&mut rng);
    for full in [0, 3, 128, 256] {
        let assignment = assignment(&r1cs, full, &mut rng);
        let a = evaluate(&r1cs, &r1cs.segments[0].a, &assignment);
        let b = evaluate(&r1cs, &r1cs.segments[0].b, &assignment);
        for row in r1cs.rows().take(r1cs.constraint_count as usize) {
            let at = row.index as usize;
            assert_eq!(a[at], row.a.evaluate(|k| assignment.z(k)), "A, row {at}");
            assert_eq!(b[at], row.b.evaluate(|k| assignment.z(k)), "B, row {at}");
        }
    }
}
