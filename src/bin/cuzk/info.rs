//! `cuzk info`.

use std::path::{Path, PathBuf};

use clap::Args;
use cuzk::circuit::registered::{params_file_name, partition_count};
use cuzk::srs::{known, ParamDirs, Section, SrsFile, SrsOptions, G1_BYTES, G2_BYTES};
use cuzk::Result;

use crate::circuits;

/// One line per circuit: partitions, its SRS file, whose it is, and what a back end keeps of it.
#[derive(Args)]
pub struct Info {
    /// Directories of SRS files; FIL_PROOFS_PARAMETER_CACHE or filecoin-proofs' default if there are none.
    #[arg(long)]
    params: Vec<PathBuf>,
}

impl Info {
    pub fn run(&self) -> Result<()> {
        let dirs = ParamDirs::new(self.params.clone());
        println!("cuzk {}; back ends: cpu ({} cores)", env!("CARGO_PKG_VERSION"), rayon::current_num_threads());
        for dir in dirs.dirs() {
            println!("SRS files in {}", dir.display());
        }
        println!("{:<20} {:>10}  {:<12} {:>14}  file", "circuit", "partitions", "SRS", "resident bytes");
        for circuit in circuits::all() {
            let name = params_file_name(circuit);
            let (found, bytes) = match dirs.find(&name) {
                Ok(path) => identity(&path),
                Err(_) => ("not found".into(), String::new()),
            };
            println!("{:<20} {:>10}  {found:<12} {bytes:>14}  {name}", circuit.to_string(), partition_count(circuit));
        }
        Ok(())
    }
}

/// Whose file it is, and the bytes of the sections that proving needs.
fn identity(path: &Path) -> (String, String) {
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let srs = match SrsFile::open(path, &options) {
        Ok(srs) => srs,
        Err(error) => return (format!("{:?}", error.status()), String::new()),
    };
    let whose = match known::by_vk_digest(srs.vk_digest()) {
        Some(_) => "the network's",
        None => "unknown",
    };
    let g1 = srs.count(Section::H) + srs.count(Section::L) + srs.count(Section::A);
    let bytes = g1 * G1_BYTES + srs.count(Section::BG2) * G2_BYTES;
    (whose.into(), bytes.to_string())
}
