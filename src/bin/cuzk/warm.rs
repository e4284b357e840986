//! `cuzk warm`.

use std::ops::ControlFlow;

use clap::{Args, ValueEnum};
use cuzk::r1cs::cache::Cache;
use cuzk::srs::SrsCheck;
use cuzk::{Error, Result};

use crate::circuits;
use crate::output::{note, say};
use crate::pool::{pool, Threads};
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
    /// How far the SRS is checked. Sizes, verifying key and identity always are.
    #[arg(long, value_enum, default_value = "digest")]
    check: Check,
    #[command(flatten)]
    threads: Threads,
}

#[derive(Clone, Copy, ValueEnum)]
enum Check {
    /// Nothing more.
    Identity,
    /// Every point is on its curve and in the prime-order subgroup: 20 µs a point and core.
    Subgroup,
    /// The file's digest is the one in the network's table: 1 s per GiB.
    Digest,
}

impl Warm {
    pub fn run(&self) -> Result<()> {
        let ids = self.circuit.iter().map(|name| circuits::by_name(name)).collect::<Result<Vec<_>>>()?;
        let pool = pool(&self.threads)?;
        for (id, name) in ids.into_iter().zip(&self.circuit) {
            let step = Step::new(format!("recording {name}"));
            let cache = Cache::new(self.sources.cache());
            let r1cs = pool.install(|| id.r1cs(&cache))?;
            let file = cache.path(&id.to_string());
            if !file.is_file() {
                return Err(Error::invalid("cache", format!("{} can't be written", file.display())));
            }
            say!("{name}: R1CS of {} rows ({:.1} s)", r1cs.row_count(), step.end().as_secs_f64())?;

            let srs = pool.install(|| self.sources.srs(id))?;
            srs.check_counts(&r1cs)?;
            if matches!(self.check, Check::Digest) && srs.known().is_none() {
                let path = srs.path().display();
                let reason =
                    format!("{path} isn't the network's and has no digest to be compared with: add --check subgroup");
                return Err(Error::invalid("check", reason));
            }
            let check = match self.check {
                Check::Identity => SrsCheck::OnCurve,
                Check::Subgroup => SrsCheck::Subgroup,
                Check::Digest => SrsCheck::Digest,
            };
            let start = std::time::Instant::now();
            let mut shown = 0;
            let mut progress = |percent: u8| {
                if percent >= shown + 10 && start.elapsed().as_secs() >= 2 {
                    note(format_args!("checking the SRS of {name}: {percent} %"));
                    shown = percent;
                }
                ControlFlow::Continue(())
            };
            pool.install(|| srs.verify(check, Some(self.sources.cache()), &mut progress))?;
            let whose = srs.known().map_or("unknown", |_| "the network's");
            say!("{name}: SRS {} is {whose} ({:.1} s)", srs.path().display(), start.elapsed().as_secs_f64())?;
        }
        Ok(())
    }
}
