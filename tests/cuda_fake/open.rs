//! Which devices are opened, and what is said where none can be.

use crate::proofs::{config, expected, open_one, MEMORY};
use crate::support::{prove, Fixture};
use cuzk::backend::cuda::sys::fake::Machine;
use cuzk::backend::cuda::{open, open_devices, CudaConfig, Health, Uuid};
use cuzk::backend::{Backend, Uncontrolled};
use cuzk::{Error, Status};

fn why(config: &CudaConfig) -> String {
    let error = open(config).err().expect("nothing can be opened");
    assert_eq!(error.status(), Status::NoDevice, "{error}");
    error.to_string()
}

#[test]
fn what_is_missing_is_named() {
    let machine = Machine::new(1, MEMORY);
    machine.set_driver(0);
    assert!(why(&config()).ends_with("no CUDA driver"), "{}", why(&config()));
    machine.set_driver(12_020);
    assert!(why(&config()).contains("CUDA 12.2, this build needs 13.0"), "{}", why(&config()));
    drop(machine);
    let machine = Machine::new(0, MEMORY);
    assert!(why(&config()).ends_with("the driver shows no card"));
    drop(machine);
    let machine = Machine::new(1, MEMORY);
    machine.fail("quotient", 0, 1, 209, None);
    let text = why(&config());
    assert!(text.contains("sm_90") && text.contains("has code for"), "{text}");
    // The next try works: nothing is left behind.
    assert_eq!(machine.balance(), Default::default());
    open_devices(&config()).unwrap();
}

#[test]
fn devices_are_chosen_by_uuid() {
    let machine = Machine::new(3, MEMORY);
    let [first, second, third] = [1, 2, 3].map(|n| Uuid([n; 16]));
    let all = open_devices(&config()).unwrap();
    let uuids = |opened: &[std::sync::Arc<cuzk::backend::cuda::CudaBackend>]| -> Vec<String> {
        opened.iter().map(|device| device.uuid().to_string()).collect()
    };
    assert_eq!(uuids(&all.devices), [first, second, third].map(|uuid| uuid.to_string()));
    drop(all);
    let chosen = open_devices(&CudaConfig { devices: vec![third, first], ..config() }).unwrap();
    assert_eq!(uuids(&chosen.devices), [third, first].map(|uuid| uuid.to_string()));
    assert!(chosen.devices[0].name().contains("fake"));
    drop(chosen);
    let unknown = Uuid([9; 16]);
    let some = open_devices(&CudaConfig { devices: vec![unknown, second], ..config() }).unwrap();
    assert_eq!(uuids(&some.devices), [second.to_string()]);
    assert!(matches!(&some.refused[..], [(uuid, Error::NoDevice(why))] if *uuid == unknown && why.contains("visible")));
    drop(some);
    assert!(why(&CudaConfig { devices: vec![unknown], ..config() }).contains(&second.to_string()));
    assert_eq!(machine.balance(), Default::default());
}

#[test]
fn a_device_that_computes_wrongly_is_not_used() {
    let machine = Machine::new(2, MEMORY);
    machine.corrupt_sums(Some(0));
    let opened = open_devices(&config()).unwrap();
    assert_eq!(opened.devices.len(), 1);
    assert_eq!(opened.devices[0].uuid(), Uuid([2; 16]).to_string());
    let [(uuid, Error::SelfCheck(which))] = &opened.refused[..] else { panic!("{:?}", opened.refused) };
    assert!(*uuid == Uuid([1; 16]) && which.contains(&uuid.to_string()), "{which}");
}

#[test]
fn every_call_is_made_on_the_devices_thread() {
    let machine = Machine::new(2, MEMORY);
    let devices = open_devices(&config()).unwrap().devices;
    let fixture = Fixture::new(40, 7);
    let sums = expected(&fixture, 1);
    devices.iter().for_each(|device| device.load(&fixture.circuit, &Uncontrolled).unwrap());
    let before = machine.calls().len();
    // Twenty jobs for device 1 from four threads: device 0 sees none of them.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let found = prove(&*devices[1], &fixture.circuit, &fixture.batch(0..1), &Uncontrolled);
                    assert_eq!(found, sums);
                }
            });
        }
    });
    let calls = machine.calls();
    assert!(calls.len() > before + 20);
    assert!(calls[before..].iter().all(|call| call.device == Some(1)));
    let mut threads: Vec<_> =
        calls.iter().filter(|call| call.device.is_some()).map(|call| (call.device, call.thread)).collect();
    threads.dedup();
    threads.sort_by_key(|(device, thread)| (*device, format!("{thread:?}")));
    threads.dedup();
    assert_eq!(threads.len(), 2, "{threads:?}");
    assert!(calls.iter().all(|call| call.thread != std::thread::current().id() || call.device.is_none()));
    assert!(devices.iter().all(|device| device.stats().health == Health::Good));
}

#[test]
fn seventeen_devices_are_opened() {
    let _machine = Machine::new(17, 2 << 30);
    assert_eq!(open_devices(&config()).unwrap().devices.len(), 17);
}

#[test]
fn numbers_tell_what_is_held() {
    let machine = Machine::new(1, MEMORY);
    let (device, fixture) = (open_one(), Fixture::new(300, 50));
    device.load(&fixture.circuit, &Uncontrolled).unwrap();
    prove(&*device, &fixture.circuit, &fixture.batch(0..1), &Uncontrolled).remove(0).unwrap();
    let stats = device.stats();
    assert_eq!(stats.memory_held_bytes, machine.balance().device_bytes);
    assert_eq!(stats.reservations.iter().map(|(_, bytes)| bytes).sum::<u64>(), stats.memory_held_bytes);
    for name in ["tables", "urgent", "work", "srs steps", "r1cs steps", "layout steps"] {
        assert!(stats.reservations.iter().any(|(found, _)| found == name), "{name}: {:?}", stats.reservations);
    }
    assert_eq!(stats.pinned_held_bytes, machine.balance().pinned_bytes);
    let pools = device.pools();
    assert_eq!((pools.device.used_bytes, pools.pinned.used_bytes), (stats.memory_held_bytes, stats.pinned_held_bytes));
    device.close().unwrap();
    device.close().unwrap();
    drop(device);
    assert_eq!(machine.balance(), Default::default(), "everything is given back");
}
