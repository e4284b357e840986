//! Preload, evict, trim.

use std::sync::Arc;

use super::event::{Progress, Task};
use super::shared::{Shared, State};
use crate::circuit::CircuitId;
use crate::error::Result;

impl Shared {
    /// Does what commands want as far as it can be done now, and ends those that are done.
    pub fn settle_commands(self: &Arc<Self>, state: &mut State) {
        let numbers: Vec<u64> = state.commands.iter().copied().collect();
        for number in numbers {
            let Some(job) = state.jobs.get(&number) else { continue };
            let (task, circuit, tag) = (job.task, job.circuit, job.tag);
            let done = match (task, circuit) {
                (Task::Preload, Some(circuit)) => self.is_loaded(state, circuit),
                (Task::Evict, Some(circuit)) => self.evict(state, circuit),
                _ => self.trim(state, number),
            };
            if let Some(result) = done {
                if let (Task::Preload, Some(circuit), Ok(())) = (task, circuit, &result) {
                    self.events.progress(Progress { tag, circuit, percent: 100 });
                }
                self.end(state, number, result.map(|()| Vec::new()), None);
            }
        }
    }

    /// Some once a circuit is resident on every device that proves it, or if there is none.
    fn is_loaded(&self, state: &State, circuit: CircuitId) -> Option<Result<()>> {
        let able: Vec<usize> = (0..self.devices.len()).filter(|&d| self.can_prove(state, d, circuit.kind())).collect();
        if able.is_empty() {
            return Some(Err(self.no_device()));
        }
        let id = state.opened(circuit)?.circuit.id();
        able.into_iter().all(|d| state.units[d].resident.contains_key(&id)).then_some(Ok(()))
    }

    /// Some once a circuit is neither open nor resident. Waits for those who use it.
    fn evict(&self, state: &mut State, circuit: CircuitId) -> Option<Result<()>> {
        if state.circuits.contains_key(&circuit) && !state.give_up(circuit) {
            return None;
        }
        self.no_leftovers(state)
    }

    /// Some once everything idle is gone.
    fn trim(&self, state: &mut State, number: u64) -> Option<Result<()>> {
        while let Some(victim) = state.idle_victim() {
            state.give_up(victim);
        }
        let job = state.jobs.get_mut(&number)?;
        if !std::mem::replace(&mut job.is_told, true) {
            state.units.iter_mut().for_each(|unit| unit.trim_wanted = true);
        }
        let told = state.units.iter().all(|unit| !unit.trim_wanted || !unit.is_healthy());
        if told {
            self.no_leftovers(state)
        } else {
            None
        }
    }

    /// Some once devices have unloaded what no name stands for any more.
    fn no_leftovers(&self, state: &State) -> Option<Result<()>> {
        // What is out of service gives nothing back.
        let healthy = || state.units.iter().filter(|unit| unit.is_healthy());
        let mut resident = healthy().flat_map(|unit| unit.resident.keys());
        let unloading = healthy().any(|unit| unit.unloading > 0);
        let leftover = resident.any(|id| !state.is_named(*id)) || unloading;
        (!leftover).then_some(Ok(()))
    }
}
