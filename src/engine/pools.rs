//! The engine's rayon pools. No task of one can hold up another's.

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::job::Class;
use super::logs::{self, Sink};
use crate::error::{Error, Result};

/// Stack of every thread that the engine starts, whatever the host's limit is.
pub(super) const STACK_BYTES: usize = 8 << 20;

/// Circuits that can be opened at once, at least.
const MIN_OPEN_THREADS: usize = 4;

/// Threads by what they do. Those that have nothing to do sleep.
pub(super) struct Pools {
    /// Check and synthesis of WinningPoSts, and the checks of their proofs: reserved, so that they begin at once.
    winning: ThreadPool,
    /// Check and synthesis of WindowPoSts: reserved likewise.
    window: ThreadPool,
    /// Check and synthesis of the rest.
    bulk: ThreadPool,
    /// Assembly and pairing checks.
    finish: ThreadPool,
    /// Opening circuits other than WinningPoSts'.
    open: ThreadPool,
}

impl Pools {
    pub fn new(threads: usize, sink: &Sink) -> Result<Self> {
        Ok(Pools {
            winning: pool("winning", threads.clamp(2, 4), sink)?,
            window: pool("window", threads, sink)?,
            bulk: pool("synthesis", threads, sink)?,
            finish: pool("finish", threads.clamp(1, 4), sink)?,
            open: pool("open", threads.max(MIN_OPEN_THREADS), sink)?,
        })
    }

    /// Where a class is checked and synthesised.
    pub fn of(&self, class: Class) -> &ThreadPool {
        match class {
            Class::Winning => &self.winning,
            Class::Window => &self.window,
            Class::Bulk => &self.bulk,
        }
    }

    /// Where a class's proofs are assembled and checked.
    pub fn finish(&self, class: Class) -> &ThreadPool {
        match class {
            Class::Winning => &self.winning,
            _ => &self.finish,
        }
    }

    /// Where a class's circuits are opened. A file's digest takes a thread for minutes.
    pub fn open(&self, class: Class) -> &ThreadPool {
        match class {
            Class::Winning => &self.winning,
            _ => &self.open,
        }
    }

    /// Tasks of a class that run at once. A WindowPoSt's check spreads over its whole pool.
    pub fn width(&self, class: Class) -> u32 {
        let threads = self.of(class).current_num_threads() as u32;
        match class {
            Class::Window => threads.min(2),
            _ => threads,
        }
    }
}

/// A pool whose threads log to `sink`. Errors: INTERNAL if threads can't be started.
pub(super) fn pool(name: &'static str, threads: usize, sink: &Sink) -> Result<ThreadPool> {
    let sink = sink.clone();
    ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .thread_name(move |i| format!("cuzk-{name}-{i}"))
        .stack_size(STACK_BYTES)
        .start_handler(move |_| logs::adopt(&sink))
        .build()
        .map_err(|error| Error::Internal(format!("threads for {name}: {error}")))
}
