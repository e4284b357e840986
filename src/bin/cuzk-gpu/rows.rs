//! Rows times z on the device: generated R1CS against the crate's own evaluation, and the time at PoRep's shape.

use crate::fr::{download, upload, Words};
use crate::harness::{Failure, Harness};
use blstrs::Scalar as Fr;
use cuzk::assignment::{Assignment, Layout};
use cuzk::backend::cuda::sys::{DeviceBuffer, DeviceRows, DeviceZ, RowsOf, Stream};
use cuzk::r1cs::{Column, ColumnClass, Matrix, R1cs, Segment, ESCAPE};
use ff::Field;
use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;
use std::sync::Arc;

/// What a generated R1CS looks like. Lengths and places of non-zeros follow PoRep's (docs/bench/ntt.md).
struct Shape {
    row_count: u32,
    repeat_count: u32,
    port_count: u32,
    dictionary: usize,
    escapes: bool,
    longest: u32,
}

/// Inputs of each repeat.
const INPUT_STRIDE: u32 = 3;
/// Aux variables in front of the blocks.
const PREFIX: u32 = 571;

fn below(rng: &mut ChaCha8Rng, end: u32) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(end)) >> 32) as u32
}

/// 1, −1, powers of two, then random ones.
fn dictionary(count: usize) -> Vec<Fr> {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut out = vec![Fr::ONE, -Fr::ONE];
    out.extend((1..).map(|k| Fr::from(2).pow_vartime([k])).take(250.min(count - 2)));
    out.extend((out.len()..count).map(|_| Fr::random(&mut rng)));
    out
}

impl Shape {
    /// Length of a row of A: a thousandth of the rows holds a third of the non-zeros.
    fn length(&self, rng: &mut ChaCha8Rng) -> u32 {
        match below(rng, 100_000) {
            0..100 => (257 + below(rng, 1100)).min(self.longest),
            100..1_000 => 8 + below(rng, 9),
            1_000..3_000 => 0,
            3_000..55_000 => 1,
            55_000..80_000 => 2,
            _ => 3,
        }
    }

    fn coefficient(&self, rng: &mut ChaCha8Rng, b: bool) -> u16 {
        let index = match below(rng, 1000) {
            _ if b => below(rng, 2000).saturating_sub(1998),
            0..175 => 0,
            175..378 => 1,
            378..625 => 2,
            625..855 => 2 + below(rng, 250),
            _ => below(rng, self.dictionary as u32),
        };
        match self.escapes && below(rng, 50) == 0 {
            true => ESCAPE,
            false => (index % self.dictionary as u32) as u16,
        }
    }

    /// A column near row `row`, with some on ONE, inputs, the prefix and ports.
    fn column(&self, rng: &mut ChaCha8Rng, row: u32) -> Column {
        let near = row.saturating_sub(below(rng, 2000.min(self.row_count)));
        Column::new(match below(rng, 1000) {
            0..104 => ColumnClass::Outside(0),
            104..106 => ColumnClass::LocalInput(below(rng, INPUT_STRIDE)),
            106..110 => ColumnClass::Outside(self.input_count() + below(rng, PREFIX)),
            110..112 => ColumnClass::Outside(below(rng, self.input_count())),
            112..116 if self.port_count > 0 => ColumnClass::Port(below(rng, self.port_count)),
            _ => ColumnClass::LocalAux(near),
        })
    }

    fn input_count(&self) -> u32 {
        1 + INPUT_STRIDE * self.repeat_count
    }

    fn aux_count(&self) -> u32 {
        PREFIX + self.row_count * self.repeat_count
    }

