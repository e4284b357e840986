//! The structs of the C ABI that tell of an engine's state and needs.

use safer_ffi::prelude::*;

use super::abi::{Buffer, Bytes};

/// What a proof of a kind and size needs, in bytes.
#[derive_ReprC(rename = "cuzk_cost")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// sizeof(cuzk_cost_t).
    pub struct_size: u64,
    /// Host memory while one request is under way and nothing else.
    pub host_bytes: u64,
    /// Pinned host memory, part of the host memory.
    pub pinned_bytes: u64,
    /// Device memory that makes it fast.
    pub device_bytes: u64,
    /// The `.params` file, and the recorded circuit in the cache.
    pub disk_bytes: u64,
}

/// Requests of one kind. Counters never fall; gauges are 0 when nothing is under way.
#[derive_ReprC(rename = "cuzk_kind_stats")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
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
#[derive_ReprC(rename = "cuzk_phase_stats")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PhaseStats {
    /// Counter: observations.
    pub count: u64,
    /// Counter: their sum in nanoseconds.
    pub sum_ns: u64,
    /// The longest so far in nanoseconds.
    pub max_ns: u64,
}

/// One pool of memory.
#[derive_ReprC(rename = "cuzk_pool_stats")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PoolStats {
    /// "host", "pinned", or the device's name.
    pub name: Bytes,
    /// Budget in bytes.
    pub total_bytes: u64,
    /// Gauge: bytes in use or reserved.
    pub used_bytes: u64,
    /// The most that was ever in use or reserved at once.
    pub peak_bytes: u64,
}

/// One device.
#[derive_ReprC(rename = "cuzk_device_stats")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DeviceStats {
    /// Name in logs.
    pub name: Bytes,
    /// UUID; empty for the CPU.
    pub uuid: Bytes,
    /// A CUZK_DEVICE_ number.
    pub state: u32,
    /// 1 if it proves WinningPoSts alone.
    pub reserved_for_winning: u32,
    /// Gauge: 1 if its thread is inside the back end.
    pub busy: u64,
    /// Counter: nanoseconds inside the back end.
    pub busy_ns: u64,
    /// Counter: partitions proved, whether or not they passed their check.
    pub partition_count: u64,
    /// Gauge: circuits resident.
    pub circuit_count: u64,
}

/// Time of one phase of a device's proofs, by the device's own clock.
#[derive_ReprC(rename = "cuzk_device_phase")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DevicePhase {
    /// Which of the devices: an index into `devices`.
    pub device: u64,
    /// "upload", "rows", "quotient", "h", "ones", "a" or "b".
    pub name: Bytes,
    /// Partitions that went through it.
    pub time: PhaseStats,
}

/// A circuit.
#[derive_ReprC(rename = "cuzk_circuit")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CircuitOut {
    /// A CUZK_KIND_ number.
    pub kind: u64,
    /// Bytes of a sector.
    pub sector_size: u64,
}

/// State of an engine at one moment.
#[derive_ReprC(rename = "cuzk_stats")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Stats {
    /// sizeof(cuzk_stats_t).
    pub struct_size: u64,
    /// A CUZK_HEALTH_ number.
    pub health: u64,
    /// Why health isn't OK.
    pub health_reasons: Bytes,
    /// PoRep.
    pub porep: KindStats,
    /// SnapDeals.
    pub update: KindStats,
    /// WindowPoSt.
    pub window_post: KindStats,
    /// WinningPoSt.
    pub winning_post: KindStats,
    /// Requests: waiting for their turn.
    pub queue: PhaseStats,
    /// Requests: waiting for SRS and R1CS.
    pub open: PhaseStats,
    /// Requests: decoding and checking vanilla proofs.
    pub check: PhaseStats,
    /// Partitions: from vanilla proofs to assignments.
    pub synthesis: PhaseStats,
    /// Partitions: waiting for a device.
    pub wait: PhaseStats,
    /// Partitions: on a device.
    pub prove: PhaseStats,
    /// Partitions: blinding, assembly, pairing check.
    pub finish: PhaseStats,
    /// Counter: partitions whose proof passed its check.
    pub partitions_proved: u64,
    /// Counter: batches handed to a back end.
    pub batches: u64,
    /// Counter: partitions that were proved again.
    pub redos: u64,
    /// Counter: pairing checks that failed.
    pub self_check_failures: u64,
    /// Counter: failed checks whose assignment didn't satisfy the R1CS.
    pub unsatisfied: u64,
    /// Counter: requests that ended with INTERNAL.
    pub internal_errors: u64,
    /// Counter: panics that were caught.
    pub panics: u64,
    /// Counter: devices that were lost or hung.
    pub device_faults: u64,
    /// Counter: batches and loads that a back end refused for want of memory.
    pub out_of_memory: u64,
    /// Counter: requests proved on the CPU because no device could.
    pub cpu_fallbacks: u64,
    /// Counter: times a batch or load stood back for a more urgent proof.
    pub interruptions: u64,
    /// Counter: partitions taken back from a batch for a more urgent proof.
    pub abandoned: u64,
    /// Counter: circuits opened on the host.
    pub opens: u64,
    /// Counter: circuits loaded by a back end.
    pub loads: u64,
    /// Counter: circuits unloaded by a back end.
    pub unloads: u64,
    /// Counter: log records that were dropped because nobody took events.
    pub logs_dropped: u64,
    /// Gauge: partitions being synthesised.
    pub synthesising: u64,
    /// Gauge: partitions that wait for a device.
    pub waiting_for_device: u64,
    /// Gauge: partitions on a device.
    pub proving: u64,
    /// Gauge: completions that nobody has taken yet.
    pub events_waiting: u64,
    /// Memory by pool: host, pinned, then one per device.
    pub pools: *const PoolStats,
    /// Elements of `pools`.
    pub pool_count: u64,
    /// Devices, the CPU included.
    pub devices: *const DeviceStats,
    /// Elements of `devices`.
    pub device_count: u64,
    /// Circuits that are resident on a device or open on the host.
    pub resident: *const CircuitOut,
    /// Elements of `resident`.
    pub resident_count: u64,
    /// Phases of the devices' proofs, all of the first device before those of the next; none for the CPU.
    pub device_phases: *const DevicePhase,
    /// Elements of `device_phases`.
    pub device_phase_count: u64,
    /// Counter of the whole process: calls that took device memory, pinned memory, a stream or an event from the driver.
    /// Stands still once all circuits in use were proved twice.
    pub driver_calls: u64,
    /// What the pointers above lead to. To be freed; they are valid until then.
    pub owned: Buffer,
}
