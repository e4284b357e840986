//! `cuzk prove`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use cuzk::assignment::{Assignment, Builder};
use cuzk::backend::cpu::CpuBackend;
use cuzk::circuit::{CheckedProofs, Partition};
use cuzk::groth16;
use cuzk::vanilla::Input;
use cuzk::{Error, Result};
use rayon::ThreadPool;

use crate::output::{say, Output};
use crate::pool::{pool, Threads};
use crate::progress::Step;
use crate::ready::{load_srs, Ready, Sources};

/// Checks an input's vanilla proofs, proves them on the CPU, and writes the proof: 192 bytes a partition.
#[derive(Args)]
pub struct Prove {
    /// File that gen-vanilla wrote.
    #[arg(long)]
    input: PathBuf,
    #[command(flatten)]
    sources: Sources,
    /// File for the proof; an older one is replaced.
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    threads: Threads,
}

impl Prove {
    pub fn run(&self) -> Result<()> {
        let out = Output::at(&self.out)?;
        let input = read_input(&self.input)?;
        let pool = pool(&self.threads)?;
        let start = Instant::now();
        let step = Step::new("checking the vanilla proofs");
        let checked = pool.install(|| input.check())?;
        step.end();
        let ready = pool.install(|| self.sources.ready(checked.circuit()))?;
        let backend = CpuBackend::new(pool.clone());
        load_srs(&backend, &ready)?;
        let proof = prove(&backend, &pool, &ready, &checked)?;
        out.write(&proof)?;
        let seconds = start.elapsed().as_secs_f64();
        say!("{}: {} bytes in {} ({seconds:.1} s)", checked.circuit(), proof.len(), self.out.display())?;
        Ok(())
    }
}

/// Reads an input. What waits for the writer of a pipe says so.
pub fn read_input(path: &Path) -> Result<Input> {
    let _step = Step::new(format!("reading {}", path.display()));
    Input::read(path)
}

/// The compact assignment of a partition.
pub fn synthesize(ready: &Ready, partition: &Partition<'_>) -> Result<Assignment> {
    let mut builder = Builder::new(&ready.layouts, ready.circuit.r1cs().input_count);
    partition.synthesize(&mut builder)?;
    builder.finish().map_err(|why| Error::Internal(format!("partition {}: {why}", partition.index())))
}

/// Proves all partitions, one after another, and joins their proofs.
pub fn prove(backend: &CpuBackend, pool: &ThreadPool, ready: &Ready, checked: &CheckedProofs) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let count = checked.partitions().len();
    for partition in checked.partitions() {
        let k = partition.index();
        let step = Step::new(format!("{}: partition {} of {count}", checked.circuit(), k + 1));
        let assignment = pool.install(|| synthesize(ready, &partition))?;
        if assignment.inputs()[1..] != partition.inputs() {
            return Err(Error::Internal(format!("partition {k}: the circuit's inputs aren't the verifier's")));
        }
        let proof = groth16::prove(backend, &ready.circuit, &Arc::new(assignment))?;
        bytes.extend_from_slice(&proof.to_bytes());
        step.end();
    }
    Ok(bytes)
}