    fn matrix(&self, seed: u64, b: bool) -> Matrix {
        let chunk = 1 << 14;
        let parts: Vec<Matrix> = (0..self.row_count)
            .step_by(chunk)
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|first| {
                let mut rng = ChaCha8Rng::seed_from_u64(seed << 32 | u64::from(first));
                let mut part = Matrix::default();
                for row in first..(first + chunk as u32).min(self.row_count) {
                    for _ in 0..if b { 1 } else { self.length(&mut rng) } {
                        part.columns.push(self.column(&mut rng, row));
                        part.coefficients.push(self.coefficient(&mut rng, b));
                        if part.coefficients.last() == Some(&ESCAPE) {
                            part.escapes.push((part.columns.len() as u32 - 1, Fr::random(&mut rng)));
                        }
                    }
                    part.row_starts.push(part.columns.len() as u32);
                }
                part
            })
            .collect();
        let mut whole = Matrix { row_starts: vec![0], ..Matrix::default() };
        for part in parts {
            let before = whole.columns.len() as u32;
            whole.row_starts.extend(part.row_starts.iter().map(|start| start + before));
            whole.escapes.extend(part.escapes.iter().map(|(at, value)| (at + before, *value)));
            whole.columns.extend(part.columns);
            whole.coefficients.extend(part.coefficients);
        }
        whole
    }

    fn r1cs(&self) -> R1cs {
        let mut rng = ChaCha8Rng::seed_from_u64(12);
        let variables = self.input_count() + self.aux_count();
        let segment = Segment {
            first_row: 0,
            row_count: self.row_count,
            repeat_count: self.repeat_count,
            aux_base: PREFIX,
            aux_stride: self.row_count,
            input_base: 1,
            input_stride: INPUT_STRIDE,
            port_count: self.port_count,
            ports: (0..self.port_count * self.repeat_count).map(|_| below(&mut rng, variables)).collect(),
            a: self.matrix(1, false),
            b: self.matrix(2, true),
            c: Matrix { row_starts: vec![0; self.row_count as usize + 1], ..Matrix::default() },
        };
        R1cs {
            input_count: self.input_count(),
            aux_count: self.aux_count(),
            constraint_count: u64::from(self.row_count) * u64::from(self.repeat_count),
            dictionary: dictionary(self.dictionary),
            segments: vec![segment],
        }
    }

    /// Bits, half of them 1, and 1.3 % full-size values in runs of 64, as gadgets over field elements make them.
    fn assignment(&self, full_per_mille: u32) -> Result<Assignment, Failure> {
        let mut rng = ChaCha8Rng::seed_from_u64(13);
        let words = self.aux_count().div_ceil(64) as usize;
        let last = u64::MAX >> (words as u32 * 64 - self.aux_count());
        let mut full: Vec<u64> = (0..words)
            .map(|_| if below(&mut rng, 1000) < full_per_mille { rng.next_u64() | 1 << 63 } else { 0 })
            .collect();
        full[words - 1] &= last;
        let mut bits: Vec<u64> = full.iter().map(|full| rng.next_u64() & !full).collect();
        bits[words - 1] &= last;
        let layout = Arc::new(Layout::from_words(self.aux_count(), full)?);
        let edges = [Fr::ZERO, Fr::ONE, -Fr::ONE];
        let mut value = || match below(&mut rng, 8) {
            0 => edges[below(&mut rng, 3) as usize],
            _ => Fr::random(&mut rng),
        };
        let inputs = std::iter::once(Fr::ONE).chain((1..self.input_count()).map(|_| value())).collect();
        let values = (0..layout.full_count()).map(|_| value()).collect();
        Ok(Assignment::new(layout, inputs, bits, values)?)
    }
}

/// An assignment on the device, kept alive.
struct Uploaded {
    inputs: DeviceBuffer<Words>,
    bits: DeviceBuffer<u64>,
    full_bits: DeviceBuffer<u64>,
    rank: DeviceBuffer<u32>,
    full: DeviceBuffer<Words>,
}

impl Uploaded {
    fn new(assignment: &Assignment, stream: &Stream) -> Result<Self, Failure> {
        Ok(Uploaded {
            inputs: upload(assignment.inputs(), stream)?,
            bits: DeviceBuffer::from_slice(assignment.bits(), stream)?,
            full_bits: DeviceBuffer::from_slice(assignment.layout().full_words(), stream)?,
            rank: DeviceBuffer::from_slice(assignment.layout().rank_directory(), stream)?,
            full: upload(assignment.full(), stream)?,
        })
    }

