//! Sections: every tile once, a question before each, and what happens when the control wants something.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::query::{reserve, stopped};
use super::workers::{grow, Stop, Workers};
use super::CpuBackend;
use crate::backend::{Answer, Backend, Control};

/// Counts questions and answers some of them.
#[derive(Default)]
struct Counter {
    asked: AtomicUsize,
    answers: Mutex<BTreeMap<usize, Answer>>,
    urgent: AtomicUsize,
    /// Held while a question is answered.
    answering: Mutex<()>,
}

impl Counter {
    fn answering(answers: impl IntoIterator<Item = (usize, Answer)>) -> Self {
        Counter { answers: Mutex::new(answers.into_iter().collect()), ..Counter::default() }
    }
}

impl Control for Counter {
    fn ask(&self) -> Answer {
        let _alone = self.answering.try_lock().expect("one question at a time");
        let question = self.asked.fetch_add(1, Ordering::SeqCst);
        self.answers.lock().unwrap().remove(&question).unwrap_or(Answer::Continue)
    }

    fn run_urgent(&self, _backend: &dyn Backend) {
        self.urgent.fetch_add(1, Ordering::SeqCst);
    }
}

fn backend(threads: usize) -> CpuBackend {
    CpuBackend::new(Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()))
}

fn counts(tiles: usize) -> Vec<AtomicUsize> {
    (0..tiles).map(|_| AtomicUsize::new(0)).collect()
}

fn never_drops(_: usize) -> bool {
    panic!("nothing was dropped")
}

#[test]
fn one_thread_asks_before_each_tile() {
    let backend = backend(1);
    let control = Counter::default();
    let workers = Workers::new(&backend.pool, &backend, &control);
    let order = Mutex::new(Vec::new());
    let work =
        |tile: usize, worker: usize| order.lock().unwrap().push((tile, worker, control.asked.load(Ordering::SeqCst)));
    workers.run(50, &mut never_drops, &work).unwrap();
    let expected: Vec<_> = (0..50).map(|tile| (tile, 0, tile + 1)).collect();
    assert_eq!(order.into_inner().unwrap(), expected);
    workers.run(0, &mut never_drops, &|_, _| panic!("there is no tile")).unwrap();
}

#[test]
fn every_tile_runs_once_whatever_interrupts() {
    for threads in [1, 2, 5] {
        let backend = backend(threads);
        let answers =
            (0..600).step_by(13).map(|at| (at, if at % 2 == 0 { Answer::Yield } else { Answer::Drop(vec![at]) }));
        let control = Counter::answering(answers);
        let workers = Workers::new(&backend.pool, &backend, &control);
        assert_eq!(workers.count(), threads);
        for tiles in [1, 2, 3, 100, 1000] {
            let runs = counts(tiles);
            let in_use: Vec<_> = (0..threads).map(|_| Mutex::new(())).collect();
            let work = |tile: usize, worker: usize| {
                let _alone = in_use[worker].try_lock().expect("a worker's number is one thread's");
                runs[tile].fetch_add(1, Ordering::SeqCst);
            };
            let mut drops = Vec::new();
            workers.run(tiles, &mut |index| (drops.push(index), false).1, &work).unwrap();
            assert!(runs.iter().all(|run| run.load(Ordering::SeqCst) == 1), "{tiles} tiles, {threads} threads");
            assert!(drops.iter().all(|index| index % 13 == 0 && index % 2 == 1), "{drops:?}");
        }
        let urgent = control.urgent.load(Ordering::SeqCst);
        assert!(if threads == 1 { urgent == 24 } else { (1..=24).contains(&urgent) }, "{urgent} urgent calls");
    }
}

#[test]
fn a_drop_that_ends_the_section_ends_it_at_once() {
    for threads in [1, 3] {
        let backend = backend(threads);
        let control = Counter::answering([(10, Answer::Drop(vec![4]))]);
        let workers = Workers::new(&backend.pool, &backend, &control);
        let runs = AtomicUsize::new(0);
        let work = |_: usize, _: usize| {
            runs.fetch_add(1, Ordering::SeqCst);
            // Else the others may be through before the one that asks has its answer.
            if threads > 1 {
                std::thread::sleep(Duration::from_micros(50));
            }
        };
        assert_eq!(workers.run(1000, &mut |index| index == 4, &work), Err(Stop::Dropped));
        let runs = runs.into_inner();
        assert!(if threads == 1 { runs == 10 } else { runs < 1000 }, "{runs} tiles");
        // The next section is untouched by it.
        workers.run(20, &mut never_drops, &|_, _| ()).unwrap();
    }
}

#[test]
fn a_panicking_tile_stops_its_section_with_its_message() {
    for threads in [1, 3] {
        let backend = backend(threads);
        let control = Counter::default();
        let workers = Workers::new(&backend.pool, &backend, &control);
        let work = |tile: usize, _: usize| assert!(tile != 7, "tile {tile} fails");
        match workers.run(1000, &mut never_drops, &work) {
            Err(Stop::Panicked(message)) => assert!(message.contains("tile 7 fails"), "{message}"),
            other => panic!("{other:?}"),
        }
        let runs = counts(100);
        let work = |tile: usize, _: usize| {
            runs[tile].fetch_add(1, Ordering::SeqCst);
        };
        workers.run(100, &mut never_drops, &work).unwrap();
        assert!(runs.iter().all(|run| run.load(Ordering::SeqCst) == 1));
    }
}

#[test]
fn several_threads_take_part() {
    let backend = backend(4);
    let control = Counter::default();
    let workers = Workers::new(&backend.pool, &backend, &control);
    // Four tiles that wait for each other: they end only if four threads run them.
    let barrier = std::sync::Barrier::new(4);
    let work = |_: usize, _: usize| {
        barrier.wait();
    };
    workers.run(4, &mut never_drops, &work).unwrap();
}

#[test]
fn memory_that_the_host_has_not_is_an_error_and_the_next_try_works() {
    let mut vec = vec![7u64; 10];
    let words = usize::MAX / 16;
    assert_eq!(grow(&mut vec, words, 0), Err(Stop::OutOfMemory(words as u64 * 8)));
    assert_eq!(stopped(grow(&mut vec, usize::MAX, 0).unwrap_err()).status(), crate::Status::OutOfMemory);
    grow(&mut vec, 12, 3).unwrap();
    assert_eq!(vec, [3; 12]);
    grow(&mut vec, 5, 4).unwrap();
    assert_eq!(vec, [3; 12], "it never shrinks");
    assert_eq!(reserve::<u64>(words).unwrap_err().status(), crate::Status::OutOfMemory);
    assert!(reserve::<u64>(12).unwrap().capacity() >= 12);
}
