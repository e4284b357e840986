//! What the checks of whole proofs share: a circuit with its SRS in a temporary directory, and proving by both back ends.

use crate::harness::Failure;
use crate::random::Random;
use cuzk::assignment::{Assignment, Builder, Layouts};
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::cuda::sys::device_memory;
use cuzk::backend::cuda::{open_devices, Calls, CudaBackend, CudaConfig};
use cuzk::backend::{Answer, Backend, Circuit, Control, Sums, Uncontrolled};
use cuzk::r1cs::{Flat, R1cs};
use cuzk::srs::{SrsFile, SrsOptions};
use cuzk::Result;
use rayon::ThreadPool;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// A directory that goes away with this.
pub struct Scratch(PathBuf);

impl Scratch {
    /// In memory where there is such a file system.
    pub fn new() -> Result<Self, Failure> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let base = Some(PathBuf::from("/dev/shm")).filter(|dir| dir.is_dir()).unwrap_or_else(std::env::temp_dir);
        let dir = base.join(format!("cuzk-gpu-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
        std::fs::create_dir_all(&dir)?;
        Ok(Scratch(dir))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left goes with the machine.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The host's cores.
pub fn pool() -> Arc<ThreadPool> {
    static POOL: OnceLock<Arc<ThreadPool>> = OnceLock::new();
    let build = || Arc::new(rayon::ThreadPoolBuilder::new().build().expect("threads can be started"));
    Arc::clone(POOL.get_or_init(build))
}

/// Whether kernels run under a checker, which makes them a hundred times slower.
static CHECKED: AtomicBool = AtomicBool::new(false);

/// Devices that are opened from now on may be silent for long.
pub fn expect_a_checker() {
    CHECKED.store(true, Ordering::Relaxed);
}

/// Device 0 behind the back end, opened once for all checks.
pub fn device() -> Result<Arc<CudaBackend>, Failure> {
    static DEVICE: Mutex<Option<Arc<CudaBackend>>> = Mutex::new(None);
    let mut device = DEVICE.lock().expect("a check panicked while opening");
    if device.is_none() {
        let default = CudaConfig::default();
        let patience = if CHECKED.load(Ordering::Relaxed) { Duration::from_secs(1200) } else { default.patience };
        *device = Some(open_with(&CudaConfig { patience, ..default })?);
    }
    Ok(Arc::clone(device.as_ref().expect("opened above")))
}

/// The first device, with a back end of its own.
pub fn open_with(config: &CudaConfig) -> Result<Arc<CudaBackend>, Failure> {
    Ok(open_devices(config)?.devices.remove(0))
}

/// Writes an SRS on the device and joins it with `r1cs`.
pub fn circuit(name: &str, r1cs: R1cs, dir: &Scratch, device: &CudaBackend) -> Result<Arc<Circuit>, Failure> {
    let path = dir.path().join(format!("{name}.params"));
    cuzk::setup::write_params_on(device, &r1cs, [7; 32], &path, &pool())?;
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    Ok(Circuit::new(name, Arc::new(r1cs), Arc::new(SrsFile::open(&path, &options)?))?)
}

/// A random circuit that can be proved.
pub struct Subject {
    pub circuit: Arc<Circuit>,
    random: Random,
    layouts: Arc<Layouts>,
    _dir: Scratch,
}

impl Subject {
    pub fn new(seed: u64, rows: u32, device: &CudaBackend) -> Result<Self, Failure> {
        let random = Random { seed, rows, witness: None };
        let (r1cs, dir) = (R1cs::record(random, Flat)?, Scratch::new()?);
        let layouts = Arc::new(Layouts::growing(r1cs.aux_count));
        let circuit = circuit(&format!("random {seed}"), r1cs, &dir, device)?;
        Ok(Subject { circuit, random, layouts, _dir: dir })
    }

    pub fn batch(&self, count: u64) -> Result<Vec<Arc<Assignment>>, Failure> {
        let build = |witness: u64| -> Result<Arc<Assignment>, Failure> {
            let builder = Builder::new(&self.layouts, self.circuit.r1cs().input_count);
            let witnessed = Random { witness: Some(witness), ..self.random };
            Ok(Arc::new(builder.synthesize(witnessed).map_err(|error| error.to_string())?))
        };
        (0..count).map(build).collect()
    }
}

/// Proves a batch; every item is finished once.
pub fn prove(
    backend: &dyn Backend,
    circuit: &Arc<Circuit>,
    batch: &[Arc<Assignment>],
    control: &dyn Control,
) -> Vec<Result<Sums>> {
    let mut results: Vec<Option<Result<Sums>>> = vec![None; batch.len()];
    backend.prove(circuit, batch, control, &mut |i, result| {
        assert!(results[i].replace(result).is_none(), "item {i} finished twice");
    });
    results.into_iter().map(|result| result.expect("every item is finished")).collect()
}

/// The CPU's sums.
pub fn expected(circuit: &Arc<Circuit>, batch: &[Arc<Assignment>]) -> Result<Vec<Result<Sums>>, Failure> {
    let cpu = CpuBackend::new(pool());
    cpu.load(circuit, &Uncontrolled)?;
    Ok(prove(&cpu, circuit, batch, &Uncontrolled))
}

/// What must not grow once proofs of all circuits were made.
pub struct Taken {
    calls: Calls,
    free_bytes: u64,
    host_bytes: u64,
}

impl Taken {
    pub fn now(device: &CudaBackend) -> Result<Self, Failure> {
        let pages = std::fs::read_to_string("/proc/self/statm")?;
        let pages: u64 = pages.split(' ').nth(1).ok_or("statm has fields")?.parse()?;
        Ok(Taken { calls: device.stats().calls, free_bytes: device_memory()?.0, host_bytes: 4096 * pages })
    }

    /// Nothing was allocated, pinned or created since, and both memories are the same but for what others move.
    pub fn expect_unchanged(&self, device: &CudaBackend, round: usize) -> Result<(), Failure> {
        const SLACK: u64 = 64 << 20;
        let now = Taken::now(device)?;
        assert_eq!(now.calls, self.calls, "round {round}");
        assert!(now.free_bytes + SLACK >= self.free_bytes, "{} bytes free, {} before", now.free_bytes, self.free_bytes);
        assert!(now.host_bytes <= self.host_bytes + SLACK, "{} host bytes, {} before", now.host_bytes, self.host_bytes);
        Ok(())
    }
}

/// What runs when a batch yields.
type Urgent<'a> = Box<dyn Fn(&dyn Backend) + Sync + 'a>;

/// Answers the n-th question as it says, counting from 0.
#[derive(Default)]
pub struct Script<'a> {
    answers: BTreeMap<usize, Answer>,
    asked: AtomicUsize,
    pub urgent: Option<Urgent<'a>>,
}

impl Script<'_> {
    pub fn answering(at: usize, answer: Answer) -> Self {
        Script { answers: BTreeMap::from([(at, answer)]), ..Script::default() }
    }

    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl Control for Script<'_> {
    fn ask(&self) -> Answer {
        let at = self.asked.fetch_add(1, Ordering::Relaxed);
        self.answers.get(&at).cloned().unwrap_or(Answer::Continue)
    }

    fn run_urgent(&self, backend: &dyn Backend) {
        if let Some(urgent) = &self.urgent {
            urgent(backend);
        }
    }
}
