//! Devices and their threads. A device's thread alone calls its back end to load, unload and prove.

use std::collections::HashMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::budget::{Budget, Reservation};
use super::choose::Order;
use super::clock::Clock;
use super::config::{Config, DEFAULT_DEVICE_RESERVE_BYTES};
use super::control::{LoadControl, ProveControl};
use super::job::{Class, Life, Seat};
use super::logs;
use super::outcome::panicked;
use super::pools::STACK_BYTES;
use super::residency::Opened;
use super::shared::{Shared, State};
use super::stats::DeviceState;
use crate::backend::Backend;
use crate::error::{Error, Result};

/// Panics in a row after which a device gets nothing more to do.
const MAX_PANICS: u32 = 3;
/// Batches after which a device that ran out of memory is tried with twice as many partitions: others may have used it.
const BATCHES_WITHIN: u32 = 32;

/// A device, as far as it doesn't change; and its flags, which a running call looks at without the engine's lock.
pub(super) struct Device {
    pub backend: Arc<dyn Backend>,
    /// Proves WinningPoSts alone.
    pub reserved: bool,
    /// Proves what the configuration allows, if no other device can.
    pub fallback: bool,
    /// What residents may take of the device.
    pub memory: Arc<Budget>,
    /// A WinningPoSt waits that this device should prove at once.
    pub urgent: AtomicBool,
    /// A WindowPoSt waits that this device should prove next.
    pub window: AtomicBool,
    /// Partitions wait whose circuit is resident here.
    pub nested: AtomicBool,
    /// Calls into the back end that haven't returned, one inside the other.
    calls: AtomicU32,
    /// Milliseconds from the engine's start to the last question.
    asked_ms: AtomicU64,
    /// The call that is under way asks nothing: an unload or a trim.
    mute: AtomicBool,
}

/// How long a call that asks nothing may take: what it gives back to the driver may be gigabytes of pinned memory.
const MUTE_LIMIT: Duration = Duration::from_secs(60);

/// A device, as far as it changes.
pub(super) struct Unit {
    pub state: DeviceState,
    /// Circuits that it has loaded, by the back end's number.
    pub resident: HashMap<u64, Resident>,
    /// Those that have to go, since a load ran out of memory.
    pub unwanted: Vec<u64>,
    /// Those that it is loading: one, or a WinningPoSt's inside another's.
    pub loading: Vec<Arc<Opened>>,
    pub busy_since: Option<Instant>,
    pub busy_time: Duration,
    pub partitions: u64,
    /// Most partitions of a batch, after it ran out of memory.
    pub batch_limit: usize,
    /// Batches since then.
    pub batches_within: u32,
    /// Panics since the last proof.
    pub panics: u32,
    /// A panic left the back end in an unknown state: everything is unloaded and the thread started anew.
    pub is_shaken: bool,
    /// Something inside the call that is under way ran out of memory: nothing more is put there.
    pub is_crowded: bool,
    pub trim_wanted: bool,
    /// Unloads and trims that are under way.
    pub unloading: u32,
}

/// A circuit on a device.
pub(super) struct Resident {
    pub opened: Arc<Opened>,
    /// Held for what they give back.
    pub _memory: Vec<Reservation>,
    pub last_used: Instant,
}

/// What a back end gives to a control that runs something inside its call; None outside of calls.
pub(super) type Inside<'a> = Option<&'a dyn Backend>;

/// Partitions of one circuit that are proved together.
pub(super) struct Batch {
    pub opened: Arc<Opened>,
    /// The most urgent among them.
    pub class: Class,
    pub items: Vec<Item>,
}

/// One of them.
pub(super) struct Item {
    pub number: u64,
    pub part: usize,
    pub epoch: u64,
    /// Times that it was given back unfinished before.
    pub breaks: u32,
    pub life: Arc<Life>,
    pub seat: Arc<Seat>,
}

impl Device {
    pub fn new(backend: Arc<dyn Backend>, fallback: bool, config: &Config) -> Self {
        let uuid = backend.uuid();
        let reserved = !uuid.is_empty() && config.reserved_devices.iter().any(|reserved| reserved == uuid);
        let pool = backend.pools().device.total_bytes;
        let own = if pool == 0 { u64::MAX } else { pool };
        let total = if config.device_memory_bytes == 0 { own } else { own.min(config.device_memory_bytes) };
        let reserve = match config.device_reserve_bytes {
            0 => DEFAULT_DEVICE_RESERVE_BYTES,
            bytes => bytes,
        };
        Device {
            memory: Budget::new(backend.name(), total, reserve.min(total / 8)),
            backend,
            reserved,
            fallback,
            urgent: AtomicBool::new(false),
            window: AtomicBool::new(false),
            nested: AtomicBool::new(false),
            calls: AtomicU32::new(0),
            asked_ms: AtomicU64::new(0),
            mute: AtomicBool::new(false),
        }
    }

