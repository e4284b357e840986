//! Blank circuits, from the public parameters that the network uses.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::parameters::{public_params, window_post_public_params, winning_post_public_params};
use filecoin_proofs::{with_shape, PoRepConfig, PoStConfig, PoStType};
use filecoin_proofs::{
    WINDOW_POST_CHALLENGE_COUNT, WINDOW_POST_SECTOR_COUNT, WINNING_POST_CHALLENGE_COUNT, WINNING_POST_SECTOR_COUNT,
};
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_porep::stacked::StackedCompound;
use storage_proofs_post::fallback::FallbackPoStCompound;
use storage_proofs_update::{EmptySectorUpdateCompound, PublicParams};

use super::{CircuitId, Kind};

/// A circuit without a witness.
pub(super) struct Blank(pub(super) CircuitId);

impl Circuit<Fr> for Blank {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        synthesize(self.0, cs)
    }
}

/// Synthesises the blank circuit `id`.
pub(super) fn synthesize<CS: ConstraintSystem<Fr>>(id: CircuitId, cs: &mut CS) -> Result<(), SynthesisError> {
    // `with_shape!` names the tree's type only, so that of the constraint system has to be left to inference.
    fn of_shape<Tree>(id: CircuitId, cs: &mut impl ConstraintSystem<Fr>) -> Result<(), SynthesisError>
    where
        Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
    {
        match id.kind {
            Kind::PoRep => porep::<Tree>(id.sector_size, cs),
            Kind::SnapDeals => snap_deals::<Tree>(id.sector_size, cs),
            Kind::WindowPoSt | Kind::WinningPoSt => post::<Tree>(id, cs),
        }
    }
    with_shape!(id.sector_size, of_shape, id, cs)
}

fn porep<Tree>(sector_size: u64, cs: &mut impl ConstraintSystem<Fr>) -> Result<(), SynthesisError>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let config = PoRepConfig::new_groth16(sector_size, [0; 32], ApiVersion::V1_2_0);
    let params = public_params::<Tree>(&config).map_err(refused)?;
    StackedCompound::<Tree, Sha256Hasher>::blank_circuit(&params).synthesize(cs)
}

fn snap_deals<Tree>(sector_size: u64, cs: &mut impl ConstraintSystem<Fr>) -> Result<(), SynthesisError>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let params = PublicParams::from_sector_size(sector_size);
    EmptySectorUpdateCompound::<Tree>::blank_circuit(&params).synthesize(cs)
}

fn post<Tree>(id: CircuitId, cs: &mut impl ConstraintSystem<Fr>) -> Result<(), SynthesisError>
where
    Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
{
    let config = post_config(id);
    let params = match config.typ {
        PoStType::Winning => winning_post_public_params::<Tree>(&config),
        PoStType::Window => window_post_public_params::<Tree>(&config),
    };
    FallbackPoStCompound::<Tree>::blank_circuit(&params.map_err(refused)?).synthesize(cs)
}

fn post_config(id: CircuitId) -> PoStConfig {
    let (typ, challenge_count, sector_count) = match id.kind {
        Kind::WinningPoSt => (PoStType::Winning, WINNING_POST_CHALLENGE_COUNT, WINNING_POST_SECTOR_COUNT),
        _ => {
            let counts = WINDOW_POST_SECTOR_COUNT.read().expect("the table is only ever read");
            (PoStType::Window, WINDOW_POST_CHALLENGE_COUNT, counts[&id.sector_size])
        }
    };
    let api_version = ApiVersion::V1_2_0;
    PoStConfig { sector_size: id.sector_size.into(), challenge_count, sector_count, typ, priority: false, api_version }
}

/// Public parameters that storage-proofs refuses to make, as the error that synthesis has for it.
fn refused(reason: impl std::fmt::Display) -> SynthesisError {
    SynthesisError::IoError(std::io::Error::other(reason.to_string()))
}
