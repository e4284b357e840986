//! What a device does next, and the flags that tell a running call that something else should be done.

use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

use super::budget::Reservation;
use super::control::MAX_BREAKS;
use super::device::{Batch, Item, Resident, Unit};
use super::event::{Phase, Task};
use super::job::{Class, Part, PartState, PartTurn};
use super::residency::Opened;
use super::shared::{Shared, State};
use crate::circuit::Kind;
use crate::error::Result;

/// What a device's thread is told.
pub(super) enum Order {
    /// The engine closes.
    Stop,
    /// The device gets nothing more to do.
    Leave,
    Prove(Batch),
    Load(Arc<Opened>, Vec<Reservation>),
    Unload(Resident),
    Trim,
    /// Start anew after a panic.
    Renew,
}

/// What can be done about a circuit that a device hasn't loaded.
enum Room {
    /// It can be loaded.
    Taken(Vec<Reservation>),
    /// This one has to go first.
    Victim(u64),
    /// It has to wait.
    None,
}

/// How long a partition waits before another circuit of its own class, still at work, is unloaded for its sake; and a
/// second for each of these bytes of its file on top, so that switching costs little of the time.
const PATIENCE: Duration = Duration::from_secs(5);
const PATIENCE_BYTES_PER_SECOND: u64 = 4 << 30;

impl Shared {
    /// What device `d` does next; None if there is nothing.
    pub fn choose(&self, state: &mut State, d: usize) -> Option<Order> {
        if state.closed {
            return Some(Order::Stop);
        }
        if !state.units[d].is_healthy() {
            return Some(Order::Leave);
        }
        if state.units[d].is_shaken {
            return Some(Order::Renew);
        }
        let unit = &state.units[d];
        let unwanted = |circuit: &u64| unit.unwanted.contains(circuit) || !state.is_named(*circuit);
        if let Some(circuit) = unit.resident.keys().copied().find(unwanted) {
            return state.units[d].unload(circuit);
        }
        if std::mem::take(&mut state.units[d].trim_wanted) {
            state.units[d].unloading += 1;
            return Some(Order::Trim);
        }
        self.choose_work(state, d)
    }

    fn choose_work(&self, state: &mut State, d: usize) -> Option<Order> {
        if let Some(order) = self.choose_preload(state, d, false) {
            return Some(order);
        }
        let turns: Vec<PartTurn> = state.ready.iter().copied().filter(|turn| self.may_prove(state, d, *turn)).collect();
        for turn in turns {
            let Some(opened) = state.opened_of(turn.0.number).map(Arc::clone) else { continue };
            if state.units[d].resident.contains_key(&opened.circuit.id()) {
                return Some(Order::Prove(self.take_batch(state, d, turn)));
            }
            if self.is_elsewhere(state, d, turn, opened.circuit.id()) {
                continue;
            }
            match self.room(state, d, &opened, Some(turn)) {
                Ok(Room::Taken(memory)) => return Some(self.load(state, d, &opened, memory)),
                Ok(Room::Victim(victim)) => return state.units[d].unload(victim),
                Ok(Room::None) => {}
                Err(error) => {
                    let device = self.devices[d].name();
                    self.fail_ready(state, &opened, &error, Phase::Wait, device);
                }
            }
        }
        // Nothing else to do: a preload may take the place of what is idle.
        self.choose_preload(state, d, true)
    }

    /// What a preload has device `d` do. Preloads for which there can be no room end here.
    fn choose_preload(&self, state: &mut State, d: usize, may_unload: bool) -> Option<Order> {
        loop {
            let opened = self.wanted_preload(state, d)?;
            match self.room(state, d, &opened, None) {
                Ok(Room::Taken(memory)) => return Some(self.load(state, d, &opened, memory)),
                Ok(Room::Victim(victim)) if may_unload => return state.units[d].unload(victim),
                Ok(_) => return None,
                Err(error) => self.fail_preloads(state, &opened, &error, self.devices[d].name()),
            }
        }
    }

