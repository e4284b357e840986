//! What an echo engine is opened with, and what it records.

use std::time::Duration;

use crate::circuit::Kind;

/// An engine for tests: every circuit is a tiny one with an SRS of its own, made at open from a fixed seed; requests are
/// hashed into its public input ([`echo_inputs`](super::echo_inputs)) instead of being decoded. All else is the real
/// thing: queue, synthesis, proof, pairing check. Its devices are stand-ins for GPUs that fail on demand.
#[derive(Clone, Debug)]
pub struct EchoOptions {
    /// Devices, named `echo-0`, `echo-1`, … with these names as UUIDs. Default: 1.
    pub devices: u32,
    /// Time that a partition takes on a device, beside its arithmetic. Default: none.
    pub partition_time: Duration,
    /// Time that loading a circuit takes, beside reading it. Default: none.
    pub load_time: Duration,
    /// Most partitions that a device takes as one batch. Default: 16.
    pub max_batch: u32,
    /// How long a device's call may go without a question. Default: 60 s, since a device that starves is no test's matter.
    pub hang_limit: Duration,
    /// Prove on the CPU back end itself, which has no faults, instead of on devices. Default: no.
    pub on_cpu: bool,
    /// Sector size that a PoRep's C1 output is taken to be of. Default: 32 GiB, so that it has ten partitions.
    pub porep_sector_size: u64,
    /// Faults from the start. More can be added by [`Engine::inject`](crate::engine::Engine::inject).
    pub faults: Vec<EchoFault>,
}

/// A fault, and when it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoFault {
    /// What goes wrong.
    pub what: EchoFaultKind,
    /// On which device; None: on any, the CPU's stand-in excepted.
    pub device: Option<u32>,
    /// For which kind; None: for any.
    pub kind: Option<Kind>,
    /// Occasions that pass unharmed first.
    pub skip: u32,
    /// Occasions after these that are hit.
    pub count: u32,
}

/// What goes wrong. An occasion is a partition on a device, or what the fault says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EchoFaultKind {
    /// The sums are wrong; the pairing check fails.
    WrongSums,
    /// DEVICE_LOST, and for everything on that device from then on.
    DeviceLost,
    /// The back end panics.
    Panic,
    /// The call neither asks nor returns until [`Engine::inject`](crate::engine::Engine::inject) is called with this kind and a
    /// count of 0, which releases all that hang.
    Hang,
    /// OUT_OF_MEMORY for every partition of a batch.
    OutOfMemory,
    /// INTERNAL for the partition.
    Internal,
    /// An occasion is a load: it fails with PARAMS_CORRUPT.
    LoadFails,
    /// An occasion is a synthesis: its assignment doesn't satisfy the circuit.
    BadWitness,
    /// An occasion is a synthesis: it panics.
    SynthesisPanics,
    /// An occasion is the check of a request: INVALID.
    BadRequest,
    /// A partition stays on the device, asking, until released like a hang.
    HoldProve,
    /// An occasion is a load: it stays in the device's call, asking, until released.
    HoldLoad,
    /// An occasion is the opening of a circuit: it takes until released.
    HoldOpen,
    /// An occasion is a synthesis: it takes until released, or until nobody waits for it.
    HoldSynthesis,
    /// An occasion is the opening of a circuit: it fails with PARAMS_CORRUPT.
    OpenFails,
    /// An occasion is a load: OUT_OF_MEMORY.
    LoadOutOfMemory,
    /// An occasion is a batch: the device has lost its circuit, and says CLOSED for every partition.
    Forgets,
    /// An occasion is the freeing of a request's content: it takes until released.
    HoldFree,
}

/// A call of an echo engine's back end, as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EchoCall {
    /// Name of the device.
    pub device: String,
    /// What was called.
    pub what: EchoCallKind,
    /// Circuit's name.
    pub circuit: String,
    /// Thread that called.
    pub thread: std::thread::ThreadId,
}

/// Methods of a back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoCallKind {
    /// `load`.
    Load,
    /// `unload`.
    Unload,
    /// `prove`, with so many partitions.
    Prove(usize),
    /// No call: a partition or a load came to a hold, or a partition to a hang.
    Held,
}

impl Default for EchoOptions {
    fn default() -> Self {
        EchoOptions {
            devices: 1,
            partition_time: Duration::ZERO,
            load_time: Duration::ZERO,
            max_batch: 16,
            hang_limit: Duration::from_secs(60),
            on_cpu: false,
            porep_sector_size: 32 << 30,
            faults: Vec::new(),
        }
    }
}
