//! Sums of the CPU back end against bellperson's prover, results per item, loading and memory.

mod backend_cpu_support;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use backend_cpu_support::{affine, bellpersons, is_cancelled, open, pool, prove, Fixture, Script};
use cuzk::backend::cpu::{CpuBackend, CpuMemory};
use cuzk::backend::{Answer, Backend, Circuit, Uncontrolled};
use cuzk::srs::{FileStat, ReadAt, Section, SrsFile, SrsOptions};
use cuzk::{Error, Status};

#[test]
fn sums_equal_bellpersons() {
    for (count, public_every) in [(1, 1), (2, 7), (40, 1), (127, 5), (700, 100)] {
        let fixture = Fixture::new(count, public_every);
        for threads in [1, 3] {
            let backend = fixture.loaded(threads);
            let results = prove(&backend, &fixture.circuit, &fixture.batch(0..2), &Uncontrolled);
            for (start, result) in results.iter().enumerate() {
                let expected = bellpersons(&fixture, start as u64);
                assert_eq!(affine(result.as_ref().unwrap()), expected, "{count} steps, {threads} threads");
            }
        }
    }
}

#[cfg(feature = "testing")]
#[test]
fn both_sums_over_b_have_the_same_exponent() {
    use blstrs::Bls12;
    use pairing::Engine;
    let fixture = Fixture::new(50, 9);
    let results = prove(&fixture.loaded(2), &fixture.circuit, &fixture.batch(0..1), &Uncontrolled);
    let sums = results[0].as_ref().unwrap();
    // The SRS is over random generators; β over both of them is in its vk.
    let vk = fixture.circuit.srs().vk();
    let in_g1 = Bls12::pairing(&sums.b_g1.unwrap().into(), &vk.beta_g2);
    assert_eq!(in_g1, Bls12::pairing(&vk.beta_g1, &sums.b_g2.into()));
}

#[cfg(feature = "testing")]
#[test]
fn without_query_b_in_g1_the_other_sums_are_the_same() {
    let fixture = Fixture::new(50, 9);
    let backends = [CpuBackend::new(pool(2)), CpuBackend::new(pool(2)).without_b_g1()];
    let [with, without] = backends.map(|backend| {
        let control = Script::default();
        backend.load(&fixture.circuit, &control).unwrap();
        assert!(control.progress.lock().unwrap().last().is_some_and(|(done, total)| done == total));
        let sums = prove(&backend, &fixture.circuit, &fixture.batch(0..1), &Uncontrolled).remove(0).unwrap();
        (backend.memory().resident_bytes, sums)
    });
    assert!(with.1.b_g1.is_some() && without.0 < with.0);
    assert_eq!(without.1, cuzk::backend::Sums { b_g1: None, ..with.1 });
}

#[test]
fn batches_of_every_size_equal_single_proofs() {
    let fixture = Fixture::new(60, 20);
    let backend = fixture.loaded(2);
    let assignments = fixture.batch(0..10);
    let single = |start: usize| prove(&backend, &fixture.circuit, &assignments[start..=start], &Uncontrolled).remove(0);
    let singles: Vec<_> = (0..10).map(single).collect();
    assert!(singles.iter().all(|result| result.is_ok()));
    for count in [0, 1, 2, 3, 10] {
        let results = prove(&backend, &fixture.circuit, &assignments[..count], &Uncontrolled);
        assert_eq!(results, singles[..count]);
    }
}

#[test]
fn an_assignment_that_does_not_fit_is_invalid_alone() {
    let [fixture, other] = [Fixture::new(60, 20), Fixture::new(61, 20)];
    let backend = fixture.loaded(2);
    let good = fixture.assignment(1);
    let batch = [Arc::clone(&good), other.assignment(1), good];
    let results = prove(&backend, &fixture.circuit, &batch, &Uncontrolled);
    assert!(matches!(&results[1], Err(Error::Invalid { field: "assignment", .. })), "{:?}", results[1]);
    assert_eq!(results[0], results[2]);
    assert_eq!(affine(results[0].as_ref().unwrap()), bellpersons(&fixture, 1));
}

#[test]
fn a_circuit_that_is_not_loaded_is_closed() {
    let fixture = Fixture::new(20, 20);
    let backend = CpuBackend::new(pool(1));
    for _ in 0..2 {
        let results = prove(&backend, &fixture.circuit, &fixture.batch(0..3), &Uncontrolled);
        assert!(results.iter().all(|result| result.as_ref().unwrap_err().status() == Status::Closed));
        backend.load(&fixture.circuit, &Uncontrolled).unwrap();
        assert!(prove(&backend, &fixture.circuit, &fixture.batch(0..1), &Uncontrolled)[0].is_ok());
        backend.unload(&fixture.circuit);
    }
}

