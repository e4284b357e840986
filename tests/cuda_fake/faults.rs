//! Errors that stay, errors that don't, and calls that never return.

use std::time::{Duration, Instant};

use crate::proofs::{config, expected, open_one, MEMORY};
use crate::support::{prove, Fixture};
use cuzk::backend::cuda::sys::fake::Machine;
use cuzk::backend::cuda::{open_devices, CudaConfig, Health};
use cuzk::backend::{Backend, Uncontrolled};
use cuzk::{Error, Status};

const ILLEGAL_ADDRESS: i32 = 700;
const INVALID_VALUE: i32 = 1;

#[test]
fn an_error_that_stays_loses_the_device_and_no_other() {
    let machine = Machine::new(2, MEMORY);
    let devices = open_devices(&config()).unwrap().devices;
    let fixture = Fixture::new(60, 50);
    devices.iter().for_each(|device| device.load(&fixture.circuit, &Uncontrolled).unwrap());
    let (batch, sums) = (fixture.batch(0..3), expected(&fixture, 3));
    machine.fail("msm_run", 4, usize::MAX, ILLEGAL_ADDRESS, Some(0));
    machine.fail("", 60, usize::MAX, ILLEGAL_ADDRESS, Some(0));
    let results = prove(&*devices[0], &fixture.circuit, &batch, &Uncontrolled);
    let lost: Vec<&Error> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(!lost.is_empty() && lost.iter().all(|error| error.status() == Status::DeviceLost), "{results:?}");
    let text = lost[0].to_string();
    assert!(text.contains("GPU-01010101") && text.contains("700") && text.contains("restart"), "{text}");
    assert!(matches!(devices[0].stats().health, Health::Lost(_)));
    // Every later call fails with the same, and makes no call to the driver.
    let before = machine.calls().len();
    let start = Instant::now();
    assert_eq!(devices[0].load(&fixture.circuit, &Uncontrolled).unwrap_err().status(), Status::DeviceLost);
    let again = prove(&*devices[0], &fixture.circuit, &batch, &Uncontrolled);
    assert!(again.iter().all(|result| result.as_ref().is_err_and(|error| error == lost[0])), "{again:?}");
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(machine.calls().len(), before);
    assert_eq!(prove(&*devices[1], &fixture.circuit, &batch, &Uncontrolled), sums);
    devices[0].close().unwrap();
    drop(devices);
    assert_eq!(machine.balance(), Default::default());
}

/// At any call of a proof: one assignment fails, the next one doesn't, and nothing is lost on the way.
#[test]
fn an_error_that_passes_fails_one_assignment() {
    let machine = Machine::new(1, MEMORY);
    let (device, fixture) = (open_one(), Fixture::new(30, 50));
    device.load(&fixture.circuit, &Uncontrolled).unwrap();
    let (batch, sums) = (fixture.batch(0..2), expected(&fixture, 2));
    prove(&*device, &fixture.circuit, &batch, &Uncontrolled);
    let before = machine.calls().len();
    assert_eq!(prove(&*device, &fixture.circuit, &batch, &Uncontrolled), sums);
    let each = (machine.calls().len() - before) / 2;
    let balance = machine.balance();
    for nth in (0..each).step_by(3) {
        machine.fail("", nth, 1, INVALID_VALUE, None);
        let results = prove(&*device, &fixture.circuit, &batch, &Uncontrolled);
        machine.heal();
        let failed = results.iter().zip(&sums).filter(|(found, expected)| found != expected);
        let failed: Vec<_> = failed.map(|(found, _)| found.as_ref().unwrap_err().status()).collect();
        assert!(
            failed.len() <= 1 && failed.iter().all(|status| *status == Status::Internal),
            "call {nth}: {results:?}"
        );
        assert_eq!(machine.balance(), balance, "call {nth}");
    }
    assert_eq!(device.stats().health, Health::Good);
    assert!(device.stats().failures > 10);
    assert_eq!(prove(&*device, &fixture.circuit, &batch, &Uncontrolled), sums);
}

#[test]
fn a_call_that_never_returns_quarantines_the_device() {
    let machine = Machine::new(2, MEMORY);
    let patience = CudaConfig::default().patience;
    let mut devices = open_devices(&CudaConfig { patience, ..config() }).unwrap().devices;
    let fixture = Fixture::new(60, 50);
    devices.iter().for_each(|device| device.load(&fixture.circuit, &Uncontrolled).unwrap());
    let (batch, sums) = (fixture.batch(0..2), expected(&fixture, 2));
    machine.hang("quotient");
    let start = Instant::now();
    let (hung, waited) = std::thread::scope(|scope| {
        let hung = scope.spawn(|| prove(&*devices[0], &fixture.circuit, &batch, &Uncontrolled));
        // A caller in the queue learns it too.
        let waits = scope.spawn(|| prove(&*devices[0], &fixture.circuit, &batch, &Uncontrolled));
        (hung.join().unwrap(), waits.join().unwrap())
    });
    for result in hung.iter().chain(&waited) {
        let error = result.as_ref().unwrap_err();
        assert_eq!(error.status(), Status::DeviceLost);
        assert!(error.to_string().contains("quarantined"), "{error}");
    }
    // A watchdog of 2 s; the bound is generous for a busy host.
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(start.elapsed() >= Duration::from_secs(2));
    assert_eq!(devices[0].load(&fixture.circuit, &Uncontrolled).unwrap_err().status(), Status::DeviceLost);
    let closed = devices[0].close().unwrap_err();
    assert!(closed.status() == Status::DeviceLost, "the thread is stuck: {closed}");
    machine.release();
    // The next job goes elsewhere.
    assert_eq!(prove(&*devices[1], &fixture.circuit, &batch, &Uncontrolled), sums);
    // What hung is released, and ends by itself.
    drop(devices.remove(0));
    drop(devices);
    let released = Instant::now();
    while machine.balance() != Default::default() && released.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(machine.balance(), Default::default());
}

#[test]
fn setup_on_a_device_writes_the_same_file() {
    let _machine = Machine::new(1, MEMORY);
    let device = open_one();
    let fixture = Fixture::new(30, 3);
    let path = fixture.dir.path().join("device.params");
    cuzk::setup::write_params_on(&device, fixture.circuit.r1cs(), [7; 32], &path, &crate::support::pool(2)).unwrap();
    assert!(std::fs::read(&path).unwrap() == std::fs::read(fixture.circuit.srs().path()).unwrap());
    let again = cuzk::setup::write_params_on(&device, fixture.circuit.r1cs(), [7; 32], &path, &crate::support::pool(2));
    assert!(matches!(again, Err(Error::Invalid { field: "path", .. })));
}
