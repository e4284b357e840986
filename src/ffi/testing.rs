//! Functions of the archive for tests: faults on demand, echo engines, counts of what is alive. Not in the header.

// See exports.rs.
#![allow(clippy::not_unsafe_ptr_arg_deref)]

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::abi::{self, Bytes, ErrorOut};
use super::barrier::call;
use super::read::text;
use super::{buffer, engines, exports, inputs, numbers};
use crate::engine::{EchoFault, EchoFaultKind, EchoOptions, Engine};
use crate::error::{Error, Result};

/// How an exported function panics.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Panic {
    /// With a formatted text.
    Text,
    /// With a payload that panics again when it is dropped.
    Payload,
    /// Inside a task of a rayon pool.
    Rayon,
}

static FAULTS: Mutex<Option<HashMap<String, Panic>>> = Mutex::new(None);

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Panics if a fault waits for the exported function `name`.
pub(super) fn fault_point(name: &'static str) {
    let fault = FAULTS.lock().unwrap_or_else(PoisonError::into_inner).as_mut().and_then(|faults| faults.remove(name));
    match fault {
        None => {}
        Some(Panic::Text) => panic!("fault point of {name}"),
        Some(Panic::Payload) => std::panic::panic_any(Bomb),
        Some(Panic::Rayon) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "cuzk-fault".into()).build();
            pool.expect("a thread").install(|| panic!("fault point of {name}, in a pool"));
        }
    }
}

/// The next call of the exported function `name` panics: how = 0 with text, 1 with a payload that panics when dropped, 2 in
/// a rayon task.
#[no_mangle]
pub extern "C" fn cuzk_testing_fault(name: *const Bytes, how: u32) -> u32 {
    call("cuzk_testing_fault", std::ptr::null_mut(), || {
        // SAFETY: tests hand in a live struct.
        let name = unsafe { text("name", *name)? };
        let how = match how {
            0 => Panic::Text,
            1 => Panic::Payload,
            2 => Panic::Rayon,
            _ => return Err(Error::invalid("how", how.to_string())),
        };
        FAULTS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(HashMap::new).insert(name, how);
        Ok(())
    })
}

/// Buffers that wait for cuzk_free.
#[no_mangle]
pub extern "C" fn cuzk_testing_live_buffers() -> u64 {
    buffer::live()
}

/// Engines that are open.
#[no_mangle]
pub extern "C" fn cuzk_testing_live_engines() -> u64 {
    engines::live()
}

/// Options of an echo engine.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo {
    /// Devices; 0: 1.
    pub devices: u32,
    /// Most partitions of a batch; 0: 16.
    pub max_batch: u32,
    /// Milliseconds that a partition takes beside its arithmetic.
    pub partition_ms: u64,
    /// Milliseconds that loading a circuit takes beside reading it.
    pub load_ms: u64,
}

/// A fault of an echo engine: see [`EchoFault`]; numbers for `what` in the order of [`EchoFaultKind`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct EchoFaultIn {
    /// What goes wrong.
    pub what: u32,
    /// Device + 1; 0: any.
    pub device: u32,
    /// A CUZK_KIND_ number; 0: any.
    pub kind: u32,
    /// Occasions that pass first.
    pub skip: u32,
    /// Occasions that are hit.
    pub count: u32,
    /// 0.
    pub reserved: u32,
}

const FAULT_KINDS: [EchoFaultKind; 18] = [
    EchoFaultKind::WrongSums,
    EchoFaultKind::DeviceLost,
    EchoFaultKind::Panic,
    EchoFaultKind::Hang,
    EchoFaultKind::OutOfMemory,
    EchoFaultKind::Internal,
    EchoFaultKind::LoadFails,
    EchoFaultKind::BadWitness,
    EchoFaultKind::SynthesisPanics,
    EchoFaultKind::BadRequest,
    EchoFaultKind::HoldProve,
    EchoFaultKind::HoldLoad,
    EchoFaultKind::HoldOpen,
    EchoFaultKind::HoldSynthesis,
    EchoFaultKind::OpenFails,
    EchoFaultKind::LoadOutOfMemory,
    EchoFaultKind::Forgets,
    EchoFaultKind::HoldFree,
];

/// cuzk_engine_open for an echo engine, of which any number may be open.
#[no_mangle]
pub extern "C" fn cuzk_testing_open_echo(
    config: *const abi::Config,
    echo: *const Echo,
    engine: *mut u64,
    error: *mut ErrorOut,
) -> u32 {
    call("cuzk_testing_open_echo", error, || {
        // SAFETY: tests hand in live structs, or NULL where the header allows it.
        let (config, echo) = unsafe { (exports::prepare(engine, || inputs::config(config))?, *echo) };
        let default = EchoOptions::default();
        let options = EchoOptions {
            devices: if echo.devices == 0 { default.devices } else { echo.devices },
            max_batch: if echo.max_batch == 0 { default.max_batch } else { echo.max_batch },
            partition_time: Duration::from_millis(echo.partition_ms),
            load_time: Duration::from_millis(echo.load_ms),
            ..default
        };
        let id = engines::insert(Engine::open_echo(config, options)?)?;
        // SAFETY: `prepare` has refused NULL.
        unsafe { engine.write(id) };
        Ok(())
    })
}

/// Adds a fault to an echo engine.
#[no_mangle]
pub extern "C" fn cuzk_testing_inject(engine: u64, fault: *const EchoFaultIn, error: *mut ErrorOut) -> u32 {
    call("cuzk_testing_inject", error, || {
        // SAFETY: tests hand in a live struct.
        engines::get(engine)?.inject(echo_fault(unsafe { *fault })?)
    })
}

fn echo_fault(from: EchoFaultIn) -> Result<EchoFault> {
    let what = FAULT_KINDS.get(from.what as usize).copied();
    Ok(EchoFault {
        what: what.ok_or_else(|| Error::invalid("what", from.what.to_string()))?,
        device: from.device.checked_sub(1),
        kind: if from.kind == 0 { None } else { Some(numbers::kind(from.kind)?) },
        skip: from.skip,
        count: from.count,
    })
}
