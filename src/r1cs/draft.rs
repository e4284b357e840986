//! Rows while they are recorded, before the number of inputs and so the z indices are known.
//!
//! Columns are [`Column`]s with other classes than the settled ones:
//!
//! | class | bits 31, 30 | meaning of the value |
//! |---|---|---|
//! | local aux | 00 | as settled |
//! | local input | 01 | as settled |
//! | outside input | 10 | input |
//! | outside aux | 11 | aux variable |

use bellpepper_core::{Index, LinearCombination};
use blstrs::Scalar as Fr;
use ff::Field;

use super::dictionary::Dictionary;
use super::{Column, ColumnClass, Matrix, Segment, ESCAPE};
use crate::error::{Error, Result};

pub(super) const LOCAL_AUX: u32 = 0;
pub(super) const LOCAL_INPUT: u32 = 1 << 30;
pub(super) const OUTSIDE_INPUT: u32 = 2 << 30;
pub(super) const OUTSIDE_AUX: u32 = 3 << 30;
pub(super) const CLASS: u32 = 3 << 30;

/// One row as `enforce` receives it: A, B, C.
pub(super) type Row = [LinearCombination<Fr>; 3];

/// A point of a recording: rows enforced and variables allocated so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub row: u64,
    pub aux: u32,
    pub input: u32,
}

/// Rows of one unit: a block, or what stands between blocks.
#[derive(Debug)]
pub(super) struct Draft {
    pub start: Position,
    pub matrices: [Matrix; 3],
}

impl Draft {
    /// No rows yet. Variables allocated from `start` on are local.
    pub(super) fn new(start: Position) -> Self {
        let matrix = || Matrix { row_starts: vec![0], ..Matrix::default() };
        Draft { start, matrices: [matrix(), matrix(), matrix()] }
    }

    /// Rows of this draft.
    pub(super) fn row_count(&self) -> usize {
        self.matrices[0].row_count()
    }

    /// Appends `row`. `now` bounds the variables that it may name. Errors: INVALID for a variable that was never
    /// allocated, UNSUPPORTED if an index overflows.
    pub(super) fn push_row(&mut self, row: &Row, now: Position, dictionary: &mut Dictionary) -> Result<()> {
        for (matrix, terms) in self.matrices.iter_mut().zip(row) {
            for (variable, coefficient) in terms.iter() {
                if bool::from(coefficient.is_zero()) {
                    continue;
                }
                let column = self.start.column(variable.0, now).ok_or_else(|| not_allocated(variable.0, now.row))?;
                matrix.columns.push(column);
                let index = dictionary.index_of(coefficient);
                if index == ESCAPE {
                    matrix.escapes.push((matrix.coefficients.len() as u32, *coefficient));
                }
                matrix.coefficients.push(index);
            }
            let end = u32::try_from(matrix.columns.len()).map_err(|_| too_large("2^32 non-zeros in one block"))?;
            u32::try_from(matrix.row_starts.len()).map_err(|_| too_large("2^32 rows in one block"))?;
            matrix.row_starts.push(end);
        }
        Ok(())
    }

    /// Appends the rows of `later`, which starts where this one ends.
    pub(super) fn append(&mut self, later: Draft) {
        let start = self.start;
        for (matrix, mut more) in self.matrices.iter_mut().zip(later.matrices) {
            let offset = matrix.columns.len() as u32;
            matrix.columns.extend(more.columns.iter().map(|column| start.rebase(*column, later.start)));
            matrix.row_starts.extend(more.row_starts[1..].iter().map(|end| offset + end));
            matrix.coefficients.append(&mut more.coefficients);
            matrix.escapes.extend(more.escapes.into_iter().map(|(at, value)| (offset + at, value)));
        }
    }

    /// Whether [`Self::append`] would keep every index in range.
    pub(super) fn can_append(&self, later: &Draft) -> bool {
        let fits = |len: usize, more: usize| u32::try_from(len + more).is_ok();
        self.matrices
            .iter()
            .zip(&later.matrices)
            .all(|(a, b)| fits(a.columns.len(), b.columns.len()) && fits(a.row_starts.len(), b.row_starts.len()))
    }

    /// These rows as a segment that stands once; `end` is the position behind it.
    pub(super) fn settle(mut self, end: Position, input_count: u32) -> Segment {
        for column in self.matrices.iter_mut().flat_map(|matrix| &mut matrix.columns) {
            if matches!(column.0 & CLASS, OUTSIDE_INPUT | OUTSIDE_AUX) {
                *column = Column::new(ColumnClass::Outside(column.z_index(input_count)));
            }
        }
        self.into_segment(end)
    }

    /// A segment of these rows and columns as they are.
    pub(super) fn into_segment(mut self, end: Position) -> Segment {
        self.matrices.iter_mut().for_each(Matrix::shrink_to_fit);
        let row_count = self.row_count() as u32;
        let [a, b, c] = self.matrices;
        Segment {
            first_row: self.start.row,
            row_count,
            repeat_count: 1,
            aux_base: self.start.aux,
            aux_stride: end.aux - self.start.aux,
            input_base: self.start.input,
            input_stride: end.input - self.start.input,
            port_count: 0,
            ports: Vec::new(),
            a,
            b,
            c,
        }
    }
}

impl Column {
    /// z index of an outside variable, once the number of inputs is known.
    pub(super) fn z_index(self, input_count: u32) -> u32 {
        match self.0 & CLASS {
            OUTSIDE_AUX => input_count + self.value(),
            _ => self.value(),
        }
    }
}

impl Position {
    /// Column of a variable in a draft that starts here; `None` if it isn't allocated `now`.
    #[inline]
    pub(super) fn column(&self, index: Index, now: Position) -> Option<Column> {
        match index {
            Index::Aux(j) if j < now.aux as usize => Some(self.aux_column(j as u32)),
            Index::Input(i) if i < now.input as usize => Some(self.input_column(i as u32)),
            _ => None,
        }
    }

    fn aux_column(&self, aux: u32) -> Column {
        match aux.checked_sub(self.aux) {
            Some(offset) => Column(LOCAL_AUX | offset),
            None => Column(OUTSIDE_AUX | aux),
        }
    }

    fn input_column(&self, input: u32) -> Column {
        match input.checked_sub(self.input) {
            Some(offset) => Column(LOCAL_INPUT | offset),
            None => Column(OUTSIDE_INPUT | input),
        }
    }

    /// `column` of a draft that starts at `other`, for a draft that starts here.
    pub(super) fn rebase(&self, column: Column, other: Position) -> Column {
        let value = column.value();
        match column.0 & CLASS {
            LOCAL_AUX => self.aux_column(other.aux + value),
            LOCAL_INPUT => self.input_column(other.input + value),
            OUTSIDE_AUX => self.aux_column(value),
            _ => self.input_column(value),
        }
    }
}

fn not_allocated(index: Index, row: u64) -> Error {
    Error::invalid("circuit", format!("row {row} names {index:?}, which isn't allocated"))
}

/// The error of a circuit beyond the format's limits.
pub(super) fn too_large(what: &str) -> Error {
    Error::Unsupported(format!("a circuit with more than {what}"))
}
