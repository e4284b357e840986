//! Who goes when, and where.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use cuzk::circuit::Kind;
use cuzk::engine::{Config, EchoCallKind, EchoFault, EchoFaultKind, EchoOptions, Job};

use crate::support::{circuit, config, job, large_update, porep, update, window, winning, Host};

#[test]
fn class_then_deadline_then_arrival() {
    let mut host =
        Host::with(Config { threads: 1, ..config() }, EchoOptions { max_batch: 1, ..EchoOptions::default() });
    [update(0), window(0), winning(0)].into_iter().for_each(|job| host.warm(job));
    // One holds the device, one the only synthesis thread; the rest waits in the queue.
    host.inject(EchoFaultKind::HoldProve, None, 1000);
    host.submit(update(1));
    host.held(1);
    host.inject(EchoFaultKind::HoldSynthesis, Some(Kind::SnapDeals), 1);
    host.submit(update(2));
    host.until("held", |stats| stats.synthesising == 1);
    host.order.clear();
    let soon = |secs| Some(Instant::now() + Duration::from_secs(secs));
    host.submit(update(3));
    host.submit(update(4));
    host.submit(Job { deadline: soon(5000), ..update(5) });
    host.submit(Job { deadline: soon(4000), ..update(6) });
    host.submit(window(7));
    // The device makes way for it, and is held again.
    host.held(2);
    host.until("the first waits again", |stats| (stats.proving, stats.waiting_for_device) == (1, 1));
    host.release(EchoFaultKind::HoldSynthesis);
    host.until("two batches each wait for device and CPU", |stats| stats.waiting_for_device == 4);
    host.release(EchoFaultKind::HoldProve);
    (1..=7).for_each(|tag| drop(host.wait(tag).result.unwrap()));
    let rest: Vec<u64> = host.order.iter().copied().filter(|tag| ![1, 2].contains(tag)).collect();
    assert_eq!(rest, [7, 6, 5, 3, 4]);
}

#[test]
fn a_winning_post_interrupts_a_batch_and_needs_no_synthesis_thread() {
    let mut host = Host::open(EchoOptions::default());
    host.warm(porep(0));
    host.inject(EchoFaultKind::HoldProve, Some(Kind::PoRep), 1);
    host.inject(EchoFaultKind::HoldSynthesis, Some(Kind::SnapDeals), 1000);
    host.submit(porep(1));
    host.until("held", |stats| stats.proving > 0);
    (10..20).for_each(|tag| host.submit(large_update(tag)));
    host.until("no thread is free", |stats| stats.synthesising == 2);
    // The first one is loaded inside the batch, the second finds its circuit.
    for tag in [2, 3] {
        host.submit(winning(tag));
        host.proved(&winning(tag));
    }
    assert!(!host.has_ended(1));
    // A second that arrives while the first is being finished is part of the same interruption.
    assert!((1..=2).contains(&host.engine.stats().unwrap().counters.interruptions));
    let (loads, batches) = (host.calls(EchoCallKind::Load), host.batches());
    assert_eq!(loads, ["porep-32gib", "winningpost-2kib"]);
    assert_eq!(batches[batches.len() - 2..], [("winningpost-2kib".into(), 1), ("winningpost-2kib".into(), 1)]);
    host.release(EchoFaultKind::HoldProve);
    host.release(EchoFaultKind::HoldSynthesis);
    let completion = host.proved(&porep(1));
    assert_eq!(completion.timings.redos, 0, "the batch went on where it was");
}

#[test]
fn on_the_cpu_a_winning_post_starts_while_every_thread_synthesises() {
    let mut host = Host::open(EchoOptions { on_cpu: true, ..EchoOptions::default() });
    host.inject(EchoFaultKind::HoldSynthesis, Some(Kind::PoRep), 1000);
    (1..4).for_each(|tag| host.submit(porep(tag)));
    host.until("no thread is free", |stats| stats.synthesising == 2);
    host.submit(winning(10));
    host.submit(window(11));
    host.proved(&winning(10));
    host.proved(&window(11));
    assert!(!host.has_ended(1));
    assert_eq!(host.engine.stats().unwrap().devices[0].name, "cpu");
    host.release(EchoFaultKind::HoldSynthesis);
    (1..4).for_each(|tag| drop(host.proved(&porep(tag))));
}

#[test]
fn partitions_of_several_jobs_share_a_batch_and_none_waits_for_company() {
    let mut host = Host::open(EchoOptions { max_batch: 5, ..EchoOptions::default() });
    host.warm(update(0));
    host.inject(EchoFaultKind::HoldProve, Some(Kind::SnapDeals), 1);
    let before = host.batches().len();
    (1..=7).for_each(|tag| host.submit(update(tag)));
    host.until("all wait", |stats| stats.proving > 0 && stats.proving + stats.waiting_for_device == 7);
    let alone = host.engine.stats().unwrap().proving as usize;
    host.release(EchoFaultKind::HoldProve);
    (1..=7).for_each(|tag| drop(host.proved(&update(tag))));
    let counts: Vec<usize> = host.batches().split_off(before).into_iter().map(|(_, count)| count).collect();
    // The first takes what is there; those behind it are as large as the device takes.
    assert_eq!(counts.iter().sum::<usize>(), 7);
    assert_eq!(counts[..2], [alone, (7 - alone).min(5)]);
}

