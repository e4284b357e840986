//! The engine's hand on running calls: what their questions are answered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::choose::Order;
use super::device::Batch;
use super::job::Class;
use super::residency::Opened;
use super::shared::{Shared, State};
use crate::backend::{Answer, Backend, Control};
use crate::circuit::CircuitId;

/// Of a batch.
pub(super) struct ProveControl<'a> {
    shared: &'a Arc<Shared>,
    device: usize,
    batch: &'a Batch,
    may_yield: bool,
    /// By item: finished, or told to be dropped.
    settled: Mutex<Vec<bool>>,
    /// An item is finished and a WindowPoSt waited then: the rest is to be given back.
    abandon: AtomicBool,
    /// Whether a WindowPoSt may have partitions dropped that are being proved.
    may_break: bool,
}

/// Times that a partition is given back unfinished before no WindowPoSt drops it any more: they go before the next partition,
/// so that a stream of them can't keep one from ever being finished.
pub(super) const MAX_BREAKS: u32 = 2;

/// Of a load.
pub(super) struct LoadControl<'a> {
    shared: &'a Arc<Shared>,
    device: usize,
    opened: &'a Arc<Opened>,
    may_yield: bool,
}

impl<'a> ProveControl<'a> {
    pub fn new(shared: &'a Arc<Shared>, device: usize, batch: &'a Batch, may_yield: bool) -> Self {
        let settled = Mutex::new(vec![false; batch.items.len()]);
        let may_break = batch.items.iter().all(|item| item.breaks < MAX_BREAKS);
        ProveControl { shared, device, batch, may_yield, settled, abandon: AtomicBool::new(false), may_break }
    }

    /// Notes that item `i` is finished.
    pub fn finished(&self, i: usize) {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)[i] = true;
        if self.window_waits() {
            self.abandon.store(true, Ordering::Relaxed);
        }
    }

    fn is_urgent(&self) -> bool {
        self.batch.opened.is_winning
    }

    /// Whether a WindowPoSt waits that goes before this batch.
    fn window_waits(&self) -> bool {
        self.batch.class == Class::Bulk && self.shared.devices[self.device].window.load(Ordering::Relaxed)
    }

    /// Items that nobody waits for any more, or all if the batch is given up. Each is named once.
    fn drops(&self) -> Vec<usize> {
        let device = &self.shared.devices[self.device];
        // Inside a load nothing can be put in between, so a batch there makes way.
        let urgent = !self.may_yield && !self.is_urgent() && device.urgent.load(Ordering::Relaxed);
        let all = urgent || self.abandon.load(Ordering::Relaxed) || self.may_break && self.window_waits();
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = |i: &usize| !settled[*i] && (all || self.batch.items[*i].life.has_ended());
        let drops: Vec<usize> = (0..self.batch.items.len()).filter(dropped).collect();
        drops.iter().for_each(|i| settled[*i] = true);
        drops
    }
}

impl Control for ProveControl<'_> {
    fn ask(&self) -> Answer {
        let device = &self.shared.devices[self.device];
        device.touch(&self.shared.clock);
        let drops = self.drops();
        if !drops.is_empty() {
            return Answer::Drop(drops);
        }
        match self.may_yield && !self.is_urgent() && device.urgent.load(Ordering::Relaxed) {
            true => Answer::Yield,
            false => Answer::Continue,
        }
    }

    fn run_urgent(&self, backend: &dyn Backend) {
        run_inside(self.shared, self.device, backend, Shared::choose_urgent);
    }
}

impl<'a> LoadControl<'a> {
    pub fn new(shared: &'a Arc<Shared>, device: usize, opened: &'a Arc<Opened>, may_yield: bool) -> Self {
        LoadControl { shared, device, opened, may_yield }
    }

    /// Whether nobody wants the circuit any more. Asks for the engine's lock, so not at every question.
    fn is_unwanted(&self) -> bool {
        match self.shared.state.try_lock() {
            Ok(state) => state.closed || !state.is_named(self.opened.circuit.id()),
            Err(_) => false,
        }
    }
}

impl Control for LoadControl<'_> {
    fn ask(&self) -> Answer {
        let device = &self.shared.devices[self.device];
        device.touch(&self.shared.clock);
        if self.is_unwanted() {
            return Answer::Drop(vec![0]);
        }
        let waits = device.urgent.load(Ordering::Relaxed) || device.nested.load(Ordering::Relaxed);
        match self.may_yield && waits {
            true => Answer::Yield,
            false => Answer::Continue,
        }
    }

    fn run_urgent(&self, backend: &dyn Backend) {
        run_inside(self.shared, self.device, backend, Shared::choose_nested);
    }

    fn progress(&self, done: u64, total: u64) {
        let circuits = named(&self.shared.lock(), self.opened);
        circuits.into_iter().for_each(|circuit| self.shared.report_load(circuit, done, total));
    }
}

/// Does what `choose` says until there is nothing left, on the thread that is inside the outer call: through `backend`,
/// since a back end may serve one caller after the other.
fn run_inside(
    shared: &Arc<Shared>,
    d: usize,
    backend: &dyn Backend,
    choose: impl Fn(&Shared, &mut State, usize) -> Option<Order>,
) {
    shared.lock().counters.interruptions += 1;
    loop {
        let mut state = shared.lock();
        let order = choose(shared, &mut state, d);
        shared.set_flags(&mut state);
        if order.is_none() {
            // What can't be done here must not be asked for again at once.
            shared.devices[d].urgent.store(false, Ordering::Relaxed);
            shared.devices[d].nested.store(false, Ordering::Relaxed);
        }
        drop(state);
        match order {
            Some(Order::Prove(batch)) => shared.run_batch(d, batch, Some(backend)),
            Some(Order::Load(opened, memory)) => shared.run_load(d, opened, memory, Some(backend)),
            _ => return,
        }
    }
}

/// The names under which a circuit is open.
pub(super) fn named(state: &State, opened: &Arc<Opened>) -> Vec<CircuitId> {
    let same = |other: &Arc<Opened>| other.circuit.id() == opened.circuit.id();
    let entries = state.circuits.iter().filter(|(_, entry)| entry.opened().is_some_and(same));
    entries.map(|(circuit, _)| *circuit).collect()
}
