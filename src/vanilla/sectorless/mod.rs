//! Vanilla proofs of every sector size without a sector: true for the network's configuration, made in seconds.
//!
//! Only what a proof opens exists. Labels at challenged nodes are real, computed from parents with pseudo-random labels;
//! trees are *sparse*: nodes that no path leads through are pseudo-random. Where challenges depend on a root, the tree
//! under it has few distinct leaves, so that the root is known before the challenges are:
//!
//! | tree | leaves | because its root decides |
//! |---|---|---|
//! | D of a PoRep | all equal | replica_id, and with it the challenges |
//! | R old, D new of SnapDeals | all equal | phi, and with it the encoding |
//! | R new of SnapDeals | equal in each range of equal rho | the challenges |
//! | C and R of a PoRep, R of a PoSt | sparse | nothing |
//!
//! Synthetic PoRep isn't offered: its challenges depend on comm_r, and comm_r on the labels at the challenges.

mod porep;
mod post;
#[cfg(test)]
mod tests;
mod tree;
mod update;

pub use porep::porep;
pub use post::post;
pub use update::update;
