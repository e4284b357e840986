//! Buffers that the caller owns until it frees them.
//!
//! A table keeps them by a number that is never used again, so that freeing one twice, or a copy of it, is an error that is
//! told and not damage: what the caller's struct says of address and length is never believed.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::abi::Buffer;
use crate::error::{Error, Result};

struct Table {
    next: u64,
    live: Option<HashMap<u64, Box<dyn Any + Send>>>,
}

static TABLE: Mutex<Table> = Mutex::new(Table { next: 1, live: None });

const EMPTY: Buffer = Buffer { ptr: std::ptr::null_mut(), len: 0, id: 0 };

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands `bytes` to the caller.
pub fn give(bytes: Vec<u8>) -> Buffer {
    if bytes.is_empty() {
        return EMPTY;
    }
    let len = bytes.len() as u64;
    let bytes = Untouched(Box::into_raw(bytes.into_boxed_slice()));
    let ptr = bytes.0.cast();
    Buffer { ptr, len, ..keep(bytes) }
}

/// Keeps a value until the caller frees it: a buffer without an address.
pub fn keep(value: impl Any + Send) -> Buffer {
    let mut table = table();
    let id = table.next;
    table.next += 1;
    table.live.get_or_insert_with(HashMap::new).insert(id, Box::new(value));
    Buffer { id, ..EMPTY }
}

/// Memory that this side doesn't touch before it drops it.
struct Untouched(*mut [u8]);

// SAFETY: the only pointer to its memory on this side.
unsafe impl Send for Untouched {}

impl Drop for Untouched {
    fn drop(&mut self) {
        // SAFETY: made by Box::into_raw, and dropped once.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// Frees the buffer at `buffer` and empties the struct, so that freeing it again does nothing. NULL and empty ones are
/// fine. Errors: INVALID if it was freed before or never given.
pub fn take_back(buffer: *mut Buffer) -> Result<()> {
    if buffer.is_null() {
        return Ok(());
    }
    // SAFETY: the caller hands in NULL or an initialised cuzk_buffer_t.
    let id = unsafe { buffer.replace(EMPTY) }.id;
    let freed = id == 0 || table().live.as_mut().is_some_and(|live| live.remove(&id).is_some());
    match freed {
        true => Ok(()),
        false => Err(Error::invalid("buffer", format!("{id} isn't one that is still to be freed"))),
    }
}

/// Buffers that wait for being freed.
#[cfg(any(test, feature = "testing"))]
pub fn live() -> u64 {
    table().live.as_ref().map_or(0, |live| live.len() as u64)
}
