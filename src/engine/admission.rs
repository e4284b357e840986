//! What comes in: requests, commands, cancellation, close; and how a job ends.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::budget::{Reservation, Urgency};
use super::event::{Place, Task};
use super::job::Class;
use super::job::{JobState, Stage, Turn};
use super::request::Job;
use super::shared::{Shared, State, TagUse};
use crate::circuit::{CircuitId, Kind};
use crate::error::{Error, Result};

/// How long closing waits for threads.
const CLOSE_LIMIT: Duration = Duration::from_millis(4500);
/// It waits in steps of so much.
const CLOSE_LOOK: Duration = Duration::from_millis(450);
/// Requests without INTERNAL after which one is forgiven.
pub(super) const SHAKEN_REQUESTS: u32 = 16;

impl Shared {
    /// Takes each job in or says why not.
    pub fn submit(self: &Arc<Self>, jobs: Vec<Job>) -> Vec<Result<()>> {
        // Structure is checked without the lock; the state settles once for all of them.
        let checked: Vec<_> = jobs.into_iter().map(|job| job.request.check_structure().map(|()| job)).collect();
        let mut state = self.lock();
        let results = checked.into_iter().map(|job| self.admit(&mut state, job?)).collect();
        self.settle(&mut state);
        results
    }

    fn admit(&self, state: &mut State, job: Job) -> Result<()> {
        if state.closed {
            return Err(Error::Closed("the engine".into()));
        }
        let kind = job.request.kind();
        let reserved = state.check_tag(job.tag).and_then(|()| self.reserve_place(state, &job));
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
        let deadline = job.deadline.map_or(Duration::MAX, |deadline| self.time(deadline));
        let turn = state.turn(Class::of(kind), deadline);
        let mut entry = JobState::new(turn, job.tag, job.label, Task::Prove, Some(kind));
        entry.circuit = job.request.circuit();
        entry.deadline = job.deadline;
        entry.request = Some((Arc::new(job.request), reservation));
        state.queued.insert(turn);
        state.deadlines.extend(job.deadline.map(|deadline| (deadline, turn.number)));
        state.take_in(entry);
        Ok(())
    }

    /// A place of the job's kind and memory for its bytes.
    fn reserve_place(&self, state: &mut State, job: &Job) -> Result<Reservation> {
        let kind = job.request.kind();
        let (taken, places) = (&mut state.places[kind as usize], self.config.places(kind));
        if *taken >= places {
            return Err(Error::Busy(format!("all {places} places for {} are taken", kind.name())));
        }
        let bytes = job.request.bytes();
        if bytes > self.memory.requests.total() {
            let free = self.memory.requests.total();
            return Err(Error::OutOfMemory { budget: "host (waiting requests)".into(), needed: bytes, free });
        }
        self.can_ever_run(job, bytes)?;
        let reserved = self.memory.requests.try_reserve(bytes, Urgency::Urgent);
        let reserved = reserved.map_err(|_| Error::Busy("the memory for waiting requests is taken".into()))?;
        *taken += 1;
        Ok(reserved)
    }

    /// Errors: OUT_OF_MEMORY if one partition of the request doesn't fit even if nothing else is under way.
    fn can_ever_run(&self, job: &Job, bytes: u64) -> Result<()> {
        let Some(circuit) = job.request.circuit() else { return Ok(()) };
        let needed = 2 * bytes + self.library.assignment_bytes(circuit);
        let free = self.memory.work.limit(Class::of(circuit.kind()).urgency());
        match needed > free {
            true => Err(Error::OutOfMemory { budget: "host (proofs under way)".into(), needed, free }),
            false => Ok(()),
        }
    }

    /// Takes a command in.
    pub fn command(self: &Arc<Self>, task: Task, circuit: Option<CircuitId>, tag: u64) -> Result<()> {
        let mut state = self.open_state()?;
        state.check_tag(tag)?;
        let class = circuit.map_or(Class::Bulk, |circuit| Class::of(circuit.kind()));
        let turn = state.turn(class, Duration::MAX);
        let mut entry = JobState::new(turn, tag, String::new(), task, None);
        entry.circuit = circuit;
        state.commands.insert(turn.number);
        state.take_in(entry);
        if let Some(circuit) = circuit.filter(|_| task == Task::Preload) {
            state.hold_circuit(turn.number, circuit);
        }
        self.settle(&mut state);
        Ok(())
    }

