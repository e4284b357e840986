//! The numbers of the C ABI: status codes, kinds, levels. Final, never reused.

use safer_ffi::prelude::*;

use crate::circuit::Kind;
use crate::engine::{DeviceState, HealthLevel, Task};
use crate::error::{Error, Result, Status};

/// Version of this header. cuzk_engine_open compares it with the archive's.
#[ffi_export]
pub const CUZK_ABI_VERSION: u32 = 1;

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident = $value:expr;)*) => {$(
        $(#[$doc])*
        #[ffi_export]
        pub const $name: u32 = $value;
    )*};
}

numbers! {
    /// Success.
    CUZK_OK = 0;
    /// A field of the request is wrong; the message names it. A retry can't help.
    CUZK_INVALID = 1;
    /// Well-formed, but not offered.
    CUZK_UNSUPPORTED = 2;
    /// A queue is full; retry later.
    CUZK_BUSY = 3;
    /// Cancelled by the caller.
    CUZK_CANCELLED = 4;
    /// The deadline passed first.
    CUZK_DEADLINE = 5;
    /// The engine or circuit is closed.
    CUZK_CLOSED = 6;
    /// An engine is open in this process already.
    CUZK_ALREADY_OPEN = 7;
    /// Header and archive are of different versions.
    CUZK_ABI_MISMATCH = 8;
    /// A `.params` file was not found; the message lists what was searched.
    CUZK_PARAMS_MISSING = 9;
    /// A `.params` or cache file is damaged; the message names file, section and index.
    CUZK_PARAMS_CORRUPT = 10;
    /// The verifying key isn't one of the network's.
    CUZK_PARAMS_UNKNOWN = 11;
    /// No usable device.
    CUZK_NO_DEVICE = 12;
    /// A device failed for good; only a restart of the process clears it.
    CUZK_DEVICE_LOST = 13;
    /// A byte budget is exhausted; the message names it.
    CUZK_OUT_OF_MEMORY = 14;
    /// The assignment doesn't satisfy the R1CS.
    CUZK_BAD_WITNESS = 15;
    /// A proof of a satisfied assignment failed its pairing check.
    CUZK_SELF_CHECK = 16;
    /// A bug or an unexpected fault of the system; the process lives on.
    CUZK_INTERNAL = 17;

    /// PoRep C2.
    CUZK_KIND_POREP = 1;
    /// SnapDeals.
    CUZK_KIND_UPDATE = 2;
    /// WindowPoSt.
    CUZK_KIND_WINDOW_POST = 3;
    /// WinningPoSt.
    CUZK_KIND_WINNING_POST = 4;

    /// CUDA if it is built in, else the CPU.
    CUZK_BACKEND_AUTO = 0;
    /// The host's cores.
    CUZK_BACKEND_CPU = 1;
    /// CUDA; opening fails with NO_DEVICE if it isn't built in or finds no device.
    CUZK_BACKEND_CUDA = 2;

    /// Sizes, curve and identity.
    CUZK_SRS_CHECK_ON_CURVE = 0;
    /// Every point of every section is in the prime-order subgroup, too.
    CUZK_SRS_CHECK_SUBGROUP = 1;
    /// The file's digest is the one that the network published, too.
    CUZK_SRS_CHECK_DIGEST = 2;

    /// In cpu_fallback: no kind.
    CUZK_CPU_FALLBACK_NONE = 1 << 31;

    /// The default.
    CUZK_LOG_DEFAULT = 0;
    /// Something failed.
    CUZK_LOG_ERROR = 1;
    /// Something is wrong, and was dealt with.
    CUZK_LOG_WARN = 2;
    /// What an operator wants to know.
    CUZK_LOG_INFO = 3;
    /// What a developer wants to know.
    CUZK_LOG_DEBUG = 4;
    /// Everything.
    CUZK_LOG_TRACE = 5;

    /// Nothing happened before the timeout.
    CUZK_EVENT_NONE = 0;
    /// A request, preload, evict or trim has ended. Exactly one for each that was accepted; never dropped.
    CUZK_EVENT_COMPLETION = 1;
    /// A log record. Dropped, and counted, if nobody takes events.
    CUZK_EVENT_LOG = 2;
    /// How far a preload is, in percent.
    CUZK_EVENT_PROGRESS = 3;
    /// The engine's health has changed.
    CUZK_EVENT_HEALTH = 4;

    /// A proof.
    CUZK_TASK_PROVE = 1;
    /// cuzk_engine_preload.
    CUZK_TASK_PRELOAD = 2;
    /// cuzk_engine_evict.
    CUZK_TASK_EVICT = 3;
    /// cuzk_engine_trim.
    CUZK_TASK_TRIM = 4;

    /// All is well.
    CUZK_HEALTH_OK = 0;
    /// Proofs are made, but something went wrong or is missing; an operator should look.
    CUZK_HEALTH_DEGRADED = 1;
    /// No device is left: only a restart of the process helps.
    CUZK_HEALTH_FATAL = 2;

    /// Proves.
    CUZK_DEVICE_HEALTHY = 0;
    /// Hung; gets nothing more to do.
    CUZK_DEVICE_QUARANTINED = 1;
    /// Failed for good; only a restart of the process clears it.
    CUZK_DEVICE_LOST_STATE = 2;
    /// Panicked again and again; gets nothing more to do.
    CUZK_DEVICE_RETIRED = 3;
}

