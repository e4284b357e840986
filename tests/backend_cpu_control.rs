//! Dropping, yielding and panicking at every point of a batch; pools of one, busy pools and calls from inside pools.

mod backend_cpu_support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Mutex};

use backend_cpu_support::{affine, bellpersons, is_cancelled, pool, prove, Fixture, Script};
use cuzk::backend::cpu::CpuBackend;
use cuzk::backend::{Answer, Backend, Sums, Uncontrolled};
use cuzk::{Error, Result};

/// About `count` of the questions `[0, asked)`, both ends among them.
fn samples(asked: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..asked).step_by((asked / count).max(1)).chain([asked - 1])
}

fn expected(fixture: &Fixture, count: u64) -> Vec<Result<Sums>> {
    prove(&fixture.loaded(2), &fixture.circuit, &fixture.batch(0..count), &Uncontrolled)
}

#[test]
fn an_assignment_can_be_dropped_at_any_question() {
    let fixture = Fixture::new(300, 50);
    let (backend, batch, expected) = (fixture.loaded(1), fixture.batch(0..3), expected(&fixture, 3));
    let whole = Script::default();
    assert_eq!(prove(&backend, &fixture.circuit, &batch, &whole), expected);
    let each = whole.asked() / 3;
    assert_eq!(whole.asked(), 3 * each, "one thread asks the same for each");
    for at in samples(whole.asked(), 60) {
        let script = Script::answering([(at, Answer::Drop(vec![1]))]);
        let results = prove(&backend, &fixture.circuit, &batch, &script);
        assert_eq!([&results[0], &results[2]], [&expected[0], &expected[2]], "dropped at {at}");
        // What the dropped one needed after question `at` isn't spent; a tile of another one is asked for again.
        let saved = if at < each { each } else { (2 * each).saturating_sub(at + 1) };
        let again = usize::from((at < each || at >= 2 * each) && at % each != 0);
        assert_eq!(script.asked(), whole.asked() - saved + again, "dropped at {at}");
        match at < 2 * each {
            true => assert!(is_cancelled(&results[1]), "dropped at {at}"),
            false => assert_eq!(results[1], expected[1]),
        }
    }
}

#[test]
fn all_can_be_dropped_at_once() {
    let fixture = Fixture::new(100, 50);
    let (backend, batch) = (fixture.loaded(1), fixture.batch(0..3));
    let script = Script::answering([(0, Answer::Drop(vec![2, 0, 1, 7]))]);
    assert!(prove(&backend, &fixture.circuit, &batch, &script).iter().all(is_cancelled));
    assert_eq!(script.asked(), 1);
    // An index that is finished or unknown is ignored.
    let script = Script::answering([(5, Answer::Drop(vec![0])), (9, Answer::Drop(vec![0, 99]))]);
    let results = prove(&backend, &fixture.circuit, &batch, &script);
    assert!(is_cancelled(&results[0]) && results[1].is_ok() && results[2].is_ok());
}

#[test]
fn dropping_with_several_threads_spares_the_others() {
    let fixture = Fixture::new(300, 50);
    let (backend, batch, expected) = (fixture.loaded(3), fixture.batch(0..2), expected(&fixture, 2));
    for at in (0..200).step_by(9) {
        let script = Script::answering([(at, Answer::Drop(vec![0]))]);
        let results = prove(&backend, &fixture.circuit, &batch, &script);
        assert!(is_cancelled(&results[0]) || results[0] == expected[0]);
        assert_eq!(results[1], expected[1], "dropped at {at}");
    }
}

#[test]
fn a_batch_yields_at_any_question() {
    let [fixture, urgent] = [Fixture::new(300, 50), Fixture::new(40, 3)];
    let (batch, urgent_batch) = (fixture.batch(0..2), urgent.batch(5..7));
    let (expected, expected_urgent) = (expected(&fixture, 2), [bellpersons(&urgent, 5), bellpersons(&urgent, 6)]);
    for threads in [1, 3] {
        let backend = fixture.loaded(threads);
        backend.load(&urgent.circuit, &Uncontrolled).unwrap();
        let whole = Script::default();
        prove(&backend, &fixture.circuit, &batch, &whole);
        for at in samples(whole.asked(), 25) {
            let ran = Mutex::new(Vec::new());
            let mut script = Script::answering([(at, Answer::Yield)]);
            script.urgent = Some(Box::new(|backend: &dyn Backend| {
                let results = prove(backend, &urgent.circuit, &urgent_batch, &Uncontrolled);
                ran.lock().unwrap().extend(results.iter().map(|result| affine(result.as_ref().unwrap())));
            }));
            let results = prove(&backend, &fixture.circuit, &batch, &script);
            assert_eq!(results, expected, "{threads} threads, yielded at {at}");
            let began = script.urgent_at.lock().unwrap().clone();
            // With several threads fewer questions may be asked than in the first run.
            assert_eq!(began.len(), usize::from(script.asked() > at), "{threads} threads, yielded at {at}");
            for began in began {
                assert!(began - (at + 1) < threads, "{} questions between the answer and the call", began - (at + 1));
            }
            drop(script);
            let ran = ran.into_inner().unwrap();
            assert!(ran.is_empty() || ran == expected_urgent);
        }
    }
}

