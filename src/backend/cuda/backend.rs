//! The caller's side of a device.

use blstrs::Scalar as Fr;
use std::collections::HashMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::device::Shared;
use super::job::{look_again, Ear, Item, Job, Message, Reply, Work};
use super::multiples::{self, Multiples};
use super::plan::Plan;
use super::prepare::{Prepared, PreparedLayout};
use super::resident::SrsOnDevice;
use super::stats::CudaStats;
use super::sums::Of;
use super::sys::Curve;
use super::turn::Turns;
use crate::assignment::{Assignment, Layout};
use crate::backend::{
    Activity, Answer, Backend, BackendPools, Circuit, Control, Done, Footprint, PoolUse, Sums, Uncontrolled,
};
use crate::error::{Error, Result};

/// Longest wait for a device thread to end.
const CLOSING: Duration = Duration::from_secs(5);
/// How long a caller that computes waits between two questions.
const ASK_AGAIN: Duration = Duration::from_millis(50);
/// Layouts of one circuit that are remembered.
const LAYOUTS: usize = 4;

/// One device.
///
/// Threads: its methods may be called from any number of threads; callers take turns in order of arrival, and each asks its
/// own control while it waits. All CUDA calls are made by the device's own thread.
pub struct CudaBackend {
    shared: Arc<Shared>,
    turns: Turns,
    jobs: Mutex<Option<Sender<Job>>>,
    /// Disconnected when the thread has ended.
    ended: Mutex<Receiver<()>>,
    circuits: Mutex<HashMap<u64, Known>>,
    patience: Duration,
}

/// What the host keeps of a circuit that was loaded.
struct Known {
    prepared: Arc<Prepared>,
    layouts: Vec<Arc<PreparedLayout>>,
}

/// The back end that a control gets for urgent proofs: its jobs run inside the one that asked.
struct Inside<'a> {
    backend: &'a CudaBackend,
    replies: &'a Sender<Reply>,
}

/// One call of `load` or `prove`: its control, and what is finished.
struct Caller<'c, 'd> {
    control: &'c dyn Control,
    done: Option<Done<'d>>,
    finished: Vec<bool>,
    urgent: bool,
}

type Via<'a> = Option<&'a Sender<Reply>>;

impl CudaBackend {
    pub(super) fn new(shared: Arc<Shared>, jobs: Sender<Job>, ended: Receiver<()>, patience: Duration) -> Self {
        CudaBackend {
            shared,
            turns: Turns::default(),
            jobs: Mutex::new(Some(jobs)),
            ended: Mutex::new(ended),
            circuits: Mutex::default(),
            patience,
        }
    }

    /// Counters and gauges, as they were after the last job. Never blocks on the device.
    pub fn stats(&self) -> CudaStats {
        self.shared.with_stats(|stats| stats.clone())
    }

    /// Asks the device thread for its numbers. Waits for its turn. Errors: DEVICE_LOST, CLOSED.
    pub fn refresh(&self) -> Result<()> {
        self.converse(Work::Look, &mut Caller::new(&Uncontrolled, None, 1, false), None)
    }

    /// `scalar · base` for each scalar, in uncompressed bytes as an SRS stores them: [`G1_BYTES`] or [`G2_BYTES`] each.
    /// `powers`: the 16 points `2^(16 w) · base`, stored the same way. Takes its turn; 2^20 scalars at a time need 0.25 GiB
    /// of device memory in G1 and 0.5 in G2.
    /// Errors: INVALID (not such points), OUT_OF_MEMORY, DEVICE_LOST, CLOSED.
    ///
    /// [`G1_BYTES`]: crate::srs::G1_BYTES
    /// [`G2_BYTES`]: crate::srs::G2_BYTES
    pub(crate) fn multiples(&self, curve: Curve, powers: Vec<u8>, scalars: Vec<Fr>) -> Result<Vec<u8>> {
        if powers.len() != curve.affine_bytes() * multiples::POWERS as usize {
            return Err(Error::invalid("powers", format!("{} bytes of them", powers.len())));
        }
        let (answer, answered) = channel();
        let work = Work::Multiples(Multiples { curve, powers, scalars }, answer);
        self.converse(work, &mut Caller::new(&Uncontrolled, None, 1, false), None)?;
        answered.recv().map_err(|_| Error::Internal(format!("{} gave no answer", self.shared.label)))
    }

    /// Runs `call` on the device thread. Errors: what it ended with, as any other call of the device's.
    #[cfg(feature = "testing")]
    pub fn call(&self, call: fn() -> std::result::Result<(), super::sys::CudaError>) -> Result<()> {
        self.converse(Work::Call(call), &mut Caller::new(&Uncontrolled, None, 1, false), None)
    }