#[test]
fn one_job_ends_before_the_next_is_far() {
    let mut host =
        Host::with(Config { threads: 3, ..config() }, EchoOptions { max_batch: 1, ..EchoOptions::default() });
    // The device stops before the ninth partition of the second; taking turns, it would be there with the first unfinished.
    let hold = EchoFault { what: EchoFaultKind::HoldProve, device: None, kind: None, skip: 16 + 8, count: 1 };
    host.engine.inject(hold).unwrap();
    host.submit(large_update(1));
    host.submit(large_update(2));
    host.proved(&large_update(1));
    host.release(EchoFaultKind::HoldProve);
    host.proved(&large_update(2));
}

#[test]
fn devices_share_a_job_and_each_is_called_by_one_thread() {
    let mut host = Host::open(EchoOptions { devices: 3, max_batch: 4, ..EchoOptions::default() });
    host.inject(EchoFaultKind::HoldProve, None, 3);
    host.submit(large_update(1));
    host.held(3);
    host.release(EchoFaultKind::HoldProve);
    host.proved(&large_update(1));
    let calls = host.engine.echo_calls().unwrap();
    let threads: HashSet<_> = calls.iter().map(|call| call.thread).collect();
    let pairs: HashSet<_> = calls.iter().map(|call| (call.device.clone(), call.thread)).collect();
    let devices: HashSet<_> = calls.iter().map(|call| call.device.clone()).collect();
    assert_eq!((threads.len(), pairs.len(), devices.len()), (3, 3, 3), "{calls:?}");
    assert!(!threads.contains(&std::thread::current().id()));
}

#[test]
fn a_reserved_device_proves_winning_posts_alone() {
    let reserved = Config { reserved_devices: vec!["echo-1".into()], ..config() };
    let mut host = Host::with(reserved, EchoOptions { devices: 2, max_batch: 1, ..EchoOptions::default() });
    host.inject(EchoFaultKind::HoldProve, Some(Kind::SnapDeals), 1);
    (1..30).for_each(|tag| host.submit(update(tag)));
    host.until("busy", |stats| stats.proving == 1);
    host.submit(winning(100));
    host.proved(&winning(100));
    let stats = host.engine.stats().unwrap();
    assert_eq!(stats.counters.interruptions, 0, "the idle reserved one took it");
    assert!(stats.devices[1].reserved && !stats.devices[0].reserved);
    host.release(EchoFaultKind::HoldProve);
    (1..30).for_each(|tag| drop(host.proved(&update(tag))));
    let mut calls = host.engine.echo_calls().unwrap();
    calls.retain(|call| call.device == "echo-1");
    assert!(!calls.is_empty() && calls.iter().all(|call| call.circuit == "winningpost-2kib"), "{calls:?}");
}

#[test]
fn loading_one_circuit_holds_up_no_other() {
    let mut host = Host::one_by_one();
    host.warm(update(0));
    host.inject(EchoFaultKind::HoldLoad, Some(Kind::PoRep), 1);
    host.submit(porep(1));
    host.until("it loads", |stats| stats.waiting_for_device > 0 && stats.devices[0].busy);
    // Another circuit's proofs, and a WinningPoSt that has to be loaded itself.
    for job in [update(2), winning(3), update(4)] {
        host.submit(job.clone());
        host.proved(&job);
    }
    assert!(!host.has_ended(1));
    // A proof inside the load makes way for a WinningPoSt.
    host.inject(EchoFaultKind::HoldProve, Some(Kind::SnapDeals), 1);
    host.submit(update(5));
    host.until("held", |stats| stats.proving == 1);
    host.submit(winning(6));
    host.proved(&winning(6));
    host.release(EchoFaultKind::HoldProve);
    host.proved(&update(5));
    host.release(EchoFaultKind::HoldLoad);
    host.proved(&porep(1));
}

#[test]
fn opening_one_circuit_holds_up_no_other() {
    let mut host = Host::open(EchoOptions::default());
    host.inject(EchoFaultKind::HoldOpen, Some(Kind::PoRep), 1);
    host.submit(porep(1));
    host.submit(porep(2));
    for job in [update(3), winning(4)] {
        host.submit(job.clone());
        host.proved(&job);
    }
    assert!(!host.has_ended(1));
    host.release(EchoFaultKind::HoldOpen);
    host.proved(&porep(1));
    host.proved(&porep(2));
    let stats = host.engine.stats().unwrap();
    assert_eq!((stats.counters.opens, stats.counters.loads), (3, 3), "once for both");
}

