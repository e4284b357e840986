//! Circuits on the host: opened once, counted, given up when memory is wanted.

use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::budget::Reservation;
use super::event::{Phase, Place, Progress, Task};
use super::job::{Class, JobState, Stage};
use super::library::identity;
use super::logs;
use super::pools::STACK_BYTES;
use super::shared::{Shared, State};
use crate::assignment::{Layout, Layouts};
use crate::backend::Circuit;
use crate::circuit::CircuitId;
use crate::error::{Error, Result};
use crate::groth16::Verifier;
use crate::srs::{SrsCheck, SrsFile, SrsOptions};

/// An open circuit. Several names of one file share it.
pub(super) struct Opened {
    pub circuit: Arc<Circuit>,
    pub layouts: Arc<Layouts>,
    pub verifier: Verifier,
    pub constraints: u64,
    /// Bytes of a partition's assignment.
    pub assignment_bytes: u64,
    /// Bytes of the file: what loading it again costs.
    pub file_bytes: u64,
    /// A WinningPoSt's: never a victim.
    pub is_winning: bool,
}

/// A circuit that is open or wanted.
pub(super) struct Entry {
    pub state: EntryState,
    /// Jobs and commands that use it.
    pub users: u32,
    pub last_used: Instant,
}

pub(super) enum EntryState {
    /// To be opened.
    Wanted,
    Opening,
    Open {
        opened: Arc<Opened>,
        /// Held for what it gives back.
        _memory: Reservation,
    },
}

/// Percentages of a preload's progress at which its parts begin.
const PROGRESS_CHECK: u64 = 10;
const PROGRESS_LOAD: u64 = 50;

impl Entry {
    pub fn opened(&self) -> Option<&Arc<Opened>> {
        match &self.state {
            EntryState::Open { opened, .. } => Some(opened),
            _ => None,
        }
    }
}

impl State {
    pub fn opened(&self, circuit: CircuitId) -> Option<&Arc<Opened>> {
        self.circuits.get(&circuit)?.opened()
    }

    /// The opened circuit that a job proves.
    pub fn opened_of(&self, number: u64) -> Option<&Arc<Opened>> {
        self.opened(self.jobs.get(&number)?.circuit?)
    }

    /// Counts a job among the users of `circuit`, which is then opened if it isn't yet.
    pub fn hold_circuit(&mut self, number: u64, circuit: CircuitId) {
        let Some(job) = self.jobs.get_mut(&number).filter(|job| !job.holds_circuit) else { return };
        job.circuit = Some(circuit);
        job.holds_circuit = true;
        let fresh = || Entry { state: EntryState::Wanted, users: 0, last_used: Instant::now() };
        let entry = self.circuits.entry(circuit).or_insert_with(fresh);
        entry.users += 1;
        entry.last_used = Instant::now();
    }

    /// One user less.
    pub fn release_circuit(&mut self, circuit: CircuitId) {
        if let Some(entry) = self.circuits.get_mut(&circuit) {
            entry.users -= 1;
            entry.last_used = Instant::now();
            if entry.users == 0 && matches!(entry.state, EntryState::Wanted) {
                self.circuits.remove(&circuit);
            }
        }
    }

    /// Forgets an open circuit that nobody uses; devices that have it resident unload it then.
    pub fn give_up(&mut self, circuit: CircuitId) -> bool {
        let idle = |entry: &Entry| entry.users == 0 && matches!(entry.state, EntryState::Open { .. });
        let gone = self.circuits.get(&circuit).is_some_and(idle);
        if gone {
            self.circuits.remove(&circuit);
        }
        gone
    }

    /// The idle circuit that is missed least: unused for long, and cheap to load again. Never a WinningPoSt's.
    pub fn idle_victim(&self) -> Option<CircuitId> {
        let idle = self.circuits.iter().filter_map(|(circuit, entry)| {
            let opened = entry.opened().filter(|opened| entry.users == 0 && !opened.is_winning)?;
            Some((*circuit, opened.regret(entry.last_used)))
        });
        idle.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(circuit, _)| circuit)
    }

    /// Whether some name stands for this opened circuit.
    pub fn is_named(&self, circuit: u64) -> bool {
        self.circuits.values().any(|entry| entry.opened().is_some_and(|opened| opened.circuit.id() == circuit))
    }

    /// Whether unfinished requests or commands use this opened circuit.
    pub fn is_used(&self, circuit: u64) -> bool {
        let is_it = |entry: &Entry| entry.opened().is_some_and(|opened| opened.circuit.id() == circuit);
        self.circuits.values().any(|entry| entry.users > 0 && is_it(entry))
    }
}

