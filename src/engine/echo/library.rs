//! Tiny circuits in the place of Filecoin's.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bellpepper_core::{Circuit, ConstraintSystem, SynthesisError};
use blstrs::Scalar as Fr;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::faults::Echo;
use super::options::{EchoFaultKind, EchoOptions};
use crate::assignment::{Assignment, Builder, Layout};
use crate::circuit::registered::{params_file_name, partition_count};
use crate::circuit::{CircuitId, Kind};
use crate::engine::config::Config;
use crate::engine::job::Life;
use crate::engine::library::{Content, Library};
use crate::engine::request::Request;
use crate::error::{Error, Result};
use crate::r1cs::{Flat, R1cs};
use crate::srs::fault;

/// How long a held synthesis waits before it looks whether anybody still waits for it.
const LOOK: Duration = Duration::from_millis(10);

/// "I know the root w of the public y, and a bit."
#[derive(Clone, Copy)]
struct EchoCircuit {
    root: Fr,
    square: Fr,
}

impl Circuit<Fr> for EchoCircuit {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> std::result::Result<(), SynthesisError> {
        let root = cs.alloc(|| "root", || Ok(self.root))?;
        let bit = cs.alloc(|| "bit", || Ok(Fr::from(1)))?;
        let square = cs.alloc_input(|| "square", || Ok(self.square))?;
        cs.enforce(|| "bit", |lc| lc + bit, |lc| lc + CS::one() - bit, |lc| lc);
        cs.enforce(|| "square", |lc| lc + root, |lc| lc + root, |lc| lc + square);
        Ok(())
    }
}

/// Makes circuits and their SRS when they are asked for.
pub(super) struct EchoLibrary {
    dir: PathBuf,
    /// Whether `dir` is ours to remove.
    is_temporary: bool,
    porep_sector_size: u64,
    echo: Arc<Echo>,
    pool: ThreadPool,
    writing: Mutex<()>,
}

/// A request's bytes, hashed.
struct EchoContent {
    circuit: CircuitId,
    roots: Vec<Fr>,
    echo: Arc<Echo>,
}

impl EchoLibrary {
    pub fn new(config: &Config, options: &EchoOptions, echo: Arc<Echo>) -> Result<Self> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let own = || std::env::temp_dir().join(format!("cuzk-echo-{}-{number}", std::process::id()));
        let dir = config.param_dirs.first().cloned().unwrap_or_else(own);
        let made = |error| Error::Internal(format!("{}: {error}", dir.display()));
        fs::create_dir_all(&dir).map_err(made)?;
        let pool = ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|error| Error::Internal(format!("threads: {error}")))?;
        let (is_temporary, porep_sector_size) = (config.param_dirs.is_empty(), options.porep_sector_size);
        Ok(EchoLibrary { dir, is_temporary, porep_sector_size, echo, pool, writing: Mutex::new(()) })
    }
}

impl EchoLibrary {
    /// Writes a circuit's SRS, which is made once in a process: the same circuit always has the same.
    fn write_params(&self, circuit: CircuitId, path: &Path) -> Result<()> {
        static MADE: Mutex<BTreeMap<CircuitId, Vec<u8>>> = Mutex::new(BTreeMap::new());
        let failed = |error| Error::Internal(format!("{}: {error}", path.display()));
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = made.get(&circuit) {
            return fs::write(path, bytes).map_err(failed);
        }
        let mut seed = [circuit.kind() as u8; 32];
        seed[..8].copy_from_slice(&circuit.sector_size().to_le_bytes());
        crate::setup::write_params(&r1cs()?, seed, path, &self.pool)?;
        made.insert(circuit, fs::read(path).map_err(failed)?);
        Ok(())
    }
}

