//! The compact assignment: one bit per aux variable that is a bit, 32 bytes for each of the rest.
//!
//! Which aux variables are *full-size* is a [`Layout`]. It belongs to the circuit, not to a witness, so that rank and
//! offsets are fixed and every builder and back end shares them. A 0 or 1 in a full-size position stays in its slot.
//! Inputs (ONE first) are few and are always kept in full.
//!
//! In memory, for aux variable `j`, word `j / 64`, bit `j % 64`:
//! - full-size (`layout.is_full(j)`): its value is `full[layout.rank(j)]`, its bit in `bits` is 0;
//! - a bit otherwise: its value is its bit in `bits`.
//!
//! Bits behind the last aux variable are 0. `docs/FORMATS.md` has the details, and the rule by which a layout follows
//! from an R1CS.
//!
//! # Example
//!
//! A circuit's layout is derived once; each witness is then built straight into the compact form:
//!
//! ```
//! use std::sync::Arc;
//!
//! use bellpepper_core::{boolean::AllocatedBit, num::AllocatedNum, Circuit, ConstraintSystem, SynthesisError};
//! use blstrs::Scalar as Fr;
//! use cuzk::assignment::{Builder, Layout, Layouts};
//! use cuzk::r1cs::{Flat, R1cs};
//!
//! /// A bit, and the square of a number as the only input.
//! struct Square(Option<(bool, u64)>);
//!
//! impl Circuit<Fr> for Square {
//!     fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
//!         AllocatedBit::alloc(cs.namespace(|| "bit"), self.0.map(|(bit, _)| bit))?;
//!         let number = AllocatedNum::alloc(cs.namespace(|| "number"), || match self.0 {
//!             Some((_, number)) => Ok(Fr::from(number)),
//!             None => Err(SynthesisError::AssignmentMissing),
//!         })?;
//!         number.square(cs.namespace(|| "square"))?.inputize(cs.namespace(|| "input"))
//!     }
//! }
//!
//! let r1cs = R1cs::record(Square(None), Flat)?;
//! let layout = Layout::derive(&r1cs);
//! assert_eq!(layout.full_positions().collect::<Vec<_>>(), [1, 2]);
//!
//! let layouts = Arc::new(Layouts::pinned(layout));
//! let assignment = Builder::new(&layouts, r1cs.input_count).synthesize(Square(Some((true, 7))))?;
//! assert_eq!(assignment.inputs()[1], Fr::from(49));
//! assert_eq!(assignment.ones().collect::<Vec<_>>(), [0]);
//! assert_eq!(assignment.full(), [Fr::from(7), Fr::from(49)]);
//! assert!(r1cs.rows().all(|row| row.is_satisfied(|k| assignment.z(k))));
//!
//! // The vectors are filled again by the next witness.
//! let buffers = assignment.into_buffers();
//! let next = Builder::with_buffers(&layouts, r1cs.input_count, buffers).synthesize(Square(Some((false, 0))))?;
//! assert_eq!(next.aux_values().collect::<Vec<_>>(), [Fr::from(0); 3]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod compact;
mod derive;
mod generations;
mod layout;
mod row;
#[cfg(test)]
mod tests;
mod words;

pub use builder::{BuildError, Builder};
pub use compact::{Assignment, Buffers, Value};
pub use generations::Layouts;
pub use layout::Layout;