    /// Ends the request with this tag, if it is unfinished.
    pub fn cancel(self: &Arc<Self>, tag: u64) -> Result<()> {
        let mut state = self.open_state()?;
        let number = state.tags.get(&tag).map(|tag_use| tag_use.number);
        if let Some(number) = number.filter(|number| state.jobs.contains_key(number)) {
            self.end(&mut state, number, Err(Error::Cancelled), None);
            self.settle(&mut state);
        }
        Ok(())
    }

    /// Ends everything, and waits for the threads.
    pub fn close(self: &Arc<Self>) -> Result<()> {
        let mut state = self.lock();
        state.closed = true;
        let numbers: Vec<u64> = state.jobs.keys().copied().collect();
        for number in numbers {
            self.end(&mut state, number, Err(Error::Closed("the engine".into())), None);
        }
        self.events.close();
        self.settle(&mut state);
        // A process that stands still meanwhile has spent one look.
        let mut left = CLOSE_LIMIT;
        while (state.threads > 0 || state.tasks > 0) && !left.is_zero() {
            let (look, start) = (left.min(CLOSE_LOOK), Instant::now());
            state = self.changed.wait_timeout(state, look).unwrap_or_else(PoisonError::into_inner).0;
            left -= start.elapsed().min(look);
        }
        let stuck = self.devices.iter().filter(|device| device.silence(&self.clock).is_some());
        let stuck: Vec<&str> = stuck.map(|device| device.name()).collect();
        match stuck.is_empty() {
            true => Ok(()),
            false => Err(Error::Internal(format!("left behind inside a call: the thread of {}", stuck.join(", ")))),
        }
    }

    /// Ends a job: its completion is on its way, and what it held comes back as soon as nothing uses it. The caller
    /// settles.
    pub fn end(&self, state: &mut State, number: u64, result: Result<Vec<u8>>, failed_at: Option<Place>) {
        let Some(job) = state.jobs.remove(&number) else { return };
        state.queued.remove(&job.turn);
        state.active.remove(&job.turn);
        state.commands.remove(&number);
        if let Some(deadline) = job.deadline {
            state.deadlines.remove(&(deadline, number));
        }
        for part in 0..job.parts.len() {
            state.ready.remove(&(job.turn, part as u32));
        }
        if let Some(circuit) = job.circuit.filter(|_| job.holds_circuit) {
            state.release_circuit(circuit);
        }
        if let Some(kind) = job.kind {
            state.count_end(kind, job.stage, &result);
        }
        if let Err(error) = &result {
            let place = failed_at.as_ref().map_or_else(String::new, |place| format!(" ({place})"));
            let what = job.circuit.map_or_else(|| format!("{:?}", job.task), |circuit| circuit.to_string());
            log::info!("job {number}, {what} {:?}: {error}{place}", job.label);
        }
        let (completion, remains) = job.complete(result, failed_at);
        state.remains.push(remains);
        self.events.complete(completion);
    }
}

impl State {
    fn check_tag(&self, tag: u64) -> Result<()> {
        match self.tags.contains_key(&tag) {
            true => Err(Error::invalid("tag", format!("{tag} belongs to an unfinished request"))),
            false => Ok(()),
        }
    }

    /// The next job's place in the order.
    fn turn(&mut self, class: Class, deadline: Duration) -> Turn {
        self.next_number += 1;
        Turn { class, deadline, number: self.next_number }
    }

    fn take_in(&mut self, job: JobState) {
        self.tags.insert(job.tag, TagUse { number: job.number(), kind: job.kind });
        self.jobs.insert(job.number(), job);
    }

    fn count_end(&mut self, kind: Kind, stage: Stage, result: &Result<Vec<u8>>) {
        let counts = &mut self.kinds[kind as usize];
        match stage {
            Stage::Queued => counts.queued -= 1,
            _ => counts.running -= 1,
        }
        match result {
            Ok(_) => counts.proved += 1,
            Err(Error::Cancelled) => counts.cancelled += 1,
            Err(Error::Deadline) => counts.late += 1,
            Err(_) => counts.failed += 1,
        }
        if matches!(result, Err(Error::Internal(_))) {
            self.counters.internal_errors += 1;
            self.shaken = SHAKEN_REQUESTS;
        } else {
            self.shaken = self.shaken.saturating_sub(1);
        }
    }
}
