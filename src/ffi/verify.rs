//! Verification by pairing, with a few verifying keys kept ready.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::abi;
use super::read::{paths, switch, versioned};
use crate::circuit::claim::Claim;
use crate::circuit::registered::params_file_name;
use crate::engine::limits::HostLimits;
use crate::error::{Error, Result};
use crate::groth16::{Proof, Verifier, PROOF_BYTES};
use crate::srs::{fault, FileStat, ParamDirs, SrsFile, SrsOptions};

/// Keys that stay ready: one for each kind at two sizes. WindowPoSt's is 2.5 MB.
const KEPT: usize = 8;

/// Where verifying keys come from.
pub struct Keys {
    dirs: Vec<PathBuf>,
    allow_unknown: bool,
}

/// A key, and which file in which state it is from.
struct Ready {
    path: PathBuf,
    stat: FileStat,
    known: bool,
    verifier: Arc<Verifier>,
}

/// The last used is the last.
static READY: Mutex<Vec<Ready>> = Mutex::new(Vec::new());

impl Keys {
    /// Reads the caller's struct.
    ///
    /// # Safety
    ///
    /// `from` is NULL or as the header says.
    pub unsafe fn read(from: *const abi::VkSource) -> Result<Self> {
        // SAFETY: the caller's promise.
        unsafe {
            let from = versioned(from)?;
            Ok(Keys {
                dirs: paths("param_dirs", from.param_dirs, from.param_dir_count)?,
                allow_unknown: switch("allow_unknown_params", from.allow_unknown_params)?,
            })
        }
    }

    /// The verifier for `file_name`, from memory if the file is still the same.
    fn verifier(&self, file_name: &str) -> Result<Arc<Verifier>> {
        let path = ParamDirs::new(self.dirs.clone()).find(file_name)?;
        if let Some(verifier) = std::fs::metadata(&path).ok().and_then(|meta| self.ready(&path, FileStat::from(&meta)))
        {
            return Ok(verifier);
        }
        let options = SrsOptions { allow_unknown_params: self.allow_unknown, ..SrsOptions::default() };
        let srs = in_own_pool(|| SrsFile::open(&path, &options))??;
        let verifier = Arc::new(Verifier::new(srs.vk()));
        let ready = Ready { path, stat: srs.stat(), known: srs.known().is_some(), verifier: verifier.clone() };
        let mut kept = READY.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|other| other.path != ready.path);
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push(ready);
        Ok(verifier)
    }

    fn ready(&self, path: &PathBuf, stat: FileStat) -> Option<Arc<Verifier>> {
        let mut kept = READY.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |ready: &Ready| ready.path == *path && ready.stat == stat && (ready.known || self.allow_unknown);
        let ready = kept.iter().position(fits).map(|i| kept.remove(i))?;
        let verifier = ready.verifier.clone();
        kept.push(ready);
        Some(verifier)
    }
}

/// Runs `work` in threads that end with it: the caller's must not become part of a global pool.
fn in_own_pool<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    let threads = HostLimits::read()?.cpus as usize;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("cuzk-vk-{i}")).build();
    let pool = pool.map_err(|error| Error::Internal(format!("threads: {error}")))?;
    Ok(pool.install(work))
}

/// Whether `proof` proves `claim`. Errors: INVALID with field `proof` if it doesn't.
pub fn verify(claim: &Claim, proof: &[u8], keys: &Keys) -> Result<()> {
    let inputs = claim.inputs()?;
    let invalid = |reason| Err(Error::invalid("proof", reason));
    if proof.len() != inputs.len() * PROOF_BYTES {
        let (bytes, partitions) = (proof.len(), inputs.len());
        return invalid(format!("{bytes} bytes instead of {PROOF_BYTES} for each of {partitions} partitions"));
    }
    let file = params_file_name(claim.circuit()?);
    let verifier = keys.verifier(&file)?;
    if let Err(Error::Invalid { reason, .. }) = inputs.iter().try_for_each(|inputs| verifier.check_count(inputs)) {
        let found = format!("those of another circuit: {reason}");
        return Err(fault(file.as_ref(), "ic", None, "the circuit's count of points", found));
    }
    for (k, (inputs, proof)) in inputs.iter().zip(proof.chunks_exact(PROOF_BYTES)).enumerate() {
        let Ok(decoded) = Proof::from_bytes(proof) else {
            return invalid(format!("partition {k}: not three points of the groups"));
        };
        if !verifier.verify(inputs, &decoded)? {
            return invalid(format!("partition {k}: the pairing check fails"));
        }
    }
    Ok(())
}
