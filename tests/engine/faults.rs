//! Devices, witnesses and files that fail.

use cuzk::circuit::Kind;
use cuzk::engine::{Config, DeviceState, EchoCallKind, EchoFault, EchoFaultKind, EchoOptions, HealthLevel, Phase};
use cuzk::{Error, Status};

use crate::support::{config, large_update, porep, update, window, winning, Host};

#[test]
fn a_wrong_proof_is_proved_again_and_that_partition_alone() {
    let mut host = Host::open(EchoOptions { devices: 2, ..EchoOptions::default() });
    let fault = EchoFault { what: EchoFaultKind::WrongSums, device: Some(0), kind: None, skip: 0, count: 1 };
    host.engine.inject(fault).unwrap();
    for device in 0..2 {
        let hold = EchoFault { what: EchoFaultKind::HoldProve, device: Some(device), kind: None, skip: 0, count: 1 };
        host.engine.inject(hold).unwrap();
    }
    host.submit(porep(1));
    host.held(2);
    host.release(EchoFaultKind::HoldProve);
    assert_eq!(host.proved(&porep(1)).timings.redos, 1);
    let stats = host.settled();
    let counters = stats.counters;
    assert_eq!((counters.self_check_failures, counters.redos, counters.unsatisfied), (1, 1, 0));
    assert_eq!(stats.devices.iter().map(|device| device.partitions).sum::<u64>(), 11);
    assert_eq!(counters.opens, 1);
}

#[test]
fn the_last_redo_reads_everything_again_and_then_it_fails() {
    let mut host = Host::open(EchoOptions::default());
    host.inject(EchoFaultKind::WrongSums, None, 2);
    host.submit(update(1));
    assert_eq!(host.proved(&update(1)).timings.redos, 2);
    let counters = host.engine.stats().unwrap().counters;
    assert_eq!((counters.self_check_failures, counters.redos, counters.opens, counters.loads), (2, 2, 2, 2));
    for job in [window(2), winning(3), porep(4), large_update(5)] {
        host.inject(EchoFaultKind::WrongSums, job.request.kind().into(), 1000);
        host.submit(job.clone());
        let completion = host.wait(job.tag);
        let place = completion.failed_at.unwrap();
        assert_eq!(completion.result.unwrap_err().status(), Status::SelfCheck);
        assert_eq!((place.phase, place.device.as_deref()), (Phase::Finish, Some("echo-0")));
        assert!(place.partition.is_some());
        host.release(EchoFaultKind::WrongSums);
    }
    host.submit(window(6));
    host.proved(&window(6));
}

#[test]
fn an_unsatisfied_assignment_is_made_again_once() {
    let mut host = Host::open(EchoOptions::default());
    host.inject(EchoFaultKind::BadWitness, None, 1);
    host.submit(porep(1));
    assert_eq!(host.proved(&porep(1)).timings.redos, 1);
    let stats = host.engine.stats().unwrap();
    assert_eq!((stats.counters.unsatisfied, stats.phases[Phase::Synthesis as usize].count), (1, 11));
    host.inject(EchoFaultKind::BadWitness, None, 2);
    host.submit(update(2));
    let completion = host.wait(2);
    assert_eq!(completion.result, Err(Error::BadWitness { row: 1 }));
    assert_eq!(host.engine.stats().unwrap().counters.unsatisfied, 3, "no endless retry");
    host.submit(update(3));
    host.proved(&update(3));
}

