//! What comes in: requests, commands, cancellation, close.

use std::sync::Arc;

use super::budget::Urgency;
use super::event::Task;
use super::job::JobState;
use super::request::Job;
use super::shared::{Shared, State, TagUse};
use crate::circuit::{CircuitId, Kind};
use crate::error::{Error, Result};

impl Shared {
    /// Takes each job in or says why not.
    pub fn submit(&self, jobs: Vec<Job>) -> Vec<Result<()>> {
        jobs.into_iter().map(|job| self.admit(job)).collect()
    }

    fn admit(&self, job: Job) -> Result<()> {
        job.request.check_structure()?;
        let kind = job.request.kind();
        let mut state = self.open_state()?;
        let reserved = state.check_tag(job.tag).and_then(|()| self.reserve_place(&mut state, &job));
        let reservation = match reserved {
            Ok(reservation) => reservation,
            Err(error) => {
                state.kinds[kind as usize].refused += u64::from(matches!(error, Error::Busy(_)));
                return Err(error);
            }
        };
        let counts = &mut state.kinds[kind as usize];
        counts.submitted += 1;
        counts.queued += 1;
        let mut entry = state.new_job(job.tag, job.label, Task::Prove, Some(kind));
        entry.deadline = job.deadline;
        entry.request = Some((Arc::new(job.request), reservation));
        state.jobs.insert(entry.life.number, entry);
        Ok(())
    }

    /// A place of the job's kind and memory for its bytes.
    fn reserve_place(&self, state: &mut State, job: &Job) -> Result<super::budget::Reservation> {
        let kind = job.request.kind();
        let (taken, places) = (&mut state.places[kind as usize], self.config.places(kind));
        if *taken >= places {
            return Err(Error::Busy(format!("all {places} places for {} are taken", kind.name())));
        }
        let bytes = job.request.bytes();
        if bytes > self.requests.total() {
            let (budget, free) = ("host, waiting requests".into(), self.requests.total());
            return Err(Error::OutOfMemory { budget, needed: bytes, free });
        }
        let reserved = self.requests.try_reserve(bytes, Urgency::Urgent);
        let reserved = reserved.map_err(|_| Error::Busy("the memory for waiting requests is taken".into()))?;
        *taken += 1;
        Ok(reserved)
    }

    /// Takes a command in.
    pub fn command(&self, task: Task, circuit: Option<CircuitId>, tag: u64) -> Result<()> {
        let mut state = self.open_state()?;
        state.check_tag(tag)?;
        let mut entry = state.new_job(tag, String::new(), task, None);
        entry.circuit = circuit;
        state.jobs.insert(entry.life.number, entry);
        Ok(())
    }

    /// Ends the request with this tag, if it is unfinished.
    pub fn cancel(&self, tag: u64) -> Result<()> {
        let mut state = self.open_state()?;
        let number = state.tags.get(&tag).map(|tag_use| tag_use.number);
        if let Some(job) = number.and_then(|number| state.jobs.remove(&number)) {
            self.end(&mut state, job, Err(Error::Cancelled));
        }
        Ok(())
    }

    /// Ends everything.
    pub fn close(&self) -> Result<()> {
        let mut state = self.lock();
        state.closed = true;
        for (_, job) in std::mem::take(&mut state.jobs) {
            self.end(&mut state, job, Err(Error::Closed("the engine".into())));
        }
        self.events.close();
        Ok(())
    }

    /// The completion of a job that is taken out of the state.
    fn end(&self, state: &mut State, job: JobState, result: Result<Vec<u8>>) {
        if let Some(kind) = job.kind {
            let counts = &mut state.kinds[kind as usize];
            counts.queued -= 1;
            match &result {
                Ok(_) => counts.proved += 1,
                Err(Error::Cancelled) => counts.cancelled += 1,
                Err(Error::Deadline) => counts.late += 1,
                Err(_) => counts.failed += 1,
            }
        }
        self.events.complete(job.complete(result, None));
    }
}

impl State {
    fn check_tag(&self, tag: u64) -> Result<()> {
        match self.tags.contains_key(&tag) {
            true => Err(Error::invalid("tag", format!("{tag} belongs to an unfinished request"))),
            false => Ok(()),
        }
    }

    /// A job with a number and its tag taken.
    fn new_job(&mut self, tag: u64, label: String, task: Task, kind: Option<Kind>) -> JobState {
        self.next_number += 1;
        self.tags.insert(tag, TagUse { number: self.next_number, kind });
        JobState { kind, ..JobState::new(self.next_number, tag, label, task) }
    }
}
