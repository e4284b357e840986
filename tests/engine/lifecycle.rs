//! Open, submit, cancel, deadlines, close.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cuzk::circuit::Kind;
use cuzk::engine::{Config, EchoFaultKind, EchoOptions, Job, Phase, Request};
use cuzk::{Error, Status};

use crate::support::{config, large_update, porep, update, window, winning, Host};

#[test]
fn every_kind_is_proved_for_its_own_inputs_alone() {
    let mut host = Host::open(EchoOptions::default());
    let jobs = [porep(1), update(2), large_update(3), window(4), winning(5)];
    for result in host.engine.submit(jobs.to_vec()) {
        result.unwrap();
    }
    let partitions: Vec<u32> = jobs.iter().map(|job| host.proved(job).timings.partitions).collect();
    assert_eq!(partitions, [10, 1, 16, 1, 1]);
    // Another request's proof doesn't hold for these inputs.
    host.submit(winning(6));
    let other = host.wait(6);
    assert!(!host.proves(&other.result.unwrap(), other.circuit.unwrap(), &jobs[4].request));
    let stats = host.settled();
    assert_eq!(stats.kinds.map(|kind| kind.proved), [1, 2, 1, 2]);
    assert_eq!(stats.counters.partitions_proved, 10 + 1 + 16 + 1 + 2);
    assert_eq!((stats.counters.redos, stats.counters.self_check_failures), (0, 0));
}

#[test]
fn jobs_with_one_label_are_not_mixed() {
    let mut host = Host::open(EchoOptions { devices: 2, ..EchoOptions::default() });
    let label = |job: Job| Job { label: "the same".into(), ..job };
    let jobs: Vec<Job> = (0..8).map(|tag| label(porep(tag))).collect();
    host.engine.submit(jobs.clone()).into_iter().for_each(|result| result.unwrap());
    // One more is cancelled and sent again at once.
    host.inject(EchoFaultKind::HoldSynthesis, Some(Kind::SnapDeals), 1000);
    host.submit(label(update(8)));
    host.engine.cancel(8).unwrap();
    assert!(matches!(host.error(8), Error::Cancelled));
    host.release(EchoFaultKind::HoldSynthesis);
    let again = label(update(8));
    host.submit(again.clone());
    let mut numbers: Vec<u64> = jobs.iter().chain([&again]).map(|job| host.proved(job).job).collect();
    numbers.dedup();
    assert_eq!(numbers.len(), 9, "each job has a number of its own");
}

#[test]
fn a_tag_is_in_use_until_its_completion_is_taken() {
    let mut host = Host::open(EchoOptions::default());
    host.submit(update(1));
    let again = host.try_submit(window(1)).unwrap_err();
    assert!(matches!(again, Error::Invalid { field: "tag", .. }), "{again}");
    host.until("proved", |stats| stats.kinds[Kind::SnapDeals as usize].proved == 1);
    assert!(host.engine.trim(u64::MAX).is_ok());
    host.wait(1).result.unwrap();
    host.submit(window(1));
    host.wait(1).result.unwrap();
}

#[test]
fn a_full_queue_is_busy_and_posts_have_places() {
    let mut host = Host::with(Config { queue_len: 2, ..config() }, EchoOptions::default());
    host.inject(EchoFaultKind::HoldSynthesis, Some(Kind::PoRep), 1000);
    host.submit(porep(1));
    host.submit(porep(2));
    let busy = host.try_submit(porep(3)).unwrap_err();
    assert_eq!(busy.status(), Status::Busy, "{busy}");
    for tag in 10..74 {
        host.submit(winning(tag));
        host.submit(window(tag + 100));
    }
    // Completions that nobody has taken keep their places.
    let until = |host: &mut Host| host.engine.stats().unwrap().kinds[Kind::WinningPoSt as usize].proved == 64;
    while !until(&mut host) {
        std::thread::yield_now();
    }
    assert_eq!(host.try_submit(winning(74)).unwrap_err().status(), Status::Busy);
    host.wait(10).result.unwrap();
    host.drain();
    host.submit(winning(74));
    let stats = host.engine.stats().unwrap();
    assert_eq!(stats.kinds.map(|kind| kind.refused), [1, 0, 0, 1]);
    host.release(EchoFaultKind::HoldSynthesis);
    for tag in [1, 2, 74] {
        host.wait(tag).result.unwrap();
    }
}

#[test]
fn structure_is_refused_at_once_and_content_later() {
    let mut host = Host::open(EchoOptions::default());
    let empty = Request::PoRep { miner: 1, sector: 1, c1: Vec::new() };
    let error = host.try_submit(Job { request: empty, ..porep(1) }).unwrap_err();
    assert!(matches!(error, Error::Invalid { field: "c1", .. }), "{error}");
    let Request::Update { proof, comm_r_old, comm_r_new, comm_d_new, .. } = large_update(1).request else { panic!() };
    let request = Request::Update { proof, comm_r_old, comm_r_new, comm_d_new, vanilla_proofs: vec![vec![1]; 3] };
    let error = host.try_submit(Job { request, ..update(1) }).unwrap_err();
    assert_eq!(error.to_string(), "vanilla_proofs: 3 given, 16 partition proofs are proved");
    let Request::PoSt { proof, miner, randomness, partition, .. } = window(1).request else { panic!() };
    let request = Request::PoSt { proof, miner, randomness, partition, vanilla_proofs: vec![vec![1], Vec::new()] };
    let error = host.try_submit(Job { request, ..window(1) }).unwrap_err();
    assert_eq!(error.to_string(), "vanilla_proofs: [1]: empty");
    // One bad item of a batch fails alone.
    host.inject(EchoFaultKind::BadRequest, Some(Kind::WindowPoSt), 1);
    let jobs = [update(1), window(2), update(3)];
    host.engine.submit(jobs.to_vec()).into_iter().for_each(|result| result.unwrap());
    let completion = host.wait(2);
    assert_eq!(completion.result.unwrap_err().status(), Status::Invalid);
    assert_eq!(completion.failed_at.unwrap().phase, Phase::Check);
    host.proved(&jobs[0]);
    host.proved(&jobs[2]);
}

