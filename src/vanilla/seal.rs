//! Sealing a sector, up to the C1 output.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use cuzk_reference::sealing::{
    add_piece, generate_synth_proofs, seal_commit_phase1, seal_pre_commit_phase1, seal_pre_commit_phase2,
};
use filecoin_proofs_api::seal::SealPreCommitPhase2Output;
use filecoin_proofs_api::{ApiFeature, PieceInfo, RegisteredSealProof};
use rand_core::RngCore;

use super::{derived_bytes, derived_rng, failed, io_failed, PorepInput};
use crate::circuit::registered::prover_id;
use crate::error::{Error, Result};

/// Largest sector that is sealed: 512 MiB, the size at which sealing takes an hour.
const MAX_SECTOR_BYTES: u64 = 1 << 29;

/// What decides a sector's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorSpec {
    /// Version and size of the sector. Non-interactive PoRep isn't offered.
    pub proof: RegisteredSealProof,
    /// Miner's actor id.
    pub miner: u64,
    /// Sector number.
    pub sector: u64,
    /// Data, ticket and interactive seed follow from it.
    pub seed: u64,
}

/// A sealed sector on disk: replica, trees and labels, in a directory of its own.
#[derive(Debug)]
pub struct SealedSector {
    pub(super) spec: SectorSpec,
    pub(super) dir: PathBuf,
    pub(super) pre_commit: SealPreCommitPhase2Output,
    pieces: Vec<PieceInfo>,
    ticket: [u8; 32],
}

impl SectorSpec {
    /// Bytes of the sector.
    pub fn sector_bytes(&self) -> u64 {
        u64::from(self.proof.sector_size())
    }
}

impl SealedSector {
    /// Seals a sector of pseudo-random data in `dir`, which is made if it isn't there and must be empty.
    /// Blocks: 0.1 s at 2 KiB. Peak disk: some ten times the sector.
    /// Errors: INVALID (a size above 512 MiB), UNSUPPORTED (non-interactive PoRep), INTERNAL (disk, reference code).
    pub fn seal(dir: &Path, spec: SectorSpec) -> Result<Self> {
        if spec.sector_bytes() > MAX_SECTOR_BYTES {
            return Err(Error::invalid("proof", "sectors above 512 MiB are not sealed here"));
        }
        if spec.proof.feature_enabled(ApiFeature::NonInteractivePoRep) {
            return Err(Error::Unsupported("non-interactive PoRep".into()));
        }
        fs::create_dir_all(dir.join(CACHE)).map_err(io_failed(dir.display()))?;
        let pieces = write_piece(&dir.join(UNSEALED), spec.proof, b"data", spec.seed)?;
        File::create(dir.join(REPLICA)).map_err(io_failed("replica"))?;

        let ticket = derived_bytes(spec.seed, b"ticket");
        let phase1 = seal_pre_commit_phase1(
            spec.proof,
            &dir.join(CACHE),
            &dir.join(UNSEALED),
            &dir.join(REPLICA),
            prover_id(spec.miner),
            spec.sector.into(),
            ticket,
            &pieces,
        )
        .map_err(failed("seal_pre_commit_phase1"))?;
        let pre_commit = seal_pre_commit_phase2(phase1, &dir.join(CACHE), &dir.join(REPLICA))
            .map_err(failed("seal_pre_commit_phase2"))?;
        Ok(SealedSector { spec, dir: dir.to_owned(), pre_commit, pieces, ticket })
    }

    /// The spec it was sealed from.
    pub fn spec(&self) -> SectorSpec {
        self.spec
    }

    /// Replica commitment.
    pub fn comm_r(&self) -> [u8; 32] {
        self.pre_commit.comm_r
    }

    /// The C1 output, synthetic where the proof type says so. Errors: INTERNAL.
    pub fn porep(&self) -> Result<PorepInput> {
        let SectorSpec { proof, miner, sector, seed } = self.spec;
        let (cache, replica) = (self.dir.join(CACHE), self.dir.join(REPLICA));
        if proof.feature_enabled(ApiFeature::SyntheticPoRep) {
            let pre_commit = self.pre_commit.clone();
            generate_synth_proofs(
                &cache,
                &replica,
                prover_id(miner),
                sector.into(),
                self.ticket,
                pre_commit,
                &self.pieces,
            )
            .map_err(failed("generate_synth_proofs"))?;
        }
        let c1 = seal_commit_phase1(
            &cache,
            &replica,
            prover_id(miner),
            sector.into(),
            self.ticket,
            derived_bytes(seed, b"interactive seed"),
            self.pre_commit.clone(),
            &self.pieces,
        )
        .map_err(failed("seal_commit_phase1"))?;
        let c1 = serde_json::to_vec(&c1).map_err(|error| Error::Internal(format!("C1 output: {error}")))?;
        Ok(PorepInput { miner, sector, c1 })
    }
}

/// Names inside a sector's directory.
pub(super) const CACHE: &str = "cache";
pub(super) const REPLICA: &str = "replica";
const UNSEALED: &str = "unsealed";

/// Fills `path` with one piece of pseudo-random bytes that takes the whole sector.
pub(super) fn write_piece(
    path: &Path,
    proof: RegisteredSealProof,
    purpose: &[u8],
    seed: u64,
) -> Result<Vec<PieceInfo>> {
    let sector_bytes = u64::from(proof.sector_size());
    let source = random_bytes(sector_bytes / 128 * 127, purpose, seed);
    let mut target = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
    let target = target.as_mut().map_err(|error| Error::Internal(format!("{}: {error}", path.display())))?;
    let piece = add_piece(proof, source, target).map_err(failed("add_piece"))?;
    target.flush().map_err(io_failed(path.display()))?;
    Ok(vec![piece])
}

/// `count` pseudo-random bytes.
fn random_bytes(count: u64, purpose: &[u8], seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; count as usize];
    derived_rng(seed, purpose).fill_bytes(&mut bytes);
    bytes
}