    /// Ends the device thread after the job in work and frees everything; done by dropping, too. Calls that come later get
    /// CLOSED. Errors: DEVICE_LOST if the thread doesn't end within 5 s, which leaves it and its memory behind.
    pub fn close(&self) -> Result<()> {
        let Some(jobs) = lock(&self.jobs).take() else { return Ok(()) };
        let (job, _ear) = Job::new(Work::Close, false);
        let _ = jobs.send(job);
        drop(jobs);
        let ended = lock(&self.ended);
        match look_again(CLOSING, |time| ended.recv_timeout(time)) {
            Err(RecvTimeoutError::Timeout) => Err(self.shared.lose("its thread doesn't end")),
            _ => Ok(()),
        }
    }

    fn load_via(&self, via: Via<'_>, circuit: &Arc<Circuit>, control: &dyn Control) -> Result<()> {
        self.shared.lost().map_or(Ok(()), Err)?;
        let mut caller = Caller::new(control, None, 1, via.is_some());
        let known = lock(&self.circuits).get(&circuit.id()).map(|known| Arc::clone(&known.prepared));
        let prepared = match known {
            Some(prepared) => prepared,
            None => {
                let prepared = self.beside(&mut caller, || Prepared::new(circuit.r1cs()))?;
                Arc::new(prepared)
            }
        };
        self.converse(Work::Load(Arc::clone(circuit), Arc::clone(&prepared)), &mut caller, via)?;
        lock(&self.circuits).entry(circuit.id()).or_insert(Known { prepared, layouts: Vec::new() });
        Ok(())
    }

    fn unload_via(&self, via: Via<'_>, circuit: &Circuit) {
        lock(&self.circuits).remove(&circuit.id());
        let work = Work::Unload(circuit.id());
        if let Err(error) = self.converse(work, &mut Caller::new(&Uncontrolled, None, 1, via.is_some()), via) {
            log::warn!("{} is not unloaded: {error}", circuit.name());
        }
    }

    fn prove_via(
        &self,
        via: Via<'_>,
        circuit: &Arc<Circuit>,
        assignments: &[Arc<Assignment>],
        control: &dyn Control,
        done: Done<'_>,
    ) {
        let mut caller = Caller::new(control, Some(done), assignments.len(), via.is_some());
        let end = match self.shared.lost() {
            Some(lost) => Err(lost),
            None => self
                .items(circuit, assignments, &mut caller)
                .and_then(|items| self.converse(Work::Prove(Arc::clone(circuit), items), &mut caller, via)),
        };
        let missing = || Error::Internal(format!("{} ended without this result", self.shared.label));
        caller.refuse(&end.err().unwrap_or_else(missing));
    }

    /// The assignments that fit the circuit, with their layouts; the others are refused.
    fn items(
        &self,
        circuit: &Arc<Circuit>,
        assignments: &[Arc<Assignment>],
        caller: &mut Caller<'_, '_>,
    ) -> Result<Vec<Item>> {
        let prepared = lock(&self.circuits).get(&circuit.id()).map(|known| Arc::clone(&known.prepared));
        let closed = || Error::Closed(format!("{} on {}", circuit.name(), self.shared.label));
        let prepared = prepared.ok_or_else(closed)?;
        let r1cs = circuit.r1cs();
        let mut items = Vec::new();
        for (index, assignment) in assignments.iter().enumerate() {
            let found = [assignment.input_count(), assignment.aux_count()];
            if found != [r1cs.input_count, r1cs.aux_count] {
                let expected = format!("expected {} inputs and {} aux variables", r1cs.input_count, r1cs.aux_count);
                let reason = format!("{expected}, found {} and {}", found[0], found[1]);
                caller.finish(index, Err(Error::invalid("assignment", reason)));
                continue;
            }
            let layout = self.layout(circuit, &prepared, assignment.layout(), caller)?;
            items.push((index, Arc::clone(assignment), layout));
        }
        Ok(items)
    }

    fn layout(
        &self,
        circuit: &Circuit,
        prepared: &Arc<Prepared>,
        layout: &Arc<Layout>,
        caller: &mut Caller<'_, '_>,
    ) -> Result<Arc<PreparedLayout>> {
        let is_it = |known: &&Arc<PreparedLayout>| Arc::ptr_eq(&known.layout, layout) || known.layout == *layout;
        let find = |known: &Known| known.layouts.iter().find(is_it).map(Arc::clone);
        if let Some(known) = lock(&self.circuits).get(&circuit.id()).and_then(find) {
            return Ok(known);
        }
        let made = Arc::new(self.beside(caller, || PreparedLayout::new(prepared, layout))?);
        if let Some(known) = lock(&self.circuits).get_mut(&circuit.id()) {
            if known.layouts.len() == LAYOUTS {
                known.layouts.remove(0);
            }
            known.layouts.push(Arc::clone(&made));
        }
        Ok(made)
    }

