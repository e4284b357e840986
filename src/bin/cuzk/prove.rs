//! `cuzk prove`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use cuzk::assignment::Builder;
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::{Backend, Uncontrolled};
use cuzk::circuit::CheckedProofs;
use cuzk::groth16;
use cuzk::vanilla::Input;
use cuzk::{Error, Result};
use rayon::ThreadPool;

use crate::files;
use crate::pool::pool;
use crate::progress::Step;
use crate::ready::{Ready, Sources};

/// Checks an input's vanilla proofs, proves them on the CPU, and writes the proof: 192 bytes a partition.
#[derive(Args)]
pub struct Prove {
    /// File that gen-vanilla wrote.
    #[arg(long)]
    input: PathBuf,
    #[command(flatten)]
    sources: Sources,
    /// File for the proof.
    #[arg(long)]
    out: PathBuf,
    /// Threads; 0 means one per core.
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

impl Prove {
    pub fn run(&self) -> Result<()> {
        let input = Input::read(&self.input)?;
        let pool = pool(self.threads)?;
        let start = Instant::now();
        let checked = pool.install(|| input.check())?;
        let ready = pool.install(|| self.sources.ready(checked.circuit()))?;
        let backend = CpuBackend::new(pool.clone());
        let step = Step::new(format!("loading the SRS of {}", checked.circuit()));
        backend.load(&ready.circuit, &Uncontrolled)?;
        step.end();
        let proof = prove(&backend, &pool, &ready, &checked)?;
        std::fs::write(&self.out, &proof).map_err(|error| files::disk(&self.out, &error))?;
        let seconds = start.elapsed().as_secs_f64();
        println!("{}: {} bytes in {} ({seconds:.1} s)", checked.circuit(), proof.len(), self.out.display());
        Ok(())
    }
}

/// Proves all partitions, one after another, and joins their proofs.
pub fn prove(backend: &CpuBackend, pool: &ThreadPool, ready: &Ready, checked: &CheckedProofs) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let count = checked.partitions().len();
    for partition in checked.partitions() {
        let k = partition.index();
        let step = Step::new(format!("{}: partition {} of {count}", checked.circuit(), k + 1));
        let builder = Builder::new(&ready.layouts, ready.circuit.r1cs().input_count);
        let circuit = partition.circuit()?;
        let synthesized = pool.install(|| builder.synthesize(circuit));
        let assignment = synthesized.map_err(|why| Error::Internal(format!("partition {k}: {why}")))?;
        if assignment.inputs()[1..] != partition.inputs() {
            return Err(Error::Internal(format!("partition {k}: the circuit's inputs aren't the verifier's")));
        }
        let proof = groth16::prove(backend, &ready.circuit, &Arc::new(assignment))?;
        bytes.extend_from_slice(&proof.to_bytes());
        step.end();
    }
    Ok(bytes)
}
