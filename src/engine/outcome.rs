//! What comes of batches, loads and checks: proofs, redos, failures.

use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Instant;

use super::budget::Reservation;
use super::control::named;
use super::device::{Batch, Resident};
use super::event::{Phase, Place, Task};
use super::job::{PartState, PartTurn, Seat};
use super::residency::{EntryState, Opened};
use super::shared::{Shared, State};
use super::stats::DeviceState;
use crate::backend::Sums;
use crate::error::{Error, Result};
use crate::groth16::{finish, Proof, PROOF_BYTES};

/// Redos of a partition.
const MAX_REDOS: u32 = 2;
/// Times that a partition is given back by devices before its job fails.
const MAX_RETURNS: u32 = 8;

/// A panic as an error.
pub(super) fn panicked(what: &str, panic: Box<dyn Any + Send>) -> Error {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    Error::Internal(format!("{what} panicked: {}", text.unwrap_or_else(|| "no message".into())))
}

impl Shared {
    /// Runs `work`; a panic is counted and becomes INTERNAL.
    pub fn guarded<T>(&self, what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
            self.lock().counters.panics += 1;
            Err(panicked(what, panic))
        })
    }
}

/// Which partition an outcome is of.
#[derive(Clone, Copy)]
struct At {
    device: usize,
    number: u64,
    part: usize,
    epoch: u64,
}

impl Shared {
    /// A back end is done with item `i` of a batch, which ran inside another call or not. Outcomes that nobody waits for are
    /// dropped.
    pub fn sums_done(self: &Arc<Self>, d: usize, batch: &Batch, i: usize, sums: Result<Sums>, is_inside: bool) {
        let Some(item) = batch.items.get(i) else { return };
        let at = At { device: d, number: item.number, part: item.part, epoch: item.epoch };
        let mut state = self.lock();
        if !state.is_proving(at) {
            return;
        }
        match sums {
            Ok(sums) => self.start_finish(&mut state, at, &batch.opened, sums),
            Err(Error::OutOfMemory { .. }) if is_inside => {
                // What is loaded meanwhile takes the room: once it is done, there may be enough.
                state.units[d].is_crowded = true;
                state.give_back(at);
            }
            Err(error) => self.device_failed(&mut state, at, batch.items.len(), error),
        }
        self.settle(&mut state);
    }

    /// Hands sums over to a pool: assembly and pairing check don't hold up the device.
    fn start_finish(self: &Arc<Self>, state: &mut State, at: At, opened: &Arc<Opened>, sums: Sums) {
        let unit = &mut state.units[at.device];
        unit.partitions += 1;
        unit.panics = 0;
        let Some(seat) = state.leave_device(at) else { return };
        let Some(job) = state.jobs.get_mut(&at.number) else { return };
        let pool = self.pools.finish(job.turn.class);
        let (_, proving) = job.parts[at.part].enter(PartState::Finishing { epoch: at.epoch, seat: Arc::clone(&seat) });
        state.observe(at.number, Phase::Prove, proving);
        state.tasks += 1;
        let (shared, opened) = (Arc::clone(self), Arc::clone(opened));
        pool.spawn(move || {
            let checked = shared
                .guarded("a pairing check", || finish(&opened.circuit, &opened.verifier, &seat.assignment, &sums));
            drop(seat);
            shared.checked(at, &opened, checked);
        });
    }

    /// The pairing check's verdict.
    fn checked(self: &Arc<Self>, at: At, opened: &Arc<Opened>, proof: Result<Proof>) {
        let mut state = self.lock();
        state.tasks -= 1;
        let job = state.jobs.get_mut(&at.number);
        if let Some(job) = job.filter(|job| job.parts[at.part].is_finishing(at.epoch)) {
            let took = job.parts[at.part].since.elapsed();
            state.observe(at.number, Phase::Finish, took);
            match proof {
                Ok(proof) => self.proved(&mut state, at, &proof),
                Err(error) => self.judge(&mut state, at, opened, error),
            }
        }
        self.settle(&mut state);
    }

    fn proved(self: &Arc<Self>, state: &mut State, at: At, proof: &Proof) {
        state.counters.partitions_proved += 1;
        let Some(job) = state.jobs.get_mut(&at.number) else { return };
        state.remains.push(Box::new(job.parts[at.part].enter(PartState::Done).0));
        job.proofs[at.part * PROOF_BYTES..][..PROOF_BYTES].copy_from_slice(&proof.to_bytes());
        job.proved += 1;
        if job.proved == job.parts.len() {
            let proofs = std::mem::take(&mut job.proofs);
            self.end(state, at.number, Ok(proofs), None);
        }
    }