    /// Computes on a thread beside this one, which asks meanwhile. Errors: CANCELLED once everything is dropped.
    fn beside<T: Send>(&self, caller: &mut Caller<'_, '_>, work: impl FnOnce() -> T + Send) -> Result<T> {
        let (ends, ended) = channel::<()>();
        std::thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let result = catch_unwind(AssertUnwindSafe(work));
                drop(ends);
                result
            });
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(ASK_AGAIN) {
                caller.ask(self);
            }
            let result = thread.join().and_then(|result| result);
            let result = result.map_err(|panic| Error::Internal(panic_text(panic.as_ref())));
            if caller.all_finished() {
                return Err(Error::Cancelled);
            }
            result
        })
    }

    /// Sends a job and serves it until it ends. Errors: what the job ended with; DEVICE_LOST, also after too long a silence;
    /// CLOSED; CANCELLED if everything was dropped while it waited for its turn.
    fn converse(&self, work: Work, caller: &mut Caller<'_, '_>, via: Via<'_>) -> Result<()> {
        let _turn = match via {
            Some(_) => None,
            None => {
                let waiting = &mut || {
                    caller.ask(self);
                    !caller.all_finished() && self.shared.lost().is_none()
                };
                let turn = self.turns.take(waiting);
                Some(turn.ok_or_else(|| self.shared.lost().unwrap_or(Error::Cancelled))?)
            }
        };
        self.shared.lost().map_or(Ok(()), Err)?;
        let (job, ear) = Job::new(work, via.is_some());
        let sent = match (via, &*lock(&self.jobs)) {
            (Some(replies), _) => replies.send(Reply::Run(job)).is_ok(),
            (None, Some(jobs)) => jobs.send(job).is_ok(),
            (None, None) => return Err(Error::Closed(self.shared.label.clone())),
        };
        match sent {
            true => self.listen(&ear, caller),
            false => Err(self.shared.lose("its thread has ended")),
        }
    }

    fn listen(&self, ear: &Ear, caller: &mut Caller<'_, '_>) -> Result<()> {
        // What was dropped before the job began.
        let mut early = Some(caller.finished_indices());
        loop {
            match ear.hear(self.patience) {
                Ok(Message::Ask) => {
                    let reply = match early.take() {
                        Some(dropped) if !dropped.is_empty() => Reply::Drop(dropped),
                        _ => caller.ask(&Inside { backend: self, replies: &ear.replies }),
                    };
                    // An urgent proof may have found the device lost.
                    self.shared.lost().map_or(Ok(()), Err)?;
                    // A thread that is gone shows at the next message.
                    let _ = ear.replies.send(reply);
                }
                Ok(Message::Progress(done, total)) => caller.control.progress(done, total),
                Ok(Message::Done(index, result)) => caller.finish(index, result.and_then(|raw| raw.sums())),
                Ok(Message::End(end)) => return end,
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.patience.as_secs();
                    return Err(self.shared.lose(&format!("quarantined: no answer for {seconds} s")));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.shared.lose("its thread has ended")),
            }
        }
    }
}

impl Drop for CudaBackend {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            log::error!("{error}");
        }
    }
}

impl Backend for CudaBackend {
    fn name(&self) -> &str {
        &self.shared.label
    }

    fn load(&self, circuit: &Arc<Circuit>, control: &dyn Control) -> Result<()> {
        self.load_via(None, circuit, control)
    }

    fn unload(&self, circuit: &Circuit) {
        self.unload_via(None, circuit);
    }

    fn prove(&self, circuit: &Arc<Circuit>, assignments: &[Arc<Assignment>], control: &dyn Control, done: Done<'_>) {
        self.prove_via(None, circuit, assignments, control, done);
    }

    fn uuid(&self) -> &str {
        &self.shared.uuid
    }

    fn footprint(&self, circuit: &Circuit) -> Footprint {
        footprint(circuit)
    }

    fn max_batch(&self, _circuit: &Circuit) -> usize {
        // Everything a proof needs is resident: a second assignment only spares the hand-over.
        2
    }

    fn pools(&self) -> BackendPools {
        self.shared.with_stats(|stats| BackendPools {
            pinned: PoolUse {
                total_bytes: stats.pinned_cap_bytes,
                used_bytes: stats.pinned_held_bytes,
                peak_bytes: stats.pinned_peak_bytes,
            },
            device: PoolUse {
                total_bytes: stats.memory_cap_bytes,
                used_bytes: stats.memory_held_bytes,
                peak_bytes: stats.memory_peak_bytes,
            },
        })
    }

