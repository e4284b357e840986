//! SRS files: reading, checks, identity, writing.

mod check;
mod corpus;
mod damage;
mod fixture;
mod identity;
mod known;
mod write;

// Where the check of the corpus looks for it.
use cuzk::srs;