    /// A proof failed its check. A satisfied assignment means a fault of the device: the partition is proved again. An
    /// unsatisfied one means damaged memory, once: it is synthesised again. The last redo reads SRS and R1CS again.
    fn judge(self: &Arc<Self>, state: &mut State, at: At, opened: &Arc<Opened>, error: Error) {
        let unsatisfied = matches!(error, Error::BadWitness { .. });
        let place = Place { phase: Phase::Finish, ..self.place(at) };
        if !unsatisfied && !matches!(error, Error::SelfCheck(_)) {
            return self.end(state, at.number, Err(error), Some(place));
        }
        state.counters.self_check_failures += 1;
        state.counters.unsatisfied += u64::from(unsatisfied);
        let Some(job) = state.jobs.get_mut(&at.number) else { return };
        let part = &mut job.parts[at.part];
        log::warn!("job {}: {error} ({place}), check {} of this partition", at.number, part.failures + 1);
        if unsatisfied && part.unsatisfied || part.failures == MAX_REDOS {
            return self.end(state, at.number, Err(error), Some(place));
        }
        part.failures += 1;
        part.avoid = Some(at.device);
        part.unsatisfied |= unsatisfied;
        let is_last = part.failures == MAX_REDOS;
        job.timings.redos += 1;
        let turn = (job.turn, at.part as u32);
        match part.enter(PartState::Waiting).0 {
            PartState::Finishing { seat, .. } if !unsatisfied => {
                part.enter(PartState::Ready(seat));
                state.ready.insert(turn);
            }
            // An assignment of perhaps 100 MB.
            other => state.remains.push(Box::new(other)),
        }
        state.counters.redos += 1;
        if is_last {
            self.reopen(state, opened);
        }
    }

    /// Reads a circuit again: whoever proves it from now on waits for it. Devices unload what they have.
    fn reopen(&self, state: &mut State, opened: &Arc<Opened>) {
        for circuit in named(state, opened) {
            log::warn!("{circuit}: SRS and R1CS are read again");
            match state.circuits.get_mut(&circuit) {
                Some(entry) if entry.users > 0 => entry.state = EntryState::Wanted,
                // Another name of the file, which nobody uses.
                _ => drop(state.circuits.remove(&circuit)),
            }
        }
        state.files.retain(|_, other| other.upgrade().is_some_and(|other| !Arc::ptr_eq(&other, opened)));
    }

    /// A device has no sums for a partition, out of a batch of `count`.
    fn device_failed(self: &Arc<Self>, state: &mut State, at: At, count: usize, error: Error) {
        let name = self.devices[at.device].name().to_owned();
        let again = match &error {
            // Given up for something more urgent; those that nobody waits for are gone already.
            Error::Cancelled => {
                state.counters.abandoned += 1;
                state.give_back(at);
                if let Some(job) = state.jobs.get_mut(&at.number) {
                    job.parts[at.part].breaks += 1;
                }
                return;
            }
            Error::DeviceLost(_) => {
                self.lose(state, at.device, DeviceState::Lost);
                return;
            }
            Error::OutOfMemory { .. } => {
                state.counters.out_of_memory += 1;
                let limit = &mut state.units[at.device].batch_limit;
                *limit = (*limit).min((count / 2).max(1));
                state.units[at.device].batches_within = 0;
                let others = self.unload_idle(state, at);
                log::warn!("job {}: {error}; batches on {name} are at most {} now", at.number, count.div_ceil(2));
                count > 1 || others
            }
            Error::Closed(_) => {
                // Gone from the device, for whatever reason: it is loaded again, for the whole batch.
                if let Some(id) = state.opened_of(at.number).map(|opened| opened.circuit.id()) {
                    state.units[at.device].resident.remove(&id);
                }
                true
            }
            _ => false,
        };
        let returns = state.jobs.get_mut(&at.number).map(|job| {
            job.parts[at.part].returns += 1;
            job.parts[at.part].returns
        });
        if again && returns.is_some_and(|returns| returns <= MAX_RETURNS) {
            state.counters.redos += 1;
            return state.give_back(at);
        }
        state.leave_device(at);
        let place = Place { phase: Phase::Prove, ..self.place(at) };
        self.end(state, at.number, Err(error), Some(place));
    }

