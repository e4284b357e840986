//! SnapDeals partition proofs over a replica with few distinct nodes.

use filecoin_proofs::with_shape;
use filecoin_proofs_api::RegisteredUpdateProof;
use storage_proofs_update::constants::h_default;
use storage_proofs_update::{phi, rho, ChallengeProof, Challenges, PartitionProof, PublicParams};

use super::tree::{random_node, ConstantTree, RangedTree, Tree};
use crate::circuit::decode::{poseidon, Node, TreeShape};
use crate::circuit::ReferenceTree;
use crate::error::{Error, Result};
use crate::vanilla::UpdateInput;

/// An update of any size; `seed` decides it. Blocks: 1 core-second at 32 GiB, in the caller's rayon pool.
pub fn update(proof: RegisteredUpdateProof, seed: u64) -> Result<UpdateInput> {
    let params = PublicParams::from_sector_size(proof.sector_size().into());
    let lg_nodes = params.challenge_bit_len as u32;
    let shape = TreeShape::replica(lg_nodes).expect("an update proof has a size that exists");
    let comm_c = random_node(seed, "comm_c", 0, 0);
    let old = ConstantTree::replica(&shape, random_node(seed, "old leaf", 0, 0));
    let data = ConstantTree::data(&TreeShape::data(lg_nodes), random_node(seed, "data leaf", 0, 0));
    let comm_r_old = poseidon(&[comm_c, old.root()]);

    let phi = phi(&data.root().to_sha256(), &comm_r_old.to_poseidon());
    let encode = |high: u32| Node::from(old.node(0, 0).to_fr() + data.node(0, 0).to_fr() * rho(&phi, high));
    let leaves: Vec<Node> = (0..1 << h_default(params.sector_nodes)).map(encode).collect();
    let new = RangedTree::new(&shape, lg_nodes, &leaves);
    let comm_r_new = poseidon(&[comm_c, new.root()]);

    let comm_d_new = data.root();
    let made = Made { params, comm_c, comm_r_new, old, data, new };
    let vanilla_proofs = with_shape!(u64::from(proof.sector_size()), to_bincode, &made)?;
    Ok(UpdateInput {
        proof,
        comm_r_old: comm_r_old.into(),
        comm_r_new: comm_r_new.into(),
        comm_d_new: comm_d_new.into(),
        vanilla_proofs,
    })
}

struct Made {
    params: PublicParams,
    comm_c: Node,
    comm_r_new: Node,
    old: ConstantTree,
    data: ConstantTree,
    new: RangedTree,
}

fn to_bincode<Shape: ReferenceTree>(made: &Made) -> Result<Vec<Vec<u8>>> {
    let PublicParams { sector_nodes, partition_count, challenge_bit_len, .. } = made.params;
    let apex_level = challenge_bit_len - made.params.partition_bit_len - made.params.apex_leaf_bit_len;
    let partition = |k: usize| {
        let nodes = Challenges::new(sector_nodes, made.comm_r_new.to_poseidon(), k);
        let challenge = |node: u32| ChallengeProof::<Shape> {
            proof_r_old: made.old.replica_path::<Shape>(node.into()),
            proof_d_new: made.data.data_path(node.into()),
            proof_r_new: made.new.replica_path::<Shape>(node.into()),
        };
        let proof = PartitionProof::<Shape> {
            comm_c: made.comm_c.to_poseidon(),
            apex_leafs: vec![made.data.node(apex_level, 0).to_sha256(); made.params.apex_leaf_count],
            challenge_proofs: nodes.map(challenge).collect(),
        };
        bincode::serialize(&proof).map_err(|error| Error::Internal(format!("partition proof: {error}")))
    };
    (0..partition_count).map(partition).collect()
}
