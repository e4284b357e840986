//! A stand-in for a GPU: the CPU's arithmetic, a GPU's faults.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::faults::{Echo, Hold};
use super::options::{EchoCallKind, EchoFaultKind, EchoOptions};
use crate::assignment::Assignment;
use crate::backend::cpu::CpuBackend;
use crate::backend::{
    Activity, Answer, Backend, BackendPools, Circuit, Control, Done, Footprint, PhaseTime, PoolUse, Sums, Uncontrolled,
};
use crate::circuit::Kind;
use crate::engine::logs::Sink;
use crate::engine::pools::pool;
use crate::error::{Error, Result};
use crate::srs::{fault, Section};

/// Time between two questions while nothing is computed.
const ASK_AGAIN: Duration = Duration::from_millis(5);
/// Memory that a device pretends to have.
const DEVICE_BYTES: u64 = 16 << 30;

/// One device; without a number, the CPU's stand-in.
pub(super) struct EchoBackend {
    number: Option<u32>,
    name: String,
    options: Arc<EchoOptions>,
    echo: Arc<Echo>,
    cpu: CpuBackend,
    lost: AtomicBool,
    /// As a GPU's back end it serves one caller after the other; who is inside a call uses the control's handle.
    in_call: AtomicBool,
    /// Loads, which take memory as a GPU's do.
    loads: AtomicU64,
    proving: Mutex<PhaseTime>,
}

/// Ends a call when it is dropped.
struct InCall<'a>(&'a AtomicBool);

/// The handle that a control gets for what it runs inside a call.
struct Inside<'a>(&'a EchoBackend);

/// What the control wants of a running batch.
struct Items<'a> {
    backend: &'a EchoBackend,
    control: &'a dyn Control,
    dropped: Vec<bool>,
}

impl EchoBackend {
    pub fn new(number: Option<u32>, options: Arc<EchoOptions>, echo: Arc<Echo>, sink: &Sink) -> Result<Self> {
        let name = number.map_or_else(|| "cpu".to_owned(), |number| format!("echo-{number}"));
        let cpu = CpuBackend::new(Arc::new(pool("echo", 1, sink)?));
        Ok(EchoBackend {
            number,
            name,
            options,
            echo,
            cpu,
            lost: AtomicBool::new(false),
            in_call: AtomicBool::new(false),
            loads: AtomicU64::new(0),
            proving: Mutex::new(PhaseTime::named("echo")),
        })
    }

    fn strikes(&self, what: EchoFaultKind, circuit: &Circuit) -> bool {
        // The CPU's stand-in has no faults.
        self.number.is_some() && self.echo.strikes(what, self.number, kind_of(circuit))
    }

    fn held(&self, what: EchoFaultKind, circuit: &Circuit) -> Option<Hold> {
        self.number.and_then(|number| self.echo.hold(what, Some(number), kind_of(circuit)))
    }

    fn enter(&self) -> InCall<'_> {
        assert!(!self.in_call.swap(true, Ordering::Relaxed), "{} is called from inside a call", self.name);
        InCall(&self.in_call)
    }

    fn timed(&self, prove: impl FnOnce() -> Result<Sums>) -> Result<Sums> {
        let start = Instant::now();
        let sums = prove();
        self.proving.lock().unwrap_or_else(PoisonError::into_inner).observe(start.elapsed());
        sums
    }

    fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    fn lost(&self) -> Error {
        Error::DeviceLost(self.name.clone())
    }

    /// Waits until `ready`, asking; Err once `items` says so.
    fn pass(&self, items: &mut Items<'_>, current: usize, ready: &mut dyn FnMut() -> bool) -> Result<()> {
        loop {
            items.ask();
            if items.dropped[current] {
                return Err(Error::Cancelled);
            }
            if ready() {
                return Ok(());
            }
        }
    }

    /// The time that something takes, and holds.
    fn take_time(
        &self,
        items: &mut Items<'_>,
        at: usize,
        time: Duration,
        hold: EchoFaultKind,
        c: &Circuit,
    ) -> Result<()> {
        if let Some(hold) = self.held(hold, c) {
            self.echo.record(&self.name, EchoCallKind::Held, c.name());
            self.pass(items, at, &mut || self.echo.wait(&hold, ASK_AGAIN))?;
        }
        let until = Instant::now() + time;
        self.pass(items, at, &mut || {
            let left = until.saturating_duration_since(Instant::now());
            left.is_zero() || {
                self.echo.pause(left.min(ASK_AGAIN));
                false
            }
        })
    }

    /// One partition, or the fault that is due.
    fn prove_one(
        &self,
        circuit: &Arc<Circuit>,
        assignment: &Arc<Assignment>,
        items: &mut Items<'_>,
        i: usize,
    ) -> Result<Sums> {
        self.take_time(items, i, self.options.partition_time, EchoFaultKind::HoldProve, circuit)?;
        if self.strikes(EchoFaultKind::Panic, circuit) {
            panic!("injected: {}", circuit.name());
        }
        if let Some(hold) = self.held(EchoFaultKind::Hang, circuit) {
            self.echo.record(&self.name, EchoCallKind::Held, circuit.name());
            self.echo.wait(&hold, Duration::MAX);
        }
        if self.strikes(EchoFaultKind::DeviceLost, circuit) {
            self.lost.store(true, Ordering::Relaxed);
        }
        if self.is_lost() {
            return Err(self.lost());
        }
        if self.strikes(EchoFaultKind::Internal, circuit) {
            return Err(Error::Internal("an injected fault".into()));
        }
        let mut sums = Err(Error::Internal("no sums".into()));
        self.cpu.prove(circuit, std::slice::from_ref(assignment), &Uncontrolled, &mut |_, result| sums = result);
        let wrong = self.strikes(EchoFaultKind::WrongSums, circuit);
        sums.map(|sums| if wrong { Sums { a: sums.a + sums.h_l, ..sums } } else { sums })
    }

    fn load_within(&self, circuit: &Arc<Circuit>, control: &dyn Control) -> Result<()> {
        self.echo.record(&self.name, EchoCallKind::Load, circuit.name());
        let mut items = Items { backend: self, control, dropped: vec![false] };
        self.take_time(&mut items, 0, self.options.load_time, EchoFaultKind::HoldLoad, circuit)?;
        if self.is_lost() {
            return Err(self.lost());
        }
        if self.strikes(EchoFaultKind::LoadFails, circuit) {
            return Err(fault(circuit.srs().path(), "h", Some(0), "a point on the curve", "an injected fault"));
        }
        if self.strikes(EchoFaultKind::LoadOutOfMemory, circuit) {
            return Err(Error::OutOfMemory { budget: self.name.clone(), needed: 2, free: 1 });
        }
        self.cpu.load(circuit, &Uncontrolled)?;
        self.loads.fetch_add(1, Ordering::Relaxed);
        control.progress(1, 1);
        Ok(())
    }

    fn prove_within(
        &self,
        circuit: &Arc<Circuit>,
        assignments: &[Arc<Assignment>],
        control: &dyn Control,
        done: Done<'_>,
    ) {
        self.echo.record(&self.name, EchoCallKind::Prove(assignments.len()), circuit.name());
        let mut items = Items { backend: self, control, dropped: vec![false; assignments.len()] };
        if self.strikes(EchoFaultKind::OutOfMemory, circuit) {
            let error = Error::OutOfMemory { budget: self.name.clone(), needed: 2, free: 1 };
            return (0..assignments.len()).for_each(|i| done(i, Err(error.clone())));
        }
        if self.strikes(EchoFaultKind::Forgets, circuit) {
            self.cpu.unload(circuit);
            let error = Error::Closed(format!("{} on {}", circuit.name(), self.name));
            return (0..assignments.len()).for_each(|i| done(i, Err(error.clone())));
        }
        for (i, assignment) in assignments.iter().enumerate() {
            let sums = match items.dropped[i] {
                true => Err(Error::Cancelled),
                false => self.timed(|| self.prove_one(circuit, assignment, &mut items, i)),
            };
            done(i, sums);
        }
    }
}