    fn load(&self, state: &mut State, d: usize, opened: &Arc<Opened>, memory: Vec<Reservation>) -> Order {
        state.units[d].loading.push(Arc::clone(opened));
        Order::Load(Arc::clone(opened), memory)
    }

    /// A circuit that a command wants on this device.
    fn wanted_preload(&self, state: &State, d: usize) -> Option<Arc<Opened>> {
        let preloads = state.commands.iter().filter_map(|number| state.jobs.get(number));
        let circuits = preloads.filter(|job| job.task == Task::Preload).filter_map(|job| job.circuit);
        let mut wanted = circuits.filter(|circuit| self.can_prove(state, d, circuit.kind()));
        wanted.find_map(|circuit| {
            let opened = state.opened(circuit)?;
            (!state.units[d].resident.contains_key(&opened.circuit.id())).then(|| Arc::clone(opened))
        })
    }

    /// Whether device `d` can be given work of `kind` at all.
    pub fn can_prove(&self, state: &State, d: usize, kind: Kind) -> bool {
        let device = &self.devices[d];
        let others = || (0..self.devices.len()).filter(|&other| !self.devices[other].fallback);
        state.units[d].is_healthy()
            && (!device.reserved || kind == Kind::WinningPoSt)
            && (!device.fallback
                || self.config.cpu_fallback.contains(&kind)
                    && !others().any(|other| self.can_prove(state, other, kind)))
    }

    /// Whether device `d` may prove this partition now.
    fn may_prove(&self, state: &State, d: usize, (turn, part): PartTurn) -> bool {
        let Some(job) = state.jobs.get(&turn.number) else { return false };
        let Some(kind) = job.kind else { return false };
        let shunned = job.parts[part as usize].avoid == Some(d);
        let others = || (0..self.devices.len()).any(|other| other != d && self.can_prove(state, other, kind));
        self.can_prove(state, d, kind) && !(shunned && others())
    }

    /// Whether another device will prove this partition soon, so that loading its circuit here isn't worth it.
    fn is_elsewhere(&self, state: &State, d: usize, turn: PartTurn, circuit: u64) -> bool {
        state.units.iter().enumerate().any(|(other, unit)| {
            let idle = unit.busy_since.is_none() && unit.resident.contains_key(&circuit);
            other != d && (unit.is_loading(circuit) || idle) && self.may_prove(state, other, turn)
        })
    }

    /// Memory for a circuit on device `d`, or who has to go for it. Errors: OUT_OF_MEMORY if it can never fit.
    fn room(&self, state: &mut State, d: usize, opened: &Opened, turn: Option<PartTurn>) -> Result<Room> {
        let footprint = self.devices[d].backend.footprint(&opened.circuit);
        let Some(on_device) = self.room_on_device(state, d, footprint.device_bytes, opened.is_winning) else {
            return Ok(self.victim(state, d, turn).map_or(Room::None, Room::Victim));
        };
        let urgency = if opened.is_winning { Class::Winning } else { Class::Bulk }.urgency();
        loop {
            let error = match self.memory.circuits.try_reserve(footprint.host_bytes, urgency) {
                Ok(on_host) => return Ok(Room::Taken(vec![on_device, on_host])),
                Err(error) => error,
            };
            if footprint.host_bytes > self.memory.circuits.limit(urgency) {
                return Err(error);
            }
            if let Some(victim) = self.victim(state, d, turn) {
                return Ok(Room::Victim(victim));
            }
            let Some(idle) = state.idle_victim() else {
                return if self.will_come_back(state, opened) { Ok(Room::None) } else { Err(error) };
            };
            state.give_up(idle);
            self.changed.notify_all();
        }
    }