#[test]
fn a_panic_in_a_batch_is_laid_at_the_door_of_one() {
    let mut host = Host::open(EchoOptions::default());
    host.warm(update(0));
    let before = host.engine.echo_calls().unwrap().last().unwrap().thread;
    host.inject(EchoFaultKind::HoldProve, None, 1);
    host.submit(update(1));
    host.held(1);
    (2..6).for_each(|tag| host.submit(update(tag)));
    host.until("they wait", |stats| stats.waiting_for_device == 4);
    // The batch of four panics, and then the first of them by itself.
    let fault = EchoFault { what: EchoFaultKind::Panic, device: None, kind: None, skip: 1, count: 2 };
    host.engine.inject(fault).unwrap();
    host.release(EchoFaultKind::HoldProve);
    host.proved(&update(1));
    let completion = host.wait(2);
    assert_eq!(completion.result.unwrap_err().status(), Status::Internal);
    assert_eq!(completion.failed_at.unwrap().device.as_deref(), Some("echo-0"));
    (3..6).for_each(|tag| drop(host.proved(&update(tag))));
    let stats = host.settled();
    assert_eq!((stats.counters.panics, stats.counters.internal_errors), (2, 1));
    assert_eq!(stats.health.level, HealthLevel::Degraded);
    let calls = host.engine.echo_calls().unwrap();
    assert_ne!(calls.last().unwrap().thread, before, "the device's thread was set up anew");
    assert_eq!(host.calls(EchoCallKind::Unload).len(), 2, "and so was what it had loaded");
    // Health comes back with good work.
    (10..30).for_each(|tag| host.submit(winning(tag)));
    (10..30).for_each(|tag| drop(host.proved(&winning(tag))));
    host.until("healthy", |stats| stats.health.level == HealthLevel::Ok);
    host.drain();
    let levels: Vec<_> = host.health.iter().map(|health| health.level).collect();
    assert_eq!(levels.last(), Some(&HealthLevel::Ok), "{levels:?}");
}

#[test]
fn a_device_that_panics_again_and_again_is_retired() {
    let mut host = Host::open(EchoOptions::default());
    host.inject(EchoFaultKind::Panic, None, 1000);
    let first = (1..20).find(|tag| {
        host.submit(update(*tag));
        host.error(*tag).status() == Status::DeviceLost
    });
    assert_eq!(first, Some(4), "three panics in a row");
    assert_eq!(host.engine.stats().unwrap().devices[0].state, DeviceState::Retired);
    // A malformed request must never disable WinningPoSt.
    host.submit(winning(50));
    host.proved(&winning(50));
}

#[test]
fn a_panic_in_synthesis_fails_its_job_alone() {
    let mut host = Host::open(EchoOptions::default());
    host.inject(EchoFaultKind::SynthesisPanics, Some(Kind::PoRep), 1);
    host.inject(EchoFaultKind::Internal, Some(Kind::WindowPoSt), 1);
    let jobs = [porep(1), window(2), update(3), winning(4)];
    host.engine.submit(jobs.to_vec()).into_iter().for_each(|result| result.unwrap());
    let porep = host.wait(1);
    let message = porep.result.unwrap_err().to_string();
    assert!(message.contains("injected: partition"), "{message}");
    assert_eq!(porep.failed_at.unwrap().phase, Phase::Synthesis);
    assert_eq!(host.error(2).status(), Status::Internal);
    host.proved(&jobs[2]);
    host.proved(&jobs[3]);
    assert_eq!(host.settled().counters.internal_errors, 2);
}

#[test]
fn a_lost_device_stays_lost_and_winning_posts_go_to_the_cpu() {
    let mut host = Host::open(EchoOptions::default());
    host.inject(EchoFaultKind::DeviceLost, None, 1);
    host.submit(porep(1));
    let error = host.error(1);
    assert_eq!(error.to_string(), "echo-0 is lost; only a restart of the process clears this");
    for job in [update(2), window(3), porep(4)] {
        host.submit(job.clone());
        assert_eq!(host.error(job.tag), Error::DeviceLost("echo-0".into()));
    }
    host.submit(winning(5));
    host.submit(winning(6));
    host.proved(&winning(5));
    host.proved(&winning(6));
    let stats = host.settled();
    assert_eq!((stats.counters.cpu_fallbacks, stats.counters.device_faults), (2, 1));
    assert_eq!((stats.devices[0].state, stats.health.level), (DeviceState::Lost, HealthLevel::Fatal));
    assert!(stats.health.reasons[0].contains("restart"), "{:?}", stats.health);
    host.engine.close().unwrap();
}

#[test]
fn without_fallback_nothing_is_proved_on_the_cpu() {
    let mut host = Host::with(Config { cpu_fallback: [].into(), ..config() }, EchoOptions::default());
    host.inject(EchoFaultKind::DeviceLost, None, 1);
    host.submit(winning(1));
    assert_eq!(host.error(1).status(), Status::DeviceLost);
    let stats = host.engine.stats().unwrap();
    assert_eq!((stats.counters.cpu_fallbacks, stats.devices.len()), (0, 1));
}

