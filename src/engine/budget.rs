//! A budget of bytes, given out as guards.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};

/// Whom a reservation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// May not touch what is held back.
    Bulk,
    /// A WinningPoSt: may use everything.
    Urgent,
}

/// Bytes of one kind of memory (host, pinned, a device). Accounts for what its holders say they use; allocates nothing.
///
/// Reservations are guards: bytes come back when the guard is dropped, in whatever way that happens. Those who wait are
/// served in the order of their arrival, urgent ones first, so that a large one is never starved by small ones.
#[derive(Debug)]
pub struct Budget {
    name: String,
    total: u64,
    held_back: u64,
    state: Mutex<State>,
    released: Condvar,
}

#[derive(Debug, Default)]
struct State {
    used: u64,
    peak: u64,
    next_ticket: u64,
    /// (ticket, urgent) of everyone who waits.
    waiting: Vec<(u64, bool)>,
}

/// A share of a [`Budget`], given back when it is dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Budget {
    /// A budget of `total` bytes, `held_back` of which only [`Urgency::Urgent`] may use. `name` is for messages.
    pub fn new(name: impl Into<String>, total: u64, held_back: u64) -> Arc<Self> {
        let held_back = held_back.min(total);
        Arc::new(Budget { name: name.into(), total, held_back, state: Mutex::default(), released: Condvar::new() })
    }

    /// Bytes in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that are reserved now.
    pub fn used(&self) -> u64 {
        self.state().used
    }

    /// The most that was ever reserved at once.
    pub fn peak(&self) -> u64 {
        self.state().peak
    }

    /// Reserves `bytes` if they are free and nobody waits before.
    /// Errors: OUT_OF_MEMORY names the budget; a retry can help unless `bytes` exceeds what the urgency may ever use.
    pub fn try_reserve(self: &Arc<Self>, bytes: u64, urgency: Urgency) -> Result<Reservation> {
        let mut state = self.state();
        let behind = state.waiting.iter().any(|(_, urgent)| *urgent || urgency == Urgency::Bulk);
        if behind || !self.fits(&state, bytes, urgency) {
            return Err(self.exhausted(bytes, self.limit(urgency).saturating_sub(state.used)));
        }
        Ok(self.take(&mut state, bytes))
    }

    /// Reserves `bytes`, waiting for its turn while `go_on` says so; it is asked whenever something is released or
    /// [`Self::wake`] is called.
    /// Errors: OUT_OF_MEMORY at once if `bytes` can never be free; CANCELLED if `go_on` said no.
    pub fn reserve(self: &Arc<Self>, bytes: u64, urgency: Urgency, go_on: &dyn Fn() -> bool) -> Result<Reservation> {
        if bytes > self.limit(urgency) {
            return Err(self.exhausted(bytes, self.limit(urgency)));
        }
        let mut state = self.state();
        let ticket = (state.next_ticket, urgency == Urgency::Urgent);
        state.next_ticket += 1;
        state.waiting.push(ticket);
        let granted = loop {
            if !go_on() {
                break false;
            }
            if state.is_first(ticket) && self.fits(&state, bytes, urgency) {
                break true;
            }
            state = self.released.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.waiting.retain(|waiting| *waiting != ticket);
        self.released.notify_all(); // whoever stood behind may be first now
        if granted {
            Ok(self.take(&mut state, bytes))
        } else {
            Err(Error::Cancelled)
        }
    }

    /// Makes everyone who waits ask its `go_on` again.
    pub fn wake(&self) {
        let _state = self.state();
        self.released.notify_all();
    }

    /// The most that `urgency` may ever use.
    pub fn limit(&self, urgency: Urgency) -> u64 {
        match urgency {
            Urgency::Bulk => self.total - self.held_back,
            Urgency::Urgent => self.total,
        }
    }

    fn fits(&self, state: &State, bytes: u64, urgency: Urgency) -> bool {
        state.used.checked_add(bytes).is_some_and(|used| used <= self.limit(urgency))
    }

    fn take(self: &Arc<Self>, state: &mut State, bytes: u64) -> Reservation {
        state.used += bytes;
        state.peak = state.peak.max(state.used);
        Reservation { budget: self.clone(), bytes }
    }

    fn exhausted(&self, needed: u64, free: u64) -> Error {
        Error::OutOfMemory { budget: self.name.clone(), needed, free }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change of the state is complete before a panic could happen, so a poisoned lock holds a good state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_first(&self, (ticket, urgent): (u64, bool)) -> bool {
        self.waiting.iter().all(|&(other, its)| if its == urgent { ticket <= other } else { urgent })
    }
}

impl Reservation {
    /// Bytes of this share.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Gives back all but `bytes`. More than is reserved: nothing happens.
    pub fn shrink(&mut self, bytes: u64) {
        let surplus = self.bytes.saturating_sub(bytes);
        self.bytes -= surplus;
        self.budget.release(surplus);
    }
}

impl Budget {
    fn release(&self, bytes: u64) {
        if bytes > 0 {
            self.state().used -= bytes;
            self.released.notify_all();
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.release(self.bytes);
    }
}

#[cfg(test)]
mod tests;
