//! `cuzk setup`.

use std::path::{Path, PathBuf};

use clap::Args;
#[cfg(cuda)]
use cuzk::backend::{
    cuda::{open_devices, CudaConfig},
    Backend,
};
use cuzk::circuit::registered::params_file_name;
use cuzk::r1cs::R1cs;
use cuzk::setup::write_params;
#[cfg(cuda)]
use cuzk::setup::write_params_on;
use cuzk::srs::VerifyingKey;
use cuzk::Result;
use rayon::ThreadPool;

use crate::circuits;
use crate::files::disk;
use crate::pool::pool;
use crate::progress::Step;

/// Computes on the first device there is, else on the CPU.
fn write(r1cs: &R1cs, seed: [u8; 32], path: &Path, pool: &ThreadPool) -> Result<VerifyingKey> {
    #[cfg(cuda)]
    match open_devices(&CudaConfig::default()) {
        Ok(opened) => {
            println!("on {}", opened.devices[0].name());
            return write_params_on(&opened.devices[0], r1cs, seed, path, pool);
        }
        Err(error) => println!("on the CPU: {error}"),
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
    /// Threads; 0 means one per core.
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

impl Setup {
    pub fn run(&self) -> Result<()> {
        std::fs::create_dir_all(&self.out).map_err(|error| disk(&self.out, &error))?;
        let pool = pool(self.threads)?;
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        for name in &self.circuit {
            let id = circuits::by_name(name)?;
            let path = self.out.join(params_file_name(id));
            if path.exists() {
                println!("{name}: {} exists", path.display());
                continue;
            }
            let step = Step::new(format!("setup of {name}"));
            let r1cs = id.record()?;
            let vk = write(&r1cs, seed, &path, &pool)?;
            vk.write(&path.with_extension("vk"))?;
            println!("{name}: INSECURE {} ({:.1} s)", path.display(), step.end().as_secs_f64());
        }
        Ok(())
    }
}
