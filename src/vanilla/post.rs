//! WindowPoSt and WinningPoSt over sealed sectors.

use filecoin_proofs_api::post::{generate_fallback_sector_challenges, generate_single_vanilla_proof};
use filecoin_proofs_api::{PrivateReplicaInfo, RegisteredPoStProof};

use super::seal::{CACHE, REPLICA};
use super::{derived_bytes, failed, PostInput, PostSector, SealedSector};
use crate::circuit::registered::prover_id;
use crate::error::{Error, Result};

/// Vanilla proofs of one partition: `sectors` in this order, at most as many as the proof type has (WinningPoSt: one).
/// `seed` decides the randomness. All sectors must be of one miner and of the proof type's size.
/// Errors: INVALID (no or too many sectors, a foreign size or miner), INTERNAL (disk, reference code).
pub fn post(proof: RegisteredPoStProof, sectors: &[&SealedSector], seed: u64) -> Result<PostInput> {
    if sectors.is_empty() || sectors.len() > proof.sector_count() {
        let reason = format!("{} sectors where 1 to {} are proved", sectors.len(), proof.sector_count());
        return Err(Error::invalid("sectors", reason));
    }
    let miner = sectors[0].spec.miner;
    let size = u64::from(proof.sector_size());
    if sectors.iter().any(|sector| sector.spec.miner != miner || sector.spec.sector_bytes() != size) {
        return Err(Error::invalid("sectors", "a sector of another miner or size"));
    }

    let randomness = derived_bytes(seed, b"post randomness");
    let ids: Vec<_> = sectors.iter().map(|sector| sector.spec.sector.into()).collect();
    let challenges = generate_fallback_sector_challenges(proof, &randomness, &ids, prover_id(miner))
        .map_err(failed("generate_fallback_sector_challenges"))?;
    let mut vanilla_proofs = Vec::with_capacity(sectors.len());
    for (sector, id) in sectors.iter().zip(&ids) {
        let replica = PrivateReplicaInfo::new(proof, sector.comm_r(), sector.dir.join(CACHE), sector.dir.join(REPLICA));
        let vanilla = generate_single_vanilla_proof(proof, *id, &replica, &challenges[id])
            .map_err(failed("generate_single_vanilla_proof"))?;
        vanilla_proofs.push(vanilla);
    }
    let sectors =
        sectors.iter().map(|sector| PostSector { sector: sector.spec.sector, comm_r: sector.comm_r() }).collect();
    Ok(PostInput { proof, miner, randomness, partition: 0, sectors, vanilla_proofs })
}
