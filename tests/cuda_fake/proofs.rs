//! Sums, batches, dropping and yielding.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{is_cancelled, prove, Fixture, Script};
use cuzk::backend::cuda::sys::fake::Machine;
use cuzk::backend::cuda::{open_devices, CudaBackend, CudaConfig};
use cuzk::backend::{Answer, Backend, Circuit, Sums, Uncontrolled};
use cuzk::{Error, Result};

pub const MEMORY: u64 = 8 << 30;

/// More patience than a real card needs: a thread that starves on a busy machine is no test's matter.
pub fn config() -> CudaConfig {
    CudaConfig {
        device_reserve_bytes: 64 << 20,
        pinned_memory_bytes: 256 << 20,
        readers: 2,
        patience: Duration::from_secs(60),
        ..CudaConfig::default()
    }
}

pub fn open_one() -> Arc<CudaBackend> {
    open_devices(&config()).unwrap().devices.remove(0)
}

pub fn expected(fixture: &Fixture, count: u64) -> Vec<Result<Sums>> {
    prove(&fixture.loaded(2), &fixture.circuit, &fixture.batch(0..count), &Uncontrolled)
}

#[test]
fn sums_are_the_cpus() {
    let _machine = Machine::new(1, MEMORY);
    let device = open_one();
    for (count, public_every) in [(1, 1), (2, 5), (40, 7), (300, 50), (700, 1)] {
        let fixture = Fixture::new(count, public_every);
        device.load(&fixture.circuit, &Uncontrolled).unwrap();
        for size in [1, 2, 3] {
            let found = prove(&*device, &fixture.circuit, &fixture.batch(0..size), &Uncontrolled);
            assert_eq!(found, expected(&fixture, size), "{count} steps, {size} assignments");
        }
        device.unload(&fixture.circuit);
    }
    assert_eq!(device.stats().failures, 0);
    assert_eq!(device.stats().proofs, 5 * 6);
}

#[test]
fn an_assignment_can_be_dropped_at_any_question() {
    let _machine = Machine::new(1, MEMORY);
    let (device, fixture) = (open_one(), Fixture::new(100, 50));
    device.load(&fixture.circuit, &Uncontrolled).unwrap();
    let (batch, expected) = (fixture.batch(0..3), expected(&fixture, 3));
    // The first proof makes the circuit's layout, and asks by the clock meanwhile.
    assert_eq!(prove(&*device, &fixture.circuit, &batch, &Uncontrolled), expected);
    let whole = Script::default();
    assert_eq!(prove(&*device, &fixture.circuit, &batch, &whole), expected);
    let each = whole.asked() / 3;
    assert_eq!(whole.asked(), 3 * each, "every assignment asks the same");
    assert!(each >= 10, "{each} questions");
    for at in 0..whole.asked() {
        let script = Script::answering([(at, Answer::Drop(vec![1]))]);
        let results = prove(&*device, &fixture.circuit, &batch, &script);
        assert_eq!([&results[0], &results[2]], [&expected[0], &expected[2]], "dropped at {at}");
        match at < 2 * each {
            true => assert!(is_cancelled(&results[1]), "dropped at {at}"),
            false => assert_eq!(results[1], expected[1]),
        }
        // What it needed after that isn't spent, but for the one question that finds it dropped.
        let saved = if at < each { each - 1 } else { (2 * each).saturating_sub(at + 1) };
        assert_eq!(script.asked(), whole.asked() - saved, "dropped at {at}");
    }
    let script = Script::answering([(0, Answer::Drop(vec![2, 0, 1, 7]))]);
    assert!(prove(&*device, &fixture.circuit, &batch, &script).iter().all(is_cancelled));
}

