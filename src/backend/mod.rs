//! The trait that turns compact assignments into the sums of a proof, and its implementations.
//!
//! # What a back end must implement
//!
//! [`Backend::load`] makes a [`Circuit`] resident: it takes what it needs of the R1CS (rows of A and B) and reads the SRS
//! sections H, L, A and B_G2 into whatever memory it computes from. [`Backend::prove`] computes, for each assignment
//! `z` of a batch, with `a = A·z`, `b = B·z` and the quotient `h = (a ∘ b − c) / Z_H` for `c = a ∘ b` on the domain:
//!
//! - `h_l = Σ_i h_i H_i + Σ_j aux_j L_j`,
//! - `a = Σ_k z_k A_k`,
//! - `b_g2 = Σ_k z_k B2_k`,
//!
//! over the variables that the SRS's queries hold ([`crate::r1cs`] gives the densities). alpha, beta, delta and blinding
//! are no concern of a back end, so its work is deterministic, and two back ends agree bit for bit.
//!
//! A batch may mix assignments of different jobs. Each is finished alone: `done(i, result)` is called exactly once per
//! assignment, as soon as it is known, from the thread that called `prove`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use blstrs::{G1Projective, G2Projective};

use crate::assignment::Assignment;
use crate::error::Result;
use crate::r1cs::R1cs;
use crate::srs::SrsFile;

pub mod cpu;
pub mod cuda;

/// A circuit as back ends see it: its R1CS and its SRS file. Cheap to share; holds no point of the SRS.
#[derive(Debug)]
pub struct Circuit {
    id: u64,
    name: String,
    r1cs: Arc<R1cs>,
    srs: Arc<SrsFile>,
}

/// What the caller of a batch wants next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    Continue,
    /// Finish these assignments (indices into the batch) with [`crate::Error::Cancelled`] and spend nothing more on them.
    /// Each index is named at most once; one that is done already is ignored.
    Drop(Vec<usize>),
    /// Call [`Control::run_urgent`] at once, keep all buffers, then go on.
    Yield,
}

/// The caller's hand on a running batch.
pub trait Control: Sync {
    /// Asked at least every 100 ms of the back end's own time, from the thread that called `prove` or from the back
    /// end's workers, one at a time. Must return at once.
    fn ask(&self) -> Answer;

    /// Runs a more urgent proof on `backend` from inside a batch, one level deep: the urgent batch's own control never
    /// answers [`Answer::Yield`].
    fn run_urgent(&self, backend: &dyn Backend);

    /// Told by a load how far it is: `done` of `total`, in a unit of the back end's choice. Must return at once.
    fn progress(&self, _done: u64, _total: u64) {}
}

/// The sums of one proof, in Jacobian form, without alpha, beta, delta and blinding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums {
    /// `Σ h_i H_i + Σ aux_j L_j`.
    pub h_l: G1Projective,
    /// `Σ z_k A_k`.
    pub a: G1Projective,
    /// `Σ z_k B2_k`.
    pub b_g2: G2Projective,
    /// `Σ z_k B1_k`: only for comparing with provers that draw r and s.
    #[cfg(feature = "testing")]
    pub b_g1: Option<G1Projective>,
}

/// Receives the result of assignment `i` of a batch.
pub type Done<'a> = &'a mut (dyn FnMut(usize, Result<Sums>) + Send);

/// A prover of one kind of hardware. All methods may be called from several threads at once.
pub trait Backend: Send + Sync {
    /// Short name for logs and errors, e.g. `"cpu"`.
    fn name(&self) -> &str;

    /// Makes `circuit` resident, reading its SRS sections and checking every point to be on the curve. A circuit that is
    /// resident already is left as it is. Asks `control` as `prove` does; any [`Answer::Drop`] abandons the load with
    /// CANCELLED.
    /// Errors: PARAMS_CORRUPT names file, section and index; OUT_OF_MEMORY; UNSUPPORTED if it is too large for the back end.
    fn load(&self, circuit: &Arc<Circuit>, control: &dyn Control) -> Result<()>;

    /// Gives back what `load` took, once no batch uses it. Not resident: nothing happens.
    fn unload(&self, circuit: &Circuit);

