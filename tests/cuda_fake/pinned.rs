//! The pinned pool by itself.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{mpsc, Arc, Mutex};

use cuzk::backend::cuda::pinned::PinnedPool;
use cuzk::backend::cuda::sys::fake::Machine;
use cuzk::backend::cuda::sys::{Event, Stream};
use cuzk::Error;
use rand_core::{RngCore, SeedableRng};

const MIB: u64 = 1 << 20;

fn never() -> cuzk::Result<()> {
    panic!("nobody has to wait")
}

#[test]
fn the_cap_holds_under_random_use() {
    let machine = Machine::new(1, 1 << 30);
    let pool = PinnedPool::new(1024 * MIB, false, false);
    let most = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (pool, most, machine) = (&pool, &most, &machine);
            scope.spawn(move || {
                let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
                for _ in 0..250 {
                    let bytes = if rng.next_u32() % 2 == 0 { 64 * MIB } else { 256 * MIB };
                    let buffer = pool.take(bytes, &mut || Ok(())).unwrap();
                    assert_eq!(buffer.len() as u64, bytes);
                    most.fetch_max(machine.balance().pinned_bytes as usize, Ordering::Relaxed);
                }
            });
        }
    });
    assert!(most.into_inner() as u64 <= 1024 * MIB && pool.peak_bytes() <= 1024 * MIB);
    assert_eq!(pool.held_bytes(), machine.balance().pinned_bytes);
    drop(pool);
    assert_eq!(machine.balance().pinned_bytes, 0);
}

#[test]
fn waiters_are_served_in_order() {
    let _machine = Machine::new(1, 1 << 30);
    let pool = PinnedPool::new(64 * MIB, false, false);
    let held = pool.take(64 * MIB, &mut never).unwrap();
    let order = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..5 {
            let (waits, waiting) = mpsc::channel::<()>();
            let (pool, order) = (&pool, &order);
            scope.spawn(move || {
                // The first call tells that this one is in the queue.
                let mut waits = Some(waits);
                let tell = &mut || {
                    waits.take();
                    Ok(())
                };
                let buffer = pool.take(64 * MIB, tell).unwrap();
                order.lock().unwrap().push(number);
                drop(buffer);
            });
            assert!(waiting.recv().is_err(), "the sender goes when it waits");
        }
        assert!(pool.try_take(MIB).unwrap().is_none(), "nobody passes the queue");
        drop(held);
    });
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
}

#[test]
fn waiting_can_be_ended_and_too_much_is_refused_at_once() {
    let _machine = Machine::new(1, 1 << 30);
    let pool = PinnedPool::new(64 * MIB, false, false);
    let _held = pool.take(64 * MIB, &mut never).unwrap();
    assert_eq!(pool.take(MIB, &mut || Err(Error::Cancelled)).err(), Some(Error::Cancelled));
    match pool.take(65 * MIB, &mut never).err() {
        Some(Error::OutOfMemory { budget, needed, free }) => {
            assert_eq!((&budget[..], needed, free), ("pinned", 128 * MIB, 64 * MIB));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_buffer_waits_for_its_event() {
    let machine = Machine::new(1, 1 << 30);
    let pool = PinnedPool::new(64 * MIB, false, true);
    let (stream, event) = (Stream::new().unwrap(), Arc::new(Event::new().unwrap()));
    let mut buffer = pool.take(64 * MIB, &mut never).unwrap();
    buffer.fill(7);
    machine.hold_events();
    event.record(&stream).unwrap();
    buffer.release_after(&event);
    assert!(pool.try_take(64 * MIB).unwrap().is_none());
    assert_eq!(pool.shrink(u64::MAX), 0, "the device may still read it");
    let asked = AtomicUsize::new(0);
    let released = AtomicBool::new(false);
    let waiting = &mut || {
        if asked.fetch_add(1, Ordering::Relaxed) == 3 {
            released.store(true, Ordering::Relaxed);
            machine.release();
        }
        Ok(())
    };
    let buffer = pool.take(64 * MIB, waiting).unwrap();
    assert!(released.load(Ordering::Relaxed));
    assert!(buffer.iter().all(|byte| *byte == 0), "the pool wipes");
}

#[test]
fn the_largest_idle_buffers_are_freed_first() {
    let machine = Machine::new(1, 1 << 30);
    let pool = PinnedPool::new(1024 * MIB, false, false);
    let sizes = [64, 256, 128, 32].map(|mib| mib * MIB);
    let buffers: Vec<_> = sizes.iter().map(|bytes| pool.take(*bytes, &mut never).unwrap()).collect();
    assert_eq!(pool.shrink(u64::MAX), 0, "all are in use");
    drop(buffers);
    assert_eq!(pool.shrink(300 * MIB), 384 * MIB, "256, then 128");
    assert_eq!(machine.balance().pinned_bytes, 96 * MIB);
    // Room for a size that nobody gave back: what is idle goes.
    let _large = pool.take(1024 * MIB, &mut never).unwrap();
    assert_eq!(machine.balance().pinned_bytes, 1024 * MIB);
}

#[test]
fn a_panic_of_a_borrower_costs_nothing() {
    let machine = Machine::new(1, 1 << 30);
    let pool = PinnedPool::new(64 * MIB, false, false);
    let borrower = std::thread::spawn({
        let pool = Arc::clone(&pool);
        move || {
            let _buffer = pool.take(64 * MIB, &mut never).unwrap();
            panic!("the borrower's");
        }
    });
    assert!(borrower.join().is_err());
    drop(pool.take(64 * MIB, &mut never).unwrap());
    assert_eq!(machine.count("pinned_alloc"), 1);
}
