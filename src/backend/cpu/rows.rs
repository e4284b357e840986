//! a = A·z and b = B·z, straight from the rows of blocks and the compact assignment.
//!
//! Most of z are bits, and most coefficients ±1: a bit that is 0 costs its look-up, one that is 1 an addition of the
//! coefficient, a full-size value with coefficient ±1 an addition, and only the rest a product.

use std::ops::Range;

use blstrs::Scalar as Fr;
use ff::Field;

use super::shared::Shared;
use super::workers::{Stop, Tiles};
use crate::assignment::{Assignment, Value};
use crate::r1cs::{Matrix, R1cs, Segment, ESCAPE};

/// Rows of one tile: 0.1 ms on average, below 50 ms for rows of a thousand terms.
const TILE: usize = 1 << 12;

/// Rows of A and of B that stand side by side before they are multiplied: 8 KiB of stack each.
const PRODUCTS: usize = 1 << 8;

/// What a coefficient costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Factor {
    One,
    MinusOne,
    Other,
}

/// The coefficients of a dictionary, sorted out once per circuit.
pub(crate) struct Factors(Vec<Factor>);

impl Factors {
    pub(crate) fn of(r1cs: &R1cs) -> Self {
        let (one, minus_one) = (Fr::ONE, -Fr::ONE);
        let factor = |coefficient: &Fr| match *coefficient {
            c if c == one => Factor::One,
            c if c == minus_one => Factor::MinusOne,
            _ => Factor::Other,
        };
        Factors(r1cs.dictionary.iter().map(factor).collect())
    }
}

/// Fills `a` and `b`, which have the domain's size: constraints, then A's input rows, then zeros.
pub(crate) fn evaluate(
    tiles: &mut dyn Tiles,
    r1cs: &R1cs,
    factors: &Factors,
    assignment: &Assignment,
    [a, b]: [&mut [Fr]; 2],
) -> Result<(), Stop> {
    assert!(a.len() == b.len() && a.len() as u64 >= r1cs.row_count());
    let size = a.len();
    let (a, b) = (Shared::new(a), Shared::new(b));
    let view = View { r1cs, factors, assignment };
    tiles.run(size.div_ceil(TILE), &|tile, _| {
        // SAFETY: each tile has its own rows of both.
        let (a, b) = unsafe { (a.tile(tile, TILE), b.tile(tile, TILE)) };
        view.rows((tile * TILE) as u64, a, b);
    })
}

/// Fills `out`, which has the domain's size, with (A·z) ∘ (B·z).
pub(crate) fn evaluate_product(
    tiles: &mut dyn Tiles,
    r1cs: &R1cs,
    factors: &Factors,
    assignment: &Assignment,
    out: &mut [Fr],
) -> Result<(), Stop> {
    assert!(out.len() as u64 >= r1cs.row_count());
    let count = out.len().div_ceil(TILE);
    let out = Shared::new(out);
    let view = View { r1cs, factors, assignment };
    tiles.run(count, &|tile, _| {
        // SAFETY: each tile has its own rows.
        let out = unsafe { out.tile(tile, TILE) };
        let mut b = [Fr::ZERO; PRODUCTS];
        for (part, out) in out.chunks_mut(PRODUCTS).enumerate() {
            let b = &mut b[..out.len()];
            view.rows((tile * TILE + part * PRODUCTS) as u64, out, b);
            out.iter_mut().zip(b).for_each(|(out, b)| *out *= &*b);
        }
    })
}

#[derive(Clone, Copy)]
struct View<'a> {
    r1cs: &'a R1cs,
    factors: &'a Factors,
    assignment: &'a Assignment,
}

