//! The CPU back end.

mod add;
mod curve;
mod digits;
mod msm;
#[cfg(test)]
mod msm_tests;
mod ntt;
mod quotient;
mod rows;
mod shared;
mod workers;
