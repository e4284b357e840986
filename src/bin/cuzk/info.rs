//! `cuzk info`.

use std::path::{Path, PathBuf};

use clap::Args;
use cuzk::circuit::registered::{params_file_name, partition_count};
use cuzk::engine::cost;
use cuzk::srs::{known, ParamDirs, SrsFile, SrsOptions};
use cuzk::Result;

use crate::circuits;
use crate::output::say;

/// One line per circuit: partitions, host memory that proving takes on the CPU, disk for SRS and caches, and its SRS file.
#[derive(Args)]
pub struct Info {
    /// Directories of SRS files; FIL_PROOFS_PARAMETER_CACHE or filecoin-proofs' default if there are none.
    #[arg(long)]
    params: Vec<PathBuf>,
}

impl Info {
    pub fn run(&self) -> Result<()> {
        let dirs = ParamDirs::new(self.params.clone());
        let cores = rayon::current_num_threads();
        say!("cuzk {}; back ends: cpu ({cores} cores), cuda ({})", env!("CARGO_PKG_VERSION"), devices())?;
        for dir in dirs.dirs() {
            say!("SRS files in {}", dir.display())?;
        }
        say!("host: memory for proving on the CPU, disk: SRS and caches; both at most")?;
        say!("{:<20} {:>10} {:>10} {:>10}  {:<14}  file", "circuit", "partitions", "host MiB", "disk MiB", "SRS")?;
        for circuit in circuits::all() {
            let name = params_file_name(circuit);
            let found = dirs.find(&name).map_or_else(|_| "not found".into(), |path| identity(&path));
            let needed = cost(circuit.kind(), circuit.sector_size(), true)?;
            let (host, disk) = (needed.host_bytes >> 20, needed.disk_bytes >> 20);
            let count = partition_count(circuit);
            say!("{:<20} {count:>10} {host:>10} {disk:>10}  {found:<14}  {name}", circuit.to_string())?;
        }
        Ok(())
    }
}

/// The GPUs by name, or why there are none.
fn devices() -> String {
    #[cfg(any(cuda, feature = "testing"))]
    match cuzk::backend::cuda::devices() {
        Ok(devices) => devices.into_iter().map(|device| device.name).collect::<Vec<_>>().join(", "),
        Err(error) => error.to_string(),
    }
    #[cfg(not(any(cuda, feature = "testing")))]
    "built without CUDA".into()
}

/// Whose file it is, or what is wrong with it.
fn identity(path: &Path) -> String {
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    match SrsFile::open(path, &options) {
        Ok(srs) => known::by_vk_digest(srs.vk_digest()).map_or("unknown", |_| "the network's").into(),
        Err(error) => format!("{:?}", error.status()),
    }
}
