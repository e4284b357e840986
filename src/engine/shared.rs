//! What the engine's threads share.
//!
//! One lock guards [`State`]; nothing that takes long happens under it. Whoever has changed it calls
//! [`Shared::settle`], which starts what can be started and wakes those who wait.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::budget::{Budget, Urgency};
use super::clock::Clock;
use super::config::Config;
use super::cost::{self, Cost};
use super::device::{Device, Unit};
use super::event::{Event, Health, Phase};
use super::events::Events;
use super::job::{add_phase, Class, JobState, PartTurn, Turn};
use super::library::Library;
use super::limits::HostLimits;
use super::logs::{self, Sink};
use super::pools::Pools;
use super::residency::{Entry, Opened};
use super::stats::{Counters, KindStats, PhaseStats};
use crate::backend::Backend;
use crate::circuit::{CircuitId, Kind};
use crate::error::{Error, Result};

/// Everything but the device threads.
pub(super) struct Shared {
    pub config: Config,
    pub state: Mutex<State>,
    /// Signalled whenever the state has changed.
    pub changed: Condvar,
    pub events: Arc<Events>,
    pub sink: Sink,
    pub memory: Memory,
    pub pools: Pools,
    pub library: Box<dyn Library>,
    pub devices: Vec<Device>,
    pub clock: Clock,
    left: AtomicBool,
}

/// The host's memory, in three shares, so that none of these can keep another from going on.
pub(super) struct Memory {
    /// Requests that wait.
    pub requests: Arc<Budget>,
    /// Vanilla proofs, synthesis, assignments.
    pub work: Arc<Budget>,
    /// Recorded circuits and, on the CPU, SRS sections.
    pub circuits: Arc<Budget>,
}

/// What an engine is made of.
pub(super) struct Parts {
    pub library: Box<dyn Library>,
    /// Back ends, and the one that stands in for them.
    pub backends: Vec<Arc<dyn Backend>>,
    pub fallback: Option<Arc<dyn Backend>>,
}

/// What changes.
pub(super) struct State {
    pub closed: bool,
    pub next_number: u64,
    pub next_epoch: u64,
    /// Unfinished requests and commands by number.
    pub jobs: HashMap<u64, JobState>,
    /// Tags in use, until their completion is taken.
    pub tags: HashMap<u64, TagUse>,
    /// Requests that haven't begun, and those that have, in order.
    pub queued: BTreeSet<Turn>,
    pub active: BTreeSet<Turn>,
    /// Commands, in order of arrival.
    pub commands: BTreeSet<u64>,
    /// Partitions that wait for a device, in order.
    pub ready: BTreeSet<PartTurn>,
    pub deadlines: BTreeSet<(Instant, u64)>,
    /// Circuits that are open or wanted.
    pub circuits: HashMap<CircuitId, Entry>,
    /// Opened circuits by (device, inode) of their SRS and structural hash: the same for all names of a file.
    pub files: HashMap<(u64, u64, [u8; 32]), Weak<Opened>>,
    /// Those that are being opened.
    pub opening: HashSet<(u64, u64, [u8; 32])>,
    pub units: Vec<Unit>,
    /// Checks and syntheses under way, by class.
    pub lanes: [u32; 3],
    /// Tasks in pools and threads that open circuits.
    pub tasks: u32,
    /// Device threads that live.
    pub threads: u32,
    pub kinds: [KindStats; 4],
    /// Places taken by kind: unfinished requests and completions that nobody has taken.
    pub places: [u32; 4],
    pub phases: [PhaseStats; Phase::ALL.len()],
    pub counters: Counters,
    pub health: Health,
    /// Requests to go without INTERNAL before health is restored.
    pub shaken: u32,
    /// What is to be freed, by a task of its own: gigabytes take longer than the lock may be held.
    pub remains: Vec<Box<dyn Send>>,
}

/// Whom a tag belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct TagUse {
    pub number: u64,
    pub kind: Option<Kind>,
}

impl Memory {
    /// Shares of `total` bytes; where the CPU proves, circuits take most of it. A share's last part is held back for
    /// WinningPoSts.
    fn new(total: u64, on_cpu: bool) -> Self {
        let (requests, circuits) = if on_cpu { (total / 16, total / 8 * 5) } else { (total / 8, total / 8) };
        let work = total - requests - circuits;
        Memory {
            requests: Budget::new("host (waiting requests)", requests, 0),
            work: Budget::new("host (proofs under way)", work, work / 8),
            circuits: Budget::new("host (circuits)", circuits, circuits / 16),
        }
    }

    pub fn all(&self) -> [&Arc<Budget>; 3] {
        [&self.requests, &self.work, &self.circuits]
    }
}

