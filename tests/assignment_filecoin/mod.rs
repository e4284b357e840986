//! Filecoin's circuits with real 2 KiB witnesses, straight from storage-proofs' own types: what the way of a request, with
//! its own decoders, is compared with.

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use cuzk::circuit::registered::prover_id;
use cuzk::circuit::{CheckedProofs, Kind};
use cuzk::vanilla::{samples_2kib, Input, PorepInput, PostInput, UpdateInput};
use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_hashers::Domain;
use filecoin_proofs::parameters::{public_params, window_post_public_params, winning_post_public_params};
use filecoin_proofs::{partition_vanilla_proofs, FallbackPoStSectorProof, PoRepConfig, PoStType, SectorShape2KiB};
use filecoin_proofs_api::seal::{SealCommitPhase1Output, VanillaSealProof};
use storage_proofs_core::api_version::ApiVersion;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_porep::stacked::{self, StackedCompound};
use storage_proofs_post::fallback::{self, FallbackPoStCompound, PublicSector};
use storage_proofs_update::constants::h_default;
use storage_proofs_update::{self as update, EmptySectorUpdateCompound, PartitionProof};

type Tree = SectorShape2KiB;

/// A circuit with the witness of one of the samples.
#[derive(Clone, Copy, Debug)]
pub enum Witnessed {
    Porep(&'static PorepInput),
    Update(&'static UpdateInput),
    Post(&'static PostInput),
}

impl Witnessed {
    /// All samples with their circuit's kind.
    pub fn all() -> Vec<(Kind, Witnessed)> {
        let samples = samples_2kib().unwrap();
        let poreps = [&samples.porep_v1, &samples.porep, &samples.porep_synthetic].map(Witnessed::Porep);
        let windows = [&samples.window, &samples.window_short, &samples.window_v1].map(Witnessed::Post);
        let mut all: Vec<_> = poreps.into_iter().map(|porep| (Kind::PoRep, porep)).collect();
        all.push((Kind::SnapDeals, Witnessed::Update(&samples.update)));
        all.extend(windows.into_iter().map(|post| (Kind::WindowPoSt, post)));
        all.push((Kind::WinningPoSt, Witnessed::Post(&samples.winning)));
        all
    }

    /// The same by the way of a request.
    pub fn checked(self) -> CheckedProofs {
        let input = match self {
            Witnessed::Porep(input) => Input::Porep(input.clone()),
            Witnessed::Update(input) => Input::Update(input.clone()),
            Witnessed::Post(input) => Input::Post(input.clone()),
        };
        input.check().unwrap()
    }
}

impl Circuit<Fr> for Witnessed {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        match self {
            Witnessed::Porep(input) => porep(input, cs),
            Witnessed::Update(input) => snap_deals(input, cs),
            Witnessed::Post(input) => post(input, cs),
        }
    }
}

fn porep<CS: ConstraintSystem<Fr>>(input: &PorepInput, cs: &mut CS) -> Result<(), SynthesisError> {
    let c1: SealCommitPhase1Output = serde_json::from_slice(&input.c1).unwrap();
    let VanillaSealProof::StackedDrg2KiBV1(vanilla) = c1.vanilla_proofs else { panic!("a 2 KiB sample") };
    let config = PoRepConfig::new_groth16(2048, [0; 32], ApiVersion::V1_2_0);
    let params = public_params::<Tree>(&config).unwrap();
    let tau = stacked::Tau {
        comm_d: Domain::try_from_bytes(&c1.comm_d).unwrap(),
        comm_r: Domain::try_from_bytes(&c1.comm_r).unwrap(),
    };
    let public = stacked::PublicInputs { replica_id: c1.replica_id, seed: Some(c1.seed), tau: Some(tau), k: None };
    let circuit = StackedCompound::<Tree, Sha256Hasher>::circuit(&public, (), &vanilla[0], &params, Some(0));
    circuit.unwrap().synthesize(cs)
}

fn snap_deals<CS: ConstraintSystem<Fr>>(input: &UpdateInput, cs: &mut CS) -> Result<(), SynthesisError> {
    let vanilla: PartitionProof<Tree> = bincode::deserialize(&input.vanilla_proofs[0]).unwrap();
    let params = update::PublicParams::from_sector_size(2048);
    let public = update::PublicInputs {
        k: 0,
        comm_r_old: Domain::try_from_bytes(&input.comm_r_old).unwrap(),
        comm_d_new: Domain::try_from_bytes(&input.comm_d_new).unwrap(),
        comm_r_new: Domain::try_from_bytes(&input.comm_r_new).unwrap(),
        h: h_default(params.sector_nodes),
    };
    let circuit = EmptySectorUpdateCompound::<Tree>::circuit(&public, (), &vanilla, &params, Some(0));
    circuit.unwrap().synthesize(cs)
}

fn post<CS: ConstraintSystem<Fr>>(input: &PostInput, cs: &mut CS) -> Result<(), SynthesisError> {
    let config = input.proof.as_v1_config();
    let params = match config.typ {
        PoStType::Window => window_post_public_params::<Tree>(&config),
        PoStType::Winning => winning_post_public_params::<Tree>(&config),
    };
    let params = params.unwrap();
    let vanilla: Vec<FallbackPoStSectorProof<Tree>> =
        input.vanilla_proofs.iter().map(|bytes| bincode::deserialize(bytes).unwrap()).collect();
    let sectors = vanilla.iter().map(|proof| PublicSector { id: proof.sector_id, comm_r: proof.comm_r }).collect();
    let mut randomness = input.randomness;
    randomness[31] &= 0x3f;
    let public = fallback::PublicInputs {
        randomness: Domain::try_from_bytes(&randomness).unwrap(),
        prover_id: Domain::try_from_bytes(&prover_id(input.miner)).unwrap(),
        sectors,
        k: None,
    };
    let partitions = partition_vanilla_proofs(&config, &params, &public, 1, &vanilla).unwrap();
    let private = Default::default();
    let circuit = FallbackPoStCompound::<Tree>::circuit(&public, private, &partitions[0], &params, Some(0));
    circuit.unwrap().synthesize(cs)
}