/// Status codes are written down twice, for Rust and for C.
const _: () = {
    use Status::*;
    let pairs = [
        (Ok, CUZK_OK),
        (Invalid, CUZK_INVALID),
        (Unsupported, CUZK_UNSUPPORTED),
        (Busy, CUZK_BUSY),
        (Cancelled, CUZK_CANCELLED),
        (Deadline, CUZK_DEADLINE),
        (Closed, CUZK_CLOSED),
        (AlreadyOpen, CUZK_ALREADY_OPEN),
        (AbiMismatch, CUZK_ABI_MISMATCH),
        (ParamsMissing, CUZK_PARAMS_MISSING),
        (ParamsCorrupt, CUZK_PARAMS_CORRUPT),
        (ParamsUnknown, CUZK_PARAMS_UNKNOWN),
        (NoDevice, CUZK_NO_DEVICE),
        (DeviceLost, CUZK_DEVICE_LOST),
        (OutOfMemory, CUZK_OUT_OF_MEMORY),
        (BadWitness, CUZK_BAD_WITNESS),
        (SelfCheck, CUZK_SELF_CHECK),
        (Internal, CUZK_INTERNAL),
    ];
    let mut i = 0;
    while i < pairs.len() {
        assert!(pairs[i].0 as u32 == pairs[i].1);
        i += 1;
    }
};

/// A kind's number.
pub fn kind_number(kind: Kind) -> u32 {
    match kind {
        Kind::PoRep => CUZK_KIND_POREP,
        Kind::SnapDeals => CUZK_KIND_UPDATE,
        Kind::WindowPoSt => CUZK_KIND_WINDOW_POST,
        Kind::WinningPoSt => CUZK_KIND_WINNING_POST,
    }
}

/// The kind with this number. Errors: INVALID.
pub fn kind(number: u32) -> Result<Kind> {
    let found = Kind::ALL.into_iter().find(|&kind| kind_number(kind) == number);
    found.ok_or_else(|| Error::invalid("kind", format!("no kind has the number {number}")))
}

/// A task's number.
pub fn task_number(task: Task) -> u32 {
    match task {
        Task::Prove => CUZK_TASK_PROVE,
        Task::Preload => CUZK_TASK_PRELOAD,
        Task::Evict => CUZK_TASK_EVICT,
        Task::Trim => CUZK_TASK_TRIM,
    }
}

/// A health level's number.
pub fn health_number(level: HealthLevel) -> u32 {
    match level {
        HealthLevel::Ok => CUZK_HEALTH_OK,
        HealthLevel::Degraded => CUZK_HEALTH_DEGRADED,
        HealthLevel::Fatal => CUZK_HEALTH_FATAL,
    }
}

/// A device state's number.
pub fn device_number(state: DeviceState) -> u32 {
    match state {
        DeviceState::Healthy => CUZK_DEVICE_HEALTHY,
        DeviceState::Quarantined => CUZK_DEVICE_QUARANTINED,
        DeviceState::Lost => CUZK_DEVICE_LOST_STATE,
        DeviceState::Retired => CUZK_DEVICE_RETIRED,
    }
}

/// A log level's number.
pub fn log_number(level: log::Level) -> u32 {
    match level {
        log::Level::Error => CUZK_LOG_ERROR,
        log::Level::Warn => CUZK_LOG_WARN,
        log::Level::Info => CUZK_LOG_INFO,
        log::Level::Debug => CUZK_LOG_DEBUG,
        log::Level::Trace => CUZK_LOG_TRACE,
    }
}

/// The filter with this number. Errors: INVALID.
pub fn log_filter(number: u32) -> Result<log::LevelFilter> {
    Ok(match number {
        CUZK_LOG_DEFAULT | CUZK_LOG_INFO => log::LevelFilter::Info,
        CUZK_LOG_ERROR => log::LevelFilter::Error,
        CUZK_LOG_WARN => log::LevelFilter::Warn,
        CUZK_LOG_DEBUG => log::LevelFilter::Debug,
        CUZK_LOG_TRACE => log::LevelFilter::Trace,
        _ => return Err(Error::invalid("log_level", format!("no level has the number {number}"))),
    })
}
