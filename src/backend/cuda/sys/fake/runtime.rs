//! cuda/exports/runtime.h on the host. Streams run at once; events fire at once, unless they are held.

use std::alloc::{alloc, dealloc, Layout};
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use super::{call, check_device, lock, next_handle, with, CURRENT, RELEASED};
use crate::backend::cuda::sys::Status;

/// Events that were recorded while events are held.
static PENDING: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

const NO_MEMORY: i32 = 2;
const INVALID_VALUE: i32 = 1;
const NO_DRIVER: i32 = 35;
const NO_CARD: i32 = 100;
const RUNTIME: i32 = 13_000;
const ALIGN: usize = 256;

#[repr(C)]
struct RawDevice {
    name: [u8; 256],
    uuid: [u8; 16],
    numbers: [i32; 4],
    sizes: [u64; 3],
}

fn layout(bytes: u64) -> Layout {
    Layout::from_size_align(bytes as usize, ALIGN).expect("no test asks for that much")
}

#[no_mangle]
extern "C" fn czk_driver_version(driver: *mut i32, runtime: *mut i32) -> Status {
    call("driver_version", || {
        // SAFETY: both pointers are valid, as the interface says.
        unsafe {
            *driver = with(|state| state.driver);
            *runtime = RUNTIME;
        }
        Ok(())
    })
}

#[no_mangle]
extern "C" fn czk_device_count(count: *mut i32) -> Status {
    call("device_count", || {
        let (driver, cards) = with(|state| (state.driver, state.devices.len()));
        match (driver, cards) {
            (..RUNTIME, _) => Err(NO_DRIVER),
            (_, 0) => Err(NO_CARD),
            // SAFETY: the pointer is valid, as the interface says.
            _ => unsafe {
                *count = cards as i32;
                Ok(())
            },
        }
    })
}

#[no_mangle]
extern "C" fn czk_device_info(ordinal: i32, device: *mut c_void) -> Status {
    call("device_info", || {
        let card = with(|state| state.devices.get(ordinal as usize).cloned()).ok_or(INVALID_VALUE)?;
        let mut name = [0; 256];
        name[..4].copy_from_slice(b"fake");
        let sizes = [card.memory_bytes, 50 << 20, 227 << 10];
        // SAFETY: the pointer is to the interface's struct, whose layout RawDevice has.
        unsafe {
            device.cast::<RawDevice>().write(RawDevice { name, uuid: card.uuid, numbers: [9, 0, 132, 0], sizes })
        };
        Ok(())
    })
}

#[no_mangle]
extern "C" fn czk_device_use(ordinal: i32) -> Status {
    CURRENT.set(Some(ordinal as u32));
    call("device_use", || Ok(()))
}

fn free_bytes(device: u32) -> (u64, u64) {
    with(|state| {
        let total = state.devices.get(device as usize).map_or(0, |card| card.memory_bytes);
        let used: u64 = state.memory.values().filter(|(of, _)| *of == device).map(|(_, bytes)| bytes).sum();
        (total.saturating_sub(used), total)
    })
}

#[no_mangle]
extern "C" fn czk_device_memory(free: *mut u64, total: *mut u64) -> Status {
    call("device_memory", || {
        let (free_now, all) = free_bytes(CURRENT.get().ok_or(INVALID_VALUE)?);
        // SAFETY: both pointers are valid, as the interface says.
        unsafe {
            *free = free_now;
            *total = all;
        }
        Ok(())
    })
}

#[no_mangle]
extern "C" fn czk_device_alloc(bytes: u64, pointer: *mut *mut c_void) -> Status {
    call("device_alloc", || {
        let device = CURRENT.get().ok_or(INVALID_VALUE)?;
        if free_bytes(device).0 < bytes {
            return Err(NO_MEMORY);
        }
        // SAFETY: the layout isn't empty; the pointer is valid, as the interface says.
        unsafe {
            let memory = alloc(layout(bytes));
            // What nobody wrote shows: on a card it would be another program's.
            memory.write_bytes(0xa5, (bytes as usize).min(1 << 20));
            *pointer = memory.cast();
            with(|state| state.memory.insert(memory as usize, (device, bytes)));
        }
        Ok(())
    })
}

#[no_mangle]
extern "C" fn czk_device_free(pointer: *mut c_void) -> Status {
    let freed = with(|state| state.memory.remove(&(pointer as usize)));
    if let Some((_, bytes)) = freed {
        // SAFETY: it was allocated with this layout, and is removed from the table once.
        unsafe { dealloc(pointer.cast(), layout(bytes)) };
    }
    call("device_free", || freed.map(|_| ()).ok_or(INVALID_VALUE))
}

