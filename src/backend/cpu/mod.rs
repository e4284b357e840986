//! The CPU back end: the reference, and the fallback where the caller allows it.
//!
//! | file | what it computes |
//! |---|---|
//! | `rows` | a = A·z, b = B·z from blocks and compact assignment |
//! | `ntt`, `quotient` | h from a and b by six transforms |
//! | `digits`, `msm` | Σ s_i P_i by buckets |
//! | `ones` | Σ z_k P_k over a query: bits by plain additions, the rest by `msm` |
//! | `add`, `curve` | affine additions that share an inversion; fields and groups by blst |
//! | `wide` | the same additions by AVX-512's 52-bit multiply-add, where the processor has it |
//! | `query`, `resident` | SRS sections in memory; a loaded circuit; the memory of a proof |
//! | `workers`, `shared` | tiles on the pool's threads, with the control asked before each |
//! | `batch` | a batch, one assignment after another |
//! | `kernels` | the arithmetic by itself |

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use self::batch::Batch;
use self::query::stopped;
use self::resident::{Resident, Workspace};
use self::workers::{Stop, Tiles, Workers};
use super::{Backend, Circuit, Control, Done, Footprint};
use crate::assignment::Assignment;
use crate::error::{Error, Result};
use crate::srs::Section;

mod add;
#[cfg(test)]
mod add_tests;
mod batch;
pub(crate) mod curve;
pub(crate) mod digits;
mod kernels;
mod msm;
#[cfg(test)]
mod msm_tests;
mod ntt;
#[cfg(test)]
mod ntt_tests;
mod ones;
mod query;
mod quotient;
mod resident;
mod rows;
mod shared;
mod wide;
mod workers;
#[cfg(test)]
mod workers_tests;

/// How long a load that waits for another thread's load of the same circuit sleeps between two questions.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// Proves on the host's cores.
///
/// Threads: works on `pool` and on the calling thread, which does its share; `prove` and `load` end even if no thread of
/// the pool is free, and may be called from inside this pool or another. Between two questions to the control a thread
/// computes one tile, at most 50 ms. Any number of batches may run at once; each has its own memory.
/// Memory: a resident circuit takes its H, L, A and B_G2 sections (points as in the file, 96 and 192 bytes); a proof takes
/// two vectors of its domain and the buckets of its largest MSM, kept for the next proof until its circuit is unloaded.
pub struct CpuBackend {
    pool: Arc<rayon::ThreadPool>,
    circuits: Mutex<HashMap<u64, Slot>>,
    /// Signalled when a load ends.
    loaded: Condvar,
    /// Memory of proofs that ended.
    spare: Mutex<Vec<Workspace>>,
    /// Whether query B in G1 is loaded and summed.
    #[cfg(feature = "testing")]
    b_g1: bool,
}

enum Slot {
    Loading(ThreadId),
    Ready(Arc<Resident>),
}

/// What the back end holds, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuMemory {
    /// Sections and twiddles of resident circuits.
    pub resident_bytes: u64,
    /// Vectors and scratch of proofs, not counting those that run.
    pub spare_bytes: u64,
}

impl CpuBackend {
    /// A back end that works on `pool`'s threads.
    pub fn new(pool: Arc<rayon::ThreadPool>) -> Self {
        CpuBackend {
            pool,
            circuits: Mutex::default(),
            loaded: Condvar::new(),
            spare: Mutex::default(),
            #[cfg(feature = "testing")]
            b_g1: true,
        }
    }

    /// Neither loads nor sums query B in G1, as without feature `testing`: [`Sums::b_g1`](super::Sums::b_g1) is None.
    #[cfg(feature = "testing")]
    pub fn without_b_g1(self) -> Self {
        CpuBackend { b_g1: false, ..self }
    }

    /// Bytes of the sections that a load reads.
    fn bytes_to_read(&self, circuit: &Circuit) -> u64 {
        let bytes = |section: Section| circuit.srs().count(section) * section.point_bytes();
        let total = Resident::SECTIONS.into_iter().map(bytes).sum();
        #[cfg(feature = "testing")]
        let total = if self.b_g1 { total + bytes(Section::BG1) } else { total };
        total
    }

    /// What it holds now.
    pub fn memory(&self) -> CpuMemory {
        let circuits = lock(&self.circuits);
        let resident = circuits.values().map(|slot| match slot {
            Slot::Ready(resident) => resident.bytes() as u64,
            Slot::Loading(_) => 0,
        });
        let spare_bytes = lock(&self.spare).iter().map(|space| space.bytes() as u64).sum();
        CpuMemory { resident_bytes: resident.sum(), spare_bytes }
    }

    /// The resident circuit, or None after this thread has taken on to load it.
    fn resident_or_claim(&self, circuit: &Circuit, tiles: &mut Loading<'_>) -> Result<Option<Arc<Resident>>> {
        let this = std::thread::current().id();
        let mut circuits = lock(&self.circuits);
        loop {
            match circuits.get(&circuit.id()) {
                Some(Slot::Ready(resident)) => return Ok(Some(Arc::clone(resident))),
                Some(Slot::Loading(thread)) if *thread == this => {
                    return Err(Error::Busy(format!("{} is being loaded by this very call", circuit.name())));
                }
                Some(Slot::Loading(_)) => {
                    let waited = self.loaded.wait_timeout(circuits, ASK_AGAIN);
                    drop(waited.unwrap_or_else(PoisonError::into_inner));
                    tiles.workers.ask(&mut |_| true).map_err(stopped)?;
                    circuits = lock(&self.circuits);
                }
                None => {
                    circuits.insert(circuit.id(), Slot::Loading(this));
                    return Ok(None);
                }
            }
        }
    }