    /// Makes room on a device by giving up circuits that no job uses. Whether there were any.
    fn unload_idle(&self, state: &mut State, at: At) -> bool {
        let Some(own) = state.opened_of(at.number).map(|opened| opened.circuit.id()) else { return false };
        let unit = &state.units[at.device];
        let idle = unit.resident.iter().filter(|(id, resident)| **id != own && !resident.opened.is_winning);
        let idle: Vec<_> =
            idle.filter(|(id, _)| !state.is_used(**id)).map(|(_, resident)| Arc::clone(&resident.opened)).collect();
        idle.iter().flat_map(|opened| named(state, opened)).collect::<Vec<_>>().into_iter().for_each(|circuit| {
            state.give_up(circuit);
        });
        !idle.is_empty()
    }

    /// A batch has returned, or panicked.
    pub fn batch_done(self: &Arc<Self>, d: usize, batch: Batch, called: Result<()>, is_outer: bool) {
        let mut state = self.lock();
        let of = |item: &super::device::Item| At { device: d, number: item.number, part: item.part, epoch: item.epoch };
        let unfinished: Vec<At> = batch.items.iter().map(of).filter(|at| state.is_proving(*at)).collect();
        if let Err(error) = &called {
            self.count_panic(&mut state, d, error);
        }
        let error = match called {
            Err(error) => error,
            Ok(()) => Error::Internal(format!("{} ended a batch without this partition", self.devices[d].name())),
        };
        let several = unfinished.len() > 1;
        for at in unfinished {
            if several {
                // One of them is to blame, and nothing says which: each is proved by itself.
                if let Some(job) = state.jobs.get_mut(&at.number) {
                    job.parts[at.part].alone = true;
                }
                state.counters.redos += 1;
                state.give_back(at);
            } else {
                state.leave_device(at);
                let place = Place { phase: Phase::Prove, ..self.place(at) };
                self.end(&mut state, at.number, Err(error.clone()), Some(place));
            }
        }
        if let Some(resident) = state.units[d].resident.get_mut(&batch.opened.circuit.id()) {
            resident.last_used = Instant::now();
        }
        state.remains.push(Box::new(batch));
        state.units[d].count_batch();
        if is_outer {
            state.units[d].rest();
            state.units[d].is_crowded = false;
        }
        self.settle(&mut state);
    }

    /// A load has returned, or panicked.
    pub fn load_done(
        self: &Arc<Self>,
        d: usize,
        opened: Arc<Opened>,
        memory: Vec<Reservation>,
        loaded: Result<Result<()>>,
        is_outer: bool,
    ) {
        let mut state = self.lock();
        let id = opened.circuit.id();
        state.units[d].loading.retain(|loading| loading.circuit.id() != id);
        if is_outer {
            state.units[d].rest();
            state.units[d].is_crowded = false;
        }
        if let Err(error) = &loaded {
            self.count_panic(&mut state, d, error);
        }
        match loaded.and_then(|loaded| loaded) {
            Ok(()) if state.units[d].is_healthy() => {
                state.counters.loads += 1;
                log::info!("{} loaded on {}", opened.circuit.name(), self.devices[d].name());
                let resident = Resident { opened, _memory: memory, last_used: Instant::now() };
                state.units[d].resident.insert(id, resident);
            }
            // Abandoned, or out of service by now.
            Ok(()) | Err(Error::Cancelled) => drop(memory),
            Err(Error::DeviceLost(_)) => {
                drop(memory);
                self.lose(&mut state, d, DeviceState::Lost);
            }
            Err(error @ Error::OutOfMemory { .. }) if is_outer && state.make_room(d, id) => {
                drop(memory);
                state.counters.out_of_memory += 1;
                log::warn!("{} on {}: {error}; another circuit goes", opened.circuit.name(), self.devices[d].name());
            }
            Err(error) => {
                drop(memory);
                state.counters.out_of_memory += u64::from(matches!(error, Error::OutOfMemory { .. }));
                log::error!("{} on {}: {error}", opened.circuit.name(), self.devices[d].name());
                self.load_failed(&mut state, d, &opened, &error);
            }
        }
        self.settle(&mut state);
    }

    /// Nobody can count on this circuit: those who wait for it are told. The next one who asks tries again.
    fn load_failed(self: &Arc<Self>, state: &mut State, d: usize, opened: &Arc<Opened>, error: &Error) {
        let device = self.devices[d].name();
        self.fail_ready(state, opened, error, Phase::Wait, device);
        self.fail_preloads(state, opened, error, device);
    }

    /// Ends the preloads that wait for `opened` on a device.
    pub fn fail_preloads(&self, state: &mut State, opened: &Arc<Opened>, error: &Error, device: &str) {
        let preloads: Vec<u64> = state
            .commands
            .iter()
            .copied()
            .filter(|number| state.jobs.get(number).is_some_and(|job| job.task == Task::Preload))
            .filter(|number| state.opened_of(*number).is_some_and(|other| Arc::ptr_eq(other, opened)))
            .collect();
        for number in preloads {
            let place = Place { phase: Phase::Wait, partition: None, device: Some(device.to_owned()) };
            self.end(state, number, Err(error.clone()), Some(place));
        }
    }

