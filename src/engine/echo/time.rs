//! Time that passes at once.

use std::time::{Duration, Instant};

use crate::engine::shared::Shared;

impl Shared {
    /// Makes everything as old as if `time` had passed with nothing happening, as it does to a process that is stopped.
    pub fn pass(&self, time: Duration) {
        let mut guard = self.lock();
        let state = &mut *guard;
        self.clock.skip(time);
        let age = |instant: &mut Instant| *instant = instant.checked_sub(time).unwrap_or(*instant);
        state.circuits.values_mut().for_each(|entry| age(&mut entry.last_used));
        for unit in &mut state.units {
            unit.resident.values_mut().for_each(|resident| age(&mut resident.last_used));
            unit.busy_since.iter_mut().for_each(age);
        }
        for job in state.jobs.values_mut() {
            [&mut job.submitted, &mut job.since].into_iter().chain(&mut job.deadline).for_each(age);
            job.parts.iter_mut().for_each(|part| age(&mut part.since));
        }
        state.deadlines = std::mem::take(&mut state.deadlines)
            .into_iter()
            .map(|(mut deadline, number)| {
                age(&mut deadline);
                (deadline, number)
            })
            .collect();
        drop(guard);
        self.changed.notify_all();
    }
}
