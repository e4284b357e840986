//! The engine: on echo devices for everything about scheduling and faults, on the CPU back end for real proofs.

mod lifecycle;
mod support;