    /// Ends the jobs whose partitions wait for `opened` on a device.
    pub fn fail_ready(&self, state: &mut State, opened: &Arc<Opened>, error: &Error, phase: Phase, device: &str) {
        let is_it = |turn: &&PartTurn| {
            state.opened_of(turn.0.number).is_some_and(|other| other.circuit.id() == opened.circuit.id())
        };
        let numbers: Vec<u64> = state.ready.iter().filter(is_it).map(|turn| turn.0.number).collect();
        for number in numbers {
            let place = Place { phase, partition: None, device: Some(device.to_owned()) };
            self.end(state, number, Err(error.clone()), Some(place));
        }
    }

    /// A device gets nothing more to do. What it was proving waits for another one.
    pub fn lose(&self, state: &mut State, d: usize, to: DeviceState) {
        if !state.units[d].is_healthy() {
            return;
        }
        log::error!("{} is {to:?}: it gets nothing more to do; only a restart clears this", self.devices[d].name());
        let unit = &mut state.units[d];
        unit.state = to;
        unit.resident.clear();
        unit.loading.clear();
        state.counters.device_faults += 1;
        let on_it: Vec<At> = state
            .jobs
            .values()
            .flat_map(|job| job.parts.iter().enumerate().map(move |(part, value)| (job.number(), part, value)))
            .filter_map(|(number, part, value)| match value.state {
                PartState::Proving { device, epoch, .. } if device == d => Some(At { device, number, part, epoch }),
                _ => None,
            })
            .collect();
        for at in on_it {
            state.counters.redos += 1;
            state.give_back(at);
        }
    }

    /// Ends the jobs that no device can prove.
    pub fn fail_without_device(self: &Arc<Self>, state: &mut State) {
        let able = |state: &State, kind| (0..self.devices.len()).any(|d| self.can_prove(state, d, kind));
        let kinds = crate::circuit::Kind::ALL.map(|kind| (kind, able(state, kind)));
        for (kind, _) in kinds.into_iter().filter(|(_, able)| !able) {
            let of_kind = state.jobs.values().filter(|job| job.kind == Some(kind));
            let numbers: Vec<u64> = of_kind.map(|job| job.number()).collect();
            for number in numbers {
                let place = Place { phase: Phase::Wait, partition: None, device: None };
                self.end(state, number, Err(self.no_device()), Some(place));
            }
        }
    }

    pub fn no_device(&self) -> Error {
        match self.devices.iter().find(|device| !device.fallback) {
            Some(device) => Error::DeviceLost(device.name().to_owned()),
            None => Error::NoDevice("CUDA found none, and the kind isn't in cpu_fallback".into()),
        }
    }

    fn place(&self, at: At) -> Place {
        let device = Some(self.devices[at.device].name().to_owned());
        Place { phase: Phase::Prove, partition: Some(at.part as u32), device }
    }
}

impl State {
    /// Marks a resident other than `circuit` to go, after a load ran out of memory. False if there is none that may.
    fn make_room(&mut self, d: usize, circuit: u64) -> bool {
        let others = self.units[d].resident.iter().filter(|(id, other)| **id != circuit && !other.opened.is_winning);
        let others = others.map(|(id, other)| (self.is_used(*id), other.opened.regret(other.last_used), *id));
        let victim = others.min_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        self.units[d].unwanted.extend(victim.map(|(_, _, id)| id));
        victim.is_some()
    }

    fn is_proving(&self, at: At) -> bool {
        self.jobs.get(&at.number).is_some_and(|job| job.parts[at.part].is_proving(at.epoch))
    }

    /// A partition is no longer on its device; its seat, unless it has left before.
    fn leave_device(&mut self, at: At) -> Option<Arc<Seat>> {
        let part = self.jobs.get(&at.number).map(|job| &job.parts[at.part]);
        match part.map(|part| &part.state) {
            Some(PartState::Proving { epoch, seat, .. }) if *epoch == at.epoch => Some(Arc::clone(seat)),
            _ => None,
        }
    }

    /// Puts a partition back among those that wait for a device.
    fn give_back(&mut self, at: At) {
        let Some(seat) = self.leave_device(at) else { return };
        let Some(job) = self.jobs.get_mut(&at.number) else { return };
        job.parts[at.part].enter(PartState::Ready(seat));
        self.ready.insert((job.turn, at.part as u32));
    }
}
