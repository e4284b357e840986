//! Budgets: of the host, of a device.

use cuzk::circuit::Kind;
use cuzk::engine::{Config, EchoCallKind, EchoFault, EchoFaultKind, EchoOptions, Job, Request};
use cuzk::Status;

use crate::support::{circuit, config, large_update, porep, update, window, winning, Host};

/// An eighth is for requests that wait, one for circuits, the rest for proofs under way.
fn with_host(bytes: u64) -> Host {
    Host::with(Config { host_memory_bytes: bytes, threads: 3, ..config() }, EchoOptions::default())
}

#[test]
fn a_small_budget_lets_all_finish_and_is_never_exceeded() {
    // Less what is held back for WinningPoSts, 723 bytes: a large update takes 256, a partition 120.
    let mut host = with_host(1100);
    let total = host.engine.stats().unwrap().pools[0].total_bytes;
    assert_eq!(total, 1100);
    for tag in 1..20 {
        while let Err(error) = host.try_submit(large_update(tag)) {
            assert_eq!(error.status(), Status::Busy);
            host.step(std::time::Duration::from_millis(5));
        }
    }
    (1..20).for_each(|tag| drop(host.proved(&large_update(tag))));
    let stats = host.settled();
    assert!(stats.pools[0].peak_bytes <= total && stats.pools[0].peak_bytes > 0, "{:?}", stats.pools);
    assert_eq!(stats.kinds[Kind::SnapDeals as usize].proved, 19);
}

#[test]
fn what_can_never_fit_is_refused_at_once() {
    let mut host = with_host(1600);
    let request = Request::PoRep { miner: 1, sector: 1, c1: vec![1; 4000] };
    let error = host.try_submit(Job { request, ..porep(1) }).unwrap_err();
    assert_eq!(error.status(), Status::OutOfMemory);
    assert!(error.to_string().contains("host"), "{error}");
    // Its bytes fit, its proof doesn't: what is known of its circuit says so at once.
    let mut host2 = with_host(100);
    assert_eq!(host2.try_submit(update(1)).unwrap_err().status(), Status::OutOfMemory);
    host2.drain();
    host.submit(update(2));
    host.proved(&update(2));
}

#[test]
fn waiting_requests_have_a_share_of_their_own() {
    // An eighth of it, 1,000 bytes, holds 15 requests of 64.
    let mut host = with_host(8000);
    host.inject(EchoFaultKind::HoldSynthesis, None, 1000);
    // Those that are held have given back what their requests took, and no other is read while they are.
    host.submit(porep(0));
    host.until("every thread is held", |stats| stats.synthesising == 3);
    let taken = 1 + (1..100).take_while(|tag| host.try_submit(porep(*tag)).is_ok()).count();
    assert!((15..=20).contains(&taken), "{taken}");
    assert_eq!(host.try_submit(porep(1000)).unwrap_err().status(), Status::Busy);
    host.submit(winning(2000));
    host.release(EchoFaultKind::HoldSynthesis);
    host.proved(&winning(2000));
    (0..taken as u64).for_each(|tag| drop(host.proved(&porep(tag))));
    host.settled();
}

#[test]
fn memory_of_a_synthesis_that_nobody_waits_for_is_on_its_way_back() {
    // 260 bytes for proofs: the update takes 16 and 128, the PoRep 64 and, for its first partition, 118.
    let mut host = with_host(396);
    host.inject(EchoFaultKind::HoldOpen, Some(Kind::PoRep), 1);
    host.inject(EchoFaultKind::HoldSynthesis, Some(Kind::SnapDeals), 1);
    let request = Request::PoRep { miner: 1, sector: 1, c1: vec![7; 32] };
    host.submit(Job { request: request.clone(), ..porep(1) });
    host.submit(update(2));
    host.until("the update is synthesised", |stats| stats.synthesising == 1);
    host.release(EchoFaultKind::HoldOpen);
    host.until("the PoRep waits for memory", |stats| stats.counters.opens == 2);
    assert_eq!(host.engine.stats().unwrap().synthesising, 1);
    host.engine.cancel(2).unwrap();
    host.proved(&Job { request, ..porep(1) });
    assert_eq!(host.error(2), cuzk::Error::Cancelled);
    host.settled();
}