    /// `bytes` of a device's memory. Beside WinningPoSts' circuits, which stay, less will do: the back end streams what
    /// doesn't fit. None if others have to go first.
    fn room_on_device(&self, state: &State, d: usize, bytes: u64, is_winning: bool) -> Option<Reservation> {
        let memory = &self.devices[d].memory;
        let urgency = if is_winning { Class::Winning } else { Class::Bulk }.urgency();
        if let Ok(taken) = memory.try_reserve(bytes, urgency) {
            return Some(taken);
        }
        let unit = &state.units[d];
        let resident = unit.resident.values().map(|resident| &resident.opened);
        if resident.chain(&unit.loading).any(|other| !other.is_winning) {
            return None;
        }
        memory.try_reserve(memory.limit(urgency).saturating_sub(memory.used()), urgency).ok()
    }

    /// Whether others hold memory that they give back some day.
    fn will_come_back(&self, state: &State, opened: &Opened) -> bool {
        let gives_back = |other: &Opened| !other.is_winning && other.circuit.id() != opened.circuit.id();
        let resident = state.units.iter().flat_map(|unit| unit.resident.values().map(|resident| &resident.opened));
        let loading = state.units.iter().flat_map(|unit| &unit.loading);
        let open = state.circuits.values().filter_map(|entry| entry.opened());
        resident.chain(loading).chain(open).any(|other| gives_back(other))
    }

    /// The resident that goes for the sake of the partition at `turn`, or of a preload: an idle one if there is one, then
    /// one of a lower class, then, after long waiting, one of the same.
    fn victim(&self, state: &State, d: usize, turn: Option<PartTurn>) -> Option<u64> {
        let candidates = state.units[d].resident.iter().filter(|(_, resident)| !resident.opened.is_winning);
        let mut candidates: Vec<_> = candidates
            .map(|(id, resident)| (state.is_used(*id), resident.opened.regret(resident.last_used), *id))
            .collect();
        candidates.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
        let (used, _, id) = *candidates.first()?;
        if !used {
            return Some(id);
        }
        let (turn, part) = turn?;
        let lowest =
            state.ready.iter().filter(|(other, _)| state.is_of(other.number, id)).map(|(other, _)| other.class);
        let class = lowest.min().unwrap_or(Class::Bulk);
        if turn.class < class {
            return Some(id);
        }
        let job = state.jobs.get(&turn.number)?;
        let size = state.opened_of(turn.number)?.file_bytes;
        let patience = PATIENCE + Duration::from_secs(size / PATIENCE_BYTES_PER_SECOND);
        let no_work = !state.ready.iter().any(|(other, _)| state.is_of(other.number, id));
        (no_work || job.parts[part as usize].since.elapsed() > patience).then_some(id)
    }

    /// Takes the partition at `first` and those behind it that go with it: of the same circuit, ready, and no more than
    /// leaves something for other devices that are idle.
    pub fn take_batch(&self, state: &mut State, d: usize, first: PartTurn) -> Batch {
        let opened = Arc::clone(state.opened_of(first.0.number).expect("a ready partition's circuit is open"));
        let id = opened.circuit.id();
        let mut turns: Vec<PartTurn> = state.ready.range(first..).copied().collect();
        turns.retain(|turn| state.is_of(turn.0.number, id) && self.may_prove(state, d, *turn));
        let kind = state.jobs[&first.0.number].kind.expect("a request has a kind");
        let idle = (0..self.devices.len()).filter(|&other| {
            other != d && state.units[other].busy_since.is_none() && self.can_prove(state, other, kind)
        });
        let share = turns.len().div_ceil(idle.count() + 1);
        let most = self.devices[d].backend.max_batch(&opened.circuit).min(state.units[d].batch_limit).min(share).max(1);
        if state.is_alone(first) {
            turns.truncate(1);
        } else {
            turns.retain(|turn| !state.is_alone(*turn));
            turns.truncate(most);
        }
        let items = turns.into_iter().map(|turn| self.take(state, d, turn)).collect();
        state.counters.batches += 1;
        Batch { opened, class: first.0.class, items }
    }

