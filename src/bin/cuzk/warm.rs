//! `cuzk warm`.

use std::ops::ControlFlow;

use clap::{Args, ValueEnum};
use cuzk::r1cs::cache::Cache;
use cuzk::srs::SrsCheck;
use cuzk::Result;

use crate::circuits;
use crate::pool::pool;
use crate::progress::Step;
use crate::ready::Sources;

/// Records or checks what proving needs, so that the first proof after an upgrade waits for nothing: the R1CS of each
/// circuit, and identity and points of its SRS.
#[derive(Args)]
pub struct Warm {
    /// Circuits, e.g. porep-32gib,windowpost-32gib,winningpost-32gib,snapdeals-32gib.
    #[arg(long, required = true, value_delimiter = ',')]
    circuit: Vec<String>,
    #[command(flatten)]
    sources: Sources,
    /// How far the SRS is checked. Digests are checked against the network's table.
    #[arg(long, value_enum, default_value = "digest")]
    check: Check,
    /// Threads; 0 means one per core.
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Check {
    OnCurve,
    Subgroup,
    Digest,
}

impl Warm {
    pub fn run(&self) -> Result<()> {
        let pool = pool(self.threads)?;
        for name in &self.circuit {
            let id = circuits::by_name(name)?;
            let step = Step::new(format!("recording {name}"));
            let r1cs = pool.install(|| id.r1cs(&Cache::new(self.sources.cache())))?;
            println!("{name}: R1CS of {} rows ({:.1} s)", r1cs.row_count(), step.end().as_secs_f64());

            let srs = pool.install(|| self.sources.srs(id))?;
            srs.check_counts(&r1cs)?;
            let check = match self.check {
                Check::OnCurve => SrsCheck::OnCurve,
                Check::Subgroup => SrsCheck::Subgroup,
                Check::Digest => SrsCheck::Digest,
            };
            let start = std::time::Instant::now();
            let mut shown = 0;
            let mut progress = |percent: u8| {
                if percent >= shown + 10 && start.elapsed().as_secs() >= 2 {
                    eprintln!("checking the SRS of {name}: {percent} %");
                    shown = percent;
                }
                ControlFlow::Continue(())
            };
            pool.install(|| srs.verify(check, Some(self.sources.cache()), &mut progress))?;
            let whose = srs.known().map_or("unknown", |_| "the network's");
            println!("{name}: SRS {} is {whose} ({:.1} s)", srs.path().display(), start.elapsed().as_secs_f64());
        }
        Ok(())
    }
}