/// Device memory for two and a half of an echo engine's circuits.
fn tight_device() -> Host {
    device_for(5)
}

/// Device memory for so many halves of an echo engine's circuit.
fn device_for(halves: u64) -> Host {
    let device_memory_bytes = sections() * halves / 2;
    Host::with(Config { device_memory_bytes, ..config() }, EchoOptions { max_batch: 4, ..EchoOptions::default() })
}

/// Bytes of H, L, A and B_G2 of an echo circuit: 4 rows of constraints and inputs.
fn sections() -> u64 {
    let host = &mut Host::open(EchoOptions::default());
    host.warm(update(0));
    let path = host.dir.path().join(cuzk::circuit::registered::params_file_name(circuit(Kind::SnapDeals)));
    let options = cuzk::srs::SrsOptions { allow_unknown_params: true, ..Default::default() };
    let srs = cuzk::srs::SrsFile::open(&path, &options).unwrap();
    use cuzk::srs::Section;
    [Section::H, Section::L, Section::A, Section::BG2].iter().map(|s| srs.count(*s) * s.point_bytes()).sum()
}

#[test]
fn a_winning_post_without_room_inside_a_load_waits_and_keeps_nobody_busy() {
    let mut host = tight_device();
    host.warm(update(0));
    host.inject(EchoFaultKind::HoldLoad, Some(Kind::PoRep), 1);
    host.submit(porep(1));
    host.until("it loads", |stats| stats.waiting_for_device == 10 && stats.devices[0].busy);
    host.inject(EchoFaultKind::HoldProve, Some(Kind::SnapDeals), 1);
    host.submit(update(2));
    host.until("held inside the load", |stats| stats.proving == 1);
    host.submit(winning(3));
    host.until("makes way", |stats| stats.counters.abandoned > 0);
    host.submit(update(4));
    host.until("all wait for the load", |stats| stats.waiting_for_device == 13);
    assert_eq!(host.engine.stats().unwrap().counters.abandoned, 1);
    host.release(EchoFaultKind::HoldLoad);
    [porep(1), update(2), winning(3), update(4)].iter().for_each(|job| drop(host.proved(job)));
}

#[test]
fn idle_circuits_go_when_room_is_wanted_and_a_winning_posts_never() {
    let mut host = tight_device();
    host.warm(winning(0));
    for round in 0..5 {
        for job in [update(10), window(11), porep(12)] {
            host.submit(job.clone());
            host.proved(&job);
            host.submit(winning(13));
            host.proved(&winning(13));
            let circuits = host.engine.stats().unwrap().devices[0].circuits;
            assert!(circuits <= 2, "round {round}: {circuits}");
        }
    }
    let loads = host.calls(EchoCallKind::Load);
    assert_eq!(loads.iter().filter(|circuit| circuit.starts_with("winning")).count(), 1, "{loads:?}");
    assert_eq!(loads.len(), 1 + 15, "each of the others every time");
    assert!(host.calls(EchoCallKind::Unload).iter().all(|circuit| !circuit.starts_with("winning")));
}

#[test]
fn a_circuit_that_is_too_large_is_streamed_beside_a_winning_posts() {
    let mut host = device_for(3);
    host.warm(winning(0));
    for job in [update(1), window(2), porep(3), winning(4)] {
        host.submit(job.clone());
        host.proved(&job);
    }
    assert_eq!(host.calls(EchoCallKind::Unload), ["snapdeals-2kib", "windowpost-2kib"], "one beside it at a time");
}

