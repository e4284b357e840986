//! The circuits with a witness, in one type for all kinds and tree shapes.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::constants::{SectorShapeBase, SectorShapeSub2, SectorShapeSub8, SectorShapeTop2};
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_porep::stacked::StackedCircuit;
use storage_proofs_post::fallback::FallbackPoStCircuit;
use storage_proofs_update::EmptySectorUpdateCircuit;

use crate::dispatch::{run, Dispatch};

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
    /// A PoRep's.
    Porep(StackedCircuit<Tree, Sha256Hasher>),
    /// A SnapDeals update's.
    Update(EmptySectorUpdateCircuit<Tree>),
    /// A PoSt's.
    Post(FallbackPoStCircuit<Tree>),
}

/// A tree shape of the network's sector sizes.
pub trait ReferenceTree: 'static + Sized + MerkleTreeTrait<Hasher = PoseidonHasher> {
    /// Forgets the shape.
    fn erase(circuit: OfTree<Self>) -> ReferenceCircuit;

    /// A PoRep's circuit of any shape.
    fn porep(circuit: StackedCircuit<Self, Sha256Hasher>) -> ReferenceCircuit {
        Self::erase(OfTree::Porep(circuit))
    }

    /// A SnapDeals update's circuit of any shape.
    fn update(circuit: EmptySectorUpdateCircuit<Self>) -> ReferenceCircuit {
        Self::erase(OfTree::Update(circuit))
    }

    /// A PoSt's circuit of any shape.
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
        Dispatch::synthesize(|cs| self.dispatch(cs), cs)
    }
}

impl ReferenceCircuit {
    fn dispatch(self, cs: &mut Dispatch) -> Result<(), SynthesisError> {
        match self.0 {
            Shaped::Base(circuit) => circuit.dispatch(cs),
            Shaped::Sub2(circuit) => circuit.dispatch(cs),
            Shaped::Sub8(circuit) => circuit.dispatch(cs),
            Shaped::Top2(circuit) => circuit.dispatch(cs),
        }
    }
}

impl<Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>> OfTree<Tree> {
    fn dispatch(self, cs: &mut Dispatch) -> Result<(), SynthesisError> {
        match self {
            OfTree::Porep(circuit) => run(circuit, cs),
            OfTree::Update(circuit) => run(circuit, cs),
            OfTree::Post(circuit) => run(circuit, cs),
        }
    }
}
