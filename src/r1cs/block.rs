//! A block whose later repeats are compared with the first and not kept.

use std::collections::HashMap;

use bellpepper_core::{Index, LinearCombination};
use blstrs::Scalar as Fr;
use ff::Field;

use super::draft::{too_large, Draft, Position, Row, CLASS, OUTSIDE_AUX, OUTSIDE_INPUT};
use super::{Column, ColumnClass, Matrix, Segment};
use crate::error::Result;

/// Class of a column that names a *slot*: one distinct outside variable of the first repeat. Takes the place of both
/// outside classes.
const SLOT: u32 = OUTSIDE_INPUT;

/// An outside variable: its column in a draft that starts behind it.
type Outside = Column;

/// No column: aux indices stay below 2^30 − 1.
const UNKNOWN: Outside = Column(u32::MAX);

/// The rows of the first repeat, and how the accepted repeats differ from it.
#[derive(Debug)]
pub(super) struct Block {
    /// Columns that were outside are slots.
    draft: Draft,
    /// What each slot is in the first repeat.
    slots: Vec<Outside>,
    /// What each slot is in the accepted repeats from the second on: `slots.len()` entries each.
    tables: Vec<Outside>,
    repeat_count: u32,
    /// Position behind the last accepted repeat.
    end: Position,
    /// Aux variables and inputs from one repeat to the next, once a second one has begun.
    strides: Option<(u32, u32)>,
}

/// A repeat that is being compared.
#[derive(Debug)]
pub(super) struct Repeat {
    start: Position,
    /// Rows that were equal so far.
    row: usize,
    /// What each slot is here, as far as the equal rows say.
    table: Vec<Outside>,
}

impl Block {
    /// `draft` as the first repeat; `end` is the position behind it.
    pub(super) fn new(mut draft: Draft, end: Position) -> Self {
        let mut slots = Vec::new();
        let mut slot_of = HashMap::new();
        for matrix in &mut draft.matrices {
            for column in matrix.columns.iter_mut().filter(|column| is_outside(**column)) {
                let slot = *slot_of.entry(*column).or_insert_with(|| {
                    slots.push(*column);
                    slots.len() as u32 - 1
                });
                *column = Column(SLOT | slot);
            }
            matrix.shrink_to_fit();
        }
        Block { draft, slots, tables: Vec::new(), repeat_count: 1, end, strides: None }
    }

    /// Begins to compare the repeat that starts at `start`, with no row between; `None` if it can't be one of this block:
    /// its variables don't start one stride behind the last repeat's.
    pub(super) fn begin(&mut self, start: Position) -> Option<Repeat> {
        let last = self.repeat_start(self.repeat_count - 1)?;
        let strides = (start.aux - last.aux, start.input - last.input);
        debug_assert_eq!(start.row, self.end.row);
        let fits = *self.strides.get_or_insert(strides) == strides;
        fits.then(|| Repeat { start, row: 0, table: vec![UNKNOWN; self.slots.len()] })
    }

    /// Where repeat `t` starts.
    fn repeat_start(&self, t: u32) -> Option<Position> {
        let (aux, input) = self.strides.unwrap_or_default();
        Some(Position {
            row: self.draft.start.row + u64::from(t) * self.draft.row_count() as u64,
            aux: self.draft.start.aux.checked_add(t.checked_mul(aux)?)?,
            input: self.draft.start.input.checked_add(t.checked_mul(input)?)?,
        })
    }

    /// Whether the next row of `repeat` equals the first repeat's under renumbering. Only then it is counted.
    pub(super) fn matches(&self, repeat: &mut Repeat, row: &Row, now: Position, dictionary: &[Fr]) -> bool {
        let equal = repeat.row < self.draft.row_count()
            && self.draft.matrices.iter().zip(row).all(|(m, terms)| row_matches(m, repeat, terms, now, dictionary));
        repeat.row += usize::from(equal);
        equal
    }

    /// Whether every row of the block has been seen in `repeat`.
    pub(super) fn is_complete(&self, repeat: &Repeat) -> bool {
        repeat.row == self.draft.row_count()
    }

    /// Counts a complete `repeat` as one of this block; `end` is the position behind it.
    pub(super) fn accept(&mut self, repeat: Repeat, end: Position) {
        debug_assert!(self.is_complete(&repeat));
        self.tables.extend(repeat.table);
        self.repeat_count += 1;
        self.end = end;
    }

