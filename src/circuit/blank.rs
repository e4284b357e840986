//! Blank circuits, from the public parameters that the network uses.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::parameters::{setup_params, window_post_setup_params, winning_post_setup_params};
use filecoin_proofs::{PoRepConfig, PoStConfig, PoStType};
use filecoin_proofs::{SectorShape32GiB, SectorShape64GiB, SectorShapeBase, SECTOR_SIZE_32_GIB, SECTOR_SIZE_64_GIB};
use filecoin_proofs::{
    WINDOW_POST_CHALLENGE_COUNT, WINDOW_POST_SECTOR_COUNT, WINNING_POST_CHALLENGE_COUNT, WINNING_POST_SECTOR_COUNT,
};
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{Challenges, SetupParams, StackedCompound, StackedDrg};
use storage_proofs_post::fallback::{FallbackPoSt, FallbackPoStCompound};
use storage_proofs_update::{EmptySectorUpdateCompound, PublicParams};

use super::{CircuitId, Kind};
use crate::error::{Error, Result};

/// A circuit without a witness, or one like it with another number of blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blank {
    pub id: CircuitId,
    /// Challenges of a PoRep, sectors of a PoSt; SnapDeals has always those of its sector size.
    pub blocks: usize,
}

/// Challenges of a partition, or sectors of a PoSt.
pub(super) fn block_count(id: CircuitId) -> Result<usize> {
    match id.kind {
        Kind::PoRep => Ok(porep_params(id.sector_size)?.challenges.num_challenges_per_partition()),
        Kind::SnapDeals => Ok(PublicParams::from_sector_size(id.sector_size).challenge_count),
        Kind::WindowPoSt => Ok(post_config(id).sector_count),
        // Its public parameters have one challenge for each of as many sectors as it has challenges.
        Kind::WinningPoSt => Ok(WINNING_POST_CHALLENGE_COUNT),
    }
}

impl Circuit<Fr> for Blank {
    /// (The shapes of the trees are picked here rather than by `with_shape!`, which names sizes without a registered proof
    /// too: each shape compiles all circuits for each constraint system.)
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> std::result::Result<(), SynthesisError> {
        match self.id.sector_size {
            SECTOR_SIZE_64_GIB => self.of_shape::<SectorShape64GiB, CS>(cs),
            SECTOR_SIZE_32_GIB => self.of_shape::<SectorShape32GiB, CS>(cs),
            _ => self.of_shape::<SectorShapeBase, CS>(cs),
        }
    }
}

impl Blank {
    fn of_shape<Tree, CS>(self, cs: &mut CS) -> std::result::Result<(), SynthesisError>
    where
        Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
        CS: ConstraintSystem<Fr>,
    {
        match self.id.kind {
            Kind::PoRep => {
                let mut setup = porep_params(self.id.sector_size).map_err(refused)?;
                setup.challenges = Challenges::new_interactive(self.blocks);
                let params = StackedDrg::<Tree, Sha256Hasher>::setup(&setup).map_err(refused)?;
                StackedCompound::<Tree, Sha256Hasher>::blank_circuit(&params).synthesize(cs)
            }
            Kind::SnapDeals => {
                let params = PublicParams::from_sector_size(self.id.sector_size);
                EmptySectorUpdateCompound::<Tree>::blank_circuit(&params).synthesize(cs)
            }
            Kind::WindowPoSt | Kind::WinningPoSt => {
                let mut setup = match self.id.kind {
                    Kind::WinningPoSt => winning_post_setup_params(&post_config(self.id)).map_err(refused)?,
                    _ => window_post_setup_params(&post_config(self.id)),
                };
                setup.sector_count = self.blocks;
                let params = FallbackPoSt::<Tree>::setup(&setup).map_err(refused)?;
                FallbackPoStCompound::<Tree>::blank_circuit(&params).synthesize(cs)
            }
        }
    }
}

fn porep_params(sector_size: u64) -> Result<SetupParams> {
    let config = PoRepConfig::new_groth16(sector_size, [0; 32], ApiVersion::V1_2_0);
    setup_params(&config).map_err(|error| Error::Internal(format!("public parameters: {error}")))
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

#[cfg(test)]
mod tests {
    use filecoin_proofs::{is_sector_shape_base, is_sector_shape_sub8, is_sector_shape_top2};

    use super::*;

    #[test]
    fn shapes_are_those_of_the_sizes() {
        for size in CircuitId::SECTOR_SIZES {
            match size {
                SECTOR_SIZE_64_GIB => assert!(is_sector_shape_top2(size)),
                SECTOR_SIZE_32_GIB => assert!(is_sector_shape_sub8(size)),
                _ => assert!(is_sector_shape_base(size)),
            }
        }
    }
}
