//! Expanded rows: what a stored row is in each repeat, with z indices and coefficients.

use std::ops::Range;

use blstrs::Scalar as Fr;
use ff::Field;

use super::{Column, Matrix, R1cs, Segment, ESCAPE};

/// One row of A, B and C.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Its index in `[0, row_count)`.
    pub index: u64,
    /// Terms of A.
    pub a: Terms<'a>,
    /// Terms of B.
    pub b: Terms<'a>,
    /// Terms of C.
    pub c: Terms<'a>,
}

/// The terms of one row of one matrix: (z index, coefficient), each z index at most once, no coefficient zero.
#[derive(Clone, Debug)]
pub struct Terms<'a>(Source<'a>);

#[derive(Clone, Debug)]
enum Source<'a> {
    Stored {
        stored: Stored<'a>,
        positions: Range<usize>,
    },
    /// An input row of A.
    Input(Option<u32>),
}

#[derive(Clone, Copy, Debug)]
struct Stored<'a> {
    r1cs: &'a R1cs,
    segment: &'a Segment,
    matrix: &'a Matrix,
    repeat: u32,
}

static ONE: Fr = Fr::ONE;

impl R1cs {
    /// Row `index`, one of the `row_count()`; input rows included. Panics if there is no such row.
    pub fn row(&self, index: u64) -> Row<'_> {
        assert!(index < self.row_count(), "row {index} of {}", self.row_count());
        if index >= self.constraint_count {
            let input = Terms(Source::Input(Some((index - self.constraint_count) as u32)));
            let none = Terms(Source::Input(None));
            return Row { index, a: input, b: none.clone(), c: none };
        }
        let at = self.segments.partition_point(|segment| segment.first_row <= index) - 1;
        let segment = &self.segments[at];
        let offset = index - segment.first_row;
        let repeat = (offset / u64::from(segment.row_count)) as u32;
        self.stored_row(segment, repeat, (offset % u64::from(segment.row_count)) as usize)
    }

    /// All rows in order, input rows included.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows_in(0..self.row_count())
    }

    /// The rows of `range` in order. Panics while iterating behind the last row. A cheap way to split work: ranges of any
    /// size can be read in parallel.
    pub fn rows_in(&self, range: Range<u64>) -> impl Iterator<Item = Row<'_>> {
        let mut at = self.segments.partition_point(|segment| segment.end_row() <= range.start);
        range.map(move |index| {
            while self.segments.get(at).is_some_and(|segment| segment.end_row() <= index) {
                at += 1;
            }
            match self.segments.get(at) {
                Some(segment) => {
                    let offset = index - segment.first_row;
                    let rows = u64::from(segment.row_count);
                    self.stored_row(segment, (offset / rows) as u32, (offset % rows) as usize)
                }
                None => self.row(index),
            }
        })
    }

    fn stored_row<'a>(&'a self, segment: &'a Segment, repeat: u32, row: usize) -> Row<'a> {
        let terms = |matrix: &'a Matrix| {
            let stored = Stored { r1cs: self, segment, matrix, repeat };
            Terms(Source::Stored { stored, positions: matrix.row(row) })
        };
        let index = segment.first_row + u64::from(repeat) * u64::from(segment.row_count) + row as u64;
        Row { index, a: terms(&segment.a), b: terms(&segment.b), c: terms(&segment.c) }
    }

    /// Non-zeros of A, B and C over all repeats; input rows not counted.
    pub fn non_zero_counts(&self) -> [u64; 3] {
        let mut counts = [0; 3];
        for segment in &self.segments {
            for (count, matrix) in counts.iter_mut().zip(segment.matrices()) {
                *count += u64::from(segment.repeat_count) * matrix.columns.len() as u64;
            }
        }
        counts
    }

    /// Bytes of memory that the stored form takes.
    pub fn bytes_used(&self) -> u64 {
        let matrix_bytes = |m: &Matrix| {
            size_of_val(&m.row_starts[..])
                + size_of_val(&m.columns[..])
                + size_of_val(&m.coefficients[..])
                + size_of_val(&m.escapes[..])
        };
        let segment_bytes = |s: &Segment| {
            size_of::<Segment>() + size_of_val(&s.ports[..]) + s.matrices().map(matrix_bytes).iter().sum::<usize>()
        };
        (size_of::<R1cs>() + size_of_val(&self.dictionary[..]) + self.segments.iter().map(segment_bytes).sum::<usize>())
            as u64
    }
}

impl Segment {
    /// The row behind the last repeat.
    pub fn end_row(&self) -> u64 {
        self.first_row + u64::from(self.row_count) * u64::from(self.repeat_count)
    }

    /// A, B and C.
    pub fn matrices(&self) -> [&Matrix; 3] {
        [&self.a, &self.b, &self.c]
    }
}

impl Matrix {
    /// Rows stored.
    pub fn row_count(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Positions of the non-zeros of `row`.
    #[inline]
    pub fn row(&self, row: usize) -> Range<usize> {
        self.row_starts[row] as usize..self.row_starts[row + 1] as usize
    }

    /// Coefficient of the non-zero at `position`.
    #[inline]
    pub fn coefficient<'a>(&'a self, position: usize, dictionary: &'a [Fr]) -> &'a Fr {
        match self.coefficients[position] {
            ESCAPE => self.escaped(position),
            index => &dictionary[usize::from(index)],
        }
    }

    fn escaped(&self, position: usize) -> &Fr {
        let at = self.escapes.binary_search_by_key(&position, |(at, _)| *at as usize);
        &self.escapes[at.expect("validate: one escape per ESCAPE")].1
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.row_starts.shrink_to_fit();
        self.columns.shrink_to_fit();
        self.coefficients.shrink_to_fit();
        self.escapes.shrink_to_fit();
    }
}

impl Column {
    /// The 30 bits beside the class.
    #[inline]
    pub fn value(self) -> u32 {
        self.0 & Self::MAX_VALUE
    }
}

impl Row<'_> {
    /// `(A·z, B·z, C·z)` of this row for the `z` that `value` gives by index.
    pub fn evaluate(&self, value: impl Fn(u32) -> Fr) -> [Fr; 3] {
        [self.a.evaluate(&value), self.b.evaluate(&value), self.c.evaluate(&value)]
    }

    /// Whether `A·z ∘ B·z = C·z` holds in this row.
    pub fn is_satisfied(&self, value: impl Fn(u32) -> Fr) -> bool {
        let [a, b, c] = self.evaluate(value);
        a * b == c
    }
}

impl Terms<'_> {
    /// `Σ coefficient · z` for the `z` that `value` gives by index.
    pub fn evaluate(&self, value: impl Fn(u32) -> Fr) -> Fr {
        let mut sum = Fr::ZERO;
        for (index, coefficient) in self.clone() {
            match *coefficient == ONE {
                true => sum += value(index),
                false => sum += value(index) * coefficient,
            }
        }
        sum
    }
}

impl<'a> Iterator for Terms<'a> {
    type Item = (u32, &'a Fr);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Source::Stored { stored, positions } => {
                let position = positions.next()?;
                let Stored { r1cs, segment, matrix, repeat } = *stored;
                let index = segment.resolve(matrix.columns[position], repeat, r1cs.input_count);
                Some((index, matrix.coefficient(position, &r1cs.dictionary)))
            }
            Source::Input(input) => Some((input.take()?, &ONE)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = match &self.0 {
            Source::Stored { positions, .. } => positions.len(),
            Source::Input(input) => usize::from(input.is_some()),
        };
        (len, Some(len))
    }
}

impl ExactSizeIterator for Terms<'_> {}
