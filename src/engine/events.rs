//! The queue of events: completions are kept whatever happens, the rest is bounded.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::event::{Completion, Event, Health, LogRecord, Progress};
use crate::error::{Error, Result};

/// Log records that wait at most; what comes then is dropped and counted.
const MAX_LOGS: usize = 1024;

/// Events on their way to the caller.
#[derive(Debug, Default)]
pub(super) struct Events {
    inner: Mutex<Inner>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    /// As many as there are unfinished requests, which the queue bounds.
    completions: VecDeque<Completion>,
    /// One per preload that is under way.
    progress: VecDeque<Progress>,
    health: Option<Health>,
    logs: VecDeque<LogRecord>,
    logs_dropped: u64,
    closed: bool,
}

impl Events {
    /// Keeps a completion until it is taken.
    pub fn complete(&self, completion: Completion) {
        let mut inner = self.lock();
        inner.progress.retain(|progress| progress.tag != completion.tag);
        inner.completions.push_back(completion);
        self.arrived.notify_one();
    }

    /// Replaces what waits of the same tag.
    pub fn progress(&self, progress: Progress) {
        let mut inner = self.lock();
        match inner.progress.iter_mut().find(|waiting| waiting.tag == progress.tag) {
            Some(waiting) => waiting.percent = waiting.percent.max(progress.percent),
            None => inner.progress.push_back(progress),
        }
        self.arrived.notify_one();
    }

    /// Replaces what waits.
    pub fn health(&self, health: Health) {
        self.lock().health = Some(health);
        self.arrived.notify_one();
    }

    /// Keeps a record if there is room.
    pub fn log(&self, record: LogRecord) {
        let mut inner = self.lock();
        if inner.closed || inner.logs.len() >= MAX_LOGS {
            inner.logs_dropped += 1;
            return;
        }
        inner.logs.push_back(record);
        self.arrived.notify_one();
    }

    /// The next event, completions first; None after `timeout`. Errors: CLOSED once closed and empty.
    pub fn next(&self, timeout: Duration) -> Result<Option<Event>> {
        let until = Instant::now().checked_add(timeout);
        let mut inner = self.lock();
        loop {
            if let Some(event) = inner.take() {
                return Ok(Some(event));
            }
            if inner.closed {
                return Err(Error::Closed("the engine".into()));
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            inner = match left {
                Some(left) => self.arrived.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.arrived.wait(inner).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Nothing will come any more; wakes everyone who waits.
    pub fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    /// Completions that wait, and log records that were dropped so far.
    pub fn counts(&self) -> (u64, u64) {
        let inner = self.lock();
        (inner.completions.len() as u64, inner.logs_dropped)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change is complete before anything could panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn take(&mut self) -> Option<Event> {
        if let Some(completion) = self.completions.pop_front() {
            return Some(Event::Completion(completion));
        }
        if let Some(health) = self.health.take() {
            return Some(Event::Health(health));
        }
        if let Some(progress) = self.progress.pop_front() {
            return Some(Event::Progress(progress));
        }
        self.logs.pop_front().map(Event::Log)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::{CircuitId, Kind};
    use crate::engine::event::{HealthLevel, Task, Timings};

    fn completion(tag: u64) -> Completion {
        let timings = Timings::default();
        let result = Ok(Vec::new());
        Completion {
            tag,
            job: tag,
            label: String::new(),
            task: Task::Trim,
            circuit: None,
            result,
            failed_at: None,
            timings,
        }
    }

    fn record(message: &str) -> LogRecord {
        LogRecord { level: log::Level::Info, target: String::new(), message: message.into() }
    }

    fn next(events: &Events) -> Option<Event> {
        events.next(Duration::ZERO).unwrap()
    }

    #[test]
    fn completions_come_first_and_in_order() {
        let events = Events::default();
        events.log(record("early"));
        events.health(Health { level: HealthLevel::Degraded, reasons: vec!["x".into()] });
        events.health(Health::ok());
        events.complete(completion(1));
        events.complete(completion(2));
        assert!(matches!(next(&events), Some(Event::Completion(Completion { tag: 1, .. }))));
        assert!(matches!(next(&events), Some(Event::Completion(Completion { tag: 2, .. }))));
        assert!(matches!(next(&events), Some(Event::Health(Health { level: HealthLevel::Ok, .. }))));
        assert!(matches!(next(&events), Some(Event::Log(_))));
        assert!(next(&events).is_none());
    }

    #[test]
    fn progress_is_kept_once_per_tag_and_never_falls() {
        let events = Events::default();
        let circuit = CircuitId::new(Kind::WinningPoSt, 2048).unwrap();
        for percent in [3, 40, 7] {
            events.progress(Progress { tag: 9, circuit, percent });
        }
        assert!(matches!(next(&events), Some(Event::Progress(Progress { percent: 40, .. }))));
        events.progress(Progress { tag: 9, circuit, percent: 80 });
        events.complete(completion(9));
        assert!(matches!(next(&events), Some(Event::Completion(_))));
        assert!(next(&events).is_none(), "no progress behind the completion");
    }

    #[test]
    fn logs_are_bounded_and_counted() {
        let events = Events::default();
        (0..MAX_LOGS + 5).for_each(|i| events.log(record(&i.to_string())));
        assert_eq!(events.counts(), (0, 5));
        let mut kept = 0;
        while next(&events).is_some() {
            kept += 1;
        }
        assert_eq!(kept, MAX_LOGS);
    }

    #[test]
    fn close_wakes_those_who_wait_and_gives_what_is_left() {
        let events = Events::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| events.next(Duration::MAX));
            events.close();
            assert!(matches!(waiting.join().unwrap(), Err(Error::Closed(_))));
        });
        events.complete(completion(4));
        assert!(matches!(next(&events), Some(Event::Completion(_))));
        assert!(matches!(events.next(Duration::ZERO), Err(Error::Closed(_))));
    }
}
