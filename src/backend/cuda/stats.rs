//! What a device tells of itself.

use super::config::Uuid;
use crate::backend::PhaseTime;
#[cfg(any(cuda, feature = "testing"))]
use std::time::Duration;

/// Whether a device can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It works.
    Good,
    /// Lost or quarantined; says why. Only a restart of the process clears it.
    Lost(String),
}

/// Milliseconds of the device's time, by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Phases {
    /// The compact assignment to the device.
    pub upload_ms: f64,
    /// A·z and B·z.
    pub rows_ms: f64,
    /// The quotient's transforms.
    pub quotient_ms: f64,
    /// The MSM of H and L's full-size tail.
    pub h_ms: f64,
    /// Ones of L, A and B_G2.
    pub ones_ms: f64,
    /// Full-size part of A.
    pub a_ms: f64,
    /// Full-size part of B_G2.
    pub b_ms: f64,
}

impl Phases {
    /// Names in the order of [`Phases::ms`].
    pub const NAMES: [&'static str; 7] = ["upload", "rows", "quotient", "h", "ones", "a", "b"];

    /// The phases from their milliseconds, in order.
    #[cfg(any(cuda, feature = "testing"))]
    pub(super) fn from_ms([upload_ms, rows_ms, quotient_ms, h_ms, ones_ms, a_ms, b_ms]: [f64; 7]) -> Self {
        Phases { upload_ms, rows_ms, quotient_ms, h_ms, ones_ms, a_ms, b_ms }
    }

    /// Milliseconds in order.
    pub fn ms(&self) -> [f64; 7] {
        [self.upload_ms, self.rows_ms, self.quotient_ms, self.h_ms, self.ones_ms, self.a_ms, self.b_ms]
    }
}

/// Counters and gauges of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct CudaStats {
    /// Its UUID.
    pub uuid: Uuid,
    /// Its marketing name.
    pub name: String,
    /// Compute capability.
    pub capability: (u32, u32),
    /// See [`Health`].
    pub health: Health,
    /// Most bytes that the arena may hold.
    pub memory_cap_bytes: u64,
    /// Bytes that the arena holds now.
    pub memory_held_bytes: u64,
    /// Most bytes that it ever held.
    pub memory_peak_bytes: u64,
    /// The arena's reservations with their bytes.
    pub reservations: Vec<(String, u64)>,
    /// Most bytes that the process's pinned pool may hold.
    pub pinned_cap_bytes: u64,
    /// Bytes that it holds now.
    pub pinned_held_bytes: u64,
    /// Most bytes that it ever held.
    pub pinned_peak_bytes: u64,
    /// Buffers of ordinary memory that stand in for pinned ones.
    pub pageable_buffers: u64,
    /// Assignments proved.
    pub proofs: u64,
    /// Assignments that failed on the device.
    pub failures: u64,
    /// Urgent batches that ran inside others.
    pub urgent_batches: u64,
    /// Phases of the last proof.
    pub last: Phases,
    /// All proofs: how many went through the phases, and the time in each.
    pub times: [PhaseTime; 7],
    /// Calls of the whole process that took memory, streams or events from the driver.
    pub calls: Calls,
}

/// See [`CudaStats::calls`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// cudaMalloc.
    pub device_allocations: u64,
    /// cudaHostAlloc. (cudaHostRegister is never called.)
    pub pinned_allocations: u64,
    /// cudaStreamCreate.
    pub streams: u64,
    /// cudaEventCreate.
    pub events: u64,
}

impl Calls {
    /// All together.
    pub fn total(&self) -> u64 {
        self.device_allocations + self.pinned_allocations + self.streams + self.events
    }
}

impl CudaStats {
    /// Counts the phases of one proof.
    #[cfg(any(cuda, feature = "testing"))]
    pub(super) fn observe(&mut self, phases: Phases) {
        self.last = phases;
        for (time, ms) in self.times.iter_mut().zip(phases.ms()) {
            time.observe(Duration::from_secs_f64(ms.max(0.0) / 1e3));
        }
    }
}
