//! Memory that is short, failing calls, and memory that stays the same.

use crate::proofs::{config, expected, open_one, MEMORY};
use crate::support::{prove, Fixture};
use cuzk::backend::cuda::sys::fake::Machine;
use cuzk::backend::cuda::{open_devices, CudaConfig};
use cuzk::backend::{Backend, Uncontrolled};
use cuzk::Error;

const NO_MEMORY: i32 = 2;

#[test]
fn nothing_is_taken_after_the_second_proof() {
    let machine = Machine::new(1, MEMORY);
    let (device, fixtures) = (open_one(), [Fixture::new(300, 50), Fixture::new(40, 3), Fixture::new(700, 1)]);
    fixtures.iter().for_each(|fixture| device.load(&fixture.circuit, &Uncontrolled).unwrap());
    let taken = || ["device_alloc", "pinned_alloc", "stream_create", "event_create"].map(|name| machine.count(name));
    let mut warm = None;
    for round in 0..6 {
        for fixture in &fixtures {
            assert!(prove(&*device, &fixture.circuit, &fixture.batch(0..2), &Uncontrolled).iter().all(Result::is_ok));
        }
        let (now, calls) = (taken(), device.stats().calls);
        if round == 1 {
            warm = Some((now, calls, machine.balance()));
        }
        if let Some(warm) = &warm {
            assert_eq!(*warm, (now, calls, machine.balance()), "round {round}");
        }
    }
}

#[test]
fn circuits_in_turn_use_the_same_memory() {
    let machine = Machine::new(1, MEMORY);
    let (device, fixtures) = (open_one(), [Fixture::new(300, 50), Fixture::new(40, 3)]);
    let mut after_two = 0;
    for round in 0..10 {
        for fixture in &fixtures {
            device.load(&fixture.circuit, &Uncontrolled).unwrap();
            prove(&*device, &fixture.circuit, &fixture.batch(0..1), &Uncontrolled).remove(0).unwrap();
            device.unload(&fixture.circuit);
        }
        if round == 1 {
            after_two = machine.count("device_alloc");
        }
    }
    assert_eq!(machine.count("device_alloc"), after_two);
    let before = machine.balance().device_bytes;
    device.trim();
    assert!(machine.balance().device_bytes < before);
    assert!(device.stats().reservations.iter().all(|(name, _)| ["tables", "urgent", "work"].contains(&&name[..])));
}

/// Every failure leaves the device usable, takes nothing with it, and is typed.
#[test]
fn any_allocation_may_fail() {
    let machine = Machine::new(1, MEMORY);
    let fixture = Fixture::new(60, 50);
    let (batch, sums) = (fixture.batch(0..1), expected(&fixture, 1));
    for name in ["device_alloc", "stream_create", "event_create"] {
        let before = machine.count(name);
        let opened = open_devices(&config()).unwrap();
        let whole = machine.count(name) - before;
        drop(opened);
        for nth in 0..whole {
            machine.fail(name, nth, usize::MAX, NO_MEMORY, None);
            let error = open_devices(&config()).err().expect("an allocation failed");
            machine.heal();
            assert!(matches!(error, Error::OutOfMemory { .. } | Error::NoDevice(_)), "{name} {nth}: {error}");
            assert_eq!(machine.balance(), Default::default(), "{name} {nth}");
        }
    }
    let device = open_one();
    device.trim();
    let warm = machine.count("device_alloc");
    device.load(&fixture.circuit, &Uncontrolled).unwrap();
    prove(&*device, &fixture.circuit, &batch, &Uncontrolled).remove(0).unwrap();
    let whole = machine.count("device_alloc") - warm;
    assert!(whole >= 3);
    for nth in 0..whole {
        device.unload(&fixture.circuit);
        device.trim();
        drop(open_one()); // takes and gives back beside it
        machine.fail("device_alloc", nth, usize::MAX, NO_MEMORY, None);
        let loaded = device.load(&fixture.circuit, &Uncontrolled);
        let proved = prove(&*device, &fixture.circuit, &batch, &Uncontrolled).remove(0);
        machine.heal();
        if let Err(error) = loaded {
            assert!(
                matches!(&error, Error::OutOfMemory { budget, needed, .. } if budget.contains("GPU-") && *needed > 0)
            );
            assert!(matches!(proved, Err(Error::Closed(_))), "{proved:?}");
        } else if let Err(error) = proved {
            assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        }
        device.load(&fixture.circuit, &Uncontrolled).unwrap();
        assert_eq!(prove(&*device, &fixture.circuit, &batch, &Uncontrolled), sums, "after failure {nth}");
    }
    device.close().unwrap();
    drop(device);
    assert_eq!(machine.balance(), Default::default());
}

#[test]
fn a_cap_is_kept() {
    let machine = Machine::new(1, MEMORY);
    let fixture = Fixture::new(60, 50);
    let cap = 200 << 20;
    let device = open_devices(&CudaConfig { device_memory_bytes: Some(cap), ..config() }).unwrap().devices.remove(0);
    let error = (0..40)
        .map(|steps| Fixture::new(60 + steps, 50))
        .find_map(|more| device.load(&more.circuit, &Uncontrolled).err())
        .expect("the cap is reached");
    match error {
        Error::OutOfMemory { needed, free, .. } => assert!(needed > free && free < cap),
        other => panic!("{other}"),
    }
    assert!(machine.balance().device_bytes <= cap);
    device.close().unwrap();
    // A cap that holds nothing is refused when it is opened.
    let none = open_devices(&CudaConfig { device_memory_bytes: Some(1 << 20), ..config() });
    assert!(matches!(none.err(), Some(Error::OutOfMemory { .. })));
    let device = open_one();
    device.load(&fixture.circuit, &Uncontrolled).unwrap();
    assert_eq!(prove(&*device, &fixture.circuit, &fixture.batch(0..1), &Uncontrolled), expected(&fixture, 1));
}

#[test]
fn pinning_that_is_refused() {
    let machine = Machine::new(1, MEMORY);
    let fixture = Fixture::new(60, 50);
    machine.limit_pinning(512 << 10);
    let device = open_one();
    device.load(&fixture.circuit, &Uncontrolled).unwrap();
    assert_eq!(prove(&*device, &fixture.circuit, &fixture.batch(0..2), &Uncontrolled), expected(&fixture, 2));
    assert!(device.stats().pageable_buffers > 0);
    device.close().unwrap();
    machine.limit_pinning(0);
    match open_devices(&CudaConfig { strict_pinning: true, ..config() }).err() {
        Some(Error::OutOfMemory { budget, .. }) => {
            assert!(budget.contains("RLIMIT_MEMLOCK") && budget.contains("vm.max_map_count"), "{budget}");
        }
        other => panic!("{other:?}"),
    }
}
