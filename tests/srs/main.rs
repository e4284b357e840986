//! SRS files: reading, checks, identity, writing.

mod check;
mod damage;
mod fixture;
mod identity;
mod known;
mod write;
