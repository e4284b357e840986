//! A request inside the engine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Instant;

use super::budget::Reservation;
use super::event::{Completion, Place, Task, Timings};
use super::request::{Request, MAX_LABEL_BYTES};
use crate::circuit::{CircuitId, Kind};
use crate::error::Result;

/// Which goes first. Commands are done as soon as they can be.
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
    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::WinningPoSt => Class::Winning,
            Kind::WindowPoSt => Class::Window,
            Kind::PoRep | Kind::SnapDeals => Class::Bulk,
        }
    }
}

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

/// An unfinished request or command.
#[derive(Debug)]
pub(super) struct JobState {
    pub life: Arc<Life>,
    pub tag: u64,
    pub label: String,
    pub task: Task,
    pub circuit: Option<CircuitId>,
    pub kind: Option<Kind>,
    pub deadline: Option<Instant>,
    pub submitted: Instant,
    /// The request until it is decoded, with its share of the budget.
    pub request: Option<(Arc<Request>, Reservation)>,
    pub timings: Timings,
}

impl JobState {
    /// A new job; `label` is cut to what is kept.
    pub fn new(number: u64, tag: u64, mut label: String, task: Task) -> Self {
        if label.len() > MAX_LABEL_BYTES {
            let cut = (0..=MAX_LABEL_BYTES).rev().find(|at| label.is_char_boundary(*at)).unwrap_or(0);
            label.truncate(cut);
        }
        JobState {
            life: Life::new(number),
            tag,
            label,
            task,
            circuit: None,
            kind: None,
            deadline: None,
            submitted: Instant::now(),
            request: None,
            timings: Timings::default(),
        }
    }

    /// Its completion. The job has ended then.
    pub fn complete(self, result: Result<Vec<u8>>, failed_at: Option<Place>) -> Completion {
        self.life.end();
        let timings = Timings { total: self.submitted.elapsed(), ..self.timings };
        let JobState { life, tag, label, task, circuit, .. } = self;
        Completion { tag, job: life.number, label, task, circuit, result, failed_at, timings }
    }
}