#[no_mangle]
extern "C" fn czk_pinned_alloc(bytes: u64, pointer: *mut *mut c_void) -> Status {
    call("pinned_alloc", || {
        let (held, limit) = with(|state| (state.pinned.values().sum::<u64>(), state.pinned_limit));
        if limit.is_some_and(|limit| held + bytes > limit) {
            return Err(NO_MEMORY);
        }
        // SAFETY: the layout isn't empty; the pointer is valid, as the interface says.
        unsafe {
            let memory = alloc(layout(bytes));
            *pointer = memory.cast();
            with(|state| state.pinned.insert(memory as usize, bytes));
        }
        Ok(())
    })
}

#[no_mangle]
extern "C" fn czk_pinned_free(pointer: *mut c_void) -> Status {
    let freed = with(|state| state.pinned.remove(&(pointer as usize)));
    if let Some(bytes) = freed {
        // SAFETY: it was allocated with this layout, and is removed from the table once.
        unsafe { dealloc(pointer.cast(), layout(bytes)) };
    }
    call("pinned_free", || freed.map(|_| ()).ok_or(INVALID_VALUE))
}

#[no_mangle]
extern "C" fn czk_copy(to: *mut c_void, from: *const c_void, bytes: u64, _stream: *mut c_void) -> Status {
    call("copy", || {
        // One end at least is the device's.
        check_device(to, bytes).or_else(|_| check_device(from, bytes))?;
        // SAFETY: both ranges are valid, as the interface says, and of different allocations or apart.
        unsafe { std::ptr::copy(from.cast::<u8>(), to.cast(), bytes as usize) };
        Ok(())
    })
}

#[no_mangle]
extern "C" fn czk_fill(pointer: *mut c_void, byte: i32, bytes: u64, _stream: *mut c_void) -> Status {
    call("fill", || {
        check_device(pointer, bytes)?;
        // SAFETY: the range is device memory, as was checked.
        unsafe { pointer.cast::<u8>().write_bytes(byte as u8, bytes as usize) };
        Ok(())
    })
}

/// A handle that is no address of anything.
fn create(handle: *mut *mut c_void) -> Result<(), i32> {
    with(|state| state.handles += 1);
    // SAFETY: the pointer is valid, as the interface says.
    unsafe { *handle = std::ptr::without_provenance_mut(next_handle()) };
    Ok(())
}

fn destroy() -> Result<(), i32> {
    with(|state| state.handles = state.handles.saturating_sub(1));
    Ok(())
}

#[no_mangle]
extern "C" fn czk_stream_create(stream: *mut *mut c_void) -> Status {
    call("stream_create", || create(stream))
}

#[no_mangle]
extern "C" fn czk_stream_destroy(_stream: *mut c_void) -> Status {
    let _ = destroy();
    call("stream_destroy", || Ok(()))
}

#[no_mangle]
extern "C" fn czk_stream_wait(_stream: *mut c_void) -> Status {
    call("stream_wait", || Ok(()))
}

#[no_mangle]
extern "C" fn czk_stream_wait_event(_stream: *mut c_void, _event: *mut c_void) -> Status {
    call("stream_wait_event", || Ok(()))
}

#[no_mangle]
extern "C" fn czk_event_create(_timing: i32, event: *mut *mut c_void) -> Status {
    call("event_create", || create(event))
}

#[no_mangle]
extern "C" fn czk_event_destroy(_event: *mut c_void) -> Status {
    let _ = destroy();
    call("event_destroy", || Ok(()))
}

fn pending() -> std::sync::MutexGuard<'static, BTreeSet<usize>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[no_mangle]
extern "C" fn czk_event_record(event: *mut c_void, _stream: *mut c_void) -> Status {
    call("event_record", || {
        let held = with(|state| state.holds_events);
        let mut pending = pending();
        if held {
            pending.insert(event as usize);
        } else {
            pending.remove(&(event as usize));
        }
        Ok(())
    })
}

/// Whether it was recorded while events are held, and they still are.
fn is_pending(event: *mut c_void) -> bool {
    with(|state| state.holds_events) && pending().contains(&(event as usize))
}

#[no_mangle]
extern "C" fn czk_event_wait(event: *mut c_void) -> Status {
    call("event_wait", || {
        while is_pending(event) {
            let machine = lock();
            if machine.as_ref().is_some_and(|state| state.holds_events) {
                drop(RELEASED.wait(machine).unwrap_or_else(PoisonError::into_inner));
            }
        }
        Ok(())
    })
}

#[no_mangle]
extern "C" fn czk_event_done(event: *mut c_void, done: *mut i32) -> Status {
    call("event_done", || {
        // SAFETY: the pointer is valid, as the interface says.
        unsafe { *done = i32::from(!is_pending(event)) };
        Ok(())
    })
}

#[no_mangle]
extern "C" fn czk_event_ms(_start: *mut c_void, _stop: *mut c_void, ms: *mut f32) -> Status {
    call("event_ms", || {
        // SAFETY: the pointer is valid, as the interface says.
        unsafe { *ms = 1.0 };
        Ok(())
    })
}
