//! The process's pinned host memory: one pool for all devices, with a cap.
//!
//! Buffers come in sizes of powers of two. Who finds none waits in order of arrival. A buffer that the device may still
//! read goes back with an event, and is not handed out before that has fired. When room is needed the largest idle buffers
//! are freed first; all are when the pool is dropped. Where pinning is refused ordinary memory stands in, unless the pool
//! is strict.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::sys::{Event, PinnedBuffer};
use crate::error::{Error, Result};

/// The smallest size.
const SMALLEST: u64 = 64 << 10;
/// How long a waiter sleeps between two looks at events, which tell nobody when they fire.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// See the module.
#[derive(Debug)]
pub struct PinnedPool {
    cap: u64,
    strict: bool,
    wipe: bool,
    state: Mutex<State>,
    given_back: Condvar,
}

#[derive(Debug, Default)]
struct State {
    held: u64,
    peak: u64,
    idle: Vec<Memory>,
    /// Given back, each with the event that frees it.
    in_use: Vec<(Memory, Arc<Event>)>,
    /// Waiters in order of arrival.
    waiters: VecDeque<u64>,
    next: u64,
    pageable: u64,
}

enum Memory {
    Pinned(PinnedBuffer<u8>),
    Pageable(Box<[u8]>),
}

/// A buffer of the pool, which has it back when this is dropped.
pub struct Pinned {
    pool: Arc<PinnedPool>,
    memory: Option<Memory>,
    len: usize,
}

impl PinnedPool {
    /// At most `cap` bytes. `strict`: a refusal to pin is an error. `wipe`: buffers are overwritten when they come back.
    pub fn new(cap: u64, strict: bool, wipe: bool) -> Arc<Self> {
        Arc::new(PinnedPool { cap, strict, wipe, state: Mutex::default(), given_back: Condvar::new() })
    }

    /// A buffer of `bytes` bytes with any content. Waits until there is one; `waiting` is called every few milliseconds
    /// and may end that with its error.
    /// Errors: OUT_OF_MEMORY if `bytes` are more than the cap, or in a strict pool if pinning is refused.
    pub fn take(self: &Arc<Self>, bytes: u64, waiting: &mut dyn FnMut() -> Result<()>) -> Result<Pinned> {
        let class = bytes.max(SMALLEST).next_power_of_two();
        if class > self.cap {
            return Err(Error::OutOfMemory { budget: "pinned".into(), needed: class, free: self.cap });
        }
        let ticket = Ticket::new(self);
        loop {
            if let Some(memory) = self.attempt(class, Some(ticket.number))? {
                return Ok(self.lend(memory, bytes));
            }
            drop(self.given_back.wait_timeout(self.lock(), LOOK_AGAIN).unwrap_or_else(PoisonError::into_inner));
            waiting()?;
        }
    }

    /// A buffer, if there is one at once and nobody waits for any. Errors: as for [`Self::take`].
    pub fn try_take(self: &Arc<Self>, bytes: u64) -> Result<Option<Pinned>> {
        let class = bytes.max(SMALLEST).next_power_of_two();
        Ok(self.attempt(class, None)?.map(|memory| self.lend(memory, bytes)))
    }

    /// Frees at least `bytes` of idle buffers, or all there are: the largest first. Returns how many bytes.
    pub fn shrink(&self, bytes: u64) -> u64 {
        let mut freed = Vec::new();
        let mut state = self.lock();
        state.sweep(self.wipe);
        let mut count = 0;
        while count < bytes {
            let Some(memory) = state.take_largest() else { break };
            count += memory.bytes();
            freed.push(memory);
        }
        drop(state);
        count
    }

    /// Bytes taken from the system.
    pub fn held_bytes(&self) -> u64 {
        self.lock().held
    }

    /// Most bytes that were ever taken.
    pub fn peak_bytes(&self) -> u64 {
        self.lock().peak
    }

    /// Most bytes that may be taken.
    pub fn cap_bytes(&self) -> u64 {
        self.cap
    }

    /// Buffers of ordinary memory that stand in for pinned ones.
    pub fn pageable_buffers(&self) -> u64 {
        self.lock().pageable
    }

    fn lend(self: &Arc<Self>, memory: Memory, bytes: u64) -> Pinned {
        Pinned { pool: Arc::clone(self), memory: Some(memory), len: bytes as usize }
    }

    /// Memory of `class` bytes for the first in the queue, or for nobody in it. Takes new memory without the lock.
    fn attempt(&self, class: u64, ticket: Option<u64>) -> Result<Option<Memory>> {
        let mut freed = Vec::new();
        let mut state = self.lock();
        if state.waiters.front().copied() != ticket {
            return Ok(None);
        }
        state.sweep(self.wipe);
        if let Some(at) = state.idle.iter().position(|memory| memory.bytes() == class) {
            return Ok(Some(state.idle.swap_remove(at)));
        }
        while state.held + class > self.cap {
            let Some(memory) = state.take_largest() else { return Ok(None) };
            freed.push(memory);
        }
        state.held += class;
        state.peak = state.peak.max(state.held);
        drop(state);
        drop(freed);
        let allocated = self.allocate(class);
        let mut state = self.lock();
        match &allocated {
            Ok(Memory::Pinned(_)) => {}
            Ok(Memory::Pageable(_)) => state.pageable += 1,
            Err(_) => state.held -= class,
        }
        allocated.map(Some)
    }

