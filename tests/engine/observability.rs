//! Logs, statistics, progress.

use cuzk::circuit::Kind;
use cuzk::engine::{Config, EchoFaultKind, EchoOptions, Phase};

use crate::support::{circuit, config, large_update, porep, update, window, winning, Host};

#[test]
fn logs_arrive_as_events_of_their_own_engine() {
    let mut one = Host::open(EchoOptions::default());
    let mut other = Host::with(Config { log_level: log::LevelFilter::Error, ..config() }, EchoOptions::default());
    one.inject(EchoFaultKind::WrongSums, None, 1);
    one.submit(update(1));
    one.proved(&update(1));
    other.inject(EchoFaultKind::WrongSums, None, 1);
    other.submit(window(1));
    other.proved(&window(1));
    one.drain();
    other.drain();
    let has = |host: &Host, text: &str| host.logs.iter().any(|record| record.message.contains(text));
    assert!(has(&one, "snapdeals-2kib loaded on echo-0"), "{:?}", one.logs);
    assert!(has(&one, "pairing check failed"), "{:?}", one.logs);
    // What a caller's thread says has no engine and goes to all; these two are said by an engine's threads.
    for said in ["windowpost-2kib loaded on", "windowpost-2kib opened in"] {
        assert!(!has(&one, said), "another engine's: {:?}", one.logs);
    }
    assert!(other.logs.is_empty(), "below its level: {:?}", other.logs);
    let dir = one.dir.path().display().to_string();
    one.logs.retain(|record| record.target != "cuzk::setup"); // the echo engine's own
    assert!(!has(&one, &dir), "no full paths: {:?}", one.logs);
}

#[test]
fn progress_never_falls_and_ends_at_100() {
    let mut host = Host::open(EchoOptions { devices: 3, ..EchoOptions::default() });
    host.engine.preload(circuit(Kind::PoRep), 5).unwrap();
    let mut seen = Vec::new();
    while !host.has_ended(5) {
        host.step(std::time::Duration::from_millis(20));
        seen.append(&mut host.progress);
    }
    host.wait(5).result.unwrap();
    assert!(seen.iter().all(|progress| progress.tag == 5 && progress.circuit == circuit(Kind::PoRep)));
    assert!(seen.windows(2).all(|pair| pair[0].percent <= pair[1].percent), "{seen:?}");
}

#[test]
fn statistics_add_up_and_gauges_return() {
    let mut host = Host::open(EchoOptions { devices: 2, ..EchoOptions::default() });
    host.inject(EchoFaultKind::WrongSums, None, 3);
    host.inject(EchoFaultKind::BadRequest, Some(Kind::WindowPoSt), 2);
    let jobs: Vec<_> = (0..10)
        .flat_map(|i| [porep(i * 10), large_update(i * 10 + 1), window(i * 10 + 2), winning(i * 10 + 3)])
        .collect();
    host.engine.submit(jobs.clone()).into_iter().for_each(|result| result.unwrap());
    for job in &jobs {
        let stats = host.engine.stats().unwrap();
        let busy = stats.devices.iter().filter(|device| device.busy).count();
        assert!(busy <= 2 && stats.proving <= 2 * (16 + 16) && stats.synthesising <= 2 + 2 + 2);
        let completion = host.wait(job.tag);
        let timings = completion.timings;
        let longest = timings.phases.iter().max().unwrap();
        assert!(
            completion.job > 0 && timings.total > std::time::Duration::ZERO && *longest > std::time::Duration::ZERO
        );
        assert!(completion.result.is_err() || timings.constraints == 2 && timings.partitions > 0);
    }
    let stats = host.settled();
    assert_eq!(stats.events_waiting, 0);
    for kind in stats.kinds {
        assert_eq!((kind.submitted, kind.proved + kind.failed), (10, 10));
    }
    let count = |phase: Phase| stats.phases[phase as usize].count;
    let partitions = 10 * (10 + 16 + 1) + 8;
    assert_eq!(stats.counters.partitions_proved, partitions);
    assert_eq!([count(Phase::Queue), count(Phase::Check), count(Phase::Synthesis)], [40, 40, partitions]);
    assert_eq!(count(Phase::Prove), partitions + 3);
    let again = stats.counters.abandoned;
    let waits = [count(Phase::Wait), count(Phase::Finish)];
    assert_eq!(waits, [partitions + 3 + again, partitions + 3], "{:?}", stats.counters);
    assert_eq!((stats.counters.redos, stats.counters.self_check_failures), (3, 3));
    assert!(stats.devices.iter().all(|device| device.partitions > 0 || device.name == "cpu"));
    let cost = host.engine.cost(Kind::PoRep, 32 << 30).unwrap();
    assert!(cost.device_bytes > 40 << 30 && cost.disk_bytes > 40 << 30 && cost.host_bytes < 1 << 30);
}
