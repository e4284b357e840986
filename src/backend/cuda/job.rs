//! What goes between a caller and a device thread.
//!
//! A caller sends a [`Job`] and then listens: the device thread asks, tells of results and ends. Each question is answered
//! at once, or by another job that runs inside the first.

use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::time::Duration;

use super::multiples::Multiples;
use super::prepare::{Prepared, PreparedLayout};
use super::sums::RawSums;
use crate::assignment::Assignment;
use crate::backend::Circuit;
use crate::error::Result;

/// What is wanted.
pub(super) enum Work {
    Load(Arc<Circuit>, Arc<Prepared>),
    Unload(u64),
    Prove(Arc<Circuit>, Vec<Item>),
    /// The answer goes to the sender.
    Multiples(Multiples, Sender<Vec<u8>>),
    /// Whatever a check wants to happen on the device thread.
    #[cfg(feature = "testing")]
    Call(fn() -> std::result::Result<(), super::sys::CudaError>),
    /// Give back all memory that nothing uses.
    Trim,
    /// Nothing: the thread is alive, and its numbers are brought up to date.
    Look,
    /// End the thread.
    Close,
}

/// One assignment, with its number in the batch and what is known of its layout.
pub(super) type Item = (usize, Arc<Assignment>, Arc<PreparedLayout>);

pub(super) struct Job {
    pub work: Work,
    pub talk: Talk,
}

/// The device thread's end.
pub(super) struct Talk {
    pub to_caller: Sender<Message>,
    pub from_caller: Receiver<Reply>,
    /// Whether it runs inside another job.
    pub urgent: bool,
}

/// The caller's end.
pub(super) struct Ear {
    pub messages: Receiver<Message>,
    pub replies: Sender<Reply>,
}

pub(super) enum Message {
    /// Answered by one [`Reply`] other than `Run`, after any number of those.
    Ask,
    Done(usize, Result<RawSums>),
    /// How far a load is, in points.
    Progress(u64, u64),
    /// The last message.
    End(Result<()>),
}

pub(super) enum Reply {
    GoOn,
    /// These assignments are finished, whatever comes.
    Drop(Vec<usize>),
    /// The control panicked.
    Fail(String),
    Run(Job),
}

impl Job {
    pub(super) fn new(work: Work, urgent: bool) -> (Self, Ear) {
        let ((to_caller, messages), (replies, from_caller)) = (channel(), channel());
        (Job { work, talk: Talk { to_caller, from_caller, urgent } }, Ear { messages, replies })
    }
}

/// Looks that a silence consists of before it is taken for a hang.
const LOOKS: u32 = 10;

impl Ear {
    /// The next message. Errors: `Timeout` after `patience` of silence.
    pub(super) fn hear(&self, patience: Duration) -> Result<Message, RecvTimeoutError> {
        look_again(patience, |time| self.messages.recv_timeout(time))
    }
}

/// Waits in ten short looks instead of a long one: a process that is stopped, or whose machine is moved, for seconds has a
/// device thread that was stopped too, and spends one look on it.
pub(super) fn look_again<T>(
    patience: Duration,
    mut look: impl FnMut(Duration) -> Result<T, RecvTimeoutError>,
) -> Result<T, RecvTimeoutError> {
    let mut looks = (0..LOOKS).map(|_| look(patience / LOOKS));
    looks.find(|seen| !matches!(seen, Err(RecvTimeoutError::Timeout))).unwrap_or(Err(RecvTimeoutError::Timeout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_stood_still_is_no_silence() {
        let (minute, mut looks) = (Duration::from_secs(60), 0);
        let mut until = |last: u32| {
            looks = 0;
            look_again(minute, |time| {
                assert!(time < minute);
                looks += 1;
                // However late it is when the process goes on, its device thread has the next look to speak.
                if looks == last {
                    Ok(looks)
                } else {
                    Err(RecvTimeoutError::Timeout)
                }
            })
        };
        assert_eq!(until(2), Ok(2));
        assert_eq!(until(LOOKS), Ok(LOOKS));
        assert_eq!(until(LOOKS + 1), Err(RecvTimeoutError::Timeout));
        assert_eq!(looks, LOOKS);
        assert_eq!(minute, minute / LOOKS * LOOKS, "and in all it is as long");
    }

    #[test]
    fn a_thread_that_is_gone_is_told_at_once() {
        let (job, ear) = Job::new(Work::Look, false);
        assert!(matches!(job.talk.to_caller.send(Message::Ask), Ok(())));
        drop(job);
        assert!(matches!(ear.hear(Duration::from_secs(3600)), Ok(Message::Ask)));
        assert!(matches!(ear.hear(Duration::from_secs(3600)), Err(RecvTimeoutError::Disconnected)));
    }
}