#[test]
fn a_batch_yields_again_and_again() {
    let [fixture, urgent] = [Fixture::new(200, 50), Fixture::new(10, 3)];
    let urgent_batch = urgent.batch(0..1);
    for threads in [1, 2] {
        let backend = fixture.loaded(threads);
        backend.load(&urgent.circuit, &Uncontrolled).unwrap();
        let count = AtomicUsize::new(0);
        let mut script = Script::answering((0..100).step_by(7).map(|at| (at, Answer::Yield)));
        script.urgent = Some(Box::new(|backend: &dyn Backend| {
            assert!(prove(backend, &urgent.circuit, &urgent_batch, &Uncontrolled)[0].is_ok());
            count.fetch_add(1, Ordering::SeqCst);
        }));
        let results = prove(&backend, &fixture.circuit, &fixture.batch(0..1), &script);
        drop(script);
        assert_eq!(affine(results[0].as_ref().unwrap()), bellpersons(&fixture, 0));
        // With two threads a second wish may arrive before the first is granted: one call serves both.
        let count = count.into_inner();
        assert!(if threads == 1 { count == 15 } else { (8..=15).contains(&count) }, "{count} urgent proofs");
    }
}

#[test]
fn a_panic_is_internal_for_its_item_and_the_next_works() {
    let fixture = Fixture::new(200, 50);
    let expected = expected(&fixture, 2);
    for threads in [1, 2] {
        let backend = fixture.loaded(threads);
        for at in (0..100).step_by(11) {
            let script = Script { panic_at: Some(at), ..Script::default() };
            let results = prove(&backend, &fixture.circuit, &fixture.batch(0..2), &script);
            if script.asked() <= at {
                // Two threads may need fewer questions than one.
                assert!(threads > 1 && results == expected);
                continue;
            }
            let hit = usize::from(threads > 1 && results[0] == expected[0]);
            match &results[hit] {
                Err(Error::Internal(message)) => assert!(message.contains("told to panic"), "{message}"),
                other => panic!("{other:?}"),
            }
            assert_eq!(results[1 - hit], expected[1 - hit]);
        }
        let mut script = Script::answering([(20, Answer::Yield)]);
        script.urgent = Some(Box::new(|_| panic!("the urgent proof panics")));
        let results = prove(&backend, &fixture.circuit, &fixture.batch(0..2), &script);
        assert!(matches!(&results[0], Err(Error::Internal(_))));
        assert_eq!(results[1], expected[1]);
    }
}

#[test]
fn calls_from_inside_pools_end() {
    let fixture = Fixture::new(200, 50);
    let (batch, expected) = (fixture.batch(0..1), expected(&fixture, 1));
    for threads in [1, 2] {
        let own = pool(threads);
        let backend = CpuBackend::new(std::sync::Arc::clone(&own));
        own.install(|| backend.load(&fixture.circuit, &Uncontrolled).unwrap());
        assert_eq!(own.install(|| prove(&backend, &fixture.circuit, &batch, &Uncontrolled)), expected);
        // From every thread of the global pool at once, and from every thread of its own.
        let all = rayon::broadcast(|_| prove(&backend, &fixture.circuit, &batch, &Uncontrolled));
        assert!(all.iter().all(|results| *results == expected));
        let all = own.broadcast(|_| prove(&backend, &fixture.circuit, &batch, &Uncontrolled));
        assert!(all.iter().all(|results| *results == expected));
    }
}

#[test]
fn a_busy_pool_delays_nobody() {
    let fixture = Fixture::new(200, 50);
    let own = pool(2);
    let backend = CpuBackend::new(std::sync::Arc::clone(&own));
    backend.load(&fixture.circuit, &Uncontrolled).unwrap();
    // Every thread of the pool waits for something that comes after the proof.
    let releases: Vec<_> = (0..2)
        .map(|_| {
            let ((release, waiting), (started, has_started)) = (mpsc::channel::<()>(), mpsc::channel());
            own.spawn(move || {
                started.send(()).unwrap();
                waiting.recv().unwrap();
            });
            has_started.recv().unwrap();
            release
        })
        .collect();
    assert_eq!(prove(&backend, &fixture.circuit, &fixture.batch(0..1), &Uncontrolled), expected(&fixture, 1));
    releases.iter().for_each(|release| release.send(()).unwrap());
}

#[test]
fn batches_run_side_by_side() {
    let fixture = Fixture::new(200, 50);
    let (backend, batch, expected) = (fixture.loaded(2), fixture.batch(0..3), expected(&fixture, 3));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(prove(&backend, &fixture.circuit, &batch, &Uncontrolled), expected));
        }
    });
}
