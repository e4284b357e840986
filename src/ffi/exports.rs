//! The exported functions. Each is a barrier around a few lines: read, call the engine, write.

// Pointers are as the header's contract says; C knows no `unsafe`, and in Rust only tests call these.
#![allow(clippy::not_unsafe_ptr_arg_deref)]

use std::time::Duration;

use safer_ffi::prelude::*;

use super::abi::{self, Buffer, Bytes, ErrorOut};
use super::abi_stats::{Cost, Stats};
use super::barrier::{call, report};
use super::numbers::{self, CUZK_ABI_VERSION};
use super::read::{bytes, size_for_writing, write_versioned};
use super::{buffer, engines, inputs, outputs, verify};
use crate::circuit::CircuitId;
use crate::engine::Engine;
use crate::error::{Error, Result};

/// CUZK_ABI_VERSION of the archive. Doesn't block.
#[ffi_export]
pub fn cuzk_abi_version() -> u32 {
    CUZK_ABI_VERSION
}

/// Opens the process's engine and writes its number to `engine`; 0 on failure.
///
/// Blocks as long as devices take to open; opens no circuit. One engine at a time.
/// Errors: ABI_MISMATCH; INVALID names a field of `config`; ALREADY_OPEN; NO_DEVICE; INTERNAL (threads).
#[ffi_export]
pub fn cuzk_engine_open(config: *const abi::Config, engine: *mut u64, error: *mut ErrorOut) -> u32 {
    call("cuzk_engine_open", error, || {
        // SAFETY: the header's contract.
        let config = unsafe { prepare(engine, || inputs::config(config)) }?;
        let id = engines::insert(Engine::open(config)?)?;
        // SAFETY: the header's contract; it isn't NULL.
        unsafe { engine.write(id) };
        Ok(())
    })
}

/// Sets the output to 0 before anything can fail.
///
/// # Safety
///
/// `engine` is NULL or writable.
pub(super) unsafe fn prepare<T>(engine: *mut u64, config: impl FnOnce() -> Result<T>) -> Result<T> {
    if engine.is_null() {
        return Err(Error::invalid("engine", "is NULL"));
    }
    // SAFETY: the caller's promise.
    unsafe { engine.write(0) };
    config()
}

/// Ends every unfinished request with CLOSED and stops the engine's threads; from then on its number is CLOSED for every
/// function. Calls of cuzk_engine_next that wait return.
///
/// Blocks until the threads have ended, 5 s at most.
/// Errors: INVALID, CLOSED (a second time); INTERNAL names a thread that hangs in a call and was left behind.
#[ffi_export]
pub fn cuzk_engine_close(engine: u64, error: *mut ErrorOut) -> u32 {
    call("cuzk_engine_close", error, || engines::remove(engine)?.close())
}

/// Queues `count` requests; each that is accepted ends in one completion event with its tag.
///
/// Shapes: `requests[0..count)`, `results[0..count)`; `results[i]` says whether request i was accepted. `results` is written
/// if the call returns OK, whatever it says of single requests.
/// Ownership: copies what it needs before it returns. Each message in `results` is to be freed.
/// Threads: never blocks but for that copy.
/// Errors, in `results`: INVALID (structure, a limit, a tag in use), UNSUPPORTED, BUSY (retry later), OUT_OF_MEMORY, CLOSED.
/// What is wrong with the content arrives as a completion. Of the call: INVALID, CLOSED.
#[ffi_export]
pub fn cuzk_engine_submit(
    engine: u64,
    requests: *const abi::Request,
    count: u64,
    results: *mut ErrorOut,
    error: *mut ErrorOut,
) -> u32 {
    call("cuzk_engine_submit", error, || {
        let engine = engines::get(engine)?;
        // SAFETY: the header's contract.
        let requests = unsafe { inputs::requests(requests, count)? };
        if !requests.is_empty() && results.is_null() {
            return Err(Error::invalid("results", "is NULL"));
        }
        let mut refused = Vec::new();
        let mut jobs = Vec::new();
        for request in requests {
            // SAFETY: the header's contract.
            match unsafe { inputs::job(request) } {
                Ok(job) => {
                    jobs.push(job);
                    refused.push(None);
                }
                Err(why) => refused.push(Some(why)),
            }
        }
        let mut submitted = engine.submit(jobs).into_iter();
        for (i, refused) in refused.into_iter().enumerate() {
            let outcome = refused.or_else(|| submitted.next().and_then(Result::err));
            report(results.wrapping_add(i), outcome.as_ref());
        }
        Ok(())
    })
}

/// Takes the next event: waits for it `timeout_ms` milliseconds at most, UINT64_MAX without end. Without one, the event's
/// kind is CUZK_EVENT_NONE.
///
/// Shapes: event->struct_size is set by the caller; the rest is written if the call returns OK.
/// Ownership: the event's buffers are to be freed. Taking a completion frees its tag and its place in the queue.
/// Threads: any number may wait; each event goes to one of them.
/// Errors: INVALID, CLOSED.
#[ffi_export]
pub fn cuzk_engine_next(engine: u64, timeout_ms: u64, event: *mut abi::Event, error: *mut ErrorOut) -> u32 {
    call("cuzk_engine_next", error, || {
        let engine = engines::get(engine)?;
        // Checked before an event is taken, which would be lost.
        // SAFETY: the header's contract.
        unsafe { size_for_writing(event, size_of::<abi::Event>())? };
        let timeout = if timeout_ms == u64::MAX { Duration::MAX } else { Duration::from_millis(timeout_ms) };
        let taken = engine.next(timeout)?.map_or_else(outputs::no_event, outputs::event);
        // SAFETY: the header's contract.
        unsafe { write_versioned(event, &taken) }
    })
}

