//! Feeds bytes to the reader of the R1CS cache. The modules are compiled into this target, not the whole crate: the
//! proofs stack isn't needed here and takes minutes to build with instrumentation.
#![no_main]
#![allow(dead_code)]

#[path = "../checks/r1cs_cache.rs"]
mod check;
#[path = "../../src/error.rs"]
mod error;
#[path = "../../src/r1cs/mod.rs"]
mod r1cs;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| check::check(bytes));
