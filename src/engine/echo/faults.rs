//! Faults that wait for their occasion, those that are held, and the calls that were made.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::options::{EchoCall, EchoCallKind, EchoFault, EchoFaultKind};
use crate::circuit::Kind;

/// Shared by an echo engine's library, its devices and the test.
#[derive(Default)]
pub(in crate::engine) struct Echo {
    state: Mutex<State>,
    released: Condvar,
}

#[derive(Default)]
struct State {
    faults: Vec<EchoFault>,
    /// How often each kind was released.
    releases: HashMap<EchoFaultKind, u64>,
    calls: Vec<EchoCall>,
}

/// A hold that was begun.
pub(super) struct Hold {
    kind: EchoFaultKind,
    releases: u64,
}

impl Echo {
    pub fn new(faults: Vec<EchoFault>) -> Self {
        let echo = Echo::default();
        echo.lock().faults = faults;
        echo
    }

    /// Adds a fault; a count of 0 ends all faults of its kind and releases those that are held.
    pub fn inject(&self, fault: EchoFault) {
        let mut state = self.lock();
        if fault.count > 0 {
            return state.faults.push(fault);
        }
        state.faults.retain(|other| other.what != fault.what);
        *state.releases.entry(fault.what).or_default() += 1;
        self.released.notify_all();
    }

    /// Releases what is held by this kind; the faults stay.
    pub fn let_go(&self, hold: EchoFaultKind) {
        *self.lock().releases.entry(hold).or_default() += 1;
        self.released.notify_all();
    }

    /// Counts an occasion, and says whether it is hit. `device` is None where there is none, and for the CPU's stand-in.
    pub fn strikes(&self, what: EchoFaultKind, device: Option<u32>, kind: Kind) -> bool {
        self.lock().strikes(what, device, kind)
    }

    /// Begins a hold, if one is due.
    pub(super) fn hold(&self, what: EchoFaultKind, device: Option<u32>, kind: Kind) -> Option<Hold> {
        let mut state = self.lock();
        let releases = state.releases.get(&what).copied().unwrap_or(0);
        state.strikes(what, device, kind).then_some(Hold { kind: what, releases })
    }

    /// Waits `time`.
    pub(super) fn pause(&self, time: Duration) {
        drop(self.released.wait_timeout(self.lock(), time));
    }

    /// Waits for the release of `hold`, `at_most` so long. Whether it was released.
    pub(super) fn wait(&self, hold: &Hold, at_most: Duration) -> bool {
        let held = |state: &mut State| state.releases.get(&hold.kind).copied().unwrap_or(0) == hold.releases;
        let waited = self.released.wait_timeout_while(self.lock(), at_most, held);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    pub fn record(&self, device: &str, what: EchoCallKind, circuit: &str) {
        let thread = std::thread::current().id();
        let (device, circuit) = (device.to_owned(), circuit.to_owned());
        self.lock().calls.push(EchoCall { device, what, circuit, thread });
    }

    pub fn calls(&self) -> Vec<EchoCall> {
        self.lock().calls.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn strikes(&mut self, what: EchoFaultKind, device: Option<u32>, kind: Kind) -> bool {
        let fits = |fault: &&mut EchoFault| {
            let on_device = fault.device.is_none() || fault.device == device;
            fault.what == what && fault.count > 0 && on_device && fault.kind.is_none_or(|only| only == kind)
        };
        let Some(fault) = self.faults.iter_mut().find(fits) else { return false };
        if fault.skip > 0 {
            fault.skip -= 1;
            return false;
        }
        fault.count -= 1;
        true
    }
}
