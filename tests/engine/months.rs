//! What a daemon meets in months.

use std::time::{Duration, Instant};

use cuzk::circuit::registered::params_file_name;
use cuzk::circuit::Kind;
use cuzk::engine::{DeviceState, EchoCallKind, EchoFaultKind, EchoOptions, Job};
use cuzk::{Error, Status};

use crate::support::{circuit, porep, update, window, winning, Host};

/// Submits `jobs` while the device is held, so that they are proved as one batch.
fn as_one_batch(host: &mut Host, first: Job, jobs: &[Job], meanwhile: impl FnOnce(&Host)) {
    let before = host.calls(EchoCallKind::Held).len();
    host.inject(EchoFaultKind::HoldProve, None, 1);
    host.submit(first.clone());
    host.held(before + 1);
    jobs.iter().for_each(|job| host.submit(job.clone()));
    host.until("they wait", |stats| stats.waiting_for_device == jobs.len() as u64);
    meanwhile(host);
    host.release(EchoFaultKind::HoldProve);
    host.proved(&first);
    jobs.iter().for_each(|job| drop(host.proved(job)));
}

#[test]
fn a_device_that_has_lost_a_circuit_loads_it_again_for_the_whole_batch() {
    let mut host = Host::open(EchoOptions::default());
    host.warm(update(0));
    let jobs: Vec<Job> = (2..6).map(update).collect();
    as_one_batch(&mut host, update(1), &jobs, |host| host.inject(EchoFaultKind::Forgets, None, 1));
    let counters = host.settled().counters;
    assert_eq!((counters.redos, counters.loads, counters.opens), (4, 2, 1));
}

#[test]
fn batches_grow_again_after_memory_was_short_once() {
    let mut host = Host::open(EchoOptions::default());
    host.warm(update(0));
    let jobs: Vec<Job> = (2..10).map(update).collect();
    let before = host.batches().len();
    as_one_batch(&mut host, update(1), &jobs, |host| host.inject(EchoFaultKind::OutOfMemory, None, 1));
    let sizes = |host: &Host, from: usize| -> Vec<usize> {
        host.batches().split_off(from).into_iter().map(|(_, count)| count).collect()
    };
    assert_eq!(sizes(&host, before), [1, 8, 4, 4]);
    for tag in 100..140 {
        host.submit(update(tag));
        host.proved(&update(tag));
    }
    let before = host.batches().len();
    as_one_batch(&mut host, update(1), &jobs, |_| {});
    assert_eq!(sizes(&host, before), [1, 8]);
}

#[test]
fn a_preload_that_no_device_can_serve_is_told() {
    let mut host = Host::open(EchoOptions::default());
    host.inject(EchoFaultKind::DeviceLost, None, 1);
    host.submit(update(1));
    assert_eq!(host.error(1).status(), Status::DeviceLost);
    host.engine.preload(circuit(Kind::PoRep), 2).unwrap();
    assert_eq!(host.error(2), Error::DeviceLost("echo-0".into()));
    // The CPU stands in for WinningPoSts.
    host.engine.preload(circuit(Kind::WinningPoSt), 3).unwrap();
    host.wait(3).result.unwrap();
    assert_eq!(host.calls(EchoCallKind::Load).last().unwrap(), "winningpost-2kib");
}

#[test]
fn a_process_that_stood_still_for_an_hour_has_no_hung_device() {
    let mut host = Host::open(EchoOptions::default());
    host.warm(update(0));
    host.inject(EchoFaultKind::Hang, Some(Kind::SnapDeals), 1);
    host.submit(update(1));
    host.held(1);
    let deadline = Some(Instant::now() + Duration::from_secs(1800));
    host.submit(Job { deadline, ..window(2) });
    host.engine.pass(Duration::from_secs(3600)).unwrap();
    // The watch sees both in one look.
    assert_eq!(host.error(2), Error::Deadline);
    host.release(EchoFaultKind::Hang);
    host.proved(&update(1));
    assert_eq!(host.settled().devices[0].state, DeviceState::Healthy);
}

#[test]
fn nobody_waits_while_the_memory_of_a_request_is_freed() {
    let mut host = Host::open(EchoOptions::default());
    host.inject(EchoFaultKind::HoldFree, Some(Kind::PoRep), 1);
    host.inject(EchoFaultKind::HoldProve, Some(Kind::PoRep), 1);
    host.submit(porep(1));
    host.until("all synthesised", |stats| stats.proving > 0 && stats.proving + stats.waiting_for_device == 10);
    host.engine.cancel(1).unwrap();
    assert_eq!(host.error(1), Error::Cancelled);
    host.submit(porep(2));
    host.proved(&porep(2));
    for job in [update(3), window(4), winning(5)] {
        host.submit(job.clone());
        host.proved(&job);
    }
    assert!(host.engine.stats().unwrap().pools[0].used_bytes > 0);
    host.release(EchoFaultKind::HoldFree);
    host.settled();
}

#[test]
fn a_second_name_that_nobody_uses_can_be_evicted_after_its_file_was_read_again() {
    let mut host = Host::open(EchoOptions::default());
    host.warm(update(0));
    let file = |kind| host.dir.path().join(params_file_name(circuit(kind)));
    std::os::unix::fs::symlink(file(Kind::SnapDeals), file(Kind::WindowPoSt)).unwrap();
    host.warm(window(0));
    host.inject(EchoFaultKind::WrongSums, None, 2);
    host.submit(update(1));
    assert_eq!(host.proved(&update(1)).timings.redos, 2);
    host.engine.evict(circuit(Kind::WindowPoSt), 2).unwrap();
    host.wait(2).result.unwrap();
    assert_eq!(host.engine.stats().unwrap().resident, [circuit(Kind::SnapDeals)]);
    // And it is read once more for whoever asks by that name.
    [winning(3), window(4), porep(5)].into_iter().for_each(|job| {
        host.submit(job.clone());
        host.proved(&job);
    });
}
