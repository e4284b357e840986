//! From the queue to assignments: which job begins, what is checked and synthesised, and within which memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::budget::Reservation;
use super::event::{Phase, Place};
use super::job::{Class, Life, PartState, Seat, Stage, Turn};
use super::library::Content;
use super::residency::Opened;
use super::shared::{Shared, State};
use crate::assignment::{Assignment, Builder};
use crate::circuit::registered::partition_count;
use crate::circuit::{CircuitId, Kind};
use crate::error::{Error, Result};

/// Bulk jobs of a kind that are begun and have partitions to synthesise: one more than one, so that no thread waits.
const BULK_AHEAD: usize = 2;

/// What a synthesis is given.
struct Synthesis {
    number: u64,
    part: usize,
    class: Class,
    life: Arc<Life>,
    content: Arc<dyn Content>,
    opened: Arc<Opened>,
    memory: Reservation,
}

impl Shared {
    /// Begins as many jobs as there are threads and memory for, in order. What is short of memory is not overtaken.
    pub fn begin_jobs(self: &Arc<Self>, state: &mut State) {
        for class in Class::ALL {
            while let Some(turn) = state.next_queued(class).filter(|_| self.has_lane(state, class)) {
                match self.begin(state, turn) {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(error) => {
                        let place = Place { phase: Phase::Queue, partition: None, device: None };
                        self.end(state, turn.number, Err(error), Some(place));
                    }
                }
            }
        }
    }

    fn has_lane(&self, state: &State, class: Class) -> bool {
        state.lanes[class as usize] < self.pools.width(class)
    }

    /// Begins one job, unless there is no memory for it now. Errors: OUT_OF_MEMORY if there never is.
    fn begin(self: &Arc<Self>, state: &mut State, turn: Turn) -> Result<bool> {
        let job = state.jobs.get_mut(&turn.number).expect("a queued job is there");
        let (request, _) = job.request.as_ref().expect("a queued job has its request");
        let (request, bytes) = (Arc::clone(request), 2 * request.bytes());
        if bytes > self.memory.work.limit(turn.class.urgency()) {
            return Err(self.memory.work.try_reserve(u64::MAX, turn.class.urgency()).map(drop).unwrap_err());
        }
        // A job that is begun beside others leaves room for a partition, so that one of them can always go on.
        let seat = if state.active.is_empty() { 0 } else { self.seat_bytes(job.circuit, bytes) };
        let Ok(mut memory) = self.memory.work.try_reserve(bytes + seat, turn.class.urgency()) else { return Ok(false) };
        memory.shrink(bytes);
        job.content_memory = Some(memory);
        job.stage = Stage::Checking;
        let life = Arc::clone(&job.life);
        let waited = std::mem::replace(&mut job.since, Instant::now()).elapsed();
        let (kind, circuit) = (job.kind.expect("a request has a kind"), job.circuit);
        state.observe(turn.number, Phase::Queue, waited);
        state.queued.remove(&turn);
        state.active.insert(turn);
        state.kinds[kind as usize].queued -= 1;
        state.kinds[kind as usize].running += 1;
        if let Some(circuit) = circuit {
            state.hold_circuit(turn.number, circuit);
            self.start_opens(state);
        }
        state.lanes[turn.class as usize] += 1;
        state.tasks += 1;
        let shared = Arc::clone(self);
        self.pools.of(turn.class).spawn(move || {
            let checked = match life.has_ended() {
                true => Err(Error::Cancelled),
                false => shared.guarded("the check of a request", || shared.library.check(&request, &life)),
            };
            drop(request);
            shared.content_checked(turn, checked);
        });
        Ok(true)
    }

    /// Bytes that the synthesis of a partition takes, about; of the largest PoRep's if the circuit isn't known yet.
    fn seat_bytes(&self, circuit: Option<CircuitId>, content_bytes: u64) -> u64 {
        let circuit = circuit.or_else(|| CircuitId::new(Kind::PoRep, 32 << 30).ok());
        circuit.map_or(0, |circuit| {
            self.library.assignment_bytes(circuit) + content_bytes / partition_count(circuit) as u64
        })
    }

