//! PoSt sector proofs around real challenges.

use filecoin_proofs::{with_shape, FallbackPoStSectorProof};
use filecoin_proofs_api::RegisteredPoStProof;
use rayon::prelude::*;
use storage_proofs_post::fallback::{Proof, SectorProof};

use super::tree::{random_node, SparseTree, Tree};
use crate::circuit::decode::{poseidon, Node, TreeShape};
use crate::circuit::post::{challenged_nodes, PostRequest};
use crate::circuit::ReferenceTree;
use crate::error::{Error, Result};
use crate::vanilla::{derived_bytes, PostInput, PostSector};

/// A partition of `sector_count` sectors, numbered from 1, of any size; `seed` decides the rest. WinningPoSt has one.
/// Blocks: 20 core-seconds for 2,349 sectors of 32 GiB, in the caller's rayon pool.
/// Errors: INVALID (no or too many sectors).
pub fn post(proof: RegisteredPoStProof, miner: u64, sector_count: usize, seed: u64) -> Result<PostInput> {
    if sector_count == 0 || sector_count > proof.sector_count() {
        let reason = format!("{sector_count} sectors where 1 to {} are proved", proof.sector_count());
        return Err(Error::invalid("sector_count", reason));
    }
    let randomness = derived_bytes(seed, b"post randomness");
    let request = PostRequest { proof, miner, randomness, partition: 0, vanilla_proofs: &[] };
    let numbers: Vec<(usize, u64)> = (0..sector_count).zip(1..).collect();
    let made: Vec<(PostSector, Vec<u8>)> = numbers
        .par_iter()
        .map(|&(i, sector)| with_shape!(u64::from(proof.sector_size()), sector_proof, &request, sector, i, seed))
        .collect::<Result<_>>()?;
    let (sectors, vanilla_proofs) = made.into_iter().unzip();
    Ok(PostInput { proof, miner, randomness, partition: 0, sectors, vanilla_proofs })
}

/// The proof of `sector` at place `i`.
fn sector_proof<Shape: ReferenceTree>(
    request: &PostRequest<'_>,
    sector: u64,
    i: usize,
    seed: u64,
) -> Result<(PostSector, Vec<u8>)> {
    let lg_nodes = (u64::from(request.proof.sector_size()) / 32).trailing_zeros();
    let shape = TreeShape::replica(lg_nodes).expect("a PoSt proof has a size that exists");
    let nodes = challenged_nodes(request, sector, i);
    let purpose = format!("tree R {sector}");
    let leaves = nodes.iter().map(|&node| (node, random_node(seed, &purpose, 0, node))).collect();
    let tree = SparseTree::new(&shape, leaves, seed, &purpose);
    let comm_c = random_node(seed, "comm_c", 0, sector);
    let comm_r = poseidon(&[comm_c, tree.root()]);
    let proof = FallbackPoStSectorProof::<Shape> {
        sector_id: sector.into(),
        comm_r: comm_r.to_poseidon(),
        vanilla_proof: Proof {
            sectors: vec![SectorProof {
                inclusion_proofs: nodes.iter().map(|&node| tree.replica_path::<Shape>(node)).collect(),
                comm_c: comm_c.to_poseidon(),
                comm_r_last: tree.root().to_poseidon(),
            }],
        },
    };
    let bytes = bincode::serialize(&proof).map_err(|error| Error::Internal(format!("sector proof: {error}")))?;
    Ok((PostSector { sector, comm_r: Node::into(comm_r) }, bytes))
}
