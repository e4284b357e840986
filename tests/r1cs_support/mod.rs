//! Shared by the tests of the R1CS: a constraint system that does what bellperson's generator does, and circuits.
#![allow(dead_code)]

pub mod program;
pub mod random;
pub mod reference;
