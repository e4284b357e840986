//! Device memory: slabs under one cap, handed out as reservations with names.
//!
//! A reservation that is dropped leaves its slab behind, idle, for the next one that it fits; idle slabs go back to the
//! driver, the largest first, only when a reservation needs the room or [`Arena::trim`] is called. Lives on its device's
//! thread alone.

use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

use super::fault::{Fault, Outcome, NO_MEMORY};
use super::sys::{device_memory, DeviceBuffer};
use crate::error::Error;

/// Slabs are multiples of this, so that sizes that differ a little share one.
const GRANULE: u64 = 2 << 20;

pub(super) struct Arena {
    budget: String,
    cap: u64,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    held: u64,
    peak: u64,
    idle: Vec<DeviceBuffer<u8>>,
    named: Vec<(u64, String, u64)>,
    next: u64,
}

/// Device memory with a name. The arena has it back when it is dropped.
pub(super) struct Reservation {
    arena: Rc<Arena>,
    id: u64,
    slab: Option<DeviceBuffer<u8>>,
}

impl Arena {
    /// `budget` is what errors name.
    pub(super) fn new(budget: String, cap: u64) -> Rc<Self> {
        Rc::new(Arena { budget, cap, state: RefCell::default() })
    }

    /// `bytes` of device memory, uninitialised, aligned to 256. Errors: OUT_OF_MEMORY; other CUDA errors.
    pub(super) fn reserve(self: &Rc<Self>, name: impl Into<String>, bytes: u64) -> Outcome<Reservation> {
        let bytes = bytes.max(1).next_multiple_of(GRANULE);
        let slab = match self.take_idle(bytes) {
            Some(slab) => slab,
            None => self.allocate(bytes)?,
        };
        let mut state = self.state.borrow_mut();
        let id = state.next;
        state.next += 1;
        state.named.push((id, name.into(), slab.bytes()));
        Ok(Reservation { arena: Rc::clone(self), id, slab: Some(slab) })
    }

    /// The smallest idle slab that is large enough, and not so much larger that it would be a waste.
    fn take_idle(&self, bytes: u64) -> Option<DeviceBuffer<u8>> {
        let mut state = self.state.borrow_mut();
        let fits = |slab: &DeviceBuffer<u8>| (bytes..=bytes + bytes / 8).contains(&slab.bytes());
        let fitting = state.idle.iter().enumerate().filter(|(_, slab)| fits(slab));
        let best = fitting.min_by_key(|(_, slab)| slab.bytes()).map(|(at, _)| at)?;
        Some(state.idle.swap_remove(best))
    }

    fn allocate(&self, bytes: u64) -> Outcome<DeviceBuffer<u8>> {
        while self.held() + bytes > self.cap {
            if !self.free_largest() {
                return Err(self.exhausted(bytes, self.cap.saturating_sub(self.held())));
            }
        }
        let slab = loop {
            match DeviceBuffer::new(bytes as usize) {
                Ok(slab) => break slab,
                Err(error) if error.code != NO_MEMORY => return Err(error.into()),
                Err(_) if self.free_largest() => {}
                Err(_) => return Err(self.exhausted(bytes, device_memory().map_or(0, |(free, _)| free))),
            }
        };
        let mut state = self.state.borrow_mut();
        state.held += bytes;
        state.peak = state.peak.max(state.held);
        Ok(slab)
    }

    fn exhausted(&self, needed: u64, free: u64) -> Fault {
        Fault::Other(Error::OutOfMemory { budget: self.budget.clone(), needed, free })
    }

    /// Gives the largest idle slab back to the driver, if there is one.
    fn free_largest(&self) -> bool {
        let mut state = self.state.borrow_mut();
        let Some(at) = (0..state.idle.len()).max_by_key(|at| state.idle[*at].bytes()) else { return false };
        let slab = state.idle.swap_remove(at);
        state.held -= slab.bytes();
        true
    }

    /// Gives all idle slabs back to the driver.
    pub(super) fn trim(&self) {
        while self.free_largest() {}
    }

    /// Most bytes that it may hold.
    pub(super) fn cap(&self) -> u64 {
        self.cap
    }

    /// Bytes taken from the driver.
    pub(super) fn held(&self) -> u64 {
        self.state.borrow().held
    }

    /// Most bytes that were ever held.
    pub(super) fn peak(&self) -> u64 {
        self.state.borrow().peak
    }

    /// Reservations with their bytes, idle slabs last.
    pub(super) fn named(&self) -> Vec<(String, u64)> {
        let state = self.state.borrow();
        let idle: u64 = state.idle.iter().map(DeviceBuffer::bytes).sum();
        let named = state.named.iter().map(|(_, name, bytes)| (name.clone(), *bytes));
        named.chain((idle > 0).then(|| ("idle".into(), idle))).collect()
    }
}

impl Reservation {
    /// Bytes, at least as many as were asked for.
    pub(super) fn bytes(&self) -> u64 {
        self.slab.as_ref().map_or(0, DeviceBuffer::bytes)
    }

    /// The address `offset` bytes behind the start, which must leave room for `bytes`.
    pub(super) fn at(&self, offset: u64, bytes: u64) -> *mut c_void {
        assert!(offset + bytes <= self.bytes(), "{bytes} bytes at {offset} of a reservation of {}", self.bytes());
        let base = self.slab.as_ref().map_or(std::ptr::null_mut(), DeviceBuffer::as_ptr);
        base.cast::<u8>().wrapping_add(offset as usize).cast()
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut state = self.arena.state.borrow_mut();
        state.named.retain(|(id, _, _)| *id != self.id);
        state.idle.extend(self.slab.take());
    }
}