    fn z(&self) -> DeviceZ {
        DeviceZ {
            inputs: self.inputs.as_ptr(),
            bits: self.bits.as_ptr(),
            full_bits: self.full_bits.as_ptr(),
            rank: self.rank.as_ptr(),
            full: self.full.as_ptr(),
        }
    }
}

/// Small shapes with every class of column, escapes, ports, and rows of up to 1,356 non-zeros.
pub fn test(harness: &mut Harness) {
    harness.check("bits", |harness| compare(harness, 13));
    harness.check("full", |harness| compare(harness, 990));
}

/// The same as test: nothing here is large.
pub fn sanitize(harness: &mut Harness) {
    test(harness);
}

fn compare(harness: &Harness, full_per_mille: u32) -> Result<(), Failure> {
    let flat = Shape { row_count: 3000, repeat_count: 1, port_count: 0, dictionary: 5, escapes: true, longest: 2000 };
    let blocks =
        Shape { row_count: 4001, repeat_count: 5, port_count: 7, dictionary: 700, escapes: true, longest: 929 };
    let plain = Shape { row_count: 257, repeat_count: 3, port_count: 1, dictionary: 2, escapes: false, longest: 1 };
    for shape in [flat, blocks, plain] {
        let (r1cs, assignment) = (shape.r1cs(), shape.assignment(full_per_mille)?);
        let stream = &harness.stream;
        let (rows, z) = (DeviceRows::new(&r1cs, stream)?, Uploaded::new(&assignment, stream)?);
        let lg = r1cs.lg_domain_size();
        for of in [RowsOf::A, RowsOf::B] {
            let mut out = DeviceBuffer::<Words>::new(1 << lg)?;
            out.fill(0xa5, stream)?;
            // SAFETY: 2^lg elements, and an assignment of this R1CS.
            unsafe { rows.evaluate(of, &z.z(), out.as_ptr(), lg, stream)? };
            let found = download(&out, stream)?;
            for row in r1cs.rows() {
                let terms = if of == RowsOf::A { &row.a } else { &row.b };
                let expected = terms.evaluate(|k| assignment.z(k));
                assert_eq!(found[row.index as usize], expected, "{of:?}, row {} of {}", row.index, r1cs.row_count());
            }
            assert!(found[r1cs.row_count() as usize..].iter().all(|v| bool::from(v.is_zero())));
        }
    }
    Ok(())
}

/// 18 repeats of a block of 7.24 M rows, as in PoRep 32 GiB.
pub fn bench(harness: &mut Harness) {
    harness.check("porep", porep);
}

fn porep(harness: &Harness) -> Result<(), Failure> {
    let shape =
        Shape { row_count: 7_237_665, repeat_count: 18, port_count: 0, dictionary: 2466, escapes: false, longest: 929 };
    let (r1cs, assignment, stream) = (shape.r1cs(), shape.assignment(13)?, &harness.stream);
    let (rows, z) = (DeviceRows::new(&r1cs, stream)?, Uploaded::new(&assignment, stream)?);
    let out = DeviceBuffer::<Words>::new(1 << 27)?;
    let [a, b, _] = r1cs.non_zero_counts();
    println!("rows: {} rows, {a} and {b} non-zeros, {} MiB on the device", r1cs.row_count(), rows.bytes() >> 20);
    let mut both = 0.0;
    for of in [RowsOf::A, RowsOf::B] {
        // SAFETY: 2^27 elements, and an assignment of this R1CS.
        let ms = harness.median_ms(|stream| unsafe { rows.evaluate(of, &z.z(), out.as_ptr(), 27, stream) })?;
        println!("rows {of:?}·z: {ms:.2} ms");
        both += ms;
    }
    println!("rows A·z and B·z: {both:.2} ms");
    Ok(())
}
