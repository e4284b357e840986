//! The reference's circuits with a witness, in one type for all kinds and tree shapes.

use std::panic::{catch_unwind, AssertUnwindSafe};

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::constants::{SectorShapeBase, SectorShapeSub2, SectorShapeSub8, SectorShapeTop2};
use generic_array::typenum::U2;
use storage_proofs_core::merkle::{MerkleProof, MerkleTreeTrait};
use storage_proofs_porep::stacked::StackedCircuit;
use storage_proofs_post::fallback::FallbackPoStCircuit;
use storage_proofs_update::EmptySectorUpdateCircuit;

use super::decode::MerklePath;
use crate::error::{Error, Result};

/// A circuit of storage-proofs with the witness of one partition. Synthesis consumes it.
pub struct ReferenceCircuit(Shaped);

enum Shaped {
    Base(OfTree<SectorShapeBase>),
    Sub2(OfTree<SectorShapeSub2>),
    Sub8(OfTree<SectorShapeSub8>),
    Top2(OfTree<SectorShapeTop2>),
}

/// The three circuits over one tree shape.
pub enum OfTree<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>> {
    Porep(StackedCircuit<Tree, Sha256Hasher>),
    Update(EmptySectorUpdateCircuit<Tree>),
    Post(FallbackPoStCircuit<Tree>),
}

/// A tree shape of the network's sector sizes.
pub trait ReferenceTree: 'static + Sized + MerkleTreeTrait<Hasher = PoseidonHasher> {
    /// Forgets the shape.
    fn erase(circuit: OfTree<Self>) -> ReferenceCircuit;

    fn porep(circuit: StackedCircuit<Self, Sha256Hasher>) -> ReferenceCircuit {
        Self::erase(OfTree::Porep(circuit))
    }

    fn update(circuit: EmptySectorUpdateCircuit<Self>) -> ReferenceCircuit {
        Self::erase(OfTree::Update(circuit))
    }

    fn post(circuit: FallbackPoStCircuit<Self>) -> ReferenceCircuit {
        Self::erase(OfTree::Post(circuit))
    }
}

macro_rules! reference_tree {
    ($($shape:ty => $variant:ident),*) => {
        $(impl ReferenceTree for $shape {
            fn erase(circuit: OfTree<Self>) -> ReferenceCircuit {
                ReferenceCircuit(Shaped::$variant(circuit))
            }
        })*
    };
}

// Sub2 has no registered proof; it is here because `with_shape!` names every size that storage-proofs knows.
reference_tree!(
    SectorShapeBase => Base,
    SectorShapeSub2 => Sub2,
    SectorShapeSub8 => Sub8,
    SectorShapeTop2 => Top2
);

impl Circuit<Fr> for ReferenceCircuit {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        match self.0 {
            Shaped::Base(circuit) => circuit.synthesize(cs),
            Shaped::Sub2(circuit) => circuit.synthesize(cs),
            Shaped::Sub8(circuit) => circuit.synthesize(cs),
            Shaped::Top2(circuit) => circuit.synthesize(cs),
        }
    }
}

impl<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>> Circuit<Fr> for OfTree<Tree> {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        match self {
            OfTree::Porep(circuit) => circuit.synthesize(cs),
            OfTree::Update(circuit) => circuit.synthesize(cs),
            OfTree::Post(circuit) => circuit.synthesize(cs),
        }
    }
}

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
