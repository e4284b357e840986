//! What goes between a caller and a device thread.
//!
//! A caller sends a [`Job`] and then listens: the device thread asks, tells of results and ends. Each question is answered
//! at once, or by another job that runs inside the first.

use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;

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