#[test]
fn a_stream_of_posts_lets_bulk_finish() {
    let mut host = Host::open(EchoOptions::default());
    host.submit(porep(1));
    let mut tag = 10;
    while !host.has_ended(1) {
        host.submit(if tag % 2 == 0 { winning(tag) } else { window(tag) });
        host.wait(tag).result.unwrap();
        tag += 1;
        assert!(tag < 100_000);
    }
    host.proved(&porep(1));
}

#[test]
fn preload_evict_and_trim() {
    let mut host = Host::open(EchoOptions { devices: 2, ..EchoOptions::default() });
    let (bulk, winner) = (circuit(Kind::SnapDeals), circuit(Kind::WinningPoSt));
    host.engine.preload(bulk, 1).unwrap();
    host.engine.preload(winner, 2).unwrap();
    assert!(host.engine.evict(bulk, 2).is_err(), "the tag is in use");
    assert_eq!((host.wait(1).result, host.wait(2).result), (Ok(vec![]), Ok(vec![])));
    let loads = host.calls(EchoCallKind::Load);
    assert_eq!(loads.len(), 4, "each on both devices: {loads:?}");
    host.submit(winning(3));
    host.proved(&winning(3));
    assert_eq!(host.engine.stats().unwrap().counters.opens, 2, "nothing was opened again");
    assert_eq!(host.calls(EchoCallKind::Load).len(), 4);
    // In use: it waits for those who use it.
    host.inject(EchoFaultKind::HoldProve, Some(Kind::SnapDeals), 1);
    host.submit(update(4));
    host.until("held", |stats| stats.proving == 1);
    host.engine.evict(bulk, 5).unwrap();
    assert!(!host.has_ended(5));
    host.release(EchoFaultKind::HoldProve);
    host.proved(&update(4));
    host.wait(5).result.unwrap();
    assert_eq!(host.engine.stats().unwrap().resident, [winner]);
    assert_eq!(host.calls(EchoCallKind::Unload), ["snapdeals-2kib"; 2]);
    // Not loaded: nothing to do. Trim spares the WinningPoSt's, evict doesn't.
    host.engine.evict(bulk, 6).unwrap();
    host.wait(6).result.unwrap();
    host.warm(window(7));
    host.engine.trim(8).unwrap();
    host.wait(8).result.unwrap();
    assert_eq!(host.engine.stats().unwrap().resident, [winner]);
    host.engine.evict(winner, 9).unwrap();
    host.wait(9).result.unwrap();
    assert!(host.engine.stats().unwrap().resident.is_empty());
    // Evicted, and proved all the same.
    host.submit(winning(10));
    host.proved(&winning(10));
}

#[test]
fn a_failing_preload_is_told_and_tried_anew() {
    let mut host = Host::open(EchoOptions::default());
    let winner = circuit(Kind::WinningPoSt);
    for (tag, fault) in [(1, EchoFaultKind::OpenFails), (2, EchoFaultKind::LoadFails)] {
        host.inject(fault, None, 1);
        host.engine.preload(winner, tag).unwrap();
        assert_eq!(host.error(tag).status(), cuzk::Status::ParamsCorrupt);
        assert!(host.progress.iter().all(|progress| progress.percent < 100));
    }
    host.engine.preload(winner, 3).unwrap();
    host.wait(3).result.unwrap();
    // A request fails with it, too, and the next one tries anew.
    host.inject(EchoFaultKind::OpenFails, None, 1);
    host.engine.submit(vec![update(4), update(5)]).into_iter().for_each(|result| result.unwrap());
    assert_eq!([host.error(4).status(), host.error(5).status()], [cuzk::Status::ParamsCorrupt; 2]);
    host.submit(update(6));
    host.proved(&update(6));
}

#[test]
fn a_file_with_two_names_is_loaded_once() {
    let mut host = Host::open(EchoOptions::default());
    host.warm(update(0));
    let name = |kind| cuzk::circuit::registered::params_file_name(circuit(kind));
    let (file, other) = (host.dir.path().join(name(Kind::SnapDeals)), host.dir.path().join(name(Kind::WindowPoSt)));
    std::os::unix::fs::symlink(file, other).unwrap();
    host.submit(window(1));
    host.proved(&window(1));
    assert_eq!(host.calls(EchoCallKind::Load), ["snapdeals-2kib"]);
    // One name is given up; the other still stands for it.
    host.engine.evict(circuit(Kind::SnapDeals), 2).unwrap();
    host.wait(2).result.unwrap();
    assert!(host.calls(EchoCallKind::Unload).is_empty());
    host.submit(job(3, window(3).request));
    host.proved(&window(3));
}