    pub fn name(&self) -> &str {
        self.backend.name()
    }

    pub fn uuid(&self) -> &str {
        self.backend.uuid()
    }

    /// Notes a question.
    pub fn touch(&self, clock: &Clock) {
        self.asked_ms.store(clock.now().as_millis() as u64, Ordering::Relaxed);
    }

    /// How long the call that is under way may go without a question.
    pub fn hang_limit(&self) -> Duration {
        let limit = self.backend.hang_limit();
        match self.mute.load(Ordering::Relaxed) {
            true => limit.max(MUTE_LIMIT),
            false => limit,
        }
    }

    /// How long ago the last question was, if a call is under way.
    pub fn silence(&self, clock: &Clock) -> Option<Duration> {
        let now = clock.now().as_millis() as u64;
        let silent = now.saturating_sub(self.asked_ms.load(Ordering::Relaxed));
        (self.calls.load(Ordering::Relaxed) > 0).then(|| Duration::from_millis(silent))
    }

    /// Calls the back end for what asks nothing; a panic of it becomes an error. `clock` is the engine's.
    fn call<R>(&self, clock: &Clock, what: &str, call: impl FnOnce(&dyn Backend) -> R) -> Result<R> {
        self.mute.store(true, Ordering::Relaxed);
        let result = self.call_via(None, clock, what, call);
        self.mute.store(false, Ordering::Relaxed);
        result
    }

    /// The same for what asks, through the handle `inside` that a control was given: the back end itself is in a call then.
    fn call_via<R>(
        &self,
        inside: Inside<'_>,
        clock: &Clock,
        what: &str,
        call: impl FnOnce(&dyn Backend) -> R,
    ) -> Result<R> {
        let backend = inside.unwrap_or(self.backend.as_ref());
        self.touch(clock);
        self.calls.fetch_add(1, Ordering::Relaxed);
        let result = catch_unwind(AssertUnwindSafe(|| call(backend)));
        self.calls.fetch_sub(1, Ordering::Relaxed);
        self.touch(clock);
        result.map_err(|panic| panicked(&format!("{} of {}", what, self.name()), panic))
    }
}

impl Default for Unit {
    fn default() -> Self {
        Unit {
            state: DeviceState::Healthy,
            resident: HashMap::new(),
            unwanted: Vec::new(),
            loading: Vec::new(),
            busy_since: None,
            busy_time: Duration::ZERO,
            partitions: 0,
            batch_limit: usize::MAX,
            batches_within: 0,
            panics: 0,
            is_shaken: false,
            is_crowded: false,
            trim_wanted: false,
            unloading: 0,
        }
    }
}

impl Unit {
    pub fn is_healthy(&self) -> bool {
        self.state == DeviceState::Healthy
    }

    /// A batch ended: after some that had enough memory, larger ones are tried again.
    pub fn count_batch(&mut self) {
        self.batches_within += 1;
        if self.batches_within >= BATCHES_WITHIN {
            self.batches_within = 0;
            self.batch_limit = self.batch_limit.saturating_mul(2);
        }
    }

    /// Its thread has done what it was told.
    pub fn rest(&mut self) {
        self.busy_time += self.busy_since.take().map_or(Duration::ZERO, |since| since.elapsed());
    }
}

impl Shared {
    /// Starts a thread per device, and the watch.
    pub fn start_threads(self: &Arc<Self>) -> Result<()> {
        (0..self.devices.len()).try_for_each(|d| self.start_device(d))?;
        let shared = Arc::clone(self);
        self.start_thread("cuzk-watch".into(), move || shared.watch())
    }

    fn start_device(self: &Arc<Self>, d: usize) -> Result<()> {
        let shared = Arc::clone(self);
        self.start_thread(format!("cuzk-{}", self.devices[d].name()), move || shared.run_device(d))
    }

    fn start_thread(self: &Arc<Self>, name: String, run: impl FnOnce() + Send + 'static) -> Result<()> {
        let shared = Arc::clone(self);
        self.lock().threads += 1;
        let builder = std::thread::Builder::new().name(name.clone()).stack_size(STACK_BYTES);
        let spawned = builder.spawn(move || {
            logs::adopt(&shared.sink);
            run();
            shared.lock().threads -= 1;
            shared.changed.notify_all();
        });
        spawned.map(drop).map_err(|error| {
            self.lock().threads -= 1;
            Error::Internal(format!("thread {name}: {error}"))
        })
    }