impl Opened {
    /// Bytes to be read again for each second that it wasn't used.
    pub fn regret(&self, last_used: Instant) -> f64 {
        self.file_bytes as f64 / last_used.elapsed().as_secs_f64().max(1e-3)
    }
}

impl Shared {
    /// Starts opening every circuit that is wanted and that there is memory for.
    pub fn start_opens(self: &Arc<Self>, state: &mut State) {
        let is_wanted = |entry: &Entry| entry.users > 0 && matches!(entry.state, EntryState::Wanted);
        let mut wanted: Vec<_> =
            state.circuits.iter().filter(|(_, entry)| is_wanted(entry)).map(|(circuit, _)| *circuit).collect();
        wanted.sort_by_key(|circuit| Class::of(circuit.kind()));
        for circuit in wanted {
            match self.reserve_open(state, circuit) {
                Ok(Some(memory)) => self.start_open(state, circuit, memory),
                Ok(None) => {}
                Err(error) => self.fail_users(state, circuit, &error, Phase::Open, None),
            }
        }
    }

    /// Memory for an open circuit, by giving up idle ones if need be; None if it has to be waited for.
    fn reserve_open(&self, state: &mut State, circuit: CircuitId) -> Result<Option<Reservation>> {
        let urgency = Class::of(circuit.kind()).urgency();
        loop {
            match self.memory.circuits.try_reserve(self.library.open_bytes(circuit), urgency) {
                Ok(memory) => return Ok(Some(memory)),
                Err(error) => {
                    let Some(victim) = state.idle_victim() else {
                        // Shares that are held come back when the jobs that use their circuits have ended.
                        return if self.memory.circuits.used() > 0 { Ok(None) } else { Err(error) };
                    };
                    log::info!("{victim} is given up to open {circuit}");
                    state.give_up(victim);
                }
            }
        }
    }

    fn start_open(self: &Arc<Self>, state: &mut State, circuit: CircuitId, memory: Reservation) {
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name(format!("cuzk-open-{circuit}")).stack_size(STACK_BYTES);
        let spawned = thread.spawn(move || {
            logs::adopt(&shared.sink);
            let opened = shared.guarded("opening a circuit", || shared.open(circuit));
            shared.opened(circuit, memory, opened);
        });
        match spawned {
            Ok(_) => {
                state.tasks += 1;
                if let Some(entry) = state.circuits.get_mut(&circuit) {
                    entry.state = EntryState::Opening;
                }
            }
            Err(error) => {
                let error = Error::Internal(format!("a thread to open {circuit}: {error}"));
                self.fail_users(state, circuit, &error, Phase::Open, None);
            }
        }
    }

    /// Takes an opened circuit in, or tells everyone who waits for it. A failure isn't kept: the next one tries anew.
    fn opened(self: &Arc<Self>, circuit: CircuitId, memory: Reservation, opened: Result<Arc<Opened>>) {
        let mut state = self.lock();
        state.tasks -= 1;
        match opened {
            Ok(opened) => {
                state.counters.opens += 1;
                if let Some(entry) = state.circuits.get_mut(&circuit) {
                    entry.state = EntryState::Open { opened, _memory: memory };
                }
            }
            Err(error) => {
                drop(memory);
                self.fail_users(&mut state, circuit, &error, Phase::Open, None);
                state.circuits.remove(&circuit);
            }
        }
        self.settle(&mut state);
    }

    /// Ends every job and command that uses `circuit`.
    pub fn fail_users(
        self: &Arc<Self>,
        state: &mut State,
        circuit: CircuitId,
        error: &Error,
        phase: Phase,
        device: Option<&str>,
    ) {
        let users = state.jobs.values().filter(|job| job.holds_circuit && job.circuit == Some(circuit));
        let users: Vec<u64> = users.filter(|job| job.stage != Stage::Queued).map(|job| job.number()).collect();
        for number in users {
            let place = Place { phase, partition: None, device: device.map(str::to_owned) };
            self.end(state, number, Err(error.clone()), Some(place));
        }
    }

