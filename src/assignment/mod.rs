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

use std::sync::Arc;

use blstrs::Scalar as Fr;

/// Which aux variables of a circuit are full-size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(crate) generation: u32,
    pub(crate) aux_count: u32,
    /// One bit per aux variable, 1 = full-size; `ceil(aux_count / 64)` words.
    pub(crate) full: Vec<u64>,
    /// `rank[w]` = full-size variables before word `w`; one entry more than words, the last is the total.
    pub(crate) rank: Vec<u32>,
}

/// The values of one satisfied (or to be checked) `z`. Built by a circuit's builder, read by back ends; never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub(crate) layout: Arc<Layout>,
    /// ONE, then the other inputs.
    pub(crate) inputs: Vec<Fr>,
    pub(crate) bits: Vec<u64>,
    pub(crate) full: Vec<Fr>,
}