    /// Vanilla proofs are checked, or wrong.
    fn content_checked(self: &Arc<Self>, turn: Turn, checked: Result<Arc<dyn Content>>) {
        let mut state = self.lock();
        state.tasks -= 1;
        state.lanes[turn.class as usize] -= 1;
        let Some(job) = state.jobs.get_mut(&turn.number) else {
            state.remains.push(Box::new(checked));
            return self.settle(&mut state);
        };
        let took = std::mem::replace(&mut job.since, Instant::now()).elapsed();
        job.request = None;
        match checked {
            Ok(content) => {
                let circuit = content.circuit();
                job.set_content(content);
                state.hold_circuit(turn.number, circuit);
                state.observe(turn.number, Phase::Check, took);
                self.start_opens(&mut state);
            }
            Err(error) => {
                state.observe(turn.number, Phase::Check, took);
                let place = Place { phase: Phase::Check, partition: None, device: None };
                self.end(&mut state, turn.number, Err(error), Some(place));
            }
        }
        self.settle(&mut state);
    }

    /// Starts as many syntheses as there are threads, memory and places in the hand-over, in order.
    pub fn start_syntheses(self: &Arc<Self>, state: &mut State) {
        let turns: Vec<Turn> = state.active.iter().copied().collect();
        for turn in turns {
            while self.has_lane(state, turn.class)
                && (turn.class != Class::Bulk || self.has_hand_over(state, turn.number))
            {
                match self.next_synthesis(state, turn) {
                    Ok(Some(synthesis)) => self.start_synthesis(state, synthesis),
                    Ok(None) => break,
                    // Nobody behind may take the memory that this one waits for.
                    Err(error) if self.is_under_way(state) => return drop(error),
                    Err(error) => {
                        let place = Place { phase: Phase::Synthesis, partition: None, device: None };
                        self.end(state, turn.number, Err(error), Some(place));
                        break;
                    }
                }
            }
        }
    }

    /// Whether the hand-over has a place for one more partition of this job's circuit: what waits for devices is two
    /// batches of each circuit at most.
    fn has_hand_over(&self, state: &State, number: u64) -> bool {
        let Some(opened) = state.opened_of(number) else { return false };
        let waits = |part: &&super::job::Part| matches!(part.state, PartState::Synthesising | PartState::Ready(_));
        let same = |other: &&super::job::JobState| {
            state.opened_of(other.number()).is_some_and(|other| Arc::ptr_eq(other, opened))
        };
        let jobs = state.active.iter().filter_map(|turn| state.jobs.get(&turn.number)).filter(same);
        let on_the_way: usize = jobs.map(|job| job.parts.iter().filter(waits).count()).sum();
        on_the_way < self.batch_places(state, opened).max(1)
    }

    /// Two batches on every healthy device.
    fn batch_places(&self, state: &State, opened: &Opened) -> usize {
        let healthy = self.devices.iter().zip(&state.units).filter(|(_, unit)| unit.is_healthy());
        healthy.map(|(device, unit)| 2 * device.backend.max_batch(&opened.circuit).min(unit.batch_limit)).sum()
    }

    /// Whether memory will come back without anything new being begun.
    fn is_under_way(&self, state: &State) -> bool {
        let moves = |part: &super::job::Part| !matches!(part.state, PartState::Waiting | PartState::Done);
        let busy = state.units.iter().any(|unit| unit.is_healthy() && unit.busy_since.is_some());
        busy || state.tasks > 0 || state.jobs.values().any(|job| job.parts.iter().any(moves))
    }