#[test]
fn memory_is_taken_once_and_given_back() {
    let [fixture, larger] = [Fixture::new(100, 20), Fixture::new(400, 20)];
    let backend = fixture.loaded(2);
    let empty = CpuMemory { resident_bytes: 0, spare_bytes: 0 };
    assert_ne!(backend.memory(), empty);
    let mut after = Vec::new();
    for start in 0..4 {
        prove(&backend, &fixture.circuit, &[fixture.assignment(start)], &Uncontrolled);
        after.push(backend.memory());
    }
    assert!(after.iter().all(|memory| *memory == after[0]), "{after:?}");
    backend.load(&larger.circuit, &Uncontrolled).unwrap();
    assert!(prove(&backend, &larger.circuit, &larger.batch(0..1), &Uncontrolled)[0].is_ok());
    assert!(backend.memory().spare_bytes > after[0].spare_bytes);
    backend.unload(&larger.circuit);
    assert_eq!(backend.memory().resident_bytes, after[0].resident_bytes);
    backend.unload(&larger.circuit);
    backend.unload(&fixture.circuit);
    assert_eq!(backend.memory(), empty);
}

/// The circuit with one bit of a point's y flipped.
fn damaged(fixture: &Fixture, section: Section, index: u64) -> Arc<Circuit> {
    let source = fixture.circuit.srs().path();
    let path = source.with_file_name(format!("{}-{index}.params", section.name()));
    std::fs::copy(source, &path).unwrap();
    let order = [Section::Ic, Section::H, Section::L, Section::A, Section::BG1, Section::BG2];
    let before = order.iter().take_while(|other| **other != section);
    let srs = fixture.circuit.srs();
    let start = 864 + before.map(|other| 4 + srs.count(*other) * other.point_bytes()).sum::<u64>();
    let last_byte = start + 4 + (index + 1) * section.point_bytes() - 1;
    let file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut byte = [0];
    FileExt::read_exact_at(&file, &mut byte, last_byte).unwrap();
    file.write_all_at(&[byte[0] ^ 1], last_byte).unwrap();
    Circuit::new("damaged", Arc::clone(fixture.circuit.r1cs()), Arc::new(open(&path))).unwrap()
}

#[test]
fn a_damaged_point_of_any_section_is_named() {
    let fixture = Fixture::new(3000, 100);
    let backend = CpuBackend::new(pool(2));
    for section in [Section::H, Section::L, Section::A, Section::BG2] {
        for index in [0, 1, fixture.circuit.srs().count(section) - 1] {
            let circuit = damaged(&fixture, section, index);
            match backend.load(&circuit, &Uncontrolled) {
                Err(Error::ParamsCorrupt(fault)) => {
                    assert_eq!((fault.section, fault.index), (section.name(), Some(index)));
                    assert_eq!(fault.file, circuit.srs().path());
                }
                other => panic!("{other:?}"),
            }
            assert!(prove(&backend, &circuit, &fixture.batch(0..1), &Uncontrolled)[0].is_err());
        }
    }
    assert_eq!(backend.memory().resident_bytes, 0);
    backend.load(&fixture.circuit, &Uncontrolled).unwrap();
}

#[test]
fn a_dropped_load_leaves_nothing_and_can_be_repeated() {
    let fixture = Fixture::new(3000, 100);
    let backend = CpuBackend::new(pool(1));
    let whole = Script::default();
    backend.load(&fixture.circuit, &whole).unwrap();
    backend.unload(&fixture.circuit);
    let questions = whole.asked();
    assert!(questions > 8, "{questions} questions");
    let told = whole.progress.into_inner().unwrap();
    assert!(told.len() >= 4 && told.is_sorted_by(|one, next| one.0 < next.0 && one.1 == next.1), "{told:?}");
    assert!(told[0].0 > 0 && told.last().is_some_and(|(done, total)| done == total), "{told:?}");
    for at in 0..questions {
        let script = Script::answering([(at, Answer::Drop(vec![0]))]);
        assert_eq!(backend.load(&fixture.circuit, &script), Err(Error::Cancelled), "question {at}");
        assert_eq!(script.asked(), at + 1);
        assert_eq!(backend.memory().resident_bytes, 0);
    }
    backend.load(&fixture.circuit, &Uncontrolled).unwrap();
    assert!(!is_cancelled(&prove(&backend, &fixture.circuit, &fixture.batch(0..1), &Uncontrolled)[0]));
}

/// Counts the bytes that are read.
#[derive(Debug)]
struct Counted(File, Arc<AtomicU64>);

