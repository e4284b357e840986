//! `cuzk bench`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use cuzk::assignment::Builder;
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::{Backend, Uncontrolled};
use cuzk::vanilla::Input;
use cuzk::{Error, Result};

use crate::pool::pool;
use crate::prove::prove;
use crate::ready::Sources;

/// Measures one input, warm: the first run is dropped, the median of the others is shown.
#[derive(Args)]
pub struct Bench {
    /// What to measure: c2 from the input's bytes to checked proofs, or synth, which ends at the compact assignment.
    #[arg(value_enum)]
    what: What,
    /// File that gen-vanilla wrote.
    #[arg(long)]
    input: PathBuf,
    #[command(flatten)]
    sources: Sources,
    /// Runs that count.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Threads; 0 means one per core.
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    C2,
    Synth,
}

impl Bench {
    pub fn run(&self) -> Result<()> {
        let input = Input::read(&self.input)?;
        let pool = pool(self.threads)?;
        let id = pool.install(|| input.check())?.circuit();
        let ready = pool.install(|| self.sources.ready(id))?;
        let backend = CpuBackend::new(pool.clone());
        let load = Instant::now();
        if self.what == What::C2 {
            backend.load(&ready.circuit, &Uncontrolled)?;
        }
        let load = load.elapsed();

        let mut checks = Vec::new();
        let mut rests = Vec::new();
        for _ in 0..=self.runs {
            let start = Instant::now();
            let checked = pool.install(|| input.check())?;
            checks.push(start.elapsed());
            let start = Instant::now();
            match self.what {
                What::C2 => drop(prove(&backend, &pool, &ready, &checked)?),
                What::Synth => {
                    for partition in checked.partitions() {
                        let circuit = partition.circuit()?;
                        let builder = Builder::new(&ready.layouts, ready.circuit.r1cs().input_count);
                        let built = pool.install(|| builder.synthesize(circuit));
                        built.map_err(|why| Error::Internal(why.to_string()))?;
                    }
                }
            }
            rests.push(start.elapsed());
        }
        let rest = if self.what == What::C2 { "synthesis and proof" } else { "synthesis" };
        println!("{id}, cuzk {}, {} threads", env!("CARGO_PKG_VERSION"), pool.current_num_threads());
        println!("{:<32} {:>10}", "phase", "seconds");
        println!("{:<32} {:>10.3}", "SRS load (once, not in the sum)", load.as_secs_f64());
        println!("{:<32} {:>10.3}", "decode and check", median(&mut checks));
        println!("{rest:<32} {:>10.3}", median(&mut rests));
        Ok(())
    }
}

/// The median in seconds of all but the first run.
fn median(runs: &mut [Duration]) -> f64 {
    let counted = &mut runs[1..];
    counted.sort_unstable();
    counted[counted.len() / 2].as_secs_f64()
}
