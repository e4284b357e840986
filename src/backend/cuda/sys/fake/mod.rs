//! The kernels' C functions on the host, for tests without a GPU: memory is the host's, kernels compute with blst, and every
//! call is recorded and can be made to fail, to hang, or to leave events that don't fire.
//!
//! What is above `sys` is the shipped code: pools, device threads and error paths under test are the real ones. A device
//! form of points and scalars is blst's own, so that sums come out as on a card.

mod kernels;
mod msm;
mod runtime;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use super::Status;

/// The machine that the functions act on.
static MACHINE: Mutex<Option<State>> = Mutex::new(None);
/// Signalled when something that hangs may go on.
static RELEASED: Condvar = Condvar::new();
/// Held by the test that uses the machine.
static TURN: Mutex<()> = Mutex::new(());

/// A card.
#[derive(Clone, Debug)]
pub struct FakeDevice {
    /// Its UUID.
    pub uuid: [u8; 16],
    /// Bytes of its memory.
    pub memory_bytes: u64,
}

/// One call of a C function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FakeCall {
    /// Without `czk_`.
    pub name: &'static str,
    /// Who called.
    pub thread: ThreadId,
    /// The device that was current for that thread.
    pub device: Option<u32>,
}

/// What is alive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Bytes of device memory.
    pub device_bytes: u64,
    /// Bytes of pinned memory.
    pub pinned_bytes: u64,
    /// Streams and events.
    pub handles: u64,
}

struct Fault {
    /// Empty: any function.
    name: &'static str,
    /// Matching calls that still work.
    after: usize,
    /// Matching calls that fail then.
    count: usize,
    code: i32,
    device: Option<u32>,
}

#[derive(Default)]
struct State {
    devices: Vec<FakeDevice>,
    driver: i32,
    calls: Vec<FakeCall>,
    faults: Vec<Fault>,
    /// The function that doesn't return.
    hanging: Option<&'static str>,
    /// Whether events recorded now stay pending.
    holds_events: bool,
    /// Start of each live piece of device memory, with its device and bytes.
    memory: BTreeMap<usize, (u32, u64)>,
    pinned: BTreeMap<usize, u64>,
    pinned_limit: Option<u64>,
    handles: u64,
    /// Device whose sums are wrong.
    corrupt: Option<u32>,
}

/// The machine of one test; the next test waits until it is dropped. Everything that uses it must be gone by then.
pub struct Machine {
    _turn: MutexGuard<'static, ()>,
}

/// Whether there is a machine.
pub fn is_installed() -> bool {
    lock().is_some()
}

impl Machine {
    /// A machine with `count` cards of `memory_bytes` and a driver that fits.
    pub fn new(count: u8, memory_bytes: u64) -> Self {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let devices = (0..count).map(|n| FakeDevice { uuid: [n + 1; 16], memory_bytes }).collect();
        *lock() = Some(State { devices, driver: 13_000, ..State::default() });
        Machine { _turn: turn }
    }

    /// The driver's version, as 1000 major + 10 minor; 0: there is none.
    pub fn set_driver(&self, version: i32) {
        with(|state| state.driver = version);
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<FakeCall> {
        with(|state| state.calls.clone())
    }

    /// Calls of `name` so far.
    pub fn count(&self, name: &str) -> usize {
        with(|state| state.calls.iter().filter(|call| call.name == name).count())
    }

    /// After `after` further calls of `name` (empty: of any function) the next `count` fail with `code`; on `device`, or on
    /// all.
    pub fn fail(&self, name: &'static str, after: usize, count: usize, code: i32, device: Option<u32>) {
        with(|state| state.faults.push(Fault { name, after, count, code, device }));
    }

    /// Ends all failing.
    pub fn heal(&self) {
        with(|state| state.faults.clear());
    }

    /// Calls of `name` don't return before [`Self::release`].
    pub fn hang(&self, name: &'static str) {
        with(|state| state.hanging = Some(name));
    }

    /// Events recorded from now on don't fire before [`Self::release`].
    pub fn hold_events(&self) {
        with(|state| state.holds_events = true);
    }

    /// Ends hanging and holding.
    pub fn release(&self) {
        with(|state| {
            state.hanging = None;
            state.holds_events = false;
        });
        RELEASED.notify_all();
    }

    /// Pinning fails above `bytes` in all.
    pub fn limit_pinning(&self, bytes: u64) {
        with(|state| state.pinned_limit = Some(bytes));
    }

    /// Sums of points are wrong on `device`, or on none.
    pub fn corrupt_sums(&self, device: Option<u32>) {
        with(|state| state.corrupt = device);
    }

    /// What is alive now.
    pub fn balance(&self) -> Balance {
        with(|state| Balance {
            device_bytes: state.memory.values().map(|(_, bytes)| bytes).sum(),
            pinned_bytes: state.pinned.values().sum(),
            handles: state.handles,
        })
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.release();
        *lock() = None;
    }
}

/// A status of `code`, or success.
pub(super) fn status(code: i32) -> Status {
    let mut message = [0; 252];
    if code != 0 {
        let text = format!("fake: error {code}");
        message[..text.len()].copy_from_slice(text.as_bytes());
    }
    Status { code, message }
}

thread_local! {
    static CURRENT: std::cell::Cell<Option<u32>> = const { std::cell::Cell::new(None) };
}

fn lock() -> MutexGuard<'static, Option<State>> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(look: impl FnOnce(&mut State) -> T) -> T {
    look(lock().get_or_insert_with(State::default))
}

/// Records a call; its code if it is to fail. Blocks as long as it is to hang.
fn enter(name: &'static str) -> Result<(), i32> {
    let call = FakeCall { name, thread: std::thread::current().id(), device: CURRENT.get() };
    let mut machine = lock();
    let state = machine.get_or_insert_with(State::default);
    let device = call.device;
    state.calls.push(call);
    let matching = |fault: &&mut Fault| {
        (fault.name.is_empty() || fault.name == name) && (fault.device.is_none() || fault.device == device)
    };
    let mut code = 0;
    for fault in state.faults.iter_mut().filter(matching) {
        if fault.after > 0 {
            fault.after -= 1;
        } else if fault.count > 0 {
            fault.count -= 1;
            code = fault.code;
        }
    }
    while machine.as_ref().is_some_and(|state| state.hanging == Some(name)) {
        machine = RELEASED.wait(machine).unwrap_or_else(PoisonError::into_inner);
    }
    match code {
        0 => Ok(()),
        code => Err(code),
    }
}

/// Runs `body` as function `name`; its error is a code.
fn call(name: &'static str, body: impl FnOnce() -> Result<(), i32>) -> Status {
    status(enter(name).and_then(|()| body()).err().unwrap_or(0))
}

/// "An illegal memory access was encountered".
const ILLEGAL_ADDRESS: i32 = 700;

/// That `[pointer, pointer + bytes)` is memory of the current device, as a kernel would find out.
fn check_device<T>(pointer: *const T, bytes: u64) -> Result<(), i32> {
    if bytes == 0 {
        return Ok(());
    }
    let at = pointer as usize;
    let device = CURRENT.get();
    let inside = with(|state| {
        let piece = state.memory.range(..=at).next_back();
        piece.is_some_and(|(start, (of, size))| device == Some(*of) && at as u64 + bytes <= *start as u64 + size)
    });
    inside.then_some(()).ok_or(ILLEGAL_ADDRESS)
}

/// Whether the current device computes wrong sums.
fn is_corrupt() -> bool {
    with(|state| state.corrupt.is_some() && state.corrupt == CURRENT.get())
}

/// Numbers for handles.
fn next_handle() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
