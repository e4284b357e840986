//! From a recording with few repeats of the last block to the R1CS with all of them.

use super::{Column, ColumnClass, R1cs};
use crate::error::{Error, Result};

impl R1cs {
    /// The R1CS of the circuit that differs from this one's in that its last block stands `repeat_count` times, if further
    /// repeats are like those that were recorded. Whether they are, only a full recording tells: compare structural hashes.
    /// Errors: INVALID unless the circuit ends with a block that stands twice or more, at most `repeat_count` times, has no
    /// ports and holds the circuit's last variables; UNSUPPORTED beyond the limits of an R1CS.
    pub fn with_repeats(mut self, repeat_count: u32) -> Result<R1cs> {
        let (aux, inputs, rows) = self.growth(repeat_count)?;
        let input_count = self.input_count;
        let aux_count = u64::from(self.aux_count) + aux;
        let variables = aux_count + u64::from(input_count) + inputs;
        if variables > Self::MAX_VARIABLES || self.row_count() + rows + inputs > Self::MAX_ROWS {
            return Err(Error::Unsupported(format!(
                "a block that stands {repeat_count} times: the circuit is too large"
            )));
        }
        // Aux variables stand behind all inputs, so their z indices move by the inputs that are new.
        let moved = |index: u32| if index >= input_count { index + inputs as u32 } else { index };
        for segment in &mut self.segments {
            segment.ports.iter_mut().for_each(|port| *port = moved(*port));
            for column in [&mut segment.a, &mut segment.b, &mut segment.c].into_iter().flat_map(|m| &mut m.columns) {
                if let ColumnClass::Outside(index) = column.class() {
                    *column = Column::new(ColumnClass::Outside(moved(index)));
                }
            }
        }
        if let Some(last) = self.segments.last_mut() {
            last.repeat_count = repeat_count;
        }
        self.input_count += inputs as u32;
        self.aux_count = aux_count as u32;
        self.constraint_count += rows;
        Ok(self)
    }

    /// Aux variables, inputs and rows that come with the repeats that are missing.
    fn growth(&self, repeat_count: u32) -> Result<(u64, u64, u64)> {
        let unfit = |reason: &str| Error::invalid("repeat_count", format!("the circuit's last block {reason}"));
        let last = self.segments.last().ok_or_else(|| unfit("doesn't exist"))?;
        if last.repeat_count < 2 || last.repeat_count > repeat_count {
            return Err(unfit(&format!("stands {} times; asked for {repeat_count}", last.repeat_count)));
        }
        if last.port_count > 0 {
            return Err(unfit("has ports, which don't follow from those of other repeats"));
        }
        let end = |base: u32, stride: u32| u64::from(base) + u64::from(last.repeat_count) * u64::from(stride);
        let ends_aux = end(last.aux_base, last.aux_stride) == u64::from(self.aux_count);
        if !ends_aux || end(last.input_base, last.input_stride) != u64::from(self.input_count) {
            return Err(unfit("is followed by variables that aren't its own"));
        }
        let missing = u64::from(repeat_count - last.repeat_count);
        Ok([last.aux_stride, last.input_stride, last.row_count].map(|count| missing * u64::from(count)).into())
    }
}