impl View<'_> {
    /// The rows from `first` on.
    fn rows(&self, first: u64, a: &mut [Fr], b: &mut [Fr]) {
        let constraint_count = self.r1cs.constraint_count;
        let stored = constraint_count.saturating_sub(first).min(a.len() as u64) as usize;
        self.stored_rows(first, &mut a[..stored], &mut b[..stored]);
        for (index, a) in (first..).zip(a.iter_mut()).skip(stored) {
            let input = (index - constraint_count) as usize;
            *a = self.assignment.inputs().get(input).copied().unwrap_or(Fr::ZERO);
        }
        b[stored..].fill(Fr::ZERO);
    }

    /// The rows from `first` on, all of them constraints.
    fn stored_rows(&self, first: u64, a: &mut [Fr], b: &mut [Fr]) {
        let segments = &self.r1cs.segments;
        let mut at = segments.partition_point(|segment| segment.end_row() <= first);
        let mut done = 0;
        while done < a.len() {
            let segment = &segments[at];
            let offset = first + done as u64 - segment.first_row;
            let (repeat, row) = (offset / u64::from(segment.row_count), offset % u64::from(segment.row_count));
            let count = (u64::from(segment.row_count) - row).min((a.len() - done) as u64) as usize;
            let rows = row as usize..row as usize + count;
            self.block_rows(segment, &segment.a, repeat as u32, rows.clone(), &mut a[done..][..count]);
            self.block_rows(segment, &segment.b, repeat as u32, rows, &mut b[done..][..count]);
            done += count;
            if first + done as u64 == segment.end_row() {
                at += 1;
            }
        }
    }

    fn block_rows(&self, segment: &Segment, matrix: &Matrix, repeat: u32, rows: Range<usize>, out: &mut [Fr]) {
        for (out, row) in out.iter_mut().zip(rows) {
            let mut sum = Fr::ZERO;
            for position in matrix.row(row) {
                let index = segment.resolve(matrix.columns[position], repeat, self.r1cs.input_count);
                self.add_term(&mut sum, matrix, position, index);
            }
            *out = sum;
        }
    }

    #[inline]
    fn add_term(&self, sum: &mut Fr, matrix: &Matrix, position: usize, index: u32) {
        let coefficient = || matrix.coefficient(position, &self.r1cs.dictionary);
        match self.assignment.value(index) {
            Value::Zero => {}
            Value::One => *sum += coefficient(),
            Value::Full(value) => match matrix.coefficients[position] {
                ESCAPE => *sum += *coefficient() * value,
                number => match self.factors.0[usize::from(number)] {
                    Factor::One => *sum += value,
                    Factor::MinusOne => *sum -= value,
                    Factor::Other => *sum += *coefficient() * value,
                },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand_core::{RngCore, SeedableRng};

    use super::super::workers::InOrder;
    use super::*;
    use crate::assignment::Layout;
    use crate::r1cs::{Column, ColumnClass};

    type Rng = rand_chacha::ChaCha8Rng;

    const INPUTS: u32 = 7;
    const AUX: u32 = 400;

    /// Rows with terms of every class and every kind of coefficient, escapes included; each column once a row.
    fn matrix(rows: usize, local_aux: u32, dictionary_len: usize, rng: &mut Rng) -> Matrix {
        let mut out = Matrix { row_starts: vec![0], ..Matrix::default() };
        for row in 0..rows {
            let terms = if row % 13 == 5 { 0 } else { 1 + rng.next_u32() % 6 };
            for term in 0..terms {
                let class = match term {
                    0 => ColumnClass::LocalAux(rng.next_u32() % local_aux),
                    1 => ColumnClass::LocalInput(rng.next_u32() % 2),
                    2 => ColumnClass::Port(rng.next_u32() % 3),
                    3 => ColumnClass::Outside(0),
                    _ => ColumnClass::Outside(1 + INPUTS + 2 * (term - 4) + rng.next_u32() % 2),
                };
                let escape = rng.next_u32() % 8 == 0;
                if escape {
                    out.escapes.push((out.columns.len() as u32, Fr::random(&mut *rng)));
                }
                out.columns.push(Column::new(class));
                out.coefficients.push(if escape { ESCAPE } else { (rng.next_u32() as usize % dictionary_len) as u16 });
            }
            out.row_starts.push(out.columns.len() as u32);
        }
        out
    }

    /// A flat segment, then a block of `row_count` rows four times.
    fn r1cs(row_count: u32, rng: &mut Rng) -> R1cs {
        let mut dictionary = vec![Fr::ONE, -Fr::ONE, Fr::from(2), Fr::from(1 << 40)];
        dictionary.extend((0..3).map(|_| Fr::random(&mut *rng)));
        let mut segments: Vec<Segment> = Vec::new();
        let mut first_row = 0;
        for (rows, repeat_count, stride, port_count) in [(11, 1, 0, 3), (row_count, 4, 50, 3)] {
            let ports = (0..repeat_count * port_count).map(|_| rng.next_u32() % (INPUTS + AUX)).collect();
            let [a, b, c] = std::array::from_fn(|_| matrix(rows as usize, 50, dictionary.len(), rng));
            segments.push(Segment {
                first_row,
                row_count: rows,
                repeat_count,
                aux_base: 150,
                aux_stride: stride,
                input_base: 1,
                input_stride: 1,
                port_count,
                ports,
                a,
                b,
                c,
            });
            first_row += u64::from(rows * repeat_count);
        }
        R1cs { input_count: INPUTS, aux_count: AUX, constraint_count: first_row, dictionary, segments }
    }

    /// A third full-size, among them 0, 1 and −1.
    fn assignment(rng: &mut Rng) -> Assignment {
        let mut full_words = vec![0u64; AUX.div_ceil(64) as usize];
        let mut bits = full_words.clone();
        let mut full = Vec::new();
        for aux in 0..AUX as usize {
            if rng.next_u32() % 3 == 0 {
                full_words[aux / 64] |= 1 << (aux % 64);
                full.push([Fr::ZERO, Fr::ONE, -Fr::ONE, Fr::random(&mut *rng)][rng.next_u32() as usize % 4]);
            } else {
                bits[aux / 64] |= u64::from(rng.next_u32() % 2) << (aux % 64);
            }
        }
        let layout = Arc::new(Layout::from_words(AUX, full_words).unwrap());
        let inputs = std::iter::once(Fr::ONE).chain((1..INPUTS).map(|_| Fr::random(&mut *rng))).collect();
        Assignment::new(layout, inputs, bits, full).unwrap()
    }

    #[test]
    fn rows_equal_the_expanded_rows() {
        let mut rng = Rng::seed_from_u64(40);
        for row_count in [1, 3, 100, 1023, 3000] {
            let r1cs = r1cs(row_count, &mut rng);
            let assignment = assignment(&mut rng);
            let size = 1 << r1cs.lg_domain_size();
            // What was there before must not matter.
            let [mut a, mut b] = [vec![Fr::from(77); size], vec![Fr::from(78); size]];
            evaluate(&mut InOrder, &r1cs, &Factors::of(&r1cs), &assignment, [&mut a, &mut b]).unwrap();
            for row in r1cs.rows() {
                let [expected_a, expected_b, _] = row.evaluate(|k| assignment.z(k));
                assert_eq!(a[row.index as usize], expected_a, "row {} of A, {row_count} a block", row.index);
                assert_eq!(b[row.index as usize], expected_b, "row {} of B, {row_count} a block", row.index);
            }
            let behind = r1cs.row_count() as usize;
            assert!(a[behind..].iter().chain(&b[behind..]).all(|value| value.is_zero_vartime()));
            assert!(a[..behind].iter().any(|value| !value.is_zero_vartime()));
            let mut product = vec![Fr::from(79); size];
            evaluate_product(&mut InOrder, &r1cs, &Factors::of(&r1cs), &assignment, &mut product).unwrap();
            for (index, ((product, a), b)) in product.iter().zip(&a).zip(&b).enumerate() {
                assert_eq!(*product, a * b, "row {index} of the product, {row_count} a block");
            }
        }
    }
}
