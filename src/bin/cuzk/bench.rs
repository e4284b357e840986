//! `cuzk bench`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use cuzk::backend::cpu::CpuBackend;
use cuzk::Result;

use crate::output::say;
use crate::pool::{pool, Threads};
use crate::progress::Step;
use crate::prove::{prove, read_input, synthesize};
use crate::ready::{load_srs, Sources};

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
    #[command(flatten)]
    threads: Threads,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    C2,
    Synth,
}

impl Bench {
    pub fn run(&self) -> Result<()> {
        let input = read_input(&self.input)?;
        let pool = pool(&self.threads)?;
        let id = pool.install(|| input.check())?.circuit();
        let ready = pool.install(|| self.sources.ready(id))?;
        let backend = CpuBackend::new(pool.clone());
        let load = Instant::now();
        if self.what == What::C2 {
            load_srs(&backend, &ready)?;
        }
        let load = load.elapsed();

        let mut checks = Vec::new();
        let mut rests = Vec::new();
        for run in 0..=self.runs {
            let step = Step::new(format!("run {run} of {}", self.runs));
            let start = Instant::now();
            let checked = pool.install(|| input.check())?;
            checks.push(start.elapsed());
            let start = Instant::now();
            match self.what {
                What::C2 => drop(prove(&backend, &pool, &ready, &checked)?),
                What::Synth => {
                    for partition in checked.partitions() {
                        pool.install(|| synthesize(&ready, &partition))?;
                    }
                }
            }
            rests.push(start.elapsed());
            step.end();
        }
        let rest = if self.what == What::C2 { "synthesis and proof" } else { "synthesis" };
        say!("{id}, cuzk {}, {} threads of {}", env!("CARGO_PKG_VERSION"), pool.current_num_threads(), machine())?;
        say!("{:<32} {:>10}", "phase", "seconds")?;
        say!("{:<32} {:>10.3}", "SRS load (once, not in the sum)", load.as_secs_f64())?;
        say!("{:<32} {:>10.3}", "decode and check", median(&mut checks))?;
        say!("{rest:<32} {:>10.3}", median(&mut rests))?;
        Ok(())
    }
}

/// Processor, and how many of them, as the system names them.
fn machine() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or(": an unnamed processor");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} × {}, Linux {}", model.trim_start_matches([' ', '\t', ':']), kernel.trim())
}

/// The median in seconds of all but the first run.
fn median(runs: &mut [Duration]) -> f64 {
    let counted = &mut runs[1..];
    counted.sort_unstable();
    counted[counted.len() / 2].as_secs_f64()
}