    /// The life of a device's thread.
    fn run_device(self: &Arc<Self>, d: usize) {
        loop {
            match self.next_order(d) {
                Order::Stop => return self.unload_all(d),
                Order::Leave => return,
                Order::Prove(batch) => self.run_batch(d, batch, None),
                Order::Load(opened, memory) => self.run_load(d, opened, memory, None),
                Order::Unload(resident) => self.run_unload(d, resident),
                Order::Trim => self.run_trim(d),
                Order::Renew => return self.renew(d),
            }
            let mut state = self.lock();
            state.units[d].rest();
            self.settle(&mut state);
        }
    }

    /// Waits for something to do.
    fn next_order(self: &Arc<Self>, d: usize) -> Order {
        let mut state = self.lock();
        loop {
            let order = self.choose(&mut state, d);
            // It ends jobs that no device has room for.
            self.free_remains(&mut state);
            if let Some(order) = order {
                if !matches!(order, Order::Stop | Order::Leave) {
                    state.units[d].busy_since = Some(Instant::now());
                }
                self.set_flags(&mut state);
                self.changed.notify_all(); // the watch looks after calls
                return order;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Proves a batch. It may yield, unless it is the urgent one `inside` another call.
    pub fn run_batch(self: &Arc<Self>, d: usize, batch: Batch, inside: Inside<'_>) {
        let device = &self.devices[d];
        let assignments: Vec<_> = batch.items.iter().map(|item| Arc::clone(&item.seat.assignment)).collect();
        let called = {
            let control = ProveControl::new(self, d, &batch, inside.is_none());
            device.call_via(inside, &self.clock, "a batch", |backend| {
                backend.prove(&batch.opened.circuit, &assignments, &control, &mut |i, sums| {
                    self.sums_done(d, &batch, i, sums, inside.is_some());
                    control.finished(i);
                });
            })
        };
        drop(assignments);
        self.batch_done(d, batch, called, inside.is_none());
    }

    /// Loads a circuit.
    pub fn run_load(self: &Arc<Self>, d: usize, opened: Arc<Opened>, memory: Vec<Reservation>, inside: Inside<'_>) {
        let device = &self.devices[d];
        let control = LoadControl::new(self, d, &opened, inside.is_none());
        let load = |backend: &dyn Backend| backend.load(&opened.circuit, &control);
        let loaded = device.call_via(inside, &self.clock, "a load", load);
        self.load_done(d, opened, memory, loaded, inside.is_none());
    }

    fn run_unload(self: &Arc<Self>, d: usize, resident: Resident) {
        let device = &self.devices[d];
        let unloaded = device.call(&self.clock, "an unload", |backend| backend.unload(&resident.opened.circuit));
        let name = resident.opened.circuit.name().to_owned();
        // Last, so that the memory is free when its share comes back.
        drop(resident);
        let mut state = self.lock();
        state.counters.unloads += 1;
        state.units[d].unloading -= 1;
        match unloaded {
            Ok(()) => log::info!("{name} unloaded from {}", device.name()),
            Err(error) => self.count_panic(&mut state, d, &error),
        }
    }

    fn run_trim(self: &Arc<Self>, d: usize) {
        let trimmed = self.devices[d].call(&self.clock, "trim", |backend| backend.trim());
        let mut state = self.lock();
        state.units[d].unloading -= 1;
        if let Err(error) = trimmed {
            self.count_panic(&mut state, d, &error);
        }
    }

    /// Gives back all that a device holds; what panics on the way is left behind.
    fn unload_all(&self, d: usize) {
        let resident = std::mem::take(&mut self.lock().units[d].resident);
        for (_, resident) in resident {
            let _ = self.devices[d].call(&self.clock, "an unload", |b| b.unload(&resident.opened.circuit));
        }
        let _ = self.devices[d].call(&self.clock, "trim", |backend| backend.trim());
    }

    /// After a panic: unloads everything and hands over to a new thread, unless it panicked too often.
    fn renew(self: &Arc<Self>, d: usize) {
        self.unload_all(d);
        let mut state = self.lock();
        let unit = &mut state.units[d];
        unit.is_shaken = false;
        unit.rest();
        let retired = unit.panics >= MAX_PANICS;
        if retired {
            log::error!("{} is retired after {} panics in a row", self.devices[d].name(), unit.panics);
            self.lose(&mut state, d, DeviceState::Retired);
        }
        self.settle(&mut state);
        drop(state);
        if !retired {
            if let Err(error) = self.start_device(d) {
                log::error!("{error}");
                let mut state = self.lock();
                self.lose(&mut state, d, DeviceState::Retired);
                self.settle(&mut state);
            }
        }
    }

    /// Counts a panic inside a back end, which is set up anew as soon as its thread is free.
    pub fn count_panic(&self, state: &mut State, d: usize, error: &Error) {
        log::error!("{error}");
        state.counters.panics += 1;
        let unit = &mut state.units[d];
        unit.panics += 1;
        unit.is_shaken = true;
    }
}