    fn activity(&self) -> Activity {
        self.shared.with_stats(|stats| Activity { phases: stats.times.to_vec(), driver_calls: stats.calls.total() })
    }

    /// Waits for its turn.
    fn trim(&self) {
        if let Err(error) = self.converse(Work::Trim, &mut Caller::new(&Uncontrolled, None, 1, false), None) {
            log::warn!("{}: nothing is given back: {error}", self.shared.label);
        }
    }

    fn hang_limit(&self) -> Duration {
        self.patience
    }
}

impl Backend for Inside<'_> {
    fn name(&self) -> &str {
        self.backend.name()
    }

    fn load(&self, circuit: &Arc<Circuit>, control: &dyn Control) -> Result<()> {
        self.backend.load_via(Some(self.replies), circuit, control)
    }

    fn unload(&self, circuit: &Circuit) {
        self.backend.unload_via(Some(self.replies), circuit);
    }

    fn prove(&self, circuit: &Arc<Circuit>, assignments: &[Arc<Assignment>], control: &dyn Control, done: Done<'_>) {
        self.backend.prove_via(Some(self.replies), circuit, assignments, control, done);
    }

    fn uuid(&self) -> &str {
        self.backend.uuid()
    }

    fn footprint(&self, circuit: &Circuit) -> Footprint {
        footprint(circuit)
    }

    fn max_batch(&self, circuit: &Circuit) -> usize {
        self.backend.max_batch(circuit)
    }

    fn pools(&self) -> BackendPools {
        self.backend.pools()
    }

    fn activity(&self) -> Activity {
        self.backend.activity()
    }
}

/// Sections and working memory without a layout's lists, which no count of a circuit tells.
fn footprint(circuit: &Circuit) -> Footprint {
    let (_, srs_bytes) = SrsOnDevice::places(circuit, Of::ALL);
    let matrices = circuit.r1cs().segments.iter().flat_map(|segment| [&segment.a, &segment.b]);
    let r1cs_bytes: u64 = matrices.map(|m| 4 * m.row_starts.len() as u64 + 6 * m.columns.len() as u64).sum();
    let bitmaps = circuit.r1cs().variable_count() / 2;
    let work = Plan::least_bytes(circuit.r1cs().lg_domain_size());
    Footprint { device_bytes: srs_bytes + r1cs_bytes + bitmaps + work, ..Footprint::default() }
}

impl<'c, 'd> Caller<'c, 'd> {
    fn new(control: &'c dyn Control, done: Option<Done<'d>>, count: usize, urgent: bool) -> Self {
        Caller { control, done, finished: vec![false; count], urgent }
    }

    /// Asks the control and does what it wants. `inside` runs urgent proofs.
    fn ask(&mut self, inside: &dyn Backend) -> Reply {
        match catch_unwind(AssertUnwindSafe(|| self.control.ask())) {
            Ok(Answer::Continue) => Reply::GoOn,
            Ok(Answer::Drop(_)) if self.done.is_none() => {
                self.finished.fill(true);
                Reply::Drop(vec![0])
            }
            Ok(Answer::Drop(indices)) => {
                indices.iter().for_each(|index| self.finish(*index, Err(Error::Cancelled)));
                Reply::Drop(indices)
            }
            Ok(Answer::Yield) if self.urgent => Reply::GoOn,
            Ok(Answer::Yield) => match catch_unwind(AssertUnwindSafe(|| self.control.run_urgent(inside))) {
                Ok(()) => Reply::GoOn,
                Err(panic) => Reply::Fail(panic_text(panic.as_ref())),
            },
            Err(panic) => Reply::Fail(panic_text(panic.as_ref())),
        }
    }

    /// Finishes `index`, unless it is finished or unknown.
    fn finish(&mut self, index: usize, result: Result<Sums>) {
        if self.finished.get(index) != Some(&false) {
            return;
        }
        self.finished[index] = true;
        if let Some(done) = &mut self.done {
            done(index, result);
        }
    }

    fn refuse(&mut self, error: &Error) {
        (0..self.finished.len()).for_each(|index| self.finish(index, Err(error.clone())));
    }

    fn all_finished(&self) -> bool {
        !self.finished.is_empty() && self.finished.iter().all(|finished| *finished)
    }

    fn finished_indices(&self) -> Vec<usize> {
        (0..self.finished.len()).filter(|index| self.finished[*index]).collect()
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".into())
}

/// Locks; no panic leaves these half-changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