    /// The next partition of a job that can be synthesised, with memory. Errors: OUT_OF_MEMORY.
    fn next_synthesis(&self, state: &mut State, turn: Turn) -> Result<Option<Synthesis>> {
        let Some(opened) = state.opened_of(turn.number).map(Arc::clone) else { return Ok(None) };
        let Some(job) = state.jobs.get_mut(&turn.number).filter(|job| job.stage == Stage::Proving) else {
            return Ok(None);
        };
        let Some(part) = job.parts.iter().position(|part| matches!(part.state, PartState::Waiting)) else {
            return Ok(None);
        };
        let content = Arc::clone(job.content.as_ref().expect("a job that proves has its content"));
        // The reference's circuit holds a partition's share of the vanilla proofs about twice.
        let share = job.content_memory.as_ref().map_or(0, Reservation::bytes) / job.parts.len() as u64;
        let memory = self.memory.work.try_reserve(opened.assignment_bytes + share, turn.class.urgency())?;
        job.timings.constraints = opened.constraints;
        let (_, waited) = job.parts[part].enter(PartState::Synthesising);
        let life = Arc::clone(&job.life);
        if part == 0 && job.parts[part].failures == 0 {
            state.observe(turn.number, Phase::Open, waited);
        }
        Ok(Some(Synthesis { number: turn.number, part, class: turn.class, life, content, opened, memory }))
    }

    fn start_synthesis(self: &Arc<Self>, state: &mut State, synthesis: Synthesis) {
        state.lanes[synthesis.class as usize] += 1;
        state.tasks += 1;
        let shared = Arc::clone(self);
        self.pools.of(synthesis.class).spawn(move || {
            let run = || {
                let Synthesis { content, opened, part, life, .. } = &synthesis;
                let builder = Builder::new(&opened.layouts, opened.circuit.r1cs().input_count);
                content.synthesise(*part, builder, life)
            };
            let made = match synthesis.life.has_ended() {
                true => Err(Error::Cancelled),
                false => shared.guarded("synthesis", run),
            };
            shared.synthesised(synthesis, made);
        });
    }

    /// An assignment is made, or not.
    fn synthesised(self: &Arc<Self>, synthesis: Synthesis, made: Result<Assignment>) {
        let Synthesis { number, part, class, content, opened, mut memory, .. } = synthesis;
        drop((content, opened));
        let made = made.map(|assignment| {
            memory.shrink(assignment.bytes_used() as u64);
            Seat { assignment: Arc::new(assignment), _memory: memory }
        });
        let mut state = self.lock();
        state.tasks -= 1;
        state.lanes[class as usize] -= 1;
        match (state.jobs.get_mut(&number), made) {
            (Some(job), Ok(seat)) => {
                let turn = (job.turn, part as u32);
                let (_, took) = job.parts[part].enter(PartState::Ready(Arc::new(seat)));
                state.ready.insert(turn);
                state.observe(number, Phase::Synthesis, took);
            }
            (Some(_), Err(error)) => {
                let place = Place { phase: Phase::Synthesis, partition: Some(part as u32), device: None };
                self.end(&mut state, number, Err(error), Some(place));
            }
            // Its job has ended. Freed by a task that counts, so that nobody is told meanwhile that memory will never come.
            (None, made) => state.remains.push(Box::new(made)),
        }
        self.settle(&mut state);
    }
}

impl State {
    /// The first of a class that may begin. In bulk there are, of each kind, at most so many jobs at once with partitions
    /// to synthesise, so that one whose circuit takes long to load holds up its own kind alone.
    fn next_queued(&self, class: Class) -> Option<Turn> {
        let mut ahead = [0; Kind::ALL.len()];
        let active = self.active.iter().filter_map(|turn| self.jobs.get(&turn.number));
        for job in active.filter(|job| job.stage == Stage::Checking || job.has_waiting()) {
            ahead[job.kind? as usize] += 1;
        }
        let may_begin = |turn: &&Turn| {
            let kind = self.jobs.get(&turn.number).and_then(|job| job.kind);
            class != Class::Bulk || kind.is_some_and(|kind| ahead[kind as usize] < BULK_AHEAD)
        };
        if class == Class::Bulk && [Kind::PoRep, Kind::SnapDeals].iter().all(|kind| ahead[*kind as usize] >= BULK_AHEAD)
        {
            return None; // whatever waits, and thousands may
        }
        let first = Turn { class, deadline: Duration::ZERO, number: 0 };
        self.queued.range(first..).take_while(|turn| turn.class == class).find(may_begin).copied()
    }
}
