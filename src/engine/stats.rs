//! Counters and gauges.

use std::time::Duration;

use super::event::{Health, Phase};
use crate::backend::PhaseTime;
use crate::circuit::CircuitId;

/// State of an engine at one moment. Counters count from [`Engine::open`](super::Engine::open) on and never fall; gauges
/// are back at 0 when nothing is under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// Requests by kind, in the order of [`Kind::ALL`](crate::circuit::Kind::ALL).
    pub kinds: [KindStats; 4],
    /// Where time went, in the order of [`Phase::ALL`]; one observation per request in Queue, Open and Check, and one per
    /// partition and attempt behind these.
    pub phases: [PhaseStats; Phase::ALL.len()],
    /// The rest that is counted.
    pub counters: Counters,
    /// Gauge: partitions being synthesised.
    pub synthesising: u64,
    /// Gauge: partitions that wait for a device.
    pub waiting_for_device: u64,
    /// Gauge: partitions on a device.
    pub proving: u64,
    /// Gauge: completions that nobody has taken yet.
    pub events_waiting: u64,
    /// Memory by pool: host first, then pinned, then one per device.
    pub pools: Vec<PoolStats>,
    /// Devices, the CPU included.
    pub devices: Vec<DeviceStats>,
    /// Counter of the whole process: see [`Activity::driver_calls`](crate::backend::Activity::driver_calls).
    pub driver_calls: u64,
    /// Circuits that are resident on a device or open on the host.
    pub resident: Vec<CircuitId>,
    /// Health.
    pub health: Health,
}

/// Requests of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindStats {
    /// Counter: accepted.
    pub submitted: u64,
    /// Counter: refused with BUSY.
    pub refused: u64,
    /// Counter: ended with a proof.
    pub proved: u64,
    /// Counter: ended with an error that isn't counted below.
    pub failed: u64,
    /// Counter: cancelled by the caller.
    pub cancelled: u64,
    /// Counter: ended with DEADLINE.
    pub late: u64,
    /// Gauge: accepted, not begun.
    pub queued: u64,
    /// Gauge: begun, not ended.
    pub running: u64,
}

/// Time spent in one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PhaseStats {
    /// Counter: observations.
    pub count: u64,
    /// Counter: their sum.
    pub sum: Duration,
    /// The longest so far.
    pub max: Duration,
}

/// What happened beside the ordinary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Partitions whose proof passed its check.
    pub partitions_proved: u64,
    /// Batches handed to a back end.
    pub batches: u64,
    /// Partitions that were proved again, for whatever reason.
    pub redos: u64,
    /// Pairing checks that failed.
    pub self_check_failures: u64,
    /// Failed checks whose assignment didn't satisfy the R1CS.
    pub unsatisfied: u64,
    /// Requests that ended with INTERNAL.
    pub internal_errors: u64,
    /// Panics that were caught.
    pub panics: u64,
    /// Devices that were lost or hung.
    pub device_faults: u64,
    /// Batches and loads that a back end refused for want of memory.
    pub out_of_memory: u64,
    /// Requests proved on the CPU because no device could.
    pub cpu_fallbacks: u64,
    /// Times a batch or load stood back for a more urgent proof.
    pub interruptions: u64,
    /// Partitions taken back from a batch, unfinished, for a more urgent proof.
    pub abandoned: u64,
    /// Circuits opened on the host: `.params` and R1CS read.
    pub opens: u64,
    /// Circuits loaded by a back end.
    pub loads: u64,
    /// Circuits unloaded by a back end.
    pub unloads: u64,
    /// Log records that were dropped because nobody took events.
    pub logs_dropped: u64,
}

/// One pool of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolStats {
    /// `"host"`, `"pinned"`, or the device's name.
    pub name: String,
    /// Budget in bytes.
    pub total_bytes: u64,
    /// Gauge: bytes in use or reserved.
    pub used_bytes: u64,
    /// The most that was ever in use or reserved at once.
    pub peak_bytes: u64,
}

/// One device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceStats {
    /// Name in logs.
    pub name: String,
    /// UUID; empty for the CPU.
    pub uuid: String,
    /// What can be expected of it.
    pub state: DeviceState,
    /// Whether it proves WinningPoSts alone.
    pub reserved: bool,
    /// Gauge: whether its thread is inside the back end.
    pub busy: bool,
    /// Counter: time inside the back end.
    pub busy_time: Duration,
    /// Counter: partitions proved, whether or not they passed their check.
    pub partitions: u64,
    /// Gauge: circuits resident.
    pub circuits: u64,
    /// Where its time went, by the device's own clock; empty for the CPU.
    pub phases: Vec<PhaseTime>,
}

/// What can be expected of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// Proves.
    Healthy,
    /// Stopped asking for 2 s inside a call; gets nothing more to do.
    Quarantined,
    /// Failed for good; only a restart of the process clears it.
    Lost,
    /// Panicked again and again; gets nothing more to do.
    Retired,
}

impl PhaseStats {
    /// Counts one observation.
    pub(super) fn observe(&mut self, time: Duration) {
        self.count += 1;
        self.sum += time;
        self.max = self.max.max(time);
    }
}