#[test]
fn cancel_returns_at_once_in_every_phase() {
    let mut host = Host::one_by_one();
    // The first round finds no circuit open.
    let holds =
        [Some(EchoFaultKind::HoldOpen), Some(EchoFaultKind::HoldSynthesis), Some(EchoFaultKind::HoldProve), None];
    for (round, hold) in holds.into_iter().enumerate() {
        let tag = round as u64;
        if let Some(hold) = hold {
            host.inject(hold, None, 1000);
        }
        host.submit(porep(tag));
        host.submit(update(tag + 100));
        let reached = move |stats: &cuzk::engine::Stats| match hold {
            Some(EchoFaultKind::HoldSynthesis) => stats.synthesising > 0,
            Some(EchoFaultKind::HoldProve) => stats.proving > 0,
            Some(_) => stats.kinds[0].running > 0,
            None => true,
        };
        host.until("the phase", reached);
        for tag in [tag, tag + 100] {
            host.engine.cancel(tag).unwrap();
            // Either it was quicker, or its completion is there now.
            let completion = host.wait(tag);
            assert!(completion.result.is_ok() && hold.is_none() || completion.result == Err(Error::Cancelled), "{tag}");
        }
        if let Some(hold) = hold {
            host.release(hold);
        }
        let stats = host.settled();
        assert_eq!(stats.pools[0].used_bytes, 0);
    }
    host.engine.cancel(12345).unwrap();
    host.submit(porep(9));
    host.wait(9).result.unwrap();
}

#[test]
fn cancelled_at_random_nothing_is_left() {
    let mut host = Host::open(EchoOptions { devices: 2, ..EchoOptions::default() });
    for round in 0..20u64 {
        let jobs = [porep(round * 10), winning(round * 10 + 1), large_update(round * 10 + 2), window(round * 10 + 3)];
        host.engine.submit(jobs.to_vec()).into_iter().for_each(|result| result.unwrap());
        for _ in 0..round % 7 {
            host.step(Duration::from_millis(1));
        }
        for job in &jobs {
            host.engine.cancel(job.tag).unwrap();
        }
        for job in &jobs {
            let result = host.wait(job.tag).result;
            assert!(result.is_ok() || result == Err(Error::Cancelled), "{result:?}");
        }
    }
    let ended = host.order.len();
    let stats = host.settled();
    assert_eq!(host.order.len(), ended, "one completion each, and no late ones");
    let sums = stats.kinds.map(|kind| kind.proved + kind.cancelled);
    assert_eq!(sums, [20; 4]);
}

#[test]
fn a_deadline_that_passes_ends_the_job() {
    let mut host = Host::open(EchoOptions::default());
    host.inject(EchoFaultKind::HoldProve, Some(Kind::PoRep), 1000);
    let soon = Some(Instant::now() + Duration::from_millis(30));
    host.submit(Job { deadline: soon, ..porep(1) });
    assert!(matches!(host.error(1), Error::Deadline));
    // One that has passed already ends in the queue.
    host.submit(Job { deadline: Some(Instant::now()), ..porep(2) });
    assert!(matches!(host.error(2), Error::Deadline));
    host.release(EchoFaultKind::HoldProve);
    let stats = host.settled();
    assert_eq!(stats.kinds[Kind::PoRep as usize].late, 2);
}

#[test]
fn close_ends_everything_and_wakes_everyone() {
    let mut host = Host::open(EchoOptions::default());
    host.warm(update(0));
    host.inject(EchoFaultKind::HoldProve, None, 1000);
    host.inject(EchoFaultKind::HoldSynthesis, Some(Kind::SnapDeals), 1000);
    host.inject(EchoFaultKind::HoldLoad, Some(Kind::WindowPoSt), 1000);
    for tag in 1..50 {
        host.submit(porep(tag));
        host.submit(update(100 + tag));
        host.submit(window(200 + tag));
    }
    host.until("work", |stats| stats.devices[0].busy && stats.synthesising > 0);
    let other = Arc::clone(&host.engine);
    let waiting = std::thread::spawn(move || {
        let mut completions = 0;
        while other.next(Duration::MAX).is_ok() {
            completions += 1;
        }
        completions
    });
    host.engine.close().unwrap();
    host.engine.close().unwrap();
    assert!(waiting.join().unwrap() > 0);
    host.drain();
    assert!(matches!(host.engine.next(Duration::MAX), Err(Error::Closed(_))));
    assert!(matches!(host.try_submit(update(1)), Err(Error::Closed(_))));
    assert!(matches!(host.engine.cancel(1), Err(Error::Closed(_))));
    assert!(matches!(host.engine.trim(1), Err(Error::Closed(_))));
    assert!(host.engine.stats().is_err() && host.engine.cost(Kind::PoRep, 2048).is_err());
}

#[test]
fn one_thread_is_enough_even_inside_anothers_pool() {
    let mut host = Host::with(Config { threads: 1, ..config() }, EchoOptions::default());
    // From a task of rayon's global pool, as a host may call.
    rayon::scope(|scope| {
        scope.spawn(|_| {
            host.submit(porep(1));
            host.wait(1).result.unwrap();
        });
    });
}