impl Drop for EchoLibrary {
    fn drop(&mut self) {
        if self.is_temporary {
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

fn r1cs() -> Result<R1cs> {
    R1cs::record(EchoCircuit { root: Fr::from(0), square: Fr::from(0) }, Flat)
}

impl Library for EchoLibrary {
    fn params(&self, circuit: CircuitId) -> Result<PathBuf> {
        let path = self.dir.join(params_file_name(circuit));
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if !path.exists() {
            self.write_params(circuit, &path)?;
        }
        Ok(path)
    }

    fn r1cs(&self, circuit: CircuitId) -> Result<R1cs> {
        if let Some(hold) = self.echo.hold(EchoFaultKind::HoldOpen, None, circuit.kind()) {
            self.echo.wait(&hold, Duration::MAX);
        }
        match self.echo.strikes(EchoFaultKind::OpenFails, None, circuit.kind()) {
            true => Err(fault(&self.dir.join(params_file_name(circuit)), "h", Some(1), "no fault", "an injected one")),
            false => r1cs(),
        }
    }

    fn layout(&self, _: CircuitId, r1cs: &R1cs) -> Result<Layout> {
        Ok(Layout::derive(r1cs))
    }

    fn structural_hash(&self, _: CircuitId) -> [u8; 32] {
        // Of one circuit under all names, so that its file alone tells them apart.
        [0; 32]
    }

    fn open_bytes(&self, _: CircuitId) -> u64 {
        0
    }

    fn assignment_bytes(&self, _: CircuitId) -> u64 {
        // Two inputs, a word of bits, one full-size value.
        2 * 32 + 8 + 32
    }

    fn check(&self, request: &Request, _: &Life) -> Result<Arc<dyn Content>> {
        let circuit = match request.circuit() {
            Some(circuit) => circuit,
            None => CircuitId::new(Kind::PoRep, self.porep_sector_size)?,
        };
        if self.echo.strikes(EchoFaultKind::BadRequest, None, circuit.kind()) {
            return Err(Error::invalid("vanilla_proofs", "an injected fault"));
        }
        let roots = (0..partition_count(circuit)).map(|k| root(request, k)).collect();
        Ok(Arc::new(EchoContent { circuit, roots, echo: Arc::clone(&self.echo) }))
    }
}

impl Content for EchoContent {
    fn circuit(&self) -> CircuitId {
        self.circuit
    }

    fn partition_count(&self) -> usize {
        self.roots.len()
    }

    fn synthesise(&self, k: usize, builder: Builder, life: &Life) -> Result<Assignment> {
        let kind = self.circuit.kind();
        if let Some(hold) = self.echo.hold(EchoFaultKind::HoldSynthesis, None, kind) {
            while !self.echo.wait(&hold, LOOK) && !life.has_ended() {}
        }
        if self.echo.strikes(EchoFaultKind::SynthesisPanics, None, kind) {
            panic!("injected: partition {k} of {}", self.circuit);
        }
        let root = self.roots[k];
        let bad = self.echo.strikes(EchoFaultKind::BadWitness, None, kind);
        let square = root * root + Fr::from(u64::from(bad));
        builder.synthesize(EchoCircuit { root, square }).map_err(|why| Error::Internal(why.to_string()))
    }
}

impl Drop for EchoContent {
    fn drop(&mut self) {
        if let Some(hold) = self.echo.hold(EchoFaultKind::HoldFree, None, self.circuit.kind()) {
            self.echo.wait(&hold, Duration::MAX);
        }
    }
}

/// The square root of a partition's public input.
fn root(request: &Request, k: usize) -> Fr {
    let mut hasher = blake2b_simd::Params::new().hash_length(8).to_state();
    hasher.update(&[request.kind() as u8, k as u8]);
    match request {
        Request::PoRep { miner, sector, c1 } => {
            hasher.update(&miner.to_le_bytes()).update(&sector.to_le_bytes()).update(c1);
        }
        Request::Update { vanilla_proofs, .. } | Request::PoSt { vanilla_proofs, .. } => {
            vanilla_proofs.iter().for_each(|proof| {
                hasher.update(&(proof.len() as u64).to_le_bytes()).update(proof);
            });
        }
    }
    let hash = hasher.finalize();
    Fr::from(u64::from_le_bytes(hash.as_bytes().try_into().expect("8 bytes")))
}

/// Public inputs, without ONE, of partition `k` of a request to an echo engine.
pub fn echo_inputs(request: &Request, k: usize) -> Vec<Fr> {
    let root = root(request, k);
    vec![root * root]
}
