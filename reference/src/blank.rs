//! Blank circuits, from the public parameters that the network uses.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use filecoin_hashers::poseidon::PoseidonHasher;
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::parameters::{setup_params, window_post_setup_params, winning_post_setup_params};
use filecoin_proofs::{PoRepConfig, PoStConfig, PoStType};
use filecoin_proofs::{SectorShape32GiB, SectorShape64GiB, SectorShapeBase, SECTOR_SIZE_32_GIB, SECTOR_SIZE_64_GIB};
use filecoin_proofs::{WINDOW_POST_CHALLENGE_COUNT, WINDOW_POST_SECTOR_COUNT, WINNING_POST_SECTOR_COUNT};
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_core::merkle::MerkleTreeTrait;
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{Challenges, SetupParams, StackedCompound, StackedDrg};
use storage_proofs_post::fallback::{FallbackPoSt, FallbackPoStCompound};
use storage_proofs_update::{EmptySectorUpdateCompound, PublicParams};

use crate::dispatch::{run, Dispatch};

/// A WinningPoSt's public parameters have one challenge for each of as many sectors as it has challenges.
pub const WINNING_POST_CHALLENGES: usize = filecoin_proofs::WINNING_POST_CHALLENGE_COUNT;

type Synthesis = Result<(), SynthesisError>;

/// A circuit without a witness, or one like it with another number of blocks. Sector sizes in bytes.
#[derive(Clone, Copy, Debug)]
pub enum Blank {
    /// One partition of a PoRep with so many challenges.
    PoRep {
        /// Bytes of a sector.
        sector_size: u64,
        /// Challenges of the partition.
        challenges: usize,
    },
    /// One partition of a SnapDeals update, which has always the challenges of its sector size.
    Update {
        /// Bytes of a sector.
        sector_size: u64,
    },
    /// One partition of a WindowPoSt with so many sectors.
    WindowPoSt {
        /// Bytes of a sector.
        sector_size: u64,
        /// Sectors of the partition.
        sectors: usize,
    },
    /// A WinningPoSt with so many repeats of its sector.
    WinningPoSt {
        /// Bytes of a sector.
        sector_size: u64,
        /// Times that the sector is repeated, with one challenge each.
        sectors: usize,
    },
}

/// Challenges in one partition of a PoRep, or storage-proofs' reason why there is no such sector size.
pub fn porep_challenges(sector_size: u64) -> Result<usize, String> {
    let setup = porep_params(sector_size).map_err(|error| error.to_string())?;
    Ok(setup.challenges.num_challenges_per_partition())
}

/// Challenges in one partition of a SnapDeals update. `sector_size` must be one of storage-proofs'.
pub fn update_challenges(sector_size: u64) -> usize {
    PublicParams::from_sector_size(sector_size).challenge_count
}

/// Sectors in one partition of a WindowPoSt. `sector_size` must be one of storage-proofs'.
pub fn window_post_sectors(sector_size: u64) -> usize {
    WINDOW_POST_SECTOR_COUNT.read().expect("the table is only ever read")[&sector_size]
}

impl Circuit<Fr> for Blank {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Synthesis {
        Dispatch::synthesize(|cs| self.dispatch(cs), cs)
    }
}

impl Blank {
    /// (The shapes of the trees are picked here rather than by `with_shape!`, which names sizes without a registered proof
    /// too: each shape compiles all circuits once more.)
    fn dispatch(self, cs: &mut Dispatch) -> Synthesis {
        match self.sector_size() {
            SECTOR_SIZE_64_GIB => self.of_shape::<SectorShape64GiB>(cs),
            SECTOR_SIZE_32_GIB => self.of_shape::<SectorShape32GiB>(cs),
            _ => self.of_shape::<SectorShapeBase>(cs),
        }
    }

    fn sector_size(self) -> u64 {
        match self {
            Blank::PoRep { sector_size, .. }
            | Blank::Update { sector_size }
            | Blank::WindowPoSt { sector_size, .. }
            | Blank::WinningPoSt { sector_size, .. } => sector_size,
        }
    }

    fn of_shape<Tree>(self, cs: &mut Dispatch) -> Synthesis
    where
        Tree: 'static + MerkleTreeTrait<Hasher = PoseidonHasher>,
    {
        let mut post = match self {
            Blank::PoRep { sector_size, challenges } => {
                let mut setup = porep_params(sector_size).map_err(refused)?;
                setup.challenges = Challenges::new_interactive(challenges);
                let params = StackedDrg::<Tree, Sha256Hasher>::setup(&setup).map_err(refused)?;
                return run(StackedCompound::<Tree, Sha256Hasher>::blank_circuit(&params), cs);
            }
            Blank::Update { sector_size } => {
                let params = PublicParams::from_sector_size(sector_size);
                return run(EmptySectorUpdateCompound::<Tree>::blank_circuit(&params), cs);
            }
            Blank::WindowPoSt { .. } => window_post_setup_params(&self.post_config()),
            Blank::WinningPoSt { .. } => winning_post_setup_params(&self.post_config()).map_err(refused)?,
        };
        if let Blank::WindowPoSt { sectors, .. } | Blank::WinningPoSt { sectors, .. } = self {
            post.sector_count = sectors;
        }
        let params = FallbackPoSt::<Tree>::setup(&post).map_err(refused)?;
        run(FallbackPoStCompound::<Tree>::blank_circuit(&params), cs)
    }

    fn post_config(self) -> PoStConfig {
        let size = self.sector_size();
        let (typ, challenge_count, sector_count) = match self {
            Blank::WinningPoSt { .. } => (PoStType::Winning, WINNING_POST_CHALLENGES, WINNING_POST_SECTOR_COUNT),
            _ => (PoStType::Window, WINDOW_POST_CHALLENGE_COUNT, window_post_sectors(size)),
        };
        let api_version = ApiVersion::V1_2_0;
        PoStConfig { sector_size: size.into(), challenge_count, sector_count, typ, priority: false, api_version }
    }
}

fn porep_params(sector_size: u64) -> Result<SetupParams, impl std::fmt::Display> {
    setup_params(&PoRepConfig::new_groth16(sector_size, [0; 32], ApiVersion::V1_2_0))
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
        for size in [2 << 10, 8 << 20, 512 << 20, 32 << 30, 64 << 30] {
            match size {
                SECTOR_SIZE_64_GIB => assert!(is_sector_shape_top2(size)),
                SECTOR_SIZE_32_GIB => assert!(is_sector_shape_sub8(size)),
                _ => assert!(is_sector_shape_base(size)),
            }
        }
    }
}
