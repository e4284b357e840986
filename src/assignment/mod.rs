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
//! Bits behind the last aux variable are 0.

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