    /// Proves a batch. Calls `done(i, …)` exactly once for each `i` in `[0, assignments.len())`, in any order.
    /// A circuit that isn't resident gives CLOSED for each; an assignment whose counts don't fit the circuit gives
    /// INVALID for it alone.
    fn prove(&self, circuit: &Arc<Circuit>, assignments: &[Arc<Assignment>], control: &dyn Control, done: Done<'_>);

    /// The device's UUID as its maker's tools print it; empty for the CPU.
    fn uuid(&self) -> &str {
        ""
    }

    /// What `circuit` takes while it is resident, and the vectors of a partition. Reads counts alone.
    fn footprint(&self, _circuit: &Circuit) -> Footprint {
        Footprint::default()
    }

    /// Most assignments of `circuit` that one call of `prove` gains by, at least 1.
    fn max_batch(&self, _circuit: &Circuit) -> usize {
        16
    }

    /// The pools that it holds. Calls no driver and never waits for a batch.
    fn pools(&self) -> BackendPools {
        BackendPools::default()
    }

    /// What it has done so far. Calls no driver and never waits for a batch.
    fn activity(&self) -> Activity {
        Activity::default()
    }

    /// Gives back idle buffers; resident circuits stay.
    fn trim(&self) {}

    /// How long a call may go without a question before its caller takes it for hung.
    fn hang_limit(&self) -> Duration {
        Duration::from_secs(2)
    }
}

/// Bytes by where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Ordinary host memory.
    pub host_bytes: u64,
    /// Pinned host memory.
    pub pinned_bytes: u64,
    /// Device memory. A back end that can do with less, streaming the rest, says what makes it fast.
    pub device_bytes: u64,
}

/// A pool of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// Its budget; 0 if there is none.
    pub total_bytes: u64,
    /// Bytes in use.
    pub used_bytes: u64,
    /// The most that was in use at once.
    pub peak_bytes: u64,
}

/// The pools of a back end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackendPools {
    /// Pinned host memory.
    pub pinned: PoolUse,
    /// Device memory.
    pub device: PoolUse,
}

/// What a back end has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// The phases of its proofs, in their order; empty if it doesn't time them.
    pub phases: Vec<PhaseTime>,
    /// Counter of the whole process: calls that took device memory, pinned memory, a stream or an event from a driver.
    /// Stands still once the pools have grown to what the work needs.
    pub driver_calls: u64,
}

/// Time in one phase of a back end's proofs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseTime {
    /// Its name, e.g. `"quotient"`.
    pub name: &'static str,
    /// Counter: assignments that went through it.
    pub count: u64,
    /// Counter: the sum of their times.
    pub sum: Duration,
    /// The longest so far.
    pub max: Duration,
}

#[cfg(any(cuda, feature = "testing"))]
impl PhaseTime {
    /// None yet.
    pub(crate) fn named(name: &'static str) -> Self {
        PhaseTime { name, ..PhaseTime::default() }
    }

    /// Counts one assignment's time.
    pub(crate) fn observe(&mut self, time: Duration) {
        self.count += 1;
        self.sum += time;
        self.max = self.max.max(time);
    }
}

/// A control that always answers [`Answer::Continue`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Uncontrolled;

impl Control for Uncontrolled {
    fn ask(&self) -> Answer {
        Answer::Continue
    }

    fn run_urgent(&self, _backend: &dyn Backend) {}
}

impl Circuit {
    /// Joins an R1CS and its SRS. Errors: PARAMS_CORRUPT if the counts of the SRS's sections aren't those that the R1CS
    /// asks for (names section, expected and found).
    pub fn new(name: impl Into<String>, r1cs: Arc<R1cs>, srs: Arc<SrsFile>) -> Result<Arc<Self>> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(1);
        srs.check_counts(&r1cs)?;
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Circuit { id, name: name.into(), r1cs, srs }))
    }

    /// Unique in this process; never reused.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Name for logs and errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The R1CS.
    pub fn r1cs(&self) -> &Arc<R1cs> {
        &self.r1cs
    }

    /// The SRS file.
    pub fn srs(&self) -> &Arc<SrsFile> {
        &self.srs
    }
}
