//! From our structs to the caller's.

use std::time::{Duration, SystemTime};

use super::abi::{Bytes, Event};
use super::abi_stats::{CircuitOut, Cost, DevicePhase, DeviceStats, KindStats, PhaseStats, PoolStats, Stats};
use super::buffer::{give, keep};
use super::numbers::{self, device_number, health_number, kind_number, log_number, task_number};
use crate::backend::PhaseTime;
use crate::circuit::CircuitId;
use crate::engine::{self, Phase};
use crate::error::Status;

/// All fields 0.
pub fn no_event() -> Event {
    // SAFETY: integers and raw pointers alone.
    unsafe { std::mem::zeroed() }
}

/// An event, with buffers for the caller.
pub fn event(event: engine::Event) -> Event {
    let mut out = match event {
        engine::Event::Completion(completion) => self::completion(completion),
        engine::Event::Log(record) => Event {
            kind: numbers::CUZK_EVENT_LOG,
            level: log_number(record.level),
            message: give(record.message.into()),
            target: give(record.target.into()),
            ..no_event()
        },
        engine::Event::Progress(progress) => Event {
            kind: numbers::CUZK_EVENT_PROGRESS,
            tag: progress.tag,
            done: progress.percent.into(),
            total: 100,
            circuit_kind: kind_number(progress.circuit.kind()),
            sector_size: progress.circuit.sector_size(),
            ..no_event()
        },
        engine::Event::Health(health) => Event {
            kind: numbers::CUZK_EVENT_HEALTH,
            health: health_number(health.level),
            message: give(health.reasons.join("; ").into()),
            ..no_event()
        },
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    out.time_ns = nanoseconds(now.unwrap_or_default());
    out
}

fn completion(completion: engine::Completion) -> Event {
    let timings = completion.timings;
    let phase = |phase| nanoseconds(timings.phase(phase));
    let (status, proof, message) = match completion.result {
        Ok(proof) => (Status::Ok, give(proof), give(Vec::new())),
        Err(error) => {
            let place = completion.failed_at.map(|place| format!(" ({place})")).unwrap_or_default();
            (error.status(), give(Vec::new()), give(format!("{error}{place}").into()))
        }
    };
    Event {
        kind: numbers::CUZK_EVENT_COMPLETION,
        status: status as u32,
        tag: completion.tag,
        job: completion.job,
        task: task_number(completion.task),
        circuit_kind: completion.circuit.map_or(0, |circuit| kind_number(circuit.kind())),
        sector_size: completion.circuit.map_or(0, CircuitId::sector_size),
        partition_count: timings.partitions.into(),
        constraint_count: timings.constraints,
        redo_count: timings.redos.into(),
        total_ns: nanoseconds(timings.total),
        queue_ns: phase(Phase::Queue),
        open_ns: phase(Phase::Open),
        check_ns: phase(Phase::Check),
        synthesis_ns: phase(Phase::Synthesis),
        wait_ns: phase(Phase::Wait),
        prove_ns: phase(Phase::Prove),
        finish_ns: phase(Phase::Finish),
        proof,
        message,
        ..no_event()
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A cost.
pub fn cost(cost: engine::Cost) -> Cost {
    let engine::Cost { host_bytes, pinned_bytes, device_bytes, disk_bytes } = cost;
    Cost { struct_size: size_of::<Cost>() as u64, host_bytes, pinned_bytes, device_bytes, disk_bytes }
}

/// Statistics, with buffers for the caller.
pub fn stats(stats: engine::Stats) -> Stats {
    let [porep, update, window_post, winning_post] = stats.kinds.map(kind_stats);
    let [queue, open, check, synthesis, wait, prove, finish] = stats.phases.map(phase_stats);
    let counters = stats.counters;
    let lists = Lists {
        pools: stats.pools.iter().map(pool_stats).collect(),
        devices: stats.devices.iter().map(device_stats).collect(),
        resident: stats.resident.into_iter().map(circuit).collect(),
        device_phases: device_phases(&stats.devices),
        health_reasons: stats.health.reasons.join("; "),
        _names: (stats.pools, stats.devices),
    };
    Stats {
        struct_size: size_of::<Stats>() as u64,
        health: health_number(stats.health.level).into(),
        health_reasons: borrowed(&lists.health_reasons),
        porep,
        update,
        window_post,
        winning_post,
        queue,
        open,
        check,
        synthesis,
        wait,
        prove,
        finish,
        partitions_proved: counters.partitions_proved,
        batches: counters.batches,
        redos: counters.redos,
        self_check_failures: counters.self_check_failures,
        unsatisfied: counters.unsatisfied,
        internal_errors: counters.internal_errors,
        panics: counters.panics,
        device_faults: counters.device_faults,
        out_of_memory: counters.out_of_memory,
        cpu_fallbacks: counters.cpu_fallbacks,
        interruptions: counters.interruptions,
        abandoned: counters.abandoned,
        opens: counters.opens,
        loads: counters.loads,
        unloads: counters.unloads,
        logs_dropped: counters.logs_dropped,
        synthesising: stats.synthesising,
        waiting_for_device: stats.waiting_for_device,
        proving: stats.proving,
        events_waiting: stats.events_waiting,
        pools: lists.pools.as_ptr(),
        pool_count: lists.pools.len() as u64,
        devices: lists.devices.as_ptr(),
        device_count: lists.devices.len() as u64,
        resident: lists.resident.as_ptr(),
        resident_count: lists.resident.len() as u64,
        device_phases: lists.device_phases.as_ptr(),
        device_phase_count: lists.device_phases.len() as u64,
        driver_calls: stats.driver_calls,
        owned: keep(lists),
    }
}

fn kind_stats(stats: engine::KindStats) -> KindStats {
    let engine::KindStats { submitted, refused, proved, failed, cancelled, late, queued, running } = stats;
    KindStats { submitted, refused, proved, failed, cancelled, late, queued, running }
}

fn phase_stats(stats: engine::PhaseStats) -> PhaseStats {
    PhaseStats { count: stats.count, sum_ns: nanoseconds(stats.sum), max_ns: nanoseconds(stats.max) }
}

/// Text that stays where it is: the bytes of a String don't move with it.
fn borrowed(text: &str) -> Bytes {
    Bytes { ptr: text.as_ptr(), len: text.len() as u64 }
}

/// What a [`Stats`] points to.
struct Lists {
    health_reasons: String,
    pools: Vec<PoolStats>,
    devices: Vec<DeviceStats>,
    resident: Vec<CircuitOut>,
    device_phases: Vec<DevicePhase>,
    /// Where the names are.
    _names: (Vec<engine::PoolStats>, Vec<engine::DeviceStats>),
}

// SAFETY: the raw pointers lead into what is kept beside them, and nothing here follows them.
unsafe impl Send for Lists {}

fn pool_stats(pool: &engine::PoolStats) -> PoolStats {
    PoolStats {
        name: borrowed(&pool.name),
        total_bytes: pool.total_bytes,
        used_bytes: pool.used_bytes,
        peak_bytes: pool.peak_bytes,
    }
}

fn device_stats(device: &engine::DeviceStats) -> DeviceStats {
    DeviceStats {
        name: borrowed(&device.name),
        uuid: borrowed(&device.uuid),
        state: device_number(device.state),
        reserved_for_winning: device.reserved.into(),
        busy: device.busy.into(),
        busy_ns: nanoseconds(device.busy_time),
        partition_count: device.partitions,
        circuit_count: device.circuits,
    }
}

fn device_phases(devices: &[engine::DeviceStats]) -> Vec<DevicePhase> {
    let phases =
        (0u64..).zip(devices).flat_map(|(device, stats)| stats.phases.iter().map(move |phase| (device, phase)));
    let time = |phase: &PhaseTime| PhaseStats {
        count: phase.count,
        sum_ns: nanoseconds(phase.sum),
        max_ns: nanoseconds(phase.max),
    };
    phases.map(|(device, phase)| DevicePhase { device, name: borrowed(phase.name), time: time(phase) }).collect()
}

fn circuit(circuit: CircuitId) -> CircuitOut {
    CircuitOut { kind: kind_number(circuit.kind()).into(), sector_size: circuit.sector_size() }
}