    /// Opens SRS and R1CS, once for all names of a file.
    fn open(self: &Arc<Self>, circuit: CircuitId) -> Result<Arc<Opened>> {
        let path = self.library.params(circuit)?;
        let hash = self.library.structural_hash(circuit);
        let Some(key) = identity(&path).map(|(device, inode)| (device, inode, hash)) else {
            return self.open_files(circuit);
        };
        let mut state = self.lock();
        while state.opening.contains(&key) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(opened) = state.files.get(&key).and_then(std::sync::Weak::upgrade) {
            return Ok(opened);
        }
        state.opening.insert(key);
        drop(state);
        let opened = self.guarded("opening a circuit", || self.open_files(circuit));
        let mut state = self.lock();
        state.opening.remove(&key);
        if let Ok(opened) = &opened {
            state.files.retain(|_, other| other.strong_count() > 0);
            state.files.insert(key, Arc::downgrade(opened));
        }
        self.changed.notify_all();
        opened
    }

    fn open_files(self: &Arc<Self>, circuit: CircuitId) -> Result<Arc<Opened>> {
        let begun = Instant::now();
        let options = SrsOptions {
            allow_unknown_params: self.config.allow_unknown_params,
            check: SrsCheck::OnCurve,
            cache_dir: self.config.cache_dir.clone(),
        };
        self.report_progress(circuit, 0);
        let path = self.library.params(circuit)?;
        let opened = self.pools.open(Class::of(circuit.kind())).install(|| {
            let srs = SrsFile::open(&path, &options)?;
            let r1cs = self.library.r1cs(circuit)?;
            self.report_progress(circuit, PROGRESS_CHECK);
            srs.verify(self.config.srs_check, options.cache_dir.as_deref(), &mut |percent| {
                let part = u64::from(percent) * (PROGRESS_LOAD - PROGRESS_CHECK) / 100;
                self.report_progress(circuit, PROGRESS_CHECK + part);
                match self.lock().circuits.get(&circuit).is_some_and(|entry| entry.users > 0) {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
            let layout = self.library.layout(circuit, &r1cs)?;
            Opened::new(circuit, r1cs, layout, srs)
        })?;
        log::info!("{circuit} opened in {:.3} s", begun.elapsed().as_secs_f64());
        Ok(Arc::new(opened))
    }

    /// Tells preloads of `circuit` how far it is; 100 is said by success alone.
    pub fn report_progress(&self, circuit: CircuitId, percent: u64) {
        let mut state = self.lock();
        let is_it = |job: &&mut JobState| job.task == Task::Preload && job.circuit == Some(circuit);
        for job in state.jobs.values_mut().filter(is_it) {
            // Several devices load one after another: what was told once is never taken back.
            job.progress = job.progress.max(percent.min(99) as u8);
            self.events.progress(Progress { tag: job.tag, circuit, percent: job.progress });
        }
    }

    /// The same for a load on a device.
    pub fn report_load(&self, circuit: CircuitId, done: u64, total: u64) {
        let part = (100 - PROGRESS_LOAD) * done.min(total) / total.max(1);
        self.report_progress(circuit, PROGRESS_LOAD + part);
    }
}

impl Opened {
    fn new(circuit: CircuitId, r1cs: crate::r1cs::R1cs, layout: Layout, srs: SrsFile) -> Result<Self> {
        let assignment_bytes = u64::from(r1cs.input_count) * 32
            + 8 * u64::from(layout.aux_count()).div_ceil(64)
            + 32 * u64::from(layout.full_count());
        Ok(Opened {
            verifier: Verifier::new(srs.vk()),
            constraints: r1cs.row_count() - u64::from(r1cs.input_count),
            assignment_bytes,
            file_bytes: srs.stat().size,
            is_winning: Class::of(circuit.kind()) == Class::Winning,
            circuit: Circuit::new(circuit.to_string(), Arc::new(r1cs), Arc::new(srs))?,
            layouts: Arc::new(Layouts::pinned(layout)),
        })
    }
}
