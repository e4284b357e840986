//! The invariants of an [`R1cs`], checked on everything that didn't come from a recording of this process.
//!
//! Whatever passes can be expanded, on the host or on a device, without a read out of range.

use std::collections::HashSet;
use std::fmt;

use blst::blst_fr;
use blstrs::Scalar as Fr;
use ff::Field;

use super::{Column, ColumnClass, Matrix, R1cs, Segment, ESCAPE};
use crate::error::{Error, Result};

/// Which part is wrong, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flaw {
    /// `"header"`, `"dictionary"`, `"segment"`, `"ports"`, `"row lengths"`, `"columns"`, `"coefficients"`, `"escapes"`.
    pub section: &'static str,
    pub index: Option<u64>,
    pub expected: String,
    pub found: String,
}

impl Flaw {
    pub(super) fn new(
        section: &'static str,
        index: impl Into<Option<u64>>,
        expected: impl ToString,
        found: impl ToString,
    ) -> Self {
        Flaw { section, index: index.into(), expected: expected.to_string(), found: found.to_string() }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let index = self.index.map(|index| format!(" {index}")).unwrap_or_default();
        write!(f, "{}{index}: expected {}, found {}", self.section, self.expected, self.found)
    }
}

type Checked = std::result::Result<(), Flaw>;

/// `Ok` if `holds`, else the flaw.
fn ensure(
    holds: bool,
    section: &'static str,
    index: impl Into<Option<u64>>,
    expected: impl ToString,
    found: impl ToString,
) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(Flaw::new(section, index, expected, found)),
    }
}

impl R1cs {
    /// Variables that an R1CS may have, ONE included.
    pub const MAX_VARIABLES: u64 = 1 << 30;
    /// Rows that it may have, input rows included: the largest domain.
    pub const MAX_ROWS: u64 = 1 << 32;

    /// Checks all invariants: counts within limits; rows without a gap; row starts ascending; every column in range in
    /// every repeat; coefficients in the dictionary, distinct and not zero; escapes sorted and one per [`ESCAPE`].
    /// Reads every non-zero once. Errors: INVALID names the first flaw.
    pub fn validate(&self) -> Result<()> {
        self.find_flaw().map_err(|flaw| Error::invalid("r1cs", flaw.to_string()))
    }

    pub(super) fn find_flaw(&self) -> Checked {
        ensure(self.input_count >= 1, "header", None, "at least 1 input", self.input_count)?;
        let variables = self.variable_count();
        ensure(variables <= Self::MAX_VARIABLES, "header", None, "at most 2^30 variables", variables)?;
        let rows = self.constraint_count;
        let rows_fit = rows <= Self::MAX_ROWS - u64::from(self.input_count);
        ensure(rows_fit, "header", None, "at most 2^32 rows with input rows", rows)?;
        self.check_dictionary()?;
        let mut next_row = 0;
        for (at, segment) in (0u64..).zip(&self.segments) {
            let first = segment.first_row;
            ensure(first == next_row, "segment", at, format!("first row {next_row}"), first)?;
            self.check_segment(at, segment)?;
            next_row = segment.end_row();
            ensure(next_row <= rows, "segment", at, format!("{rows} rows in all"), next_row)?;
        }
        ensure(next_row == rows, "segment", None, format!("{rows} rows in all"), next_row)
    }

    fn check_dictionary(&self) -> Checked {
        let len = self.dictionary.len();
        ensure(len <= usize::from(ESCAPE), "dictionary", None, "at most 65535 coefficients", len)?;
        let mut seen = HashSet::with_capacity(len);
        let mut is_sound = |value: &Fr| !bool::from(value.is_zero()) && seen.insert(blst_fr::from(*value).l);
        match self.dictionary.iter().position(|value| !is_sound(value)) {
            None => Ok(()),
            Some(at) => {
                Err(Flaw::new("dictionary", at as u64, "a coefficient that is new and not 0", self.dictionary[at]))
            }
        }
    }