    /// The rows of `repeat` seen so far, as rows of its own.
    pub(super) fn expand(&self, repeat: &Repeat) -> Draft {
        let mut draft = Draft::new(repeat.start);
        for (to, from) in draft.matrices.iter_mut().zip(&self.draft.matrices) {
            let end = from.row_starts[repeat.row] as usize;
            to.row_starts = from.row_starts[..=repeat.row].to_vec();
            to.columns = from.columns[..end].iter().map(|column| unslot(*column, &repeat.table)).collect();
            to.coefficients = from.coefficients[..end].to_vec();
            to.escapes = from.escapes.iter().take_while(|(at, _)| (*at as usize) < end).cloned().collect();
        }
        draft
    }

    /// The segment of all repeats. Errors: UNSUPPORTED if the port table overflows.
    pub(super) fn settle(mut self, input_count: u32) -> Result<Segment> {
        let ports = self.ports();
        let port_count = ports.iter().flatten().count() as u32;
        if u32::try_from(u64::from(port_count) * u64::from(self.repeat_count)).is_err() {
            return Err(too_large("2^32 port entries in one block"));
        }
        let moving = |table: &[Outside]| -> Vec<u32> {
            let pairs = table.iter().zip(&ports).filter(|(_, port)| port.is_some());
            pairs.map(|(outside, _)| outside.z_index(input_count)).collect()
        };
        let repeats = std::iter::once(&self.slots[..]).chain(self.tables.chunks(self.slots.len().max(1)));
        let table = if port_count == 0 { Vec::new() } else { repeats.flat_map(moving).collect() };
        for column in self.draft.matrices.iter_mut().flat_map(|matrix| &mut matrix.columns) {
            if column.0 & CLASS == SLOT {
                let slot = column.value() as usize;
                *column = match ports[slot] {
                    Some(port) => Column::new(ColumnClass::Port(port)),
                    None => Column::new(ColumnClass::Outside(self.slots[slot].z_index(input_count))),
                };
            }
        }
        let segment = self.draft.into_segment(self.end);
        let (aux_stride, input_stride) = self.strides.unwrap_or((segment.aux_stride, segment.input_stride));
        Ok(Segment { repeat_count: self.repeat_count, port_count, ports: table, aux_stride, input_stride, ..segment })
    }

    /// For each slot its port, if it isn't the same variable in all repeats.
    fn ports(&self) -> Vec<Option<u32>> {
        let mut moves = vec![false; self.slots.len()];
        for table in self.tables.chunks(self.slots.len().max(1)) {
            for ((moves, first), here) in moves.iter_mut().zip(&self.slots).zip(table) {
                *moves |= first != here;
            }
        }
        let mut next = 0..;
        moves.into_iter().map(|moves| if moves { next.next() } else { None }).collect()
    }

    /// Whether no second repeat was accepted.
    pub(super) fn is_single(&self) -> bool {
        self.repeat_count == 1
    }

    /// The rows of the first repeat again, and the position behind them.
    pub(super) fn into_single(mut self) -> (Draft, Position) {
        for column in self.draft.matrices.iter_mut().flat_map(|matrix| &mut matrix.columns) {
            *column = unslot(*column, &self.slots);
        }
        (self.draft, self.end)
    }
}

fn is_outside(column: Column) -> bool {
    matches!(column.0 & CLASS, OUTSIDE_INPUT | OUTSIDE_AUX)
}

/// `column` with a slot replaced by the variable that it is in `table`.
fn unslot(column: Column, table: &[Outside]) -> Column {
    match column.0 & CLASS {
        SLOT => table[column.value() as usize],
        _ => column,
    }
}

fn row_matches(
    matrix: &Matrix,
    repeat: &mut Repeat,
    terms: &LinearCombination<Fr>,
    now: Position,
    dictionary: &[Fr],
) -> bool {
    let mut positions = matrix.row(repeat.row);
    for (variable, coefficient) in terms.iter() {
        let expected = positions.clone().next();
        let equal = expected.is_some_and(|position| matrix.coefficient(position, dictionary) == coefficient);
        match expected.filter(|_| equal) {
            Some(position) if !repeat.column_matches(matrix.columns[position], variable.0, now) => return false,
            Some(_) => positions.start += 1,
            None if bool::from(coefficient.is_zero()) => {}
            None => return false,
        }
    }
    positions.is_empty()
}

impl Repeat {
    /// Whether the variable `index` stands here where the block has `expected`. Settles what a slot is on first sight.
    fn column_matches(&mut self, expected: Column, index: Index, now: Position) -> bool {
        let Some(here) = self.start.column(index, now) else { return false };
        if !is_outside(here) || expected.0 & CLASS != SLOT {
            return here == expected;
        }
        let known = &mut self.table[expected.value() as usize];
        if *known == UNKNOWN {
            *known = here;
        }
        *known == here
    }
}
