//! Work in tiles on the caller's thread and the pool's, with the caller's control asked before each tile.
//!
//! A *section* is a number of independent tiles, each a few milliseconds to 50 ms long. When the control wants something,
//! every worker ends its tile and leaves the section; the thread that called `prove` then does what is wanted with the
//! whole pool free (an urgent proof runs on all its threads, nothing waits inside a tile) and enters the section again
//! where it was left. The calling thread always works too, so that a section ends even if no other thread is free: in a
//! pool of one, inside a task of this pool or another's.

use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::backend::{Answer, Backend, Control};

/// How long the calling thread, out of tiles, waits for the others between two questions.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// Why a section ended before its last tile.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The caller dropped the assignment (or abandoned the load).
    Dropped,
    /// A tile panicked; its message.
    Panicked(String),
    /// The host has no memory for this many bytes.
    OutOfMemory(u64),
}

/// Makes `vec` at least `len` long, with what it held undefined. On failure it is empty, and fit for another try.
pub(crate) fn grow<T: Clone>(vec: &mut Vec<T>, len: usize, value: T) -> Result<(), Stop> {
    if vec.len() >= len {
        return Ok(());
    }
    // What it held isn't needed: given back first, so that old and new never stand side by side.
    *vec = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>()) as u64;
    vec.try_reserve_exact(len).map_err(|_| Stop::OutOfMemory(bytes))?;
    vec.resize(len, value);
    Ok(())
}

/// Whoever runs the tiles of a section.
pub(crate) trait Tiles {
    /// Runs `work(tile, worker)` once for each tile of `[0, count)`. Not all of them, if it fails.
    fn run(&mut self, count: usize, work: &(dyn Fn(usize, usize) + Sync)) -> Result<(), Stop>;

    /// Threads that work. Tiles see the number of theirs, below this; one thread at a time has it.
    fn workers(&self) -> usize;

    /// Told that so many bytes more are read.
    fn advance(&mut self, _bytes: u64) {}
}

/// One thread, no control: for tests.
#[cfg(test)]
pub(crate) struct InOrder;

#[cfg(test)]
impl Tiles for InOrder {
    fn run(&mut self, count: usize, work: &(dyn Fn(usize, usize) + Sync)) -> Result<(), Stop> {
        (0..count).for_each(|tile| work(tile, 0));
        Ok(())
    }

    fn workers(&self) -> usize {
        1
    }
}

/// The hands of one batch or load. Lives on the thread that called.
pub(crate) struct Workers<'a> {
    pool: &'a rayon::ThreadPool,
    backend: &'a dyn Backend,
    gate: Gate<'a>,
}

/// What the workers share.
struct Gate<'a> {
    control: &'a dyn Control,
    /// Set when an answer needs the calling thread, or a tile panicked: no further tile is begun.
    pause: AtomicBool,
    wishes: Mutex<Wishes>,
    /// Held while the control is asked.
    asking: Mutex<()>,
}

#[derive(Default)]
struct Wishes {
    /// Dropped since the last settlement.
    drops: Vec<usize>,
    /// An urgent proof waits.
    urgent: bool,
    panic: Option<String>,
}

/// One section on its way.
struct Section<'s> {
    next: AtomicUsize,
    count: usize,
    work: &'s (dyn Fn(usize, usize) + Sync),
    gate: &'s Gate<'s>,
}

/// The way into a section for other threads. A helper that the pool starts late finds the door shut and goes away, so that
/// a section never waits for a pool that is busy with something else.
struct Door {
    inside: Mutex<Inside>,
    left: Condvar,
    section: *const Section<'static>,
}

#[derive(Default)]
struct Inside {
    shut: bool,
    helpers: usize,
}

// SAFETY: the pointer is followed only by a helper that is counted in `inside.helpers`, and `Workers::enter` keeps the
// section alive until the door is shut and nobody is inside. What it points to is Sync.
unsafe impl Send for Door {}
// SAFETY: as above.
unsafe impl Sync for Door {}

impl<'a> Workers<'a> {
    pub(crate) fn new(pool: &'a rayon::ThreadPool, backend: &'a dyn Backend, control: &'a dyn Control) -> Self {
        let gate = Gate { control, pause: AtomicBool::new(false), wishes: Mutex::default(), asking: Mutex::new(()) };
        Workers { pool, backend, gate }
    }