#[test]
fn a_batch_yields_at_any_question() {
    let machine = Machine::new(1, MEMORY);
    let (device, [fixture, urgent]) = (open_one(), [Fixture::new(100, 50), Fixture::new(40, 3)]);
    device.load(&fixture.circuit, &Uncontrolled).unwrap();
    device.load(&urgent.circuit, &Uncontrolled).unwrap();
    let (batch, urgent_batch) = (fixture.batch(0..2), urgent.batch(0..2));
    let (expected, expected_urgent) = (expected(&fixture, 2), expected(&urgent, 2));
    let whole = Script::default();
    prove(&*device, &fixture.circuit, &batch, &Uncontrolled);
    prove(&*device, &fixture.circuit, &batch, &whole);
    for at in 0..whole.asked() {
        let ran = Mutex::new(Vec::new());
        let mut script = Script::answering([(at, Answer::Yield)]);
        script.urgent = Some(Box::new(|backend: &dyn Backend| {
            ran.lock().unwrap().push(prove(backend, &urgent.circuit, &urgent_batch, &Uncontrolled));
        }));
        let before = machine.count("device_alloc");
        assert_eq!(prove(&*device, &fixture.circuit, &batch, &script), expected, "yielded at {at}");
        if at > 0 {
            assert_eq!(machine.count("device_alloc"), before, "the urgent proof has memory of its own");
        }
        drop(script);
        let ran = ran.into_inner().unwrap();
        assert!(ran.len() == 1 && ran[0] == expected_urgent, "yielded at {at}");
    }
    assert_eq!(device.stats().urgent_batches, whole.asked() as u64);
}

#[test]
fn an_urgent_proof_can_load_its_circuit() {
    let _machine = Machine::new(1, MEMORY);
    let (device, [fixture, urgent]) = (open_one(), [Fixture::new(100, 50), Fixture::new(40, 3)]);
    device.load(&fixture.circuit, &Uncontrolled).unwrap();
    let expected_urgent = expected(&urgent, 1);
    let mut script = Script::answering([(3, Answer::Yield)]);
    script.urgent = Some(Box::new(|backend: &dyn Backend| {
        backend.load(&urgent.circuit, &Uncontrolled).unwrap();
        assert_eq!(prove(backend, &urgent.circuit, &urgent.batch(0..1), &Uncontrolled), expected_urgent);
        backend.unload(&urgent.circuit);
    }));
    assert_eq!(prove(&*device, &fixture.circuit, &fixture.batch(0..1), &script), expected(&fixture, 1));
}

#[test]
fn a_control_that_panics_fails_one_assignment() {
    let _machine = Machine::new(1, MEMORY);
    let (device, fixture) = (open_one(), Fixture::new(60, 50));
    device.load(&fixture.circuit, &Uncontrolled).unwrap();
    let expected = expected(&fixture, 2);
    assert_eq!(prove(&*device, &fixture.circuit, &fixture.batch(0..2), &Uncontrolled), expected);
    for at in [0, 3, 7] {
        let script = Script { panic_at: Some(at), ..Script::default() };
        let results = prove(&*device, &fixture.circuit, &fixture.batch(0..2), &script);
        match &results[0] {
            Err(Error::Internal(message)) => assert!(message.contains("told to panic"), "{message}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(results[1], expected[1]);
    }
}

#[test]
fn callers_take_turns_and_ask_while_they_wait() {
    let _machine = Machine::new(1, MEMORY);
    let (device, fixture) = (open_one(), Fixture::new(60, 50));
    device.load(&fixture.circuit, &Uncontrolled).unwrap();
    let (batch, expected) = (fixture.batch(0..3), expected(&fixture, 3));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(prove(&*device, &fixture.circuit, &batch, &Uncontrolled), expected));
        }
    });
    // While one batch is in the hands of its control, another one that waits can be dropped.
    let mut script = Script::answering([(4, Answer::Yield)]);
    script.urgent = Some(Box::new(|_| {
        let dropping = Script::answering([(1, Answer::Drop(vec![0, 1, 2]))]);
        let results = std::thread::scope(|scope| {
            let waits = scope.spawn(|| prove(&*device, &fixture.circuit, &batch, &dropping));
            waits.join().unwrap()
        });
        assert!(results.iter().all(is_cancelled));
    }));
    assert_eq!(prove(&*device, &fixture.circuit, &batch, &script), expected);
}

