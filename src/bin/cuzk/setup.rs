//! `cuzk setup`.

use std::path::{Path, PathBuf};

use clap::Args;
#[cfg(cuda)]
use cuzk::backend::{
    cuda::{open_devices, CudaConfig},
    Backend,
};
use cuzk::circuit::registered::params_file_name;
use cuzk::circuit::CircuitId;
use cuzk::r1cs::R1cs;
use cuzk::setup::write_params;
#[cfg(cuda)]
use cuzk::setup::write_params_on;
use cuzk::srs::{SrsFile, SrsOptions, VerifyingKey};
use cuzk::{Error, Result};
use rayon::ThreadPool;

use crate::circuits;
use crate::output::{make_dir, say};
use crate::pool::{pool, Threads};
use crate::progress::Step;

/// Computes on the first device there is, else on the CPU.
fn write(r1cs: &R1cs, seed: [u8; 32], path: &Path, pool: &ThreadPool) -> Result<VerifyingKey> {
    #[cfg(cuda)]
    match open_devices(&CudaConfig::default()) {
        Ok(opened) => {
            say!("on {}", opened.devices[0].name())?;
            return write_params_on(&opened.devices[0], r1cs, seed, path, pool);
        }
        Err(error) => say!("on the CPU: {error}")?,
    }
    write_params(r1cs, seed, path, pool)
}

/// Writes the SRS and the verifying key of a circuit, under the network's file names. INSECURE: whoever knows the seed can
/// forge proofs.
#[derive(Args)]
pub struct Setup {
    /// Circuits, e.g. porep-2kib, snapdeals-2kib, windowpost-2kib, winningpost-2kib.
    #[arg(long, required = true, value_delimiter = ',')]
    circuit: Vec<String>,
    /// Directory for the files, made if need be. A file that exists already is kept as it is.
    #[arg(long)]
    out: PathBuf,
    /// What the toxic waste follows from.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    threads: Threads,
}

impl Setup {
    pub fn run(&self) -> Result<()> {
        let ids = self.circuit.iter().map(|name| circuits::by_name(name)).collect::<Result<Vec<_>>>()?;
        make_dir(&self.out)?;
        let pool = pool(&self.threads)?;
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        for id in ids {
            let path = self.out.join(params_file_name(id));
            let vk = match self.params(id, seed, &path, &pool)? {
                Some(vk) => vk,
                None => vk_of(&path)?,
            };
            // A set-up that was killed may have left one file without the other.
            match vk.write(&path.with_extension("vk")) {
                Err(Error::Invalid { .. }) if VerifyingKey::read(&path.with_extension("vk"))? == vk => {}
                written => written?,
            }
        }
        Ok(())
    }

    /// Writes the SRS; None if there is one, perhaps of another process that was faster.
    fn params(&self, id: CircuitId, seed: [u8; 32], path: &Path, pool: &ThreadPool) -> Result<Option<VerifyingKey>> {
        let exists = || say!("{id}: {} exists and is kept", path.display());
        if path.exists() {
            exists()?;
            return Ok(None);
        }
        let step = Step::new(format!("setup of {id}"));
        match write(&id.record()?, seed, path, pool) {
            Err(Error::Invalid { .. }) if path.exists() => {
                exists()?;
                Ok(None)
            }
            written => {
                let vk = written?;
                say!("{id}: INSECURE {} ({:.1} s)", path.display(), step.end().as_secs_f64())?;
                Ok(Some(vk))
            }
        }
    }
}

fn vk_of(path: &Path) -> Result<VerifyingKey> {
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    Ok(SrsFile::open(path, &options)?.vk().clone())
}
