//! A request inside the engine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::budget::Reservation;
use super::event::{Completion, Phase, Place, Task, Timings};
use super::library::Content;
use super::request::{Request, MAX_LABEL_BYTES};
use crate::assignment::Assignment;
use crate::circuit::{CircuitId, Kind};
use crate::error::Result;
use crate::groth16::PROOF_BYTES;

/// Which goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Class {
    /// WinningPoSt.
    Winning,
    /// WindowPoSt.
    Window,
    /// The rest.
    Bulk,
}

impl Class {
    pub const ALL: [Class; 3] = [Class::Winning, Class::Window, Class::Bulk];

    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::WinningPoSt => Class::Winning,
            Kind::WindowPoSt => Class::Window,
            Kind::PoRep | Kind::SnapDeals => Class::Bulk,
        }
    }
}

/// A job's place in the order: class, then deadline, then arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Turn {
    pub class: Class,
    /// Since the engine's start; the largest value if there is none.
    pub deadline: Duration,
    pub number: u64,
}

/// A partition's place in the order.
pub(super) type PartTurn = (Turn, u32);

/// The part of a job that its tasks share: whether it is still wanted.
#[derive(Debug)]
pub(super) struct Life {
    pub number: u64,
    ended: AtomicBool,
}

impl Life {
    pub fn new(number: u64) -> Arc<Self> {
        Arc::new(Life { number, ended: AtomicBool::new(false) })
    }

    /// Whether nobody waits for this job any more.
    pub fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not begun.
    Queued,
    /// Its vanilla proofs are decoded and checked.
    Checking,
    /// Its partitions are under way.
    Proving,
    /// A command that waits to be done.
    Command,
}

/// An assignment and its share of the budget, held until its proof is checked.
pub(super) struct Seat {
    pub assignment: Arc<Assignment>,
    /// Held for what it gives back when it is dropped.
    pub _memory: Reservation,
}

/// Where a partition is.
pub(super) enum PartState {
    /// To be synthesised.
    Waiting,
    Synthesising,
    /// Waits for a device.
    Ready(Arc<Seat>),
    /// In a batch; only the outcome with this epoch counts.
    Proving {
        device: usize,
        epoch: u64,
        seat: Arc<Seat>,
    },
    /// Its proof is being assembled and checked.
    Finishing {
        epoch: u64,
        seat: Arc<Seat>,
    },
    Done,
}

/// One partition of a job.
pub(super) struct Part {
    pub state: PartState,
    /// When it came to be in this state.
    pub since: Instant,
    /// Failed checks so far.
    pub failures: u32,
    /// Whether one of them was of an assignment that didn't satisfy the R1CS.
    pub unsatisfied: bool,
    /// Times that a device gave it back for want of memory or because it had unloaded the circuit.
    pub returns: u32,
    /// Times that a batch gave it back unfinished for something more urgent.
    pub breaks: u32,
    /// The device whose proof failed the last check: another one is better.
    pub avoid: Option<usize>,
    /// A batch with it panicked: it is proved by itself.
    pub alone: bool,
}

/// An unfinished request or command.
pub(super) struct JobState {
    pub life: Arc<Life>,
    pub tag: u64,
    pub label: String,
    pub task: Task,
    pub stage: Stage,
    pub turn: Turn,
    pub circuit: Option<CircuitId>,
    /// Whether it counts among the users of its circuit.
    pub holds_circuit: bool,
    pub kind: Option<Kind>,
    pub deadline: Option<Instant>,
    pub submitted: Instant,
    /// When it came to be in its stage.
    pub since: Instant,
    /// The request until it is decoded, with its share of the budget.
    pub request: Option<(Arc<Request>, Reservation)>,
    /// The checked proofs, kept until the end since a partition may have to be synthesised again.
    pub content: Option<Arc<dyn Content>>,
    /// The share of checking and of what came of it.
    pub content_memory: Option<Reservation>,
    pub parts: Vec<Part>,
    pub proofs: Vec<u8>,
    pub proved: usize,
    pub on_fallback: bool,
    /// Of a preload: the percentage that was told last.
    pub progress: u8,
    /// Of a trim: whether devices were told.
    pub is_told: bool,
    pub timings: Timings,
}

impl JobState {
    /// A new job; `label` is cut to what is kept.
    pub fn new(turn: Turn, tag: u64, mut label: String, task: Task, kind: Option<Kind>) -> Self {
        if label.len() > MAX_LABEL_BYTES {
            let cut = (0..=MAX_LABEL_BYTES).rev().find(|at| label.is_char_boundary(*at)).unwrap_or(0);
            label.truncate(cut);
        }
        let now = Instant::now();
        JobState {
            life: Life::new(turn.number),
            tag,
            label,
            task,
            stage: if task == Task::Prove { Stage::Queued } else { Stage::Command },
            turn,
            circuit: None,
            holds_circuit: false,
            kind,
            deadline: None,
            submitted: now,
            since: now,
            request: None,
            content: None,
            content_memory: None,
            parts: Vec::new(),
            proofs: Vec::new(),
            proved: 0,
            on_fallback: false,
            progress: 0,
            is_told: false,
            timings: Timings::default(),
        }
    }

    pub fn number(&self) -> u64 {
        self.life.number
    }

    /// Takes over checked vanilla proofs and makes their partitions.
    pub fn set_content(&mut self, content: Arc<dyn Content>) {
        let partitions = content.partition_count();
        self.timings.partitions = partitions as u32;
        self.proofs = vec![0; partitions * PROOF_BYTES];
        self.parts = (0..partitions).map(|_| Part::new()).collect();
        self.content = Some(content);
        self.stage = Stage::Proving;
    }

    /// Partitions that must still be synthesised.
    pub fn has_waiting(&self) -> bool {
        self.parts.iter().any(|part| matches!(part.state, PartState::Waiting))
    }

    /// Its completion, and what is to be freed. The job has ended then.
    pub fn complete(self, result: Result<Vec<u8>>, failed_at: Option<Place>) -> (Completion, Box<dyn Send>) {
        self.life.end();
        let timings = Timings { total: self.submitted.elapsed(), ..self.timings };
        let JobState { life, tag, label, task, circuit, request, content, content_memory, parts, .. } = self;
        let completion = Completion { tag, job: life.number, label, task, circuit, result, failed_at, timings };
        // Memory before its share of the budget.
        (completion, Box::new((request, content, content_memory, parts)))
    }
}

impl Part {
    pub fn new() -> Self {
        Part {
            state: PartState::Waiting,
            since: Instant::now(),
            failures: 0,
            unsatisfied: false,
            returns: 0,
            breaks: 0,
            avoid: None,
            alone: false,
        }
    }

    /// Goes on to `state`; returns the state that it leaves and how long it was in it.
    pub fn enter(&mut self, state: PartState) -> (PartState, Duration) {
        let now = Instant::now();
        let time = now.duration_since(self.since);
        self.since = now;
        (std::mem::replace(&mut self.state, state), time)
    }

    /// Whether the outcome of a batch with this epoch is waited for.
    pub fn is_proving(&self, epoch: u64) -> bool {
        matches!(&self.state, PartState::Proving { epoch: own, .. } if *own == epoch)
    }

    /// Whether the check of a proof with this epoch is waited for.
    pub fn is_finishing(&self, epoch: u64) -> bool {
        matches!(&self.state, PartState::Finishing { epoch: own, .. } if *own == epoch)
    }
}

/// Adds a phase's time to a job's timings.
pub(super) fn add_phase(timings: &mut Timings, phase: Phase, time: Duration) {
    timings.phases[phase as usize] += time;
}
