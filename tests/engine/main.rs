//! The engine: on echo devices for everything about scheduling and faults, on the CPU back end for real proofs.

mod faults;
mod lifecycle;
mod memory;
mod months;
mod observability;
mod real;
mod scheduling;
mod steady;
mod support;
mod windows;