    /// The spare memory that fits `size` points best, or fresh memory.
    fn take_space(&self, size: usize) -> Workspace {
        let mut spare = lock(&self.spare);
        let fitting = spare.iter().enumerate().filter(|(_, space)| space.size() >= size);
        let best = fitting.min_by_key(|(_, space)| space.size()).map(|(at, _)| at);
        let best = best.or_else(|| (0..spare.len()).max_by_key(|at| spare[*at].size()));
        best.map_or_else(Workspace::new, |at| spare.swap_remove(at))
    }

    /// Frees the spare memory that is larger than any resident circuit needs.
    fn free_oversized(&self, circuits: &HashMap<u64, Slot>) {
        let needed = circuits.values().map(|slot| match slot {
            Slot::Ready(resident) => resident.domain.size(),
            Slot::Loading(_) => 0,
        });
        let largest = needed.max().unwrap_or(0);
        lock(&self.spare).retain(|space| space.size() <= largest);
    }
}

impl Backend for CpuBackend {
    fn name(&self) -> &str {
        "cpu"
    }

    fn load(&self, circuit: &Arc<Circuit>, control: &dyn Control) -> Result<()> {
        let mut tiles = Loading::new(Workers::new(&self.pool, self, control), control, self.bytes_to_read(circuit));
        tiles.workers.ask(&mut |_| true).map_err(stopped)?;
        if self.resident_or_claim(circuit, &mut tiles)?.is_some() {
            return Ok(());
        }
        let claim = Claim { backend: self, id: circuit.id() };
        let resident = Resident::load(&mut tiles, circuit)?;
        #[cfg(feature = "testing")]
        let resident = if self.b_g1 { resident.with_b_g1(&mut tiles, circuit)? } else { resident };
        lock(&self.circuits).insert(circuit.id(), Slot::Ready(Arc::new(resident)));
        drop(claim);
        Ok(())
    }

    fn unload(&self, circuit: &Circuit) {
        let mut circuits = lock(&self.circuits);
        if let Some(Slot::Ready(_)) = circuits.get(&circuit.id()) {
            circuits.remove(&circuit.id());
            self.free_oversized(&circuits);
        }
    }

    fn prove(&self, circuit: &Arc<Circuit>, assignments: &[Arc<Assignment>], control: &dyn Control, done: Done<'_>) {
        let mut batch = Batch::new(Workers::new(&self.pool, self, control), assignments.len(), done);
        let resident = match lock(&self.circuits).get(&circuit.id()) {
            Some(Slot::Ready(resident)) => Ok(Arc::clone(resident)),
            _ => Err(Error::Closed(format!("{} on the CPU", circuit.name()))),
        };
        let resident = match resident {
            Ok(resident) => resident,
            Err(error) => return batch.refuse(&error),
        };
        let mut space = self.take_space(resident.domain.size());
        batch.run(circuit, &resident, assignments, &mut space);
        drop(resident);
        let circuits = lock(&self.circuits);
        lock(&self.spare).push(space);
        self.free_oversized(&circuits);
    }

    fn footprint(&self, circuit: &Circuit) -> Footprint {
        let domain = 1u64 << circuit.r1cs().lg_domain_size();
        let sections = [Section::L, Section::A, Section::BG2].map(|s| circuit.srs().count(s) * s.point_bytes());
        // H is padded to the domain, and a proof takes two vectors of it, which lend its sums memory; buckets and their
        // starts take 2 to 5 bytes a point. (36 bytes for each full-size value of an assignment come on top; a circuit
        // doesn't know how many there are.)
        let vectors = domain * (Section::H.point_bytes() + 8 + 2 * 32);
        Footprint { host_bytes: sections.iter().sum::<u64>() + vectors, ..Footprint::default() }
    }

    fn max_batch(&self, _circuit: &Circuit) -> usize {
        // Assignments are proved one after another; what waits in a batch can't go elsewhere.
        2
    }

    fn trim(&self) {
        lock(&self.spare).clear();
    }

    fn hang_limit(&self) -> Duration {
        // A host that is short of cores is slow, not broken.
        Duration::from_secs(60)
    }
}

/// Gives up the claim of a load that didn't succeed, and wakes those that wait for it either way.
struct Claim<'a> {
    backend: &'a CpuBackend,
    id: u64,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let mut circuits = lock(&self.backend.circuits);
        if let Some(Slot::Loading(_)) = circuits.get(&self.id) {
            circuits.remove(&self.id);
        }
        self.backend.loaded.notify_all();
    }
}

/// A load's tiles: any drop ends it.
struct Loading<'a> {
    workers: Workers<'a>,
    control: &'a dyn Control,
    /// Bytes of the sections that are read, and of those that will have been.
    done: u64,
    total: u64,
}

impl<'a> Loading<'a> {
    fn new(workers: Workers<'a>, control: &'a dyn Control, total: u64) -> Self {
        Loading { workers, control, done: 0, total }
    }
}

impl Tiles for Loading<'_> {
    fn run(&mut self, count: usize, work: &(dyn Fn(usize, usize) + Sync)) -> Result<(), Stop> {
        self.workers.run(count, &mut |_| true, work)
    }

    fn workers(&self) -> usize {
        self.workers.count()
    }

    fn advance(&mut self, bytes: u64) {
        self.done += bytes;
        self.control.progress(self.done, self.total);
    }
}

/// Locks; no panic leaves these half-changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
