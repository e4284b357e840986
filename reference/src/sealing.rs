//! filecoin-proofs-api's sealing functions for plain paths: there they are generic over every path's type, so that each
//! caller's crate would compile all of sealing for every tree shape. Arguments, results and errors are theirs.

use std::fs::File;
use std::io::Cursor;
use std::path::Path;

use anyhow::Result;
use filecoin_proofs::EmptySectorUpdateEncoded;
use filecoin_proofs_api::seal::{self, SealCommitPhase1Output, SealPreCommitPhase1Output, SealPreCommitPhase2Output};
use filecoin_proofs_api::update;
use filecoin_proofs_api::{
    Commitment, PartitionProofBytes, PieceInfo, ProverId, RegisteredSealProof, RegisteredUpdateProof, SectorId, Ticket,
    UnpaddedBytesAmount,
};

/// Writes `source`, all of it, as the one piece of an empty `target`.
pub fn add_piece(proof: RegisteredSealProof, source: Vec<u8>, target: &mut File) -> Result<PieceInfo> {
    let size = UnpaddedBytesAmount(source.len() as u64);
    Ok(seal::add_piece(proof, Cursor::new(source), target, size, &[])?.0)
}

#[expect(clippy::too_many_arguments, missing_docs)]
pub fn seal_pre_commit_phase1(
    proof: RegisteredSealProof,
    cache: &Path,
    unsealed: &Path,
    replica: &Path,
    prover: ProverId,
    sector: SectorId,
    ticket: Ticket,
    pieces: &[PieceInfo],
) -> Result<SealPreCommitPhase1Output> {
    seal::seal_pre_commit_phase1(proof, cache, unsealed, replica, prover, sector, ticket, pieces)
}

#[expect(missing_docs)]
pub fn seal_pre_commit_phase2(
    phase1: SealPreCommitPhase1Output,
    cache: &Path,
    replica: &Path,
) -> Result<SealPreCommitPhase2Output> {
    seal::seal_pre_commit_phase2(phase1, cache, replica)
}

#[expect(clippy::too_many_arguments, missing_docs)]
pub fn seal_commit_phase1(
    cache: &Path,
    replica: &Path,
    prover: ProverId,
    sector: SectorId,
    ticket: Ticket,
    seed: Ticket,
    pre_commit: SealPreCommitPhase2Output,
    pieces: &[PieceInfo],
) -> Result<SealCommitPhase1Output> {
    seal::seal_commit_phase1(cache, replica, prover, sector, ticket, seed, pre_commit, pieces)
}

#[expect(missing_docs)]
pub fn generate_synth_proofs(
    cache: &Path,
    replica: &Path,
    prover: ProverId,
    sector: SectorId,
    ticket: Ticket,
    pre_commit: SealPreCommitPhase2Output,
    pieces: &[PieceInfo],
) -> Result<()> {
    seal::generate_synth_proofs(cache, replica, prover, sector, ticket, pre_commit, pieces)
}

#[expect(missing_docs)]
pub fn empty_sector_update_encode_into(
    proof: RegisteredUpdateProof,
    new_replica: &Path,
    new_cache: &Path,
    old_replica: &Path,
    old_cache: &Path,
    staged: &Path,
    pieces: &[PieceInfo],
) -> Result<EmptySectorUpdateEncoded> {
    update::empty_sector_update_encode_into(proof, new_replica, new_cache, old_replica, old_cache, staged, pieces)
}

#[expect(clippy::too_many_arguments, missing_docs)]
pub fn generate_partition_proofs(
    proof: RegisteredUpdateProof,
    comm_r_old: Commitment,
    comm_r_new: Commitment,
    comm_d_new: Commitment,
    old_replica: &Path,
    old_cache: &Path,
    new_replica: &Path,
    new_cache: &Path,
) -> Result<Vec<PartitionProofBytes>> {
    update::generate_partition_proofs(
        proof,
        comm_r_old,
        comm_r_new,
        comm_d_new,
        old_replica,
        old_cache,
        new_replica,
        new_cache,
    )
}
