//! From decoded vanilla proofs to the reference's types.

use std::panic::{catch_unwind, AssertUnwindSafe};

use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use generic_array::typenum::U2;
use storage_proofs_core::merkle::MerkleProof;

pub use cuzk_reference::{ReferenceCircuit, ReferenceTree};

use super::decode::MerklePath;
use crate::error::{Error, Result};

/// Reference code under guard: it panics on input that it doesn't expect.
pub struct Guarded;

impl Guarded {
    /// Runs `reference`; an error or a panic of it becomes INTERNAL, naming `what`.
    pub fn run<T>(what: &str, reference: impl FnOnce() -> anyhow::Result<T>) -> Result<T> {
        match catch_unwind(AssertUnwindSafe(reference)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(Error::Internal(format!("{what}: {error:#}"))),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                Err(Error::Internal(format!("{what} panicked: {}", text.unwrap_or_default())))
            }
        }
    }
}

/// A path in a tree of data.
pub fn data_path(path: &MerklePath) -> MerkleProof<Sha256Hasher, U2> {
    let steps = path.steps.iter().map(|step| {
        let siblings = step.siblings.iter().map(|node| node.to_sha256()).collect();
        (siblings, step.index as usize)
    });
    MerkleProof::from_parts(path.leaf.to_sha256(), path.root.to_sha256(), steps.collect())
}

/// A path in a tree of a replica or of columns.
pub fn replica_path<Tree: ReferenceTree>(
    path: &MerklePath,
) -> MerkleProof<PoseidonHasher, Tree::Arity, Tree::SubTreeArity, Tree::TopTreeArity> {
    let steps = path.steps.iter().map(|step| {
        let siblings = step.siblings.iter().map(|node| node.to_poseidon()).collect();
        (siblings, step.index as usize)
    });
    MerkleProof::from_parts(path.leaf.to_poseidon(), path.root.to_poseidon(), steps.collect())
}
