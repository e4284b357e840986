//! SRS made from a seed, against bellperson's generator and its reader.

mod bellperson;
mod circuits;
mod counts;
mod errors;
#[path = "../../benches/setup/exponents.rs"]
mod exponents;
#[path = "../common/pool.rs"]
mod pool;