#[test]
fn circuits_that_are_not_resident_and_foreign_assignments_are_refused() {
    let _machine = Machine::new(1, MEMORY);
    let (device, [fixture, other]) = (open_one(), [Fixture::new(20, 50), Fixture::new(30, 50)]);
    let refused = prove(&*device, &fixture.circuit, &fixture.batch(0..2), &Uncontrolled);
    assert!(refused.iter().all(|result| matches!(result, Err(Error::Closed(_)))));
    device.load(&fixture.circuit, &Uncontrolled).unwrap();
    let mixed = [fixture.batch(0..1), other.batch(0..1), fixture.batch(1..2)].concat();
    let results = prove(&*device, &fixture.circuit, &mixed, &Uncontrolled);
    assert_eq!([&results[0], &results[2]], [&expected(&fixture, 2)[0], &expected(&fixture, 2)[1]]);
    assert!(matches!(&results[1], Err(Error::Invalid { field: "assignment", .. })));
    device.unload(&fixture.circuit);
    let refused = prove(&*device, &fixture.circuit, &fixture.batch(0..1), &Uncontrolled);
    assert!(matches!(&refused[0], Err(Error::Closed(_))));
    device.close().unwrap();
    assert!(matches!(device.load(&fixture.circuit, &Uncontrolled), Err(Error::Closed(_))));
}

#[test]
fn a_damaged_point_is_named_and_a_load_can_be_dropped() {
    let _machine = Machine::new(1, MEMORY);
    let device = open_one();
    let fixture = Fixture::new(40, 7);
    let path = fixture.circuit.srs().path().to_path_buf();
    let good = std::fs::read(&path).unwrap();
    let counts = fixture.circuit.r1cs().query_counts();
    let h = 864 + 4 + 96 * counts.ic + 4;
    let l = h + 96 * counts.h + 4;
    let a = l + 96 * counts.l + 4;
    let b_g2 = a + 96 * counts.a + 4 + 96 * counts.b + 4;
    // A bit of y, an infinity, a compressed flag.
    for (section, start, size, index) in [("h", h, 96, 5), ("l", l, 96, 17), ("a", a, 96, 0), ("b_g2", b_g2, 192, 11)] {
        let at = (start + size * index) as usize;
        let point = at..at + size as usize;
        let mut cases = vec![good.clone(), good.clone(), good.clone()];
        cases[0][point.end - 1] ^= 1;
        cases[1][point.clone()].fill(0);
        cases[1][point.start] = 0x40;
        cases[2][point.start] |= 0x80;
        for bytes in cases {
            std::fs::write(&path, bytes).unwrap();
            let srs = Arc::new(crate::support::open(&path));
            let circuit = Circuit::new("damaged", Arc::clone(fixture.circuit.r1cs()), srs).unwrap();
            match device.load(&circuit, &Uncontrolled) {
                Err(Error::ParamsCorrupt(fault)) => {
                    assert_eq!((fault.section, fault.index), (section, Some(index)), "{fault}");
                }
                other => panic!("{section}: {other:?}"),
            }
        }
    }
    std::fs::write(&path, good).unwrap();
    let circuit =
        Circuit::new("whole", Arc::clone(fixture.circuit.r1cs()), Arc::new(crate::support::open(&path))).unwrap();
    let whole = Script::default();
    device.load(&circuit, &whole).unwrap();
    device.unload(&circuit);
    for at in 0..whole.asked() {
        let script = Script::answering([(at, Answer::Drop(vec![0]))]);
        match device.load(&circuit, &script) {
            Err(Error::Cancelled) => {}
            // While readers fill buffers it asks by the clock: this time it may have been quicker.
            Ok(()) if script.asked() <= at => device.unload(&circuit),
            other => panic!("dropped at {at}: {other:?}"),
        }
    }
    device.load(&circuit, &Uncontrolled).unwrap();
    assert_eq!(prove(&*device, &circuit, &fixture.batch(0..2), &Uncontrolled), expected(&fixture, 2));
}
