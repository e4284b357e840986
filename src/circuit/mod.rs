//! Filecoin's circuits: which ones there are, and their R1CS.
//!
//! A circuit is named by its kind and sector size. The registered proof's version doesn't matter to it: V1, V1_1,
//! synthetic and non-interactive PoRep share one circuit, and so do the versions of a PoSt (only public inputs differ).

pub mod claim;
pub(crate) mod decode;
mod id;
mod pinned;
pub mod porep;
pub mod post;
mod reference;
pub mod registered;
mod request;
#[cfg(test)]
mod tests;
pub mod update;

pub use cuzk_reference::ReferenceCircuit;
pub(crate) use cuzk_reference::ReferenceTree;
pub use id::{Blocks, CircuitId, Kind};
pub use request::{CheckedProofs, GoOn, Partition, Request, VanillaProofs};