impl Backend for EchoBackend {
    fn name(&self) -> &str {
        &self.name
    }

    fn load(&self, circuit: &Arc<Circuit>, control: &dyn Control) -> Result<()> {
        let _in_call = self.enter();
        self.load_within(circuit, control)
    }

    fn unload(&self, circuit: &Circuit) {
        self.echo.record(&self.name, EchoCallKind::Unload, circuit.name());
        self.cpu.unload(circuit);
    }

    fn prove(&self, circuit: &Arc<Circuit>, assignments: &[Arc<Assignment>], control: &dyn Control, done: Done<'_>) {
        let _in_call = self.enter();
        self.prove_within(circuit, assignments, control, done);
    }

    fn uuid(&self) -> &str {
        match self.number {
            Some(_) => &self.name,
            None => "",
        }
    }

    fn footprint(&self, circuit: &Circuit) -> Footprint {
        let sections = [Section::H, Section::L, Section::A, Section::BG2];
        let device_bytes = sections.iter().map(|s| circuit.srs().count(*s) * s.point_bytes()).sum();
        Footprint { device_bytes, ..Footprint::default() }
    }

    fn max_batch(&self, _: &Circuit) -> usize {
        self.options.max_batch as usize
    }

    fn pools(&self) -> BackendPools {
        let used_bytes = self.cpu.memory().resident_bytes;
        let device = PoolUse { total_bytes: DEVICE_BYTES, used_bytes, peak_bytes: used_bytes };
        BackendPools { device, ..BackendPools::default() }
    }

    fn activity(&self) -> Activity {
        let proving = *self.proving.lock().unwrap_or_else(PoisonError::into_inner);
        let phases = self.number.map(|_| proving);
        Activity { phases: phases.into_iter().collect(), driver_calls: self.loads.load(Ordering::Relaxed) }
    }

    fn trim(&self) {
        self.cpu.trim();
    }

    fn hang_limit(&self) -> Duration {
        self.number.map_or(self.cpu.hang_limit(), |_| self.options.hang_limit)
    }
}

impl Backend for Inside<'_> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn load(&self, circuit: &Arc<Circuit>, control: &dyn Control) -> Result<()> {
        self.0.load_within(circuit, control)
    }

    fn unload(&self, circuit: &Circuit) {
        self.0.unload(circuit);
    }

    fn prove(&self, circuit: &Arc<Circuit>, assignments: &[Arc<Assignment>], control: &dyn Control, done: Done<'_>) {
        self.0.prove_within(circuit, assignments, control, done);
    }
}

impl Drop for InCall<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Items<'_> {
    fn ask(&mut self) {
        match self.control.ask() {
            Answer::Continue => {}
            Answer::Drop(indices) => indices.into_iter().for_each(|i| self.dropped[i] = true),
            Answer::Yield => self.control.run_urgent(&Inside(self.backend)),
        }
    }
}

/// The kind that a circuit's name begins with.
fn kind_of(circuit: &Circuit) -> Kind {
    let is_it = |kind: &Kind| circuit.name().starts_with(kind.name());
    Kind::ALL.into_iter().find(is_it).unwrap_or(Kind::PoRep)
}
