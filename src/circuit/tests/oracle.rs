//! Against the reference: public inputs as its verifier computes them, and challenges as its provers do.

use std::collections::BTreeMap;

use filecoin_proofs::parameters::{window_post_public_params, winning_post_public_params};
use filecoin_proofs::{with_shape, PoStType, SectorShape2KiB};
use filecoin_proofs_api::seal::get_seal_inputs;
use filecoin_proofs_api::update::verify_partition_proofs;
use filecoin_proofs_api::PartitionProofBytes;
use storage_proofs_core::compound_proof::CompoundProof;
use storage_proofs_post::fallback::{FallbackPoStCompound, PublicInputs, PublicSector};
use storage_proofs_update::{EmptySectorUpdateCompound, PublicParams};

use super::{all_samples, Asked};
use crate::circuit::decode::Node;
use crate::circuit::registered::prover_id;
use crate::circuit::ReferenceTree;
use crate::vanilla::{sectorless, PorepInput, PostInput, UpdateInput};

type Inputs = Vec<blstrs::Scalar>;

/// Of all partitions.
fn porep_inputs(input: &PorepInput) -> Vec<Inputs> {
    let c1: filecoin_proofs_api::seal::SealCommitPhase1Output = serde_json::from_slice(&input.c1).unwrap();
    let prover = prover_id(input.miner);
    let sector = input.sector.into();
    get_seal_inputs(c1.registered_proof, c1.comm_r, c1.comm_d, prover, sector, c1.ticket, c1.seed).unwrap()
}

fn update_inputs(input: &UpdateInput) -> Vec<Inputs> {
    let proofs: Vec<_> = input.vanilla_proofs.iter().cloned().map(PartitionProofBytes).collect();
    let UpdateInput { proof, comm_r_old, comm_r_new, comm_d_new, .. } = *input;
    assert!(verify_partition_proofs(proof, &proofs, comm_r_old, comm_r_new, comm_d_new).unwrap());
    (0..proofs.len()).map(|k| with_shape!(u64::from(proof.sector_size()), update_partition_inputs, input, k)).collect()
}

fn update_partition_inputs<Tree: ReferenceTree>(input: &UpdateInput, k: usize) -> Inputs {
    let params = PublicParams::from_sector_size(input.proof.sector_size().into());
    let node = |bytes| Node::try_from(bytes).unwrap();
    let inputs = storage_proofs_update::PublicInputs {
        k,
        comm_r_old: node(input.comm_r_old).to_poseidon(),
        comm_d_new: node(input.comm_d_new).to_sha256(),
        comm_r_new: node(input.comm_r_new).to_poseidon(),
        h: storage_proofs_update::constants::h_default(params.sector_nodes),
    };
    EmptySectorUpdateCompound::<Tree>::generate_public_inputs(&inputs, &params, Some(k)).unwrap()
}

fn post_inputs(input: &PostInput) -> Vec<Inputs> {
    let config = input.proof.as_v1_config();
    let winning = config.typ == PoStType::Winning;
    let params = match winning {
        true => winning_post_public_params::<SectorShape2KiB>(&config).unwrap(),
        false => window_post_public_params::<SectorShape2KiB>(&config).unwrap(),
    };
    let node = |bytes| Node::try_from(bytes).unwrap().to_poseidon();
    let sectors = input.sectors.iter();
    let sectors = sectors.map(|sector| PublicSector { id: sector.sector.into(), comm_r: node(sector.comm_r) });
    let repeats = if winning { config.challenge_count } else { 1 };
    let inputs = PublicInputs {
        randomness: node(input.randomness),
        prover_id: node(prover_id(input.miner)),
        sectors: sectors.flat_map(|sector| vec![sector; repeats]).collect(),
        k: None,
    };
    vec![FallbackPoStCompound::<SectorShape2KiB>::generate_public_inputs(&inputs, &params, Some(0)).unwrap()]
}

#[test]
fn public_inputs_are_the_verifiers() {
    for (name, asked) in all_samples() {
        let expected = match &asked {
            Asked::Porep(input) => porep_inputs(input),
            Asked::Update(input) => update_inputs(input),
            Asked::Post(input) => post_inputs(input),
        };
        assert_eq!(expected.len(), 1, "{name}");
        assert_eq!(asked.decode().unwrap().inputs(0), expected[0], "{name}");
    }
}

#[test]
fn public_inputs_of_every_partition_are_the_verifiers() {
    use filecoin_proofs_api::{RegisteredSealProof, RegisteredUpdateProof};
    let porep = sectorless::porep(RegisteredSealProof::StackedDrg32GiBV1_1, 1000, 7, 1).unwrap();
    let mut all = vec![(10, porep_inputs(&porep), Asked::Porep(porep))];
    for (partitions, proof) in
        [(4, RegisteredUpdateProof::StackedDrg8MiBV1), (16, RegisteredUpdateProof::StackedDrg32GiBV1)]
    {
        let update = sectorless::update(proof, 1).unwrap();
        all.push((partitions, update_inputs(&update), Asked::Update(update)));
    }
    for (partitions, expected, asked) in all {
        let decoded = asked.decode().unwrap();
        assert_eq!((decoded.partition_count(), expected.len()), (partitions, partitions));
        for (k, expected) in expected.iter().enumerate() {
            assert_eq!(&decoded.inputs(k), expected, "partition {k} of {partitions}");
        }
        let distinct: std::collections::HashSet<_> = expected.iter().map(|inputs| format!("{inputs:?}")).collect();
        assert_eq!(distinct.len(), partitions, "no two partitions have the same inputs");
    }
}

#[test]
fn partitions_of_window_v1_have_their_own_challenges() {
    let samples = crate::vanilla::samples_2kib().unwrap();
    let mut input = samples.window_v1.clone();
    input.partition = 1;
    assert_eq!(super::invalid_field(Asked::Post(input).decode()), "vanilla_proofs");
    let mut input = samples.window.clone();
    input.partition = 1;
    let moved = Asked::Post(input).check().unwrap();
    let first = Asked::Post(samples.window.clone()).check().unwrap();
    let inputs = |checked: &crate::circuit::CheckedProofs| checked.partitions().next().unwrap().inputs();
    assert_eq!(inputs(&moved), inputs(&first), "V1_2 challenges don't depend on the partition");
}

#[test]
fn window_v1_challenges_of_a_later_partition() {
    use filecoin_proofs_api::post::generate_fallback_sector_challenges;
    let samples = crate::vanilla::samples_2kib().unwrap();
    let input = &samples.window_v1;
    // Four sectors make two partitions of two; the third and fourth are the second partition's.
    let ids: Vec<_> = [901u64, 902, 903, 904].into_iter().map(Into::into).collect();
    let all: BTreeMap<_, _> =
        generate_fallback_sector_challenges(input.proof, &input.randomness, &ids, prover_id(input.miner)).unwrap();
    for (place, id) in ids.iter().enumerate() {
        let request = super::post(input, &[]);
        let request = crate::circuit::post::PostRequest { partition: place as u32 / 2, ..request };
        let ours = crate::circuit::post::challenged_nodes(&request, u64::from(*id), place % 2);
        assert_eq!(ours, all[id], "sector {place}");
    }
}