    /// Moves a ready partition onto device `d`.
    fn take(&self, state: &mut State, d: usize, turn: PartTurn) -> Item {
        let epoch = state.epoch();
        state.ready.remove(&turn);
        let job = state.jobs.get_mut(&turn.0.number).expect("a ready partition has a job");
        let part = &mut job.parts[turn.1 as usize];
        let PartState::Ready(seat) = &part.state else { unreachable!("partitions in `ready` are ready") };
        let seat = Arc::clone(seat);
        let (life, breaks) = (Arc::clone(&job.life), part.breaks);
        let (_, waited) = part.enter(PartState::Proving { device: d, epoch, seat: Arc::clone(&seat) });
        if self.devices[d].fallback && !std::mem::replace(&mut job.on_fallback, true) {
            state.counters.cpu_fallbacks += 1;
            let kind = job.kind.map_or("", Kind::name);
            log::warn!("job {}: {kind} is proved on the CPU, since no device can", turn.0.number);
        }
        state.observe(turn.0.number, Phase::Wait, waited);
        Item { number: turn.0.number, part: turn.1 as usize, epoch, breaks, life, seat }
    }

    /// The urgent work of a device that is inside a call: a WinningPoSt, to be loaded first or proved.
    pub fn choose_urgent(&self, state: &mut State, d: usize) -> Option<Order> {
        if state.closed || !state.units[d].is_healthy() || state.units[d].is_crowded {
            return None;
        }
        let turn = state.ready.iter().copied().find(|turn| self.may_prove(state, d, *turn))?;
        if turn.0.class != Class::Winning {
            return None;
        }
        let opened = Arc::clone(state.opened_of(turn.0.number)?);
        if state.units[d].resident.contains_key(&opened.circuit.id()) {
            return Some(Order::Prove(self.take_batch(state, d, turn)));
        }
        if state.units[d].is_loading(opened.circuit.id()) {
            return None;
        }
        match self.room(state, d, &opened, Some(turn)) {
            Ok(Room::Taken(memory)) => Some(self.load(state, d, &opened, memory)),
            _ => None,
        }
    }

    /// What a device proves inside a load: the first in order whose circuit is resident.
    pub fn choose_nested(&self, state: &mut State, d: usize) -> Option<Order> {
        if let Some(order) = self.choose_urgent(state, d) {
            return Some(order);
        }
        if state.closed || !state.units[d].is_healthy() || state.units[d].is_shaken || state.units[d].is_crowded {
            return None;
        }
        // A WinningPoSt that finds no room here would have whatever is begun dropped at once, again and again.
        let mut first = state.ready.iter().take_while(|turn| turn.0.class == Class::Winning);
        if first.any(|turn| self.is_for_call(state, d, *turn)) {
            return None;
        }
        let turn = state.ready.iter().copied().find(|turn| self.is_at_hand(state, d, *turn))?;
        Some(Order::Prove(self.take_batch(state, d, turn)))
    }

    fn is_at_hand(&self, state: &State, d: usize, turn: PartTurn) -> bool {
        let is_resident = |opened: &Arc<Opened>| state.units[d].resident.contains_key(&opened.circuit.id());
        state.opened_of(turn.0.number).is_some_and(is_resident) && self.may_prove(state, d, turn)
    }

    /// Tells running calls what waits for their devices.
    pub fn set_flags(&self, state: &mut State) {
        let waiting: Vec<PartTurn> =
            state.ready.iter().copied().filter(|turn| state.opened_of(turn.0.number).is_some()).collect();
        let making_way = self.making_way(state, &waiting);
        for (d, device) in self.devices.iter().enumerate() {
            let mut winning = waiting.iter().filter(|turn| turn.0.class == Class::Winning);
            let urgent =
                winning.any(|turn| self.is_for_call(state, d, *turn) && !self.is_free_elsewhere(state, Some(d), *turn));
            device.urgent.store(urgent, Ordering::Relaxed);
            device.window.store(making_way.contains(&d), Ordering::Relaxed);
            let nested = !state.units[d].is_crowded && waiting.iter().any(|turn| self.is_at_hand(state, d, *turn));
            device.nested.store(nested, Ordering::Relaxed);
        }
    }