impl Shared {
    pub fn new(config: Config, make: impl FnOnce(&Config, usize, &Sink) -> Result<Parts>) -> Result<Arc<Self>> {
        let limits = HostLimits::read()?;
        let total = match config.host_memory_bytes {
            0 => limits.default_budget_bytes(),
            bytes => bytes.min(limits.memory_bytes),
        };
        let threads = if config.threads == 0 { limits.cpus } else { config.threads } as usize;
        let events = Arc::new(Events::default());
        let sink = logs::open(&events, config.log_level);
        let Parts { library, backends, fallback } = make(&config, threads, &sink)?;
        // A WinningPoSt's circuit is small; what else the CPU may have to prove is not.
        let stands_in = config.cpu_fallback.iter().any(|kind| *kind != Kind::WinningPoSt);
        let on_cpu = backends.iter().any(|backend| backend.uuid().is_empty()) || stands_in;
        let regular = backends.into_iter().map(|backend| Device::new(backend, false, &config));
        let devices: Vec<Device> =
            regular.chain(fallback.into_iter().map(|backend| Device::new(backend, true, &config))).collect();
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new(&devices)),
            changed: Condvar::new(),
            memory: Memory::new(total, on_cpu),
            pools: Pools::new(threads, &sink)?,
            events,
            sink,
            library,
            devices,
            clock: Clock::new(),
            left: AtomicBool::new(false),
            config,
        });
        shared.start_threads()?;
        Ok(shared)
    }

    /// The next event; its tag and place are free again.
    pub fn next(&self, timeout: Duration) -> Result<Option<Event>> {
        let event = self.events.next(timeout)?;
        if let Some(Event::Completion(completion)) = &event {
            let mut state = self.lock();
            if let Some(TagUse { kind: Some(kind), .. }) = state.tags.remove(&completion.tag) {
                state.places[kind as usize] -= 1;
            }
        }
        Ok(event)
    }

    /// Errors: UNSUPPORTED, CLOSED.
    pub fn cost(&self, kind: Kind, sector_size: u64) -> Result<Cost> {
        drop(self.open_state()?);
        let on_cpu = self.devices.iter().all(|device| device.uuid().is_empty());
        cost::cost(kind, sector_size, on_cpu)
    }

    /// Whether this is the first call.
    pub fn leave_once(&self) -> bool {
        !self.left.swap(true, Ordering::AcqRel)
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while a change is half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of an engine that is open.
    pub fn open_state(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.lock();
        match state.closed {
            true => Err(Error::Closed("the engine".into())),
            false => Ok(state),
        }
    }

    /// Starts what can be started after a change, and wakes those who wait for one.
    pub fn settle(self: &Arc<Self>, state: &mut State) {
        self.free_remains(state);
        if !state.closed {
            self.start_opens(state);
            self.begin_jobs(state);
            self.start_syntheses(state);
            self.settle_commands(state);
            self.fail_without_device(state);
            // What this has ended. Those above counted what was under way before, so that memory on its way back is waited for.
            self.free_remains(state);
        }
        self.set_flags(state);
        self.report_health(state);
        self.changed.notify_all();
    }

    /// Frees what is left of jobs and batches outside of the lock, and settles once it is free.
    pub(super) fn free_remains(self: &Arc<Self>, state: &mut State) {
        let remains = std::mem::take(&mut state.remains);
        if remains.is_empty() {
            return;
        }
        state.tasks += 1;
        let shared = Arc::clone(self);
        self.pools.finish(Class::Bulk).spawn(move || {
            let freed = shared.guarded("freeing", || {
                drop(remains);
                Ok(())
            });
            if let Err(error) = freed {
                log::error!("{error}");
            }
            let mut state = shared.lock();
            state.tasks -= 1;
            shared.settle(&mut state);
        });
    }

    /// Since the engine's start.
    pub fn time(&self, instant: Instant) -> Duration {
        self.clock.at(instant)
    }
}

impl State {
    fn new(devices: &[Device]) -> Self {
        State {
            closed: false,
            next_number: 0,
            next_epoch: 0,
            jobs: HashMap::new(),
            tags: HashMap::new(),
            queued: BTreeSet::new(),
            active: BTreeSet::new(),
            commands: BTreeSet::new(),
            ready: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            circuits: HashMap::new(),
            files: HashMap::new(),
            opening: HashSet::new(),
            units: devices.iter().map(|_| Unit::default()).collect(),
            lanes: [0; 3],
            tasks: 0,
            threads: 0,
            kinds: Default::default(),
            places: [0; 4],
            phases: Default::default(),
            counters: Counters::default(),
            health: Health::ok(),
            shaken: 0,
            remains: Vec::new(),
        }
    }

    /// A number that no batch had before.
    pub fn epoch(&mut self) -> u64 {
        self.next_epoch += 1;
        self.next_epoch
    }

    /// Counts `time` in `phase`, in general and for one job.
    pub fn observe(&mut self, number: u64, phase: Phase, time: Duration) {
        self.phases[phase as usize].observe(time);
        if let Some(job) = self.jobs.get_mut(&number) {
            add_phase(&mut job.timings, phase, time);
        }
    }
}

impl Class {
    /// Whether it may use what the budgets hold back.
    pub fn urgency(self) -> Urgency {
        match self {
            Class::Winning => Urgency::Urgent,
            _ => Urgency::Bulk,
        }
    }
}

#[cfg(all(test, feature = "testing"))]
mod tests {
    use super::*;
    use crate::engine::{EchoOptions, Engine};

    #[test]
    fn who_lets_the_cpu_prove_more_than_winning_posts_has_memory_for_its_circuits() {
        let total = 64 << 20;
        let circuits = |cpu_fallback: &[Kind]| {
            let cpu_fallback = cpu_fallback.iter().copied().collect();
            let config = Config { cpu_fallback, host_memory_bytes: total, threads: 1, ..Config::default() };
            Engine::open_echo(config, EchoOptions::default()).unwrap().shared.memory.circuits.total()
        };
        assert_eq!(circuits(&[Kind::WinningPoSt]), total / 8);
        assert_eq!(circuits(&[Kind::WinningPoSt, Kind::PoRep]), total / 8 * 5);
    }
}
