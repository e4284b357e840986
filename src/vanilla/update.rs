//! SnapDeals: new data in a sealed sector.

use std::fs::{self, File};

use cuzk_reference::sealing::{empty_sector_update_encode_into, generate_partition_proofs};
use filecoin_proofs_api::RegisteredUpdateProof;

use super::seal::{write_piece, CACHE, REPLICA};
use super::{failed, io_failed, SealedSector, UpdateInput};
use crate::error::{Error, Result};

impl SealedSector {
    /// Encodes new pseudo-random data into the sector, beside the old replica, and makes the partition proofs.
    /// Errors: INTERNAL (disk, reference code).
    pub fn update(&self) -> Result<UpdateInput> {
        let proof = update_proof(self.spec.sector_bytes())?;
        let dir = self.dir.join("update");
        fs::create_dir_all(dir.join(CACHE)).map_err(io_failed(dir.display()))?;
        let pieces = write_piece(&dir.join("staged"), self.spec.proof, b"new data", self.spec.seed)?;
        // The encoder maps the new replica, which must have its full size before.
        File::create(dir.join(REPLICA))
            .and_then(|file| file.set_len(self.spec.sector_bytes()))
            .map_err(io_failed("new replica"))?;

        let encoded = empty_sector_update_encode_into(
            proof,
            &dir.join(REPLICA),
            &dir.join(CACHE),
            &self.dir.join(REPLICA),
            &self.dir.join(CACHE),
            &dir.join("staged"),
            &pieces,
        )
        .map_err(failed("empty_sector_update_encode_into"))?;
        let proofs = generate_partition_proofs(
            proof,
            self.comm_r(),
            encoded.comm_r_new,
            encoded.comm_d_new,
            &self.dir.join(REPLICA),
            &self.dir.join(CACHE),
            &dir.join(REPLICA),
            &dir.join(CACHE),
        )
        .map_err(failed("generate_partition_proofs"))?;
        Ok(UpdateInput {
            proof,
            comm_r_old: self.comm_r(),
            comm_r_new: encoded.comm_r_new,
            comm_d_new: encoded.comm_d_new,
            vanilla_proofs: proofs.into_iter().map(|proof| proof.0).collect(),
        })
    }
}

/// The update proof type of a sector size.
fn update_proof(sector_bytes: u64) -> Result<RegisteredUpdateProof> {
    use RegisteredUpdateProof::*;
    [StackedDrg2KiBV1, StackedDrg8MiBV1, StackedDrg512MiBV1, StackedDrg32GiBV1, StackedDrg64GiBV1]
        .into_iter()
        .find(|proof| u64::from(proof.sector_size()) == sector_bytes)
        .ok_or_else(|| Error::invalid("proof", format!("no update proof for {sector_bytes} bytes")))
}
