//! WindowPoSts and the bulk that makes way for them.

use cuzk::circuit::Kind;
use cuzk::engine::{EchoFaultKind, EchoOptions};

use crate::support::{circuit, porep, update, window, winning, Host};

#[test]
fn a_window_post_takes_the_device_at_the_next_question() {
    let mut host = Host::open(EchoOptions::default());
    host.warm(window(0));
    host.warm(porep(0));
    host.inject(EchoFaultKind::HoldProve, Some(Kind::PoRep), 1);
    host.submit(porep(1));
    host.held(1);
    let stats = host.until("held with the rest behind it", |stats| {
        stats.proving > 0 && stats.proving + stats.waiting_for_device == 10
    });
    let before = host.batches().len();
    // Nobody releases the partition that is held.
    host.submit(window(2));
    host.proved(&window(2));
    assert_eq!(host.proved(&porep(1)).timings.redos, 0);
    let batches = host.batches().split_off(before);
    assert_eq!(batches[0], ("windowpost-2kib".into(), 1), "{batches:?}");
    let rest: usize = batches[1..].iter().map(|(_, count)| count).sum();
    assert_eq!(rest, 10, "all of them, the one that was dropped half-way too");
    assert_eq!(host.settled().counters.abandoned, stats.proving);
}

#[test]
fn a_partition_is_dropped_half_way_twice_at_most() {
    let mut host = Host::one_by_one();
    [update(0), window(0), winning(0)].into_iter().for_each(|job| host.warm(job));
    host.inject(EchoFaultKind::HoldProve, Some(Kind::SnapDeals), 1000);
    let before = host.batches().len();
    host.submit(update(1));
    for tag in [2, 3] {
        host.until("held", |stats| stats.proving == 1);
        host.submit(window(tag));
        host.proved(&window(tag));
    }
    host.until("held for the third time", |stats| stats.proving == 1);
    host.submit(window(4));
    host.until("it waits", |stats| stats.waiting_for_device == 1);
    // Whatever interrupts the batch has had its question answered after the WindowPoSt came.
    host.submit(winning(5));
    host.proved(&winning(5));
    assert!(!host.has_ended(4));
    host.release(EchoFaultKind::HoldProve);
    host.proved(&update(1));
    host.proved(&window(4));
    let names: Vec<String> = host.batches().split_off(before).into_iter().map(|(name, _)| name).collect();
    let (bulk, post) = ("snapdeals-2kib", "windowpost-2kib");
    assert_eq!(names, [bulk, post, bulk, post, bulk, "winningpost-2kib", post]);
}

/// Devices that have an update's circuit and a WindowPoSt's, and prove one partition at a time.
fn ready(devices: u32) -> Host {
    let mut host = Host::open(EchoOptions { devices, max_batch: 1, ..EchoOptions::default() });
    for (tag, kind) in [(10, Kind::SnapDeals), (11, Kind::WindowPoSt)] {
        host.engine.preload(circuit(kind), tag).unwrap();
        host.wait(tag).result.unwrap();
    }
    host
}

#[test]
fn one_device_makes_way_for_one_window_post() {
    let mut host = ready(3);
    host.inject(EchoFaultKind::HoldProve, Some(Kind::SnapDeals), 1000);
    (1..4).for_each(|tag| host.submit(update(tag)));
    host.until("all at work", |stats| stats.proving == 3);
    host.submit(window(4));
    host.proved(&window(4));
    assert_eq!(host.engine.stats().unwrap().counters.abandoned, 1);
    // A second one takes the next device while the first is proving a WindowPoSt.
    host.until("all at work again", |stats| stats.proving == 3);
    host.inject(EchoFaultKind::HoldProve, Some(Kind::WindowPoSt), 2);
    host.submit(window(5));
    host.submit(window(6));
    host.until("each has a device", |stats| {
        stats.counters.abandoned == 3 && (stats.proving, stats.waiting_for_device) == (3, 2)
    });
    host.release(EchoFaultKind::HoldProve);
    [window(5), window(6), update(1), update(2), update(3)].iter().for_each(|job| drop(host.proved(job)));
}

#[test]
fn a_window_post_takes_a_device_that_makes_way_at_once() {
    let mut host = ready(2);
    host.inject(EchoFaultKind::HoldProve, Some(Kind::SnapDeals), 1000);
    [1, 2].into_iter().for_each(|tag| host.submit(update(tag)));
    // The first two take one device's partition twice; the third goes to the other, which was never asked to make way.
    for tag in [3, 4, 5] {
        host.until("both at work", |stats| stats.proving == 2);
        host.submit(window(tag));
        host.proved(&window(tag));
    }
    assert_eq!(host.engine.stats().unwrap().counters.abandoned, 3);
    host.release(EchoFaultKind::HoldProve);
    [1, 2].into_iter().for_each(|tag| drop(host.proved(&update(tag))));
}
