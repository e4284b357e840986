//! Statistics and health.

use std::sync::Arc;
use std::time::Duration;

use super::event::{Health, HealthLevel};
use super::job::PartState;
use super::shared::{Shared, State};
use super::stats::{Counters, DeviceState, DeviceStats, PoolStats, Stats};
use crate::backend::{Activity, PoolUse};
use crate::circuit::CircuitId;
use crate::error::Result;

impl Shared {
    /// Errors: CLOSED.
    pub fn stats(&self) -> Result<Stats> {
        let state = self.open_state()?;
        let (events_waiting, logs_dropped) = self.events.counts();
        let parts = |wanted: fn(&PartState) -> bool| {
            let all = state.jobs.values().flat_map(|job| &job.parts);
            all.filter(|part| wanted(&part.state)).count() as u64
        };
        let mut resident: Vec<CircuitId> =
            state.circuits.iter().filter(|(_, entry)| entry.opened().is_some()).map(|(id, _)| *id).collect();
        resident.sort();
        let activities: Vec<Activity> = self.devices.iter().map(|device| device.backend.activity()).collect();
        Ok(Stats {
            kinds: state.kinds,
            phases: state.phases,
            counters: Counters { logs_dropped, ..state.counters },
            synthesising: parts(|part| matches!(part, PartState::Synthesising)),
            waiting_for_device: parts(|part| matches!(part, PartState::Ready(_))),
            proving: parts(|part| matches!(part, PartState::Proving { .. })),
            events_waiting,
            pools: self.pool_stats(),
            driver_calls: activities.iter().map(|activity| activity.driver_calls).max().unwrap_or(0),
            devices: self.device_stats(&state, activities),
            resident,
            health: state.health.clone(),
        })
    }

    fn pool_stats(&self) -> Vec<PoolStats> {
        let sum = |value: fn(&super::budget::Budget) -> u64| self.memory.all().into_iter().map(|b| value(b)).sum();
        let named = |name: &str, pool: PoolUse| PoolStats {
            name: name.into(),
            total_bytes: pool.total_bytes,
            used_bytes: pool.used_bytes,
            peak_bytes: pool.peak_bytes,
        };
        // The shares of the host's budget don't peak together, so that this is an upper bound.
        let host =
            PoolUse { total_bytes: sum(|b| b.total()), used_bytes: sum(|b| b.used()), peak_bytes: sum(|b| b.peak()) };
        let mut pinned = PoolUse::default();
        let mut pools = Vec::new();
        for device in &self.devices {
            let own = device.backend.pools();
            pinned.total_bytes = pinned.total_bytes.max(own.pinned.total_bytes);
            pinned.used_bytes += own.pinned.used_bytes;
            pinned.peak_bytes += own.pinned.peak_bytes;
            if own.device != PoolUse::default() {
                pools.push(named(device.name(), own.device));
            }
        }
        [named("host", host), named("pinned", pinned)].into_iter().chain(pools).collect()
    }

    fn device_stats(&self, state: &State, activities: Vec<Activity>) -> Vec<DeviceStats> {
        let devices = self.devices.iter().zip(&state.units).zip(activities);
        let stats = devices.map(|((device, unit), activity)| DeviceStats {
            name: device.name().into(),
            uuid: device.uuid().into(),
            state: unit.state,
            reserved: device.reserved,
            busy: unit.busy_since.is_some(),
            busy_time: unit.busy_time + unit.busy_since.map_or(Duration::ZERO, |since| since.elapsed()),
            partitions: unit.partitions,
            circuits: unit.resident.len() as u64,
            phases: activity.phases,
        });
        stats.collect()
    }

    /// Tells the caller if health has changed.
    pub fn report_health(self: &Arc<Self>, state: &mut State) {
        let health = self.health(state);
        if health != state.health && !state.closed {
            self.events.health(health.clone());
            state.health = health;
        }
    }

    fn health(&self, state: &State) -> Health {
        let mut reasons: Vec<String> = self
            .devices
            .iter()
            .zip(&state.units)
            .filter(|(_, unit)| !unit.is_healthy())
            .map(|(device, unit)| match unit.state {
                DeviceState::Quarantined => format!("{} hangs in a call; restart needed", device.name()),
                DeviceState::Retired => format!("{} panicked again and again; restart needed", device.name()),
                _ => format!("{} is lost; restart needed", device.name()),
            })
            .collect();
        let regular = || self.devices.iter().zip(&state.units).filter(|(device, _)| !device.fallback);
        if regular().next().is_none() {
            reasons.push("no CUDA device was found".into());
        }
        if state.shaken > 0 {
            reasons.push("a recent request ended with INTERNAL".into());
        }
        let level = match () {
            () if !regular().any(|(_, unit)| unit.is_healthy()) => HealthLevel::Fatal,
            () if reasons.is_empty() => HealthLevel::Ok,
            () => HealthLevel::Degraded,
        };
        Health { level, reasons }
    }
}
