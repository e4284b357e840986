//! Throughput, counted in steps: in one step every device that works proves one partition.

use std::time::{Duration, Instant};

use cuzk::engine::{EchoCallKind, EchoFaultKind, EchoOptions, Stats};

use crate::support::{porep, Host, WATCHDOG};

const DEVICES: usize = 2;
/// Partitions of one job.
const PARTITIONS: usize = 10;

/// An engine whose devices stop before each partition.
struct Steps {
    host: Host,
    submitted: usize,
    /// Partitions that were let go.
    released: usize,
}

fn on_devices(stats: &Stats) -> usize {
    stats.devices.iter().map(|device| device.partitions as usize).sum()
}

impl Steps {
    fn new() -> Self {
        let mut host = Host::open(EchoOptions { devices: DEVICES as u32, max_batch: 4, ..EchoOptions::default() });
        host.inject(EchoFaultKind::HoldProve, None, u32::MAX);
        host.drain();
        Steps { host, submitted: 0, released: 0 }
    }

    fn submit(&mut self) {
        self.submitted += 1;
        self.host.submit(porep(self.submitted as u64));
    }

    /// Partitions that no device has proved yet.
    fn left(&self) -> usize {
        self.submitted * PARTITIONS - self.released
    }

    /// Partitions that devices have before them.
    fn held(&self) -> usize {
        self.host.calls(EchoCallKind::Held).len() - self.released
    }

    /// One step. Never comes if a device rests while a partition waits that no device has taken.
    fn step(&mut self) -> usize {
        let (left, until) = (self.left(), Instant::now() + WATCHDOG);
        let held = loop {
            let held = self.held();
            let stats = self.host.engine.stats().unwrap();
            let busy = stats.devices.iter().filter(|device| device.busy).count();
            let all_taken = held > 0 && stats.proving as usize == left;
            if busy == held && (held == DEVICES || all_taken) {
                break held;
            }
            assert!(
                Instant::now() < until,
                "{held} of {DEVICES} devices work while {left} partitions wait: {stats:#?}"
            );
            self.host.step(Duration::from_millis(1));
        };
        self.released += held;
        self.host.engine.let_go(EchoFaultKind::HoldProve).unwrap();
        let done = self.released;
        self.host.until("a step", |stats| on_devices(stats) == done);
        held
    }
}

#[test]
fn devices_work_at_full_rate_after_an_idle_hour_in_a_burst_and_for_a_thousand_partitions() {
    let mut steps = Steps::new();
    steps.submit();
    while steps.left() > 0 {
        steps.step();
    }
    steps.host.until("idle", |stats| stats.devices.iter().all(|device| !device.busy));
    steps.host.engine.pass(Duration::from_secs(3600)).unwrap();

    (0..20).for_each(|_| steps.submit());
    let (partitions, mut taken) = (steps.left(), 0);
    while steps.left() > 0 {
        steps.step();
        taken += 1;
    }
    let ideal = partitions.div_ceil(DEVICES);
    assert!(taken * 95 <= ideal * 100, "{partitions} partitions took {taken} steps, {ideal} are enough");

    // Steady: never fewer than two jobs that wait, and every single step proves as many partitions as there are devices.
    let until = steps.released + 1000;
    let mut rates = Vec::new();
    while steps.released < until {
        while steps.left() < 2 * PARTITIONS {
            steps.submit();
        }
        rates.push(steps.step());
    }
    assert_eq!(rates, [DEVICES; 1000 / DEVICES]);
    while steps.left() > 0 {
        steps.step();
    }
    for tag in 1..=steps.submitted as u64 {
        steps.host.proved(&porep(tag));
    }
    let counters = steps.host.settled().counters;
    assert_eq!((counters.redos, counters.abandoned, counters.loads), (0, 0, DEVICES as u64));
}