#[test]
fn another_device_takes_over() {
    let mut host = Host::open(EchoOptions { devices: 2, max_batch: 2, ..EchoOptions::default() });
    let fault = EchoFault { what: EchoFaultKind::DeviceLost, device: Some(0), kind: None, skip: 1, count: 1 };
    host.engine.inject(fault).unwrap();
    (1..5).for_each(|tag| host.submit(porep(tag)));
    (1..5).for_each(|tag| drop(host.proved(&porep(tag))));
    let stats = host.settled();
    assert_eq!(stats.health.level, HealthLevel::Degraded);
    assert_eq!(stats.devices[1].state, DeviceState::Healthy);
    assert_eq!(stats.counters.partitions_proved, 40);
}

/// Devices that may be silent as long as a GPU may.
fn impatient() -> EchoOptions {
    EchoOptions { hang_limit: std::time::Duration::from_secs(2), ..EchoOptions::default() }
}

#[test]
fn a_hung_device_is_quarantined_and_named_at_close() {
    let mut host = Host::open(impatient());
    host.warm(winning(0));
    host.inject(EchoFaultKind::Hang, Some(Kind::SnapDeals), 1);
    host.submit(update(1));
    host.held(1);
    // Waits behind it, and goes to the CPU as soon as the hang is seen.
    host.submit(winning(2));
    assert_eq!(host.error(1).status(), Status::DeviceLost);
    host.proved(&winning(2));
    let stats = host.engine.stats().unwrap();
    assert_eq!((stats.devices[0].state, stats.counters.cpu_fallbacks), (DeviceState::Quarantined, 1));
    let error = host.engine.close().unwrap_err().to_string();
    assert!(error.contains("echo-0"), "{error}");
    host.release(EchoFaultKind::Hang);
}

#[test]
fn what_waited_for_a_device_that_hangs_gives_its_memory_back() {
    let mut host = Host::open(EchoOptions { max_batch: 1, ..impatient() });
    host.warm(update(0));
    host.inject(EchoFaultKind::Hang, Some(Kind::SnapDeals), 1);
    host.submit(update(1));
    let alone = host.held(1).pools[0].used_bytes;
    (2..6).for_each(|tag| host.submit(update(tag)));
    let together = host.until("they wait", |stats| stats.waiting_for_device == 4).pools[0].used_bytes;
    assert!(together > alone);
    (1..6).for_each(|tag| drop(host.error(tag)));
    host.until("what waited is freed", |stats| stats.pools[0].used_bytes <= alone);
    host.release(EchoFaultKind::Hang);
    host.until("what hung is freed", |stats| stats.pools[0].used_bytes == 0);
}

#[test]
fn out_of_memory_makes_smaller_batches_and_then_fails() {
    let mut host = Host::open(EchoOptions::default());
    host.warm(update(0));
    host.inject(EchoFaultKind::HoldProve, None, 1);
    host.submit(update(1));
    host.held(1);
    (2..10).for_each(|tag| host.submit(update(tag)));
    host.until("they wait", |stats| stats.waiting_for_device == 8);
    let before = host.batches().len();
    host.inject(EchoFaultKind::OutOfMemory, None, 1);
    host.release(EchoFaultKind::HoldProve);
    (1..10).for_each(|tag| drop(host.proved(&update(tag))));
    let counts: Vec<usize> = host.batches().split_off(before).into_iter().map(|(_, count)| count).collect();
    assert_eq!(counts, [8, 4, 4]);
    host.inject(EchoFaultKind::OutOfMemory, None, 1000);
    host.submit(update(20));
    assert_eq!(host.error(20).status(), Status::OutOfMemory);
    host.release(EchoFaultKind::OutOfMemory);
    host.submit(update(21));
    host.proved(&update(21));
}

#[test]
fn a_proof_for_which_a_load_leaves_no_room_waits_for_its_end() {
    let mut host = Host::one_by_one();
    host.warm(update(0));
    host.inject(EchoFaultKind::HoldLoad, Some(Kind::PoRep), 1);
    host.submit(porep(1));
    let loading = host.until("it loads", |stats| stats.waiting_for_device > 0 && stats.devices[0].busy);
    host.inject(EchoFaultKind::OutOfMemory, Some(Kind::SnapDeals), 1);
    host.submit(update(2));
    host.until("tried inside the load", |stats| stats.counters.batches == loading.counters.batches + 1);
    host.release(EchoFaultKind::HoldLoad);
    host.proved(&porep(1));
    host.proved(&update(2));
    assert_eq!(host.settled().counters.out_of_memory, 0, "no batch is made smaller for it");
}
