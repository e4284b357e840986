//! The watch: deadlines that pass and devices that hang.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::event::{Phase, Place};
use super::shared::{Shared, State};
use super::stats::DeviceState;
use crate::error::Error;

/// How often calls are looked at while there are any.
const TICK: Duration = Duration::from_millis(200);
/// How long the watch sleeps if nothing happens.
const SLEEP: Duration = Duration::from_secs(3600);
/// The watch, which looks five times a second while there are calls, can say nothing of questions after so long a time
/// without a look: the whole process stood still, or nearly.
const STANDSTILL: Duration = Duration::from_secs(1);

impl Shared {
    /// Runs until the engine closes.
    pub fn watch(self: &Arc<Self>) {
        let mut state = self.lock();
        let mut looked_at = self.clock.now();
        while !state.closed {
            // Whoever stops this process, or its machine, stops devices' questions too: that is no hang.
            let now = self.clock.now();
            if now.saturating_sub(std::mem::replace(&mut looked_at, now)) > STANDSTILL {
                self.devices.iter().for_each(|device| device.touch(&self.clock));
            }
            let late = self.end_late(&mut state);
            let hung = self.quarantine_hung(&mut state);
            if late || hung {
                self.settle(&mut state);
            }
            let until_deadline =
                state.deadlines.first().map_or(SLEEP, |(at, _)| at.saturating_duration_since(Instant::now()));
            let in_call = self.devices.iter().any(|device| device.silence(&self.clock).is_some());
            let busy = in_call || state.units.iter().any(|unit| unit.busy_since.is_some() && unit.is_healthy());
            let pause = if busy { until_deadline.min(TICK) } else { until_deadline };
            state = self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends jobs whose deadline has passed.
    fn end_late(&self, state: &mut State) -> bool {
        let now = Instant::now();
        let late: Vec<u64> = state.deadlines.iter().take_while(|(at, _)| *at <= now).map(|(_, job)| *job).collect();
        for number in &late {
            let phase = if state.queued.iter().any(|turn| turn.number == *number) { Phase::Queue } else { Phase::Wait };
            let place = Place { phase, partition: None, device: None };
            self.end(state, *number, Err(Error::Deadline), Some(place));
        }
        !late.is_empty()
    }

    /// Takes devices out of service that have stopped asking.
    fn quarantine_hung(&self, state: &mut State) -> bool {
        let mut any = false;
        for (d, device) in self.devices.iter().enumerate() {
            let limit = device.hang_limit();
            if state.units[d].is_healthy() && device.silence(&self.clock).is_some_and(|silence| silence > limit) {
                log::error!("{} hasn't asked for {} s: it hangs", device.name(), limit.as_secs_f64());
                self.lose(state, d, DeviceState::Quarantined);
                any = true;
            }
        }
        any
    }
}