    fn check_segment(&self, at: u64, segment: &Segment) -> Checked {
        let Segment { row_count, repeat_count, port_count, .. } = *segment;
        ensure(row_count >= 1, "segment", at, "at least 1 row", row_count)?;
        ensure(repeat_count >= 1, "segment", at, "at least 1 repeat", repeat_count)?;
        let last = |base: u32, stride: u32| u64::from(base) + u64::from(repeat_count - 1) * u64::from(stride);
        let last_aux = last(segment.aux_base, segment.aux_stride);
        let last_input = last(segment.input_base, segment.input_stride);
        let (aux_count, input_count) = (u64::from(self.aux_count), u64::from(self.input_count));
        ensure(last_aux <= aux_count, "segment", at, format!("aux of all repeats below {aux_count}"), last_aux)?;
        ensure(last_input <= input_count, "segment", at, format!("inputs below {input_count}"), last_input)?;

        let ports = u64::from(repeat_count) * u64::from(port_count);
        ensure(ports <= u64::from(u32::MAX), "ports", at, "at most 2^32 - 1 ports", ports)?;
        ensure(segment.ports.len() as u64 == ports, "ports", at, format!("{ports} ports"), segment.ports.len())?;
        let wild = segment.ports.iter().find(|index| u64::from(**index) >= self.variable_count());
        ensure(wild.is_none(), "ports", at, "z indices", wild.copied().unwrap_or_default())?;

        let limits = Limits {
            aux: aux_count - last_aux,
            input: input_count - last_input,
            port: port_count.into(),
            outside: self.variable_count(),
        };
        segment.matrices().into_iter().try_for_each(|matrix| {
            check_row_starts(matrix, row_count)?;
            limits.check_columns(matrix)?;
            check_coefficients(matrix, self.dictionary.len())
        })
    }
}

fn check_row_starts(matrix: &Matrix, row_count: u32) -> Checked {
    let starts = &matrix.row_starts;
    let expected = u64::from(row_count) + 1;
    ensure(starts.len() as u64 == expected, "row lengths", None, format!("{expected} row starts"), starts.len())?;
    ensure(starts[0] == 0, "row lengths", 0, 0, starts[0])?;
    let falls = starts.windows(2).position(|pair| pair[0] > pair[1]);
    ensure(falls.is_none(), "row lengths", falls.map(|at| at as u64), "row starts that ascend", "one that doesn't")?;
    let (end, len) = (starts[starts.len() - 1] as usize, matrix.columns.len());
    ensure(end == len, "row lengths", None, format!("{len} non-zeros"), end)
}

fn check_coefficients(matrix: &Matrix, dictionary_len: usize) -> Checked {
    let (len, expected) = (matrix.coefficients.len(), matrix.columns.len());
    ensure(len == expected, "coefficients", None, format!("{expected} coefficients"), len)?;
    let unknown = |index: &u16| usize::from(*index) >= dictionary_len && *index != ESCAPE;
    if let Some(at) = matrix.coefficients.iter().position(unknown) {
        let expected = format!("an index below {dictionary_len}");
        return Err(Flaw::new("coefficients", at as u64, expected, matrix.coefficients[at]));
    }
    let escaped = matrix.coefficients.iter().enumerate().filter(|(_, index)| **index == ESCAPE);
    let count = escaped.clone().count();
    ensure(matrix.escapes.len() == count, "escapes", None, format!("{count} escapes"), matrix.escapes.len())?;
    let wrong = |(position, (at, value)): (usize, &(u32, Fr))| *at as usize != position || bool::from(value.is_zero());
    match escaped.map(|(position, _)| position).zip(&matrix.escapes).position(wrong) {
        None => Ok(()),
        Some(e) => {
            let found = format!("{:?}", matrix.escapes[e]);
            Err(Flaw::new("escapes", e as u64, "the position of an escape, and a coefficient other than 0", found))
        }
    }
}

/// What each class's value has to stay below.
struct Limits {
    aux: u64,
    input: u64,
    port: u64,
    outside: u64,
}

impl Limits {
    fn check_columns(&self, matrix: &Matrix) -> Checked {
        let wild = |column: &Column| match column.class() {
            ColumnClass::LocalAux(value) => u64::from(value) >= self.aux,
            ColumnClass::LocalInput(value) => u64::from(value) >= self.input,
            ColumnClass::Port(value) => u64::from(value) >= self.port,
            ColumnClass::Outside(value) => u64::from(value) >= self.outside,
        };
        match matrix.columns.iter().position(wild) {
            None => Ok(()),
            Some(at) => {
                let found = format!("{:?}", matrix.columns[at].class());
                Err(Flaw::new("columns", at as u64, "a variable of the circuit in every repeat", found))
            }
        }
    }
}