/// Ends an unfinished request with CANCELLED: its completion is there when this returns, and its memory comes back soon
/// after. A tag that isn't in use: nothing happens. Doesn't block. Errors: INVALID, CLOSED.
#[ffi_export]
pub fn cuzk_engine_cancel(engine: u64, tag: u64, error: *mut ErrorOut) -> u32 {
    call("cuzk_engine_cancel", error, || engines::get(engine)?.cancel(tag))
}

/// Opens a circuit, and loads it on the devices that prove it. Ends in a completion, with progress events before.
/// Doesn't block. Errors: INVALID, UNSUPPORTED (no such size), CLOSED; in the completion those of opening and loading.
#[ffi_export]
pub fn cuzk_engine_preload(engine: u64, kind: u32, sector_size: u64, tag: u64, error: *mut ErrorOut) -> u32 {
    call("cuzk_engine_preload", error, || engines::get(engine)?.preload(circuit(kind, sector_size)?, tag))
}

/// Unloads a circuit everywhere, once no request uses it. Ends in a completion, also if it wasn't loaded. Doesn't block.
/// Errors: INVALID, UNSUPPORTED (no such size), CLOSED.
#[ffi_export]
pub fn cuzk_engine_evict(engine: u64, kind: u32, sector_size: u64, tag: u64, error: *mut ErrorOut) -> u32 {
    call("cuzk_engine_evict", error, || engines::get(engine)?.evict(circuit(kind, sector_size)?, tag))
}

/// Unloads every circuit that no request uses, WinningPoSts' excepted, and frees idle buffers. Ends in a completion.
/// Doesn't block. Errors: INVALID, CLOSED.
#[ffi_export]
pub fn cuzk_engine_trim(engine: u64, tag: u64, error: *mut ErrorOut) -> u32 {
    call("cuzk_engine_trim", error, || engines::get(engine)?.trim(tag))
}

fn circuit(kind: u32, sector_size: u64) -> Result<CircuitId> {
    CircuitId::new(numbers::kind(kind)?, sector_size)
}

/// Writes counters, gauges and health to `stats`. The caller sets stats->struct_size; its buffers are to be freed.
/// Doesn't block. Errors: INVALID, CLOSED.
#[ffi_export]
pub fn cuzk_engine_stats(engine: u64, stats: *mut Stats, error: *mut ErrorOut) -> u32 {
    call("cuzk_engine_stats", error, || {
        let engine = engines::get(engine)?;
        // SAFETY: the header's contract.
        unsafe { size_for_writing(stats, size_of::<Stats>())? };
        let now = outputs::stats(engine.stats()?);
        // SAFETY: the header's contract.
        unsafe { write_versioned(stats, &now) }
    })
}

/// Writes what a request of this kind and sector size needs on this engine to `cost`. The caller sets cost->struct_size.
/// Doesn't block. Errors: INVALID, UNSUPPORTED (no such size), CLOSED.
#[ffi_export]
pub fn cuzk_engine_cost(engine: u64, kind: u32, sector_size: u64, cost: *mut Cost, error: *mut ErrorOut) -> u32 {
    call("cuzk_engine_cost", error, || {
        let needed = engines::get(engine)?.cost(numbers::kind(kind)?, sector_size)?;
        // SAFETY: the header's contract.
        unsafe { write_versioned(cost, &outputs::cost(needed)) }
    })
}

/// Checks a proof of all partitions by pairing, against public inputs that follow from the claim alone. OK: it is valid.
/// Needs no engine.
///
/// Shapes: `proof` has 192 bytes a partition, compressed, big-endian, in order.
/// Threads: blocks for 2 ms a partition and 5 µs an input (WindowPoSt has 25,839); the first use of a verifying key reads
/// and checks it, a second of one core for WindowPoSt's.
/// Errors: INVALID with field `proof` if it isn't a proof of the claim; INVALID, UNSUPPORTED; PARAMS_MISSING,
/// PARAMS_CORRUPT, PARAMS_UNKNOWN.
#[ffi_export]
pub fn cuzk_verify(
    claim: *const abi::Claim,
    proof: *const Bytes,
    source: *const abi::VkSource,
    error: *mut ErrorOut,
) -> u32 {
    call("cuzk_verify", error, || {
        if proof.is_null() {
            return Err(Error::invalid("proof", "is NULL"));
        }
        // SAFETY: the header's contract.
        let (claim, proof, keys) =
            unsafe { (inputs::claim(claim)?, bytes("proof", *proof)?, verify::Keys::read(source)?) };
        verify::verify(&claim, proof, &keys)
    })
}

/// Frees a buffer and empties the struct, so that freeing it again does nothing. NULL and empty buffers are fine.
/// Doesn't block. Errors: INVALID if a copy of it was freed before.
#[ffi_export]
pub fn cuzk_free(buffer: *mut Buffer) -> u32 {
    call("cuzk_free", std::ptr::null_mut(), || buffer::take_back(buffer))
}
