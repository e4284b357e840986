//! The R1CS `A·z ∘ B·z = C·z` of a circuit, recorded once and kept.
//!
//! # Index space
//!
//! `z = (ONE, inputs, aux)` has one index space, `[0, input_count + aux_count)`: ONE is 0, the other inputs follow, then
//! aux variable `j` is `input_count + j`. (During a recording inputs and aux interleave; indices are settled at its end.)
//!
//! # Rows
//!
//! Row order is the order of `enforce`. Behind the `constraint_count` recorded rows stand `input_count` *input rows*
//! `x_i · 0 = 0`, as bellperson's generator and prover append them. They are implied and never stored: row
//! `constraint_count + i` has the single non-zero 1 at z index `i` in A, none in B and C.
//!
//! # Blocks
//!
//! Rows are kept in [`Segment`]s. A segment stores the rows of one *block* and says how often the block repeats; flat
//! rows are a segment with one repeat. A [`Column`] is 4 bytes and is resolved per repeat:
//!
//! | class | bits 31, 30 | z index in repeat `t` of segment `s` |
//! |---|---|---|
//! | block-local aux | 00 | `input_count + s.aux_base + t · s.aux_stride + value` |
//! | block-local input | 01 | `s.input_base + t · s.input_stride + value` |
//! | port | 10 | `s.ports[t · s.port_count + value]` |
//! | outside | 11 | `value`, the same in every repeat (ONE is outside, value 0) |
//!
//! # Coefficients
//!
//! A coefficient is a 2-byte index into [`R1cs::dictionary`], shared by A, B and C. [`ESCAPE`] means that the dictionary
//! is full and the coefficient stands in [`Matrix::escapes`], sorted by position. Explicit zeros are dropped while
//! recording, since bellperson's density skips them; a term's absence and its zero coefficient are the same row.
//! (Terms of one row that name one variable twice are added up first.)
//!
//! # Where it comes from
//!
//! [`R1cs::record`] makes it in one synthesis without a witness, with the blocks that a [`Proposer`] points out. [`Cache`]
//! keeps it on disk. [`R1cs::rows`] expands rows, [`R1cs::density_a`] and [`R1cs::density_b`] say which variables the
//! queries hold, [`R1cs::structural_hash`] names the circuit.

use blstrs::Scalar as Fr;

mod block;
pub mod cache;
mod codec;
mod density;
mod dictionary;
mod draft;
mod extend;
mod record;
mod rows;
mod validate;

pub use cache::Cache;
pub use density::{Bitmap, Density, QueryCounts};
pub use record::{Flat, Mark, Proposer};
pub use rows::{Row, Terms};

/// Coefficient index that stands for "look into [`Matrix::escapes`]".
pub const ESCAPE: u16 = u16::MAX;

/// A column of a stored row: class and value, see the module's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Column(pub u32);

/// A [`Column`] taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnClass {
    /// Offset from the block's first aux variable.
    LocalAux(u32),
    /// Offset from the block's first input.
    LocalInput(u32),
    /// Index into the repeat's ports.
    Port(u32),
    /// A z index.
    Outside(u32),
}

impl Column {
    /// Largest value that a column can carry.
    pub const MAX_VALUE: u32 = (1 << 30) - 1;

    /// Packs class and value. The value must be at most [`Self::MAX_VALUE`].
    pub fn new(class: ColumnClass) -> Self {
        let (tag, value) = match class {
            ColumnClass::LocalAux(value) => (0, value),
            ColumnClass::LocalInput(value) => (1, value),
            ColumnClass::Port(value) => (2, value),
            ColumnClass::Outside(value) => (3, value),
        };
        debug_assert!(value <= Self::MAX_VALUE);
        Column(tag << 30 | value)
    }

    /// Class and value.
    #[inline]
    pub fn class(self) -> ColumnClass {
        let value = self.0 & Self::MAX_VALUE;
        match self.0 >> 30 {
            0 => ColumnClass::LocalAux(value),
            1 => ColumnClass::LocalInput(value),
            2 => ColumnClass::Port(value),
            _ => ColumnClass::Outside(value),
        }
    }
}

/// Rows of A, B or C of one block, compressed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    /// `row_count + 1` entries; row `i` has the non-zeros `[row_starts[i], row_starts[i + 1])`.
    pub row_starts: Vec<u32>,
    /// One per non-zero.
    pub columns: Vec<Column>,
    /// One per non-zero: index into the dictionary, or [`ESCAPE`].
    pub coefficients: Vec<u16>,
    /// (position of the non-zero, coefficient), sorted by position; one per [`ESCAPE`].
    pub escapes: Vec<(u32, Fr)>,
}

/// A block of rows and its repeats. Repeats are consecutive: repeat `t` has the rows
/// `[first_row + t · row_count, first_row + (t + 1) · row_count)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// First row of the first repeat.
    pub first_row: u64,
    /// Rows of one repeat.
    pub row_count: u32,
    /// How often the block stands, at least 1.
    pub repeat_count: u32,
    /// Aux index of the first repeat's first block-local aux variable.
    pub aux_base: u32,
    /// Aux variables of one repeat.
    pub aux_stride: u32,
    /// z index of the first repeat's first block-local input.
    pub input_base: u32,
    /// Inputs of one repeat.
    pub input_stride: u32,
    /// Ports of one repeat.
    pub port_count: u32,
    /// `repeat_count × port_count` z indices.
    pub ports: Vec<u32>,
    /// Rows of A.
    pub a: Matrix,
    /// Rows of B.
    pub b: Matrix,
    /// Rows of C.
    pub c: Matrix,
}

/// The R1CS of a circuit. Immutable once recorded; shared by all back ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct R1cs {
    /// Inputs, ONE included.
    pub input_count: u32,
    /// Aux variables.
    pub aux_count: u32,
    /// Rows as enforced, input rows not included.
    pub constraint_count: u64,
    /// Distinct coefficients, at most 65,535 (the index [`ESCAPE`] is none).
    pub dictionary: Vec<Fr>,
    /// In row order, covering `[0, constraint_count)` without a gap.
    pub segments: Vec<Segment>,
}

impl R1cs {
    /// Rows of the QAP: constraints and input rows.
    pub fn row_count(&self) -> u64 {
        self.constraint_count + u64::from(self.input_count)
    }

    /// Variables, ONE included.
    pub fn variable_count(&self) -> u64 {
        u64::from(self.input_count) + u64::from(self.aux_count)
    }

    /// log2 of the evaluation domain: the smallest `k` with `2^k >= row_count`. (bellperson's rule: a domain of one
    /// point has `k = 0`.)
    pub fn lg_domain_size(&self) -> u32 {
        self.row_count().next_power_of_two().trailing_zeros()
    }
}

impl Segment {
    /// z index of `column` in repeat `t`. `input_count` is the R1CS's.
    #[inline]
    pub fn resolve(&self, column: Column, repeat: u32, input_count: u32) -> u32 {
        match column.class() {
            ColumnClass::LocalAux(value) => input_count + self.aux_base + repeat * self.aux_stride + value,
            ColumnClass::LocalInput(value) => self.input_base + repeat * self.input_stride + value,
            ColumnClass::Port(value) => self.ports[(repeat * self.port_count + value) as usize],
            ColumnClass::Outside(value) => value,
        }
    }
}