    fn allocate(&self, class: u64) -> Result<Memory> {
        let refused = match PinnedBuffer::zeroed(class as usize) {
            Ok(buffer) => return Ok(Memory::Pinned(buffer)),
            Err(refused) => refused,
        };
        if self.strict {
            let budget = format!("pinned ({}; {refused})", pinning_limits());
            return Err(Error::OutOfMemory { budget, needed: class, free: 0 });
        }
        if self.lock().pageable == 0 {
            log::warn!("pinning {class} bytes is refused, copies will be slow: {refused}; {}", pinning_limits());
        }
        let mut bytes = Vec::new();
        let host = |_| Error::OutOfMemory { budget: "host".into(), needed: class, free: 0 };
        bytes.try_reserve_exact(class as usize).map_err(host)?;
        bytes.resize(class as usize, 0);
        Ok(Memory::Pageable(bytes.into_boxed_slice()))
    }

    /// No panic leaves the state half-changed.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What decides how much a process may pin, as the system says it.
fn pinning_limits() -> String {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is valid for the call.
    let locked = match unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &mut limit) } {
        0 if limit.rlim_cur == libc::RLIM_INFINITY => "unlimited".into(),
        0 => limit.rlim_cur.to_string(),
        _ => "unknown".into(),
    };
    let maps = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_else(|_| "unknown".into());
    format!("RLIMIT_MEMLOCK {locked}, vm.max_map_count {}", maps.trim())
}

impl State {
    /// Buffers whose event has fired are idle again. An event of a lost device counts as fired: nothing runs there.
    fn sweep(&mut self, wipe: bool) {
        for (mut memory, event) in std::mem::take(&mut self.in_use) {
            if event.is_done().unwrap_or(true) {
                memory.give_back(wipe);
                self.idle.push(memory);
            } else {
                self.in_use.push((memory, event));
            }
        }
    }

    fn take_largest(&mut self) -> Option<Memory> {
        let at = (0..self.idle.len()).max_by_key(|at| self.idle[*at].bytes())?;
        let memory = self.idle.swap_remove(at);
        self.held -= memory.bytes();
        self.pageable -= u64::from(matches!(memory, Memory::Pageable(_)));
        Some(memory)
    }
}

/// A place in the queue.
struct Ticket<'a> {
    pool: &'a PinnedPool,
    number: u64,
}

impl<'a> Ticket<'a> {
    fn new(pool: &'a PinnedPool) -> Self {
        let mut state = pool.lock();
        let number = state.next;
        state.next += 1;
        state.waiters.push_back(number);
        Ticket { pool, number }
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.pool.lock().waiters.retain(|number| *number != self.number);
        self.pool.given_back.notify_all();
    }
}

impl Memory {
    fn bytes(&self) -> u64 {
        match self {
            Memory::Pinned(buffer) => buffer.len() as u64,
            Memory::Pageable(bytes) => bytes.len() as u64,
        }
    }
}

impl Memory {
    /// What is done to memory that nobody uses any more.
    fn give_back(&mut self, wipe: bool) {
        match self {
            Memory::Pinned(buffer) if wipe => buffer.fill(0),
            Memory::Pageable(bytes) if wipe => bytes.fill(0),
            _ => {}
        }
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if matches!(self, Memory::Pinned(_)) { "pinned" } else { "pageable" };
        write!(f, "{} bytes, {kind}", self.bytes())
    }
}

impl Pinned {
    /// Gives the buffer back for the time when `event`, recorded behind the last use of it, has fired.
    pub fn release_after(mut self, event: &Arc<Event>) {
        let memory = self.memory.take();
        let mut state = self.pool.lock();
        state.in_use.extend(memory.map(|memory| (memory, Arc::clone(event))));
        drop(state);
        self.pool.given_back.notify_all();
    }
}

impl Deref for Pinned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self.memory.as_ref().expect("taken by drop and release alone") {
            Memory::Pinned(buffer) => &buffer[..self.len],
            Memory::Pageable(bytes) => &bytes[..self.len],
        }
    }
}

impl DerefMut for Pinned {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self.memory.as_mut().expect("taken by drop and release alone") {
            Memory::Pinned(buffer) => &mut buffer[..self.len],
            Memory::Pageable(bytes) => &mut bytes[..self.len],
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let Some(mut memory) = self.memory.take() else { return };
        memory.give_back(self.pool.wipe);
        self.pool.lock().idle.push(memory);
        self.pool.given_back.notify_all();
    }
}
