//! What is made without a sector is true at every size, for us and for storage-proofs.

use filecoin_hashers::sha256::Sha256Hasher;
use filecoin_proofs::parameters::{public_params, window_post_public_params, winning_post_public_params};
use filecoin_proofs::{partition_vanilla_proofs, with_shape, FallbackPoStSectorProof, PoStType};
use filecoin_proofs_api::seal::SealCommitPhase1Output;
use filecoin_proofs_api::update::verify_partition_proofs;
use filecoin_proofs_api::{PartitionProofBytes, RegisteredPoStProof, RegisteredSealProof, RegisteredUpdateProof};
use storage_proofs_core::proof::ProofScheme;
use storage_proofs_porep::stacked::{Proof, StackedDrg};
use storage_proofs_post::fallback::{PublicInputs, PublicSector};

use super::{porep, post, update};
use crate::circuit::decode::Node;
use crate::circuit::porep::{Claim, PorepRequest};
use crate::circuit::post::PostRequest;
use crate::circuit::registered::prover_id;
use crate::circuit::update::UpdateRequest;
use crate::circuit::{ReferenceTree, Request};
use crate::error::Status;
use crate::vanilla::{PorepInput, PostInput};

fn porep_accepted<Tree: ReferenceTree>(input: &PorepInput) -> bool
where
    Vec<Vec<Proof<Tree, Sha256Hasher>>>: 'static,
{
    let c1: SealCommitPhase1Output = serde_json::from_slice(&input.c1).unwrap();
    let node = |bytes| Node::try_from(bytes).unwrap();
    let replica_id = Node::from(c1.replica_id);
    let claim = Claim { replica_id, comm_d: node(c1.comm_d), comm_r: node(c1.comm_r), seed: c1.seed };
    let params = public_params::<Tree>(&c1.registered_proof.as_v1_config()).unwrap();
    let proofs: Vec<Vec<Proof<Tree, Sha256Hasher>>> = c1.vanilla_proofs.try_into().unwrap();
    StackedDrg::<Tree, Sha256Hasher>::verify_all_partitions(&params, &claim.public_inputs(), &proofs).unwrap()
}

#[test]
fn poreps() {
    use RegisteredSealProof::*;
    for proof in [StackedDrg2KiBV1, StackedDrg8MiBV1_1, StackedDrg512MiBV1, StackedDrg32GiBV1_1, StackedDrg64GiBV1_1] {
        let input = porep(proof, 1000, 7, 1).unwrap();
        let request = PorepRequest { miner: input.miner, sector: input.sector, c1: &input.c1 };
        Request::Porep(request).check().unwrap_or_else(|error| panic!("{proof:?}: {error}"));
        assert!(with_shape!(u64::from(proof.sector_size()), porep_accepted, &input), "{proof:?}");
    }
    let synthetic = porep(StackedDrg32GiBV1_1_Feat_SyntheticPoRep, 1000, 7, 1);
    assert_eq!(synthetic.unwrap_err().status(), Status::Unsupported);
}

#[test]
fn updates() {
    use RegisteredUpdateProof::*;
    for proof in [StackedDrg2KiBV1, StackedDrg8MiBV1, StackedDrg512MiBV1, StackedDrg32GiBV1, StackedDrg64GiBV1] {
        let input = update(proof, 1).unwrap();
        let (comm_r_old, comm_r_new, comm_d_new) = (input.comm_r_old, input.comm_r_new, input.comm_d_new);
        let vanilla_proofs: Vec<_> = input.vanilla_proofs.iter().map(Vec::as_slice).collect();
        let vanilla_proofs = &vanilla_proofs[..];
        let request = UpdateRequest { proof, comm_r_old, comm_r_new, comm_d_new, vanilla_proofs };
        Request::Update(request).check().unwrap_or_else(|error| panic!("{proof:?}: {error}"));
        let proofs: Vec<_> = input.vanilla_proofs.iter().cloned().map(PartitionProofBytes).collect();
        assert!(verify_partition_proofs(proof, &proofs, comm_r_old, comm_r_new, comm_d_new).unwrap(), "{proof:?}");
    }
}

fn post_accepted<Tree: ReferenceTree>(input: &PostInput) {
    let config = input.proof.as_v1_config();
    let params = match config.typ {
        PoStType::Winning => winning_post_public_params::<Tree>(&config).unwrap(),
        PoStType::Window => window_post_public_params::<Tree>(&config).unwrap(),
    };
    let node = |bytes| Node::try_from(bytes).unwrap().to_poseidon();
    let sectors = input.sectors.iter();
    let sectors = sectors.map(|sector| PublicSector { id: sector.sector.into(), comm_r: node(sector.comm_r) });
    let inputs = PublicInputs {
        randomness: node(input.randomness),
        prover_id: node(prover_id(input.miner)),
        sectors: sectors.collect(),
        k: None,
    };
    let proofs: Vec<FallbackPoStSectorProof<Tree>> =
        input.vanilla_proofs.iter().map(|bytes| bincode::deserialize(bytes).unwrap()).collect();
    // Verifies, and refuses what is false.
    partition_vanilla_proofs(&config, &params, &inputs, 1, &proofs).unwrap();
}

#[test]
fn posts() {
    use RegisteredPoStProof::*;
    for proof in [
        StackedDrgWinning2KiBV1,
        StackedDrgWinning8MiBV1,
        StackedDrgWinning512MiBV1,
        StackedDrgWinning32GiBV1,
        StackedDrgWinning64GiBV1,
        StackedDrgWindow2KiBV1,
        StackedDrgWindow8MiBV1_2,
        StackedDrgWindow512MiBV1_2,
        StackedDrgWindow32GiBV1_2,
        StackedDrgWindow64GiBV1_2,
    ] {
        let count = if proof.typ() == PoStType::Winning { 1 } else { 2 };
        let input = post(proof, 1000, count, 1).unwrap();
        let vanilla_proofs: Vec<_> = input.vanilla_proofs.iter().map(Vec::as_slice).collect();
        let PostInput { miner, randomness, partition, .. } = input;
        let request = PostRequest { proof, miner, randomness, partition, vanilla_proofs: &vanilla_proofs };
        Request::Post(request).check().unwrap_or_else(|error| panic!("{proof:?}: {error}"));
        with_shape!(u64::from(proof.sector_size()), post_accepted, &input);
    }
    for count in [0, 2350] {
        let refused = post(StackedDrgWindow32GiBV1_2, 1000, count, 1);
        assert_eq!(refused.unwrap_err().status(), Status::Invalid);
    }
}