impl ReadAt for Counted {
    fn stat(&self) -> io::Result<FileStat> {
        self.0.stat()
    }

    fn read_exact_at(&self, out: &mut [u8], offset: u64) -> io::Result<()> {
        self.1.fetch_add(out.len() as u64, Ordering::SeqCst);
        ReadAt::read_exact_at(&self.0, out, offset)
    }
}

/// The fixture's circuit, with its SRS read by way of `source`.
fn read_through(fixture: &Fixture, source: impl FnOnce(File) -> Box<dyn ReadAt>) -> Arc<Circuit> {
    let path = fixture.circuit.srs().path();
    let options = SrsOptions { allow_unknown_params: true, ..SrsOptions::default() };
    let srs = SrsFile::from_source(path, source(File::open(path).unwrap()), &options).unwrap();
    Circuit::new("read through", Arc::clone(fixture.circuit.r1cs()), Arc::new(srs)).unwrap()
}

#[test]
fn loads_at_once_load_once() {
    let fixture = Fixture::new(3000, 100);
    let bytes = Arc::new(AtomicU64::new(0));
    let circuit = read_through(&fixture, |file| Box::new(Counted(file, Arc::clone(&bytes))));
    let backend = CpuBackend::new(pool(2));
    let read_by = |load: &dyn Fn()| {
        bytes.store(0, Ordering::SeqCst);
        load();
        bytes.load(Ordering::SeqCst)
    };
    let alone = read_by(&|| backend.load(&circuit, &Uncontrolled).unwrap());
    let resident = backend.memory().resident_bytes;
    backend.unload(&circuit);
    let together = read_by(&|| {
        std::thread::scope(|scope| {
            (0..4).for_each(|_| drop(scope.spawn(|| backend.load(&circuit, &Uncontrolled).unwrap())));
        })
    });
    assert!(alone > 0 && together == alone, "{together} bytes read, {alone} by one alone");
    assert_eq!(backend.memory().resident_bytes, resident);
    assert_eq!(read_by(&|| backend.load(&circuit, &Uncontrolled).unwrap()), 0);
}

/// What reads of a [`Gated`] file meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Shut,
    /// Shut, and someone waits before it.
    Waited,
    Broken,
}

/// A file on a file system that answers when it is told to.
#[derive(Debug)]
struct Gated(File, Arc<(Mutex<State>, Condvar)>);

impl ReadAt for Gated {
    fn stat(&self) -> io::Result<FileStat> {
        self.0.stat()
    }

    fn read_exact_at(&self, out: &mut [u8], offset: u64) -> io::Result<()> {
        let (state, changed) = &*self.1;
        let mut now = state.lock().unwrap();
        while matches!(*now, State::Shut | State::Waited) {
            *now = State::Waited;
            changed.notify_all();
            now = changed.wait(now).unwrap();
        }
        match *now {
            State::Broken => Err(io::Error::other("the disk is gone")),
            _ => ReadAt::read_exact_at(&self.0, out, offset),
        }
    }
}

#[test]
fn a_slow_load_delays_no_other_circuit_and_a_failed_one_is_not_kept() {
    let [fixture, slow] = [Fixture::new(40, 3), Fixture::new(300, 50)];
    let gate = Arc::new((Mutex::new(State::Open), Condvar::new()));
    let circuit = read_through(&slow, |file| Box::new(Gated(file, Arc::clone(&gate))));
    let set = |to| {
        *gate.0.lock().unwrap() = to;
        gate.1.notify_all();
    };
    let backend = CpuBackend::new(pool(1));
    backend.load(&fixture.circuit, &Uncontrolled).unwrap();
    set(State::Shut);
    std::thread::scope(|scope| {
        let loads: Vec<_> = (0..2).map(|_| scope.spawn(|| backend.load(&circuit, &Uncontrolled))).collect();
        drop(gate.1.wait_while(gate.0.lock().unwrap(), |state| *state != State::Waited).unwrap());
        let result = prove(&backend, &fixture.circuit, &fixture.batch(0..1), &Uncontrolled);
        assert_eq!(affine(result[0].as_ref().unwrap()), bellpersons(&fixture, 0));
        assert!(loads.iter().all(|load| !load.is_finished()));
        set(State::Broken);
        for load in loads {
            let error = load.join().unwrap().unwrap_err();
            assert_eq!(error.status(), Status::ParamsCorrupt, "{error}");
        }
    });
    set(State::Open);
    backend.load(&circuit, &Uncontrolled).unwrap();
    let result = prove(&backend, &circuit, &slow.batch(0..1), &Uncontrolled);
    assert_eq!(affine(result[0].as_ref().unwrap()), bellpersons(&slow, 0));
}
