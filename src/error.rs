//! One closed error type for the whole crate. Each variant maps to exactly one status code of the C ABI.

use std::fmt;
use std::path::PathBuf;

/// Result of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Status codes as they cross the C ABI. Numbers are final and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// A field of the request is wrong; the message names it. A retry can't help.
    Invalid = 1,
    /// Well-formed, but not offered.
    Unsupported = 2,
    /// A queue is full; retry later.
    Busy = 3,
    /// Cancelled by the caller.
    Cancelled = 4,
    /// The deadline passed first.
    Deadline = 5,
    /// The engine or circuit is closed.
    Closed = 6,
    /// An engine is open in this process already.
    AlreadyOpen = 7,
    /// Header and archive are of different versions.
    AbiMismatch = 8,
    /// A `.params` file was not found.
    ParamsMissing = 9,
    /// A `.params` or cache file is damaged.
    ParamsCorrupt = 10,
    /// The verifying key isn't in the built-in table.
    ParamsUnknown = 11,
    /// No usable device.
    NoDevice = 12,
    /// A device failed for good; only a restart of the process clears it.
    DeviceLost = 13,
    /// A byte budget is exhausted; the message names it.
    OutOfMemory = 14,
    /// The assignment doesn't satisfy the R1CS.
    BadWitness = 15,
    /// A proof of a satisfied assignment failed its pairing check.
    SelfCheck = 16,
    /// A bug or an unexpected fault of the system; the process lives on.
    Internal = 17,
}

/// What is wrong with a `.params` or cache file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// The file as it was named by the caller.
    pub file: PathBuf,
    /// Section of the file, e.g. `"vk"`, `"h"`, `"b_g2"`; empty if the file as a whole is meant.
    pub section: &'static str,
    /// Index of the element inside the section, if one is to blame.
    pub index: Option<u64>,
    /// What was expected, e.g. `"1114 bytes"`, `"a point on the curve"`.
    pub expected: String,
    /// What was found instead.
    pub found: String,
}

/// Why a call failed. Closed: every variant has one [`Status`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A value handed in is wrong.
    Invalid {
        /// Name of the field or argument.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Well-formed, but not offered.
    Unsupported(String),
    /// A queue is full; names it.
    Busy(String),
    /// Cancelled by the caller.
    Cancelled,
    /// The deadline passed first.
    Deadline,
    /// What was asked for is closed or was never loaded; names it.
    Closed(String),
    /// An engine is open in this process already.
    AlreadyOpen,
    /// Header and archive are of different versions.
    AbiMismatch {
        /// Version of the archive.
        expected: u32,
        /// Version of the caller.
        found: u32,
    },
    /// A `.params` file was not found; the text lists what was searched.
    ParamsMissing(String),
    /// A file is damaged.
    ParamsCorrupt(FileFault),
    /// The verifying key of a file isn't in the built-in table.
    ParamsUnknown {
        /// The file.
        file: PathBuf,
        /// Its vk's digest: the first 16 bytes of blake2b-512, in hex.
        digest: String,
    },
    /// No usable device; says why.
    NoDevice(String),
    /// A device failed for good; names it.
    DeviceLost(String),
    /// A byte budget is exhausted.
    OutOfMemory {
        /// Which budget, e.g. `"host"`, `"device 0"`.
        budget: String,
        /// Bytes asked for.
        needed: u64,
        /// Bytes that were free.
        free: u64,
    },
    /// The assignment doesn't satisfy the R1CS.
    BadWitness {
        /// The first row of `A·z ∘ B·z = C·z` that doesn't hold, counted over the expanded rows.
        row: u64,
    },
    /// A proof of a satisfied assignment failed its pairing check; says which.
    SelfCheck(String),
    /// A bug, or an unexpected fault of the system.
    Internal(String),
}

impl Error {
    /// The status code of this error.
    pub fn status(&self) -> Status {
        match self {
            Error::Invalid { .. } => Status::Invalid,
            Error::Unsupported(_) => Status::Unsupported,
            Error::Busy(_) => Status::Busy,
            Error::Cancelled => Status::Cancelled,
            Error::Deadline => Status::Deadline,
            Error::Closed(_) => Status::Closed,
            Error::AlreadyOpen => Status::AlreadyOpen,
            Error::AbiMismatch { .. } => Status::AbiMismatch,
            Error::ParamsMissing(_) => Status::ParamsMissing,
            Error::ParamsCorrupt(_) => Status::ParamsCorrupt,
            Error::ParamsUnknown { .. } => Status::ParamsUnknown,
            Error::NoDevice(_) => Status::NoDevice,
            Error::DeviceLost(_) => Status::DeviceLost,
            Error::OutOfMemory { .. } => Status::OutOfMemory,
            Error::BadWitness { .. } => Status::BadWitness,
            Error::SelfCheck(_) => Status::SelfCheck,
            Error::Internal(_) => Status::Internal,
        }
    }

    /// An [`Error::Invalid`].
    pub fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Error::Invalid { field, reason: reason.into() }
    }

    /// The same of entry `index` of the field, if it is an [`Error::Invalid`].
    pub(crate) fn in_entry(self, index: usize) -> Self {
        match self {
            Error::Invalid { field, reason } => Error::Invalid { field, reason: format!("[{index}]: {reason}") },
            other => other,
        }
    }
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if !self.section.is_empty() {
            write!(f, ", section {}", self.section)?;
        }
        if let Some(index) = self.index {
            write!(f, ", index {index}")?;
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid { field, reason } => write!(f, "{field}: {reason}"),
            Error::Unsupported(what) => write!(f, "not supported: {what}"),
            Error::Busy(what) => write!(f, "busy: {what}"),
            Error::Cancelled => write!(f, "cancelled"),
            Error::Deadline => write!(f, "the deadline has passed"),
            Error::Closed(what) => write!(f, "closed or not loaded: {what}"),
            Error::AlreadyOpen => write!(f, "an engine is already open in this process"),
            Error::AbiMismatch { expected, found } => write!(f, "ABI version {found}, the archive has {expected}"),
            Error::ParamsMissing(searched) => write!(f, "parameters not found: {searched}"),
            Error::ParamsCorrupt(fault) => write!(f, "{fault}"),
            Error::ParamsUnknown { file, digest } => {
                write!(f, "{}: verifying key {digest} isn't one of the network's", file.display())
            }
            Error::NoDevice(why) => write!(f, "no usable device: {why}"),
            Error::DeviceLost(which) => write!(f, "{which} is lost; only a restart of the process clears this"),
            Error::OutOfMemory { budget, needed, free } => {
                write!(f, "out of {budget} memory: {needed} bytes needed, {free} free")
            }
            Error::BadWitness { row } => write!(f, "the assignment doesn't satisfy row {row}"),
            Error::SelfCheck(which) => write!(f, "pairing check failed: {which}"),
            Error::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl std::error::Error for Error {}
