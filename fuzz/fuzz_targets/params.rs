//! Feeds bytes to the reader of SRS files. As in the other targets, modules are compiled into this one, not the crate.
#![no_main]
#![allow(dead_code, unused_imports)]

#[path = "../checks/params.rs"]
mod check;
#[path = "../../src/error.rs"]
mod error;
#[path = "../../src/r1cs/mod.rs"]
mod r1cs;
#[path = "../../src/srs/mod.rs"]
mod srs;

pub use error::{Error, Result};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check::check(bytes);
});
