use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use super::*;

const ALWAYS: &dyn Fn() -> bool = &|| true;

#[test]
fn twenty_jobs_share_room_for_two_and_all_finish() {
    let budget = Budget::new("host", 200, 0);
    let (running, most) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let _share = budget.reserve(100, Urgency::Bulk, ALWAYS).unwrap();
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    assert!(most.into_inner() <= 2);
    assert!(budget.peak() <= 200 && budget.used() == 0);
}

#[test]
fn what_can_never_fit_fails_at_once_and_names_the_budget() {
    let budget = Budget::new("device 0", 100, 30);
    let error = budget.reserve(71, Urgency::Bulk, ALWAYS).unwrap_err();
    assert_eq!(error, Error::OutOfMemory { budget: "device 0".into(), needed: 71, free: 70 });
    assert!(budget.reserve(u64::MAX, Urgency::Urgent, ALWAYS).is_err());
    assert_eq!(budget.reserve(100, Urgency::Urgent, ALWAYS).unwrap().bytes(), 100);
}

#[test]
fn bulk_leaves_alone_what_is_held_back() {
    let budget = Budget::new("host", 100, 30);
    let _bulk = budget.try_reserve(70, Urgency::Bulk).unwrap();
    assert!(budget.try_reserve(1, Urgency::Bulk).is_err());
    let urgent = budget.try_reserve(30, Urgency::Urgent).unwrap();
    assert!(budget.try_reserve(1, Urgency::Urgent).is_err());
    drop(urgent);
    assert!(budget.try_reserve(0, Urgency::Bulk).is_ok());
}

#[test]
fn a_share_comes_back_when_its_holder_panics() {
    let budget = Budget::new("host", 100, 0);
    let inner = budget.clone();
    let panicked = thread::spawn(move || {
        let _share = inner.try_reserve(100, Urgency::Bulk).unwrap();
        panic!("on purpose");
    });
    assert!(panicked.join().is_err());
    assert_eq!(budget.used(), 0);
}

#[test]
fn shrinking_gives_back_the_rest_once() {
    let budget = Budget::new("host", 100, 0);
    let mut share = budget.try_reserve(90, Urgency::Bulk).unwrap();
    share.shrink(40);
    share.shrink(60);
    assert_eq!((share.bytes(), budget.used()), (40, 40));
    drop(share);
    assert_eq!((budget.used(), budget.peak()), (0, 90));
}

/// Starts a waiter and returns once it stands in line. The thread ends when the waiter's share is back.
fn waiter(
    budget: &Arc<Budget>,
    bytes: u64,
    urgency: Urgency,
    name: &'static str,
    out: &mpsc::Sender<&'static str>,
) -> thread::JoinHandle<()> {
    let before = budget.state().waiting.len();
    let (inner, out) = (budget.clone(), out.clone());
    let thread = thread::spawn(move || {
        let share = inner.reserve(bytes, urgency, ALWAYS).unwrap();
        out.send(name).unwrap();
        drop(share);
    });
    while budget.state().waiting.len() == before {
        thread::yield_now();
    }
    thread
}

#[test]
fn the_first_to_wait_is_the_first_served_and_urgent_ones_go_ahead() {
    let budget = Budget::new("host", 100, 0);
    let all = budget.try_reserve(100, Urgency::Bulk).unwrap();
    let (out, order) = mpsc::channel();
    waiter(&budget, 100, Urgency::Bulk, "large", &out);
    waiter(&budget, 1, Urgency::Bulk, "small", &out);
    waiter(&budget, 100, Urgency::Urgent, "urgent", &out);
    assert!(budget.try_reserve(0, Urgency::Bulk).is_err(), "nobody jumps the line");
    drop(all);
    let order: Vec<_> = (0..3).map(|_| order.recv().unwrap()).collect();
    assert_eq!(order, ["urgent", "large", "small"]);
}

#[test]
fn a_cancelled_waiter_leaves_and_lets_the_next_one_through() {
    let budget = Budget::new("host", 100, 0);
    let most = budget.try_reserve(60, Urgency::Bulk).unwrap();
    let cancelled = Arc::new(AtomicBool::new(false));
    let (inner, flag) = (budget.clone(), cancelled.clone());
    let large = thread::spawn(move || inner.reserve(100, Urgency::Bulk, &|| !flag.load(Ordering::SeqCst)).map(drop));
    while budget.state().waiting.is_empty() {
        thread::yield_now();
    }
    let (out, order) = mpsc::channel();
    let small = waiter(&budget, 40, Urgency::Bulk, "small", &out);
    cancelled.store(true, Ordering::SeqCst);
    budget.wake();
    assert_eq!(large.join().unwrap(), Err(Error::Cancelled));
    assert_eq!(order.recv().unwrap(), "small");
    small.join().unwrap();
    drop(most);
    assert_eq!(budget.used(), 0);
}
