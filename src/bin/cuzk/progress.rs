//! Signs of life on stderr for steps that take long.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::output::note;

/// Between two lines.
const INTERVAL: Duration = Duration::from_secs(2);

/// A running step. After 2 s, and then every 2 s, a line says that it is running still; dropping it ends that.
pub struct Step {
    start: Instant,
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Step {
    /// Starts a step.
    pub fn new(what: impl Into<String>) -> Self {
        let what = what.into();
        let (end, ended) = mpsc::channel();
        let start = Instant::now();
        let thread = thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(INTERVAL) {
                note(format_args!("{what}: {:.0} s", start.elapsed().as_secs_f64()));
            }
        });
        Step { start, end: Some(end), thread: Some(thread) }
    }

    /// Ends it and says how long it took.
    pub fn end(self) -> Duration {
        self.start.elapsed()
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