#[test]
fn a_load_that_runs_out_of_memory_makes_room() {
    let mut host = Host::open(EchoOptions::default());
    [winning(0), update(0), window(0)].into_iter().for_each(|job| host.warm(job));
    host.inject(EchoFaultKind::LoadOutOfMemory, Some(Kind::PoRep), 2);
    host.submit(porep(1));
    host.proved(&porep(1));
    let mut unloaded = host.calls(EchoCallKind::Unload);
    unloaded.sort();
    assert_eq!(unloaded, ["snapdeals-2kib", "windowpost-2kib"], "one for each refusal");
    assert_eq!(host.engine.stats().unwrap().counters.out_of_memory, 2);
    // The PoRep's goes, too, and then nothing is left that could.
    host.inject(EchoFaultKind::LoadOutOfMemory, Some(Kind::SnapDeals), 1000);
    host.submit(update(2));
    assert_eq!(host.error(2).status(), Status::OutOfMemory);
    assert_eq!(host.engine.stats().unwrap().counters.out_of_memory, 4, "the last one, too");
    host.submit(porep(3));
    host.proved(&porep(3));
}

#[test]
fn a_circuit_at_work_isnt_unloaded_for_another_of_its_class() {
    let mut host = tight_device();
    host.warm(winning(0));
    host.warm(update(0));
    host.inject(EchoFaultKind::HoldProve, Some(Kind::SnapDeals), 1);
    (1..20).for_each(|tag| host.submit(update(tag)));
    host.until("held", |stats| stats.proving > 0);
    host.submit(porep(100));
    host.until("all wait", |stats| stats.waiting_for_device > 8);
    host.release(EchoFaultKind::HoldProve);
    (1..20).for_each(|tag| drop(host.proved(&update(tag))));
    host.proved(&porep(100));
    // One switch, not one per batch.
    let loads = host.calls(EchoCallKind::Load);
    assert!(loads.len() <= 5, "{loads:?}");
    // A WindowPoSt doesn't wait for that.
    host.inject(EchoFaultKind::HoldProve, Some(Kind::PoRep), 1);
    host.submit(porep(101));
    host.until("held", |stats| stats.proving > 0);
    host.submit(window(102));
    host.until("it waits", |stats| stats.waiting_for_device > 0);
    host.release(EchoFaultKind::HoldProve);
    host.proved(&window(102));
    host.proved(&porep(101));
}

#[test]
fn memory_that_is_refused_at_any_point_is_an_error_or_a_smaller_batch() {
    let mut host = Host::open(EchoOptions { devices: 2, ..EchoOptions::default() });
    for skip in 0..6 {
        let fault = EchoFault { what: EchoFaultKind::OutOfMemory, device: Some(0), kind: None, skip, count: 2 };
        host.engine.inject(fault).unwrap();
        let jobs = [update(1), porep(2), window(3), winning(4)];
        host.engine.submit(jobs.to_vec()).into_iter().for_each(|result| result.unwrap());
        for job in &jobs {
            match host.wait(job.tag) {
                completion if completion.result.is_ok() => {}
                completion => {
                    assert_eq!(completion.result.unwrap_err().status(), Status::OutOfMemory);
                    assert_eq!(completion.failed_at.unwrap().device.as_deref(), Some("echo-0"));
                }
            }
        }
        host.settled();
        host.release(EchoFaultKind::OutOfMemory);
        host.submit(update(5));
        host.proved(&update(5));
    }
}

#[test]
fn nothing_grows_over_many_requests() {
    let mut host = Host::open(EchoOptions::default());
    let mut after_two = None;
    for round in 0..20 {
        for job in [porep(1), update(2), window(3), winning(4)] {
            host.submit(job.clone());
            host.wait(job.tag).result.unwrap();
        }
        let stats = host.settled();
        let held = (stats.pools[2].used_bytes, stats.counters.loads, stats.counters.opens);
        if round >= 1 {
            assert_eq!(*after_two.get_or_insert(held), held, "round {round}");
        }
    }
}