    /// Whether a call that device `d` is in could make way for this partition.
    fn is_for_call(&self, state: &State, d: usize, turn: PartTurn) -> bool {
        let circuit = state.opened_of(turn.0.number).map(|opened| opened.circuit.id());
        let here = circuit.is_some_and(|circuit| state.units[d].is_loading(circuit));
        !here && !state.units[d].is_crowded && self.may_prove(state, d, turn)
    }

    /// Devices whose bulk makes way for WindowPoSts: one for each of those that wait, best one that has its circuit.
    fn making_way(&self, state: &State, waiting: &[PartTurn]) -> Vec<usize> {
        let mut chosen = Vec::new();
        for turn in waiting.iter().filter(|turn| turn.0.class == Class::Window) {
            let can = |d: &usize| {
                let in_load = !state.units[*d].loading.is_empty();
                self.is_for_call(state, *d, *turn)
                    && !chosen.contains(d)
                    && !state.proves_post(*d)
                    && (!in_load || self.is_at_hand(state, *d, *turn))
            };
            if self.is_free_elsewhere(state, None, *turn) {
                continue;
            }
            let able = (0..self.devices.len()).filter(can);
            chosen.extend(able.min_by_key(|d| (!self.is_at_hand(state, *d, *turn), !state.makes_way_at_once(*d))));
        }
        chosen
    }

    /// Whether an idle device other than `d` can take this partition, or one that is loading its circuit.
    fn is_free_elsewhere(&self, state: &State, d: Option<usize>, turn: PartTurn) -> bool {
        let circuit = state.opened_of(turn.0.number).map(|opened| opened.circuit.id());
        state.units.iter().enumerate().any(|(other, unit)| {
            let loading = circuit.is_some_and(|circuit| unit.is_loading(circuit));
            Some(other) != d && (unit.busy_since.is_none() || loading) && self.may_prove(state, other, turn)
        })
    }
}

impl Unit {
    fn is_loading(&self, circuit: u64) -> bool {
        self.loading.iter().any(|opened| opened.circuit.id() == circuit)
    }

    /// Takes a resident out, to be unloaded.
    fn unload(&mut self, circuit: u64) -> Option<Order> {
        let resident = self.resident.remove(&circuit)?;
        self.unwanted.retain(|other| *other != circuit);
        self.unloading += 1;
        Some(Order::Unload(resident))
    }
}

impl State {
    /// Whether a job proves the opened circuit `id`.
    fn is_of(&self, number: u64, id: u64) -> bool {
        self.opened_of(number).is_some_and(|opened| opened.circuit.id() == id)
    }

    /// Partitions that device `d` is proving, the most urgent first.
    fn proving_on(&self, d: usize) -> impl Iterator<Item = (Class, &Part)> {
        let jobs = self.active.iter().filter_map(|turn| Some((turn.class, self.jobs.get(&turn.number)?)));
        let parts = jobs.flat_map(|(class, job)| job.parts.iter().map(move |part| (class, part)));
        parts.filter(move |(_, part)| matches!(part.state, PartState::Proving { device, .. } if device == d))
    }

    /// Whether device `d` is proving a PoSt.
    fn proves_post(&self, d: usize) -> bool {
        self.proving_on(d).any(|(class, _)| class < Class::Bulk)
    }

    /// Whether what device `d` proves may be dropped for a WindowPoSt, as [`ProveControl`](super::control::ProveControl) does.
    fn makes_way_at_once(&self, d: usize) -> bool {
        self.proving_on(d).all(|(_, part)| part.breaks < MAX_BREAKS)
    }

    fn is_alone(&self, (turn, part): PartTurn) -> bool {
        self.jobs.get(&turn.number).is_some_and(|job| job.parts[part as usize].alone)
    }
}