    /// Threads that work on a section. Tiles see the number of their thread, below this.
    pub(crate) fn count(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Runs `work(tile, worker)` for each tile of `[0, count)`, once each; a worker's number is used by one thread at a
    /// time. `dropped` is told on the calling thread of each assignment that the control drops, and answers whether that
    /// ends this section.
    pub(crate) fn run(
        &self,
        count: usize,
        dropped: &mut dyn FnMut(usize) -> bool,
        work: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<(), Stop> {
        let section = Section { next: AtomicUsize::new(0), count, work, gate: &self.gate };
        loop {
            self.enter(&section);
            self.settle(dropped)?;
            if section.next.load(Ordering::Relaxed) >= count {
                return Ok(());
            }
        }
    }

    /// Asks once, outside any section.
    pub(crate) fn ask(&self, dropped: &mut dyn FnMut(usize) -> bool) -> Result<(), Stop> {
        guarded(&self.gate, || self.gate.ask());
        self.settle(dropped)
    }

    /// All free threads through the section, until its tiles are begun or the gate is shut; none is inside afterwards.
    fn enter(&self, section: &Section<'_>) {
        let remaining = section.count.saturating_sub(section.next.load(Ordering::Relaxed));
        let helpers = (self.count() - 1).min(remaining.saturating_sub(1));
        let section_ptr = std::ptr::from_ref(section).cast::<Section<'static>>();
        let door = Arc::new(Door { inside: Mutex::default(), left: Condvar::new(), section: section_ptr });
        for helper in 1..=helpers {
            let door = Arc::clone(&door);
            self.pool.spawn(move || door.help(helper));
        }
        // Neither can panic: a helper inside still uses `section`.
        section.help(0);
        self.wait(&door);
    }

    /// Shuts the door and waits for those inside, asking on.
    fn wait(&self, door: &Door) {
        let mut inside = lock(&door.inside);
        inside.shut = true;
        while inside.helpers > 0 {
            inside = door.left.wait_timeout(inside, ASK_AGAIN).unwrap_or_else(PoisonError::into_inner).0;
            if inside.helpers > 0 {
                drop(inside);
                guarded(&self.gate, || self.gate.ask());
                inside = lock(&door.inside);
            }
        }
    }

    /// Does what the answers wanted.
    fn settle(&self, dropped: &mut dyn FnMut(usize) -> bool) -> Result<(), Stop> {
        let wishes = std::mem::take(&mut *lock(&self.gate.wishes));
        self.gate.pause.store(false, Ordering::Relaxed);
        let mut ends = false;
        for index in wishes.drops {
            ends |= dropped(index);
        }
        let urgent = || self.gate.control.run_urgent(self.backend);
        let urgent_panic = wishes.urgent.then(|| catch_unwind(AssertUnwindSafe(urgent)).err()).flatten();
        if let Some(message) = wishes.panic.or(urgent_panic.map(panic_message)) {
            return Err(Stop::Panicked(message));
        }
        if ends {
            return Err(Stop::Dropped);
        }
        Ok(())
    }
}

impl Door {
    fn help(&self, worker: usize) {
        {
            let mut inside = lock(&self.inside);
            if inside.shut {
                return;
            }
            inside.helpers += 1;
        }
        // SAFETY: this thread is counted as inside, see `Door`'s Sync. `help` doesn't panic.
        unsafe { &*self.section }.help(worker);
        lock(&self.inside).helpers -= 1;
        self.left.notify_one();
    }
}

impl Section<'_> {
    /// Tiles, as long as there are any and the gate is open. Catches panics.
    fn help(&self, worker: usize) {
        guarded(self.gate, || {
            while self.next.load(Ordering::Relaxed) < self.count {
                self.gate.ask();
                if self.gate.is_shut() {
                    return;
                }
                let tile = self.next.fetch_add(1, Ordering::Relaxed);
                if tile < self.count {
                    (self.work)(tile, worker);
                }
            }
        });
    }
}

impl Gate<'_> {
    fn is_shut(&self) -> bool {
        self.pause.load(Ordering::Relaxed)
    }

    /// Asks, unless another thread is asking at this moment or an answer waits to be carried out.
    fn ask(&self) {
        if self.is_shut() {
            return;
        }
        let _asking = match self.asking.try_lock() {
            Ok(guard) => guard,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return,
        };
        match self.control.ask() {
            Answer::Continue => return,
            Answer::Drop(indices) => lock(&self.wishes).drops.extend(indices),
            Answer::Yield => lock(&self.wishes).urgent = true,
        }
        self.pause.store(true, Ordering::Relaxed);
    }
}

/// Runs `work`; a panic shuts the gate and is kept for the settlement.
fn guarded(gate: &Gate<'_>, work: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
        lock(&gate.wishes).panic.get_or_insert(panic_message(panic));
        gate.pause.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn panic_message(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic without a message".into())
}

/// Locks; what a panicking thread left behind is whole, since nothing here panics half-way.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
