//! Circuits with their SRS: where they come from, and opening them.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use cuzk::assignment::Layouts;
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::{Backend, Circuit, Uncontrolled};
use cuzk::circuit::registered::params_file_name;
use cuzk::circuit::CircuitId;
use cuzk::r1cs::cache::Cache;
use cuzk::srs::{ParamDirs, SrsFile, SrsOptions};
use cuzk::Result;

use crate::progress::Step;

/// Where SRS files and recorded circuits are.
#[derive(Args)]
pub struct Sources {
    /// Directories of SRS files; FIL_PROOFS_PARAMETER_CACHE or filecoin-proofs' default if there are none.
    #[arg(long)]
    params: Vec<PathBuf>,
    /// Accept an SRS that isn't the network's.
    #[arg(long)]
    allow_unknown_params: bool,
    /// Directory of recorded circuits and of finished checks, made if need be.
    #[arg(long, default_value = "/var/tmp/cuzk")]
    cache: PathBuf,
}

/// A circuit that can be proved, with its layout.
pub struct Ready {
    pub circuit: Arc<Circuit>,
    pub layouts: Arc<Layouts>,
}

/// Makes a circuit resident.
pub fn load_srs(backend: &CpuBackend, ready: &Ready) -> Result<()> {
    let _step = Step::new(format!("loading the SRS of {}", ready.circuit.name()));
    backend.load(&ready.circuit, &Uncontrolled)
}

impl Sources {
    /// Opens the SRS file of a circuit.
    pub fn srs(&self, id: CircuitId) -> Result<SrsFile> {
        let path = ParamDirs::new(self.params.clone()).find(&params_file_name(id))?;
        let _step = Step::new(format!("opening {}", path.display()));
        let options = SrsOptions {
            allow_unknown_params: self.allow_unknown_params,
            cache_dir: Some(self.cache.clone()),
            ..SrsOptions::default()
        };
        SrsFile::open(&path, &options)
    }

    /// Takes the R1CS from the cache, or records it, and joins it with the SRS.
    pub fn ready(&self, id: CircuitId) -> Result<Ready> {
        let srs = Arc::new(self.srs(id)?);
        let _step = Step::new(format!("recording {id}"));
        let r1cs = Arc::new(id.r1cs(&Cache::new(&self.cache))?);
        let layouts = Arc::new(Layouts::pinned(id.layout(&r1cs)?));
        Ok(Ready { circuit: Circuit::new(id.to_string(), r1cs, srs)?, layouts })
    }

    /// Directory of finished checks.
    pub fn cache(&self) -> &PathBuf {
        &self.cache
    }
}
