//! What an engine tells its caller.

use std::fmt;
use std::time::Duration;

use crate::circuit::CircuitId;
use crate::error::Result;

/// One event, taken by [`Engine::next`](super::Engine::next).
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // completions are what most events are
pub enum Event {
    /// A request has ended. Comes exactly once for each that was accepted, and is never dropped.
    Completion(Completion),
    /// A log record. Dropped, and counted, if nobody takes events.
    Log(LogRecord),
    /// How far a preload is. Only the newest of a tag is kept.
    Progress(Progress),
    /// The engine's health has changed. Only the newest is kept.
    Health(Health),
}

/// How an accepted request ended.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The caller's.
    pub tag: u64,
    /// The engine's own number of the request, never used twice; the one that logs name.
    pub job: u64,
    /// The caller's, as far as it was kept.
    pub label: String,
    /// What was asked for.
    pub task: Task,
    /// Circuit that was proved, loaded or evicted; None for a trim.
    pub circuit: Option<CircuitId>,
    /// The proofs of all partitions, 192 bytes each (compressed, big-endian), in order; empty unless `task` is
    /// [`Task::Prove`]. Every one was checked by pairing.
    pub result: Result<Vec<u8>>,
    /// Where it failed; None if it didn't.
    pub failed_at: Option<Place>,
    /// What it took.
    pub timings: Timings,
}

/// What a completion completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// [`Engine::submit`](super::Engine::submit).
    Prove,
    /// [`Engine::preload`](super::Engine::preload).
    Preload,
    /// [`Engine::evict`](super::Engine::evict).
    Evict,
    /// [`Engine::trim`](super::Engine::trim).
    Trim,
}

/// A part of a request's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Waiting for its turn.
    Queue,
    /// Waiting for SRS and R1CS to be opened.
    Open,
    /// Decoding and checking vanilla proofs.
    Check,
    /// From vanilla proofs to compact assignments.
    Synthesis,
    /// Waiting for a device, loading included.
    Wait,
    /// On a device.
    Prove,
    /// Blinding, assembly, pairing check.
    Finish,
}

/// Where a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What was being done.
    pub phase: Phase,
    /// The partition, if it was one alone.
    pub partition: Option<u32>,
    /// The device: `"cpu"`, or the back end's name of it.
    pub device: Option<String>,
}

/// What a request took. Phases of different partitions overlap, so that their sum may exceed `total`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// From acceptance to the completion.
    pub total: Duration,
    /// Sum over the partitions of the time in each phase, in the order of [`Phase::ALL`].
    pub phases: [Duration; Phase::ALL.len()],
    /// Partitions, once they are known.
    pub partitions: u32,
    /// Constraints of a partition, once the circuit is open.
    pub constraints: u64,
    /// Partitions that were proved again.
    pub redos: u32,
}

/// A log record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    /// How much it matters.
    pub level: log::Level,
    /// Module that wrote it.
    pub target: String,
    /// The text. Holds no vanilla proofs and no secrets.
    pub message: String,
}

/// How far a preload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The caller's, from [`Engine::preload`](super::Engine::preload).
    pub tag: u64,
    /// What is loaded.
    pub circuit: CircuitId,
    /// From 0 to 100, never falling; 100 comes with success alone.
    pub percent: u8,
}

/// The engine's state of health.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// How bad it is.
    pub level: HealthLevel,
    /// Why; empty if all is well.
    pub reasons: Vec<String>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HealthLevel {
    /// All is well.
    Ok,
    /// Proofs are made, but something went wrong or is missing; an operator should look.
    Degraded,
    /// No device is left: only a restart of the process helps.
    Fatal,
}

impl Phase {
    /// All of them, in order.
    pub const ALL: [Phase; 7] =
        [Phase::Queue, Phase::Open, Phase::Check, Phase::Synthesis, Phase::Wait, Phase::Prove, Phase::Finish];

    /// Name in logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Queue => "queue",
            Phase::Open => "open",
            Phase::Check => "check",
            Phase::Synthesis => "synthesis",
            Phase::Wait => "wait",
            Phase::Prove => "prove",
            Phase::Finish => "finish",
        }
    }
}

impl Timings {
    /// Time in `phase`, summed over the partitions.
    pub fn phase(&self, phase: Phase) -> Duration {
        self.phases[phase as usize]
    }
}

impl Health {
    /// All is well.
    pub fn ok() -> Self {
        Health { level: HealthLevel::Ok, reasons: Vec::new() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.phase.name())?;
        if let Some(partition) = self.partition {
            write!(f, ", partition {partition}")?;
        }
        if let Some(device) = &self.device {
            write!(f, ", on {device}")?;
        }
        Ok(())
    }
}
