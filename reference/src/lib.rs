//! storage-proofs' circuits, compiled once.
//!
//! A circuit of storage-proofs is a generic function over its constraint system and the shape of a sector's trees, and
//! each instance costs the compiler seconds. Here every circuit is instantiated for one constraint system,
//! [`Dispatch`](dispatch::Dispatch), which hands each call on to the one that it was given. What stands above is
//! compiled in seconds and may use as many constraint systems as it likes. [`sealing`] does the same for sealing.

#![warn(missing_docs)]

mod blank;
mod dispatch;
pub mod sealing;
mod witnessed;

pub use blank::{porep_challenges, update_challenges, window_post_sectors, Blank, WINNING_POST_CHALLENGES};
pub use witnessed::{OfTree, ReferenceCircuit, ReferenceTree};
