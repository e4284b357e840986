//! Whose turn it is: callers of one device, in order of arrival.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a caller waits between two questions to its control.
const ASK_AGAIN: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub(super) struct Turns {
    queue: Mutex<(u64, VecDeque<u64>)>,
    next: Condvar,
}

/// The right to send jobs to the device. The next caller has it when this is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    number: u64,
}

impl Turns {
    /// Waits for its turn; `waiting` is called every 50 ms meanwhile and ends that by `false`.
    pub(super) fn take(&self, waiting: &mut dyn FnMut() -> bool) -> Option<Turn<'_>> {
        let turn = {
            let mut queue = self.lock();
            let number = queue.0;
            queue.0 += 1;
            queue.1.push_back(number);
            Turn { turns: self, number }
        };
        loop {
            let queue = self.lock();
            if queue.1.front() == Some(&turn.number) {
                return Some(turn);
            }
            drop(self.next.wait_timeout(queue, ASK_AGAIN).unwrap_or_else(PoisonError::into_inner));
            if !waiting() {
                return None;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, (u64, VecDeque<u64>)> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.lock().1.retain(|number| *number != self.number);
        self.turns.next.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_for(condition: impl Fn() -> bool) {
        while !condition() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn turns_come_in_order_and_who_gives_up_is_passed_over() {
        let turns = Turns::default();
        let first = turns.take(&mut || unreachable!()).unwrap();
        let order = Mutex::new(Vec::new());
        let (finished, queued) = (|| order.lock().unwrap().len(), || turns.lock().1.len());
        std::thread::scope(|scope| {
            let waits = |number: u32| {
                let (turns, order) = (&turns, &order);
                scope.spawn(move || {
                    let turn = turns.take(&mut || number != 2);
                    order.lock().unwrap().push((number, turn.is_some()));
                });
            };
            waits(2);
            wait_for(|| finished() == 1 && queued() == 1);
            waits(3);
            wait_for(|| queued() == 2);
            waits(4);
            wait_for(|| queued() == 3);
            drop(first);
        });
        assert_eq!(*order.lock().unwrap(), [(2, false), (3, true), (4, true)]);
    }
}
