//! Where circuits and the content of requests come from.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use super::config::Config;
use super::counts::counts;
use super::job::Life;
use super::request::Request;
use super::stoppable::Stoppable;
use crate::assignment::{Assignment, Builder, Layout};
use crate::circuit::registered::params_file_name;
use crate::circuit::{CheckedProofs, CircuitId};
use crate::error::{Error, Result};
use crate::r1cs::{Cache, R1cs};
use crate::srs::ParamDirs;

/// The source of circuits and contents: Filecoin's, or an echo engine's. Called from pools, never under the engine's lock.
pub(super) trait Library: Send + Sync {
    /// Path of the SRS file. Errors: PARAMS_MISSING.
    fn params(&self, circuit: CircuitId) -> Result<PathBuf>;

    /// The R1CS, recorded if need be. Errors: INTERNAL.
    fn r1cs(&self, circuit: CircuitId) -> Result<R1cs>;

    /// The layout of its assignments. Errors: INTERNAL if it isn't the pinned one.
    fn layout(&self, circuit: CircuitId, r1cs: &R1cs) -> Result<Layout>;

    /// Structural hash of the R1CS.
    fn structural_hash(&self, circuit: CircuitId) -> [u8; 32];

    /// Bytes that opening takes on the host, at most.
    fn open_bytes(&self, circuit: CircuitId) -> u64;

    /// Bytes of a partition's assignment, about.
    fn assignment_bytes(&self, circuit: CircuitId) -> u64;

    /// Decodes a request and checks all of it; gives up soon after `life` has ended. Errors: INVALID, UNSUPPORTED,
    /// CANCELLED.
    fn check(&self, request: &Request, life: &Life) -> Result<Arc<dyn Content>>;
}

/// Checked vanilla proofs.
pub(super) trait Content: Send + Sync {
    fn circuit(&self) -> CircuitId;

    fn partition_count(&self) -> usize;

    /// Synthesises partition `k` with `builder`; gives up soon after `life` has ended.
    fn synthesise(&self, k: usize, builder: Builder, life: &Life) -> Result<Assignment>;
}

/// Filecoin's circuits.
pub(super) struct Filecoin {
    dirs: ParamDirs,
    cache: Option<Cache>,
}

impl Filecoin {
    pub fn new(config: &Config) -> Self {
        Filecoin { dirs: ParamDirs::new(config.param_dirs.clone()), cache: config.cache_dir.clone().map(Cache::new) }
    }
}

impl Library for Filecoin {
    fn params(&self, circuit: CircuitId) -> Result<PathBuf> {
        self.dirs.find(&params_file_name(circuit))
    }

    fn r1cs(&self, circuit: CircuitId) -> Result<R1cs> {
        if let Some(cache) = &self.cache {
            return circuit.r1cs(cache);
        }
        let r1cs = circuit.record_pinned()?;
        match r1cs.structural_hash() == circuit.pinned_hash() {
            true => Ok(r1cs),
            false => Err(Error::Internal(format!("{circuit}: this build makes another circuit than the pinned one"))),
        }
    }

    fn layout(&self, circuit: CircuitId, r1cs: &R1cs) -> Result<Layout> {
        circuit.layout(r1cs)
    }

    fn structural_hash(&self, circuit: CircuitId) -> [u8; 32] {
        circuit.pinned_hash()
    }

    fn open_bytes(&self, circuit: CircuitId) -> u64 {
        counts(circuit).r1cs
    }

    fn assignment_bytes(&self, circuit: CircuitId) -> u64 {
        counts(circuit).assignment()
    }

    fn check(&self, request: &Request, life: &Life) -> Result<Arc<dyn Content>> {
        let decoded = request.decode()?;
        Ok(Arc::new(decoded.check_while(&|| !life.has_ended())?))
    }
}

impl Content for CheckedProofs {
    fn circuit(&self) -> CircuitId {
        CheckedProofs::circuit(self)
    }

    fn partition_count(&self) -> usize {
        self.partitions().len()
    }

    fn synthesise(&self, k: usize, builder: Builder, life: &Life) -> Result<Assignment> {
        let partition = self.partitions().nth(k).ok_or_else(|| Error::Internal(format!("no partition {k}")))?;
        let mut cs = Stoppable::new(builder, life);
        match partition.synthesize(&mut cs) {
            _ if life.has_ended() => Err(Error::Cancelled),
            Ok(()) => cs.into_builder().finish().map_err(|why| Error::Internal(format!("synthesis: {why}"))),
            Err(error) => Err(error),
        }
    }
}

/// (device, inode): the same for all names of a file. None if there is no such file, which opening then reports.
pub(super) fn identity(path: &PathBuf) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}
