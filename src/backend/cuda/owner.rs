//! The device thread: jobs one after the other, and questions to their callers.

use std::cell::RefCell;
use std::ffi::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::mpsc::Receiver;
use std::sync::Arc;

use super::device::{Device, Lane};
use super::fault::{Fault, Outcome};
use super::job::{Item, Job, Message, Reply, Talk, Work};
use super::load;
use super::multiples;
use super::prove;
use super::sums::RawSums;
use super::sys::Poll;
use crate::backend::Circuit;
use crate::error::{Error, Result};

/// Serves jobs until one closes the thread or nobody can send any.
pub(super) fn serve(device: &Device, jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        if matches!(job.work, Work::Close) {
            let _ = job.talk.to_caller.send(Message::End(Ok(())));
            return;
        }
        execute(device, job);
    }
}

fn execute(device: &Device, Job { work, talk }: Job) {
    let asker = Asker::new(device, Some(&talk));
    let end = match work {
        Work::Load(circuit, prepared) => {
            guarded(device, asker.lane(), || load::load(device, &asker, &circuit, &prepared))
        }
        Work::Unload(id) => {
            device.circuits.borrow_mut().remove(&id);
            Ok(())
        }
        Work::Prove(circuit, items) => {
            prove_batch(device, &asker, &circuit, &items);
            Ok(())
        }
        Work::Multiples(of, answer) => {
            let made = guarded(device, asker.lane(), || multiples::multiples(device, &asker, &of));
            // A caller that is gone needs no answer.
            made.map(|bytes| drop(answer.send(bytes)))
        }
        #[cfg(feature = "testing")]
        Work::Call(call) => guarded(device, asker.lane(), || Ok(call()?)),
        Work::Trim => {
            device.trim();
            Ok(())
        }
        Work::Look | Work::Close => Ok(()),
    };
    device.publish();
    // Nobody listens any more if the caller gave the device up.
    let _ = talk.to_caller.send(Message::End(end));
}

/// Runs `work`; a fault or panic of it is what the caller gets, and leaves nothing running on `lane`.
fn guarded<T>(device: &Device, lane: &Lane, work: impl FnOnce() -> Outcome<T>) -> Result<T> {
    if let Some(lost) = device.shared.lost() {
        return Err(lost);
    }
    let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(Fault::Other(Error::Internal(format!("{}: panic: {text}", device.shared.label))))
    });
    outcome.map_err(|fault| {
        lane.settle();
        device.error(fault)
    })
}

fn prove_batch(device: &Device, asker: &Asker<'_>, circuit: &Arc<Circuit>, items: &[Item]) {
    if asker.is_urgent() {
        device.shared.with_stats(|stats| stats.urgent_batches += 1);
    }
    let resident = device.circuits.borrow().get(&circuit.id()).map(Rc::clone);
    for (index, assignment, layout) in items {
        asker.turn_to(*index);
        let result = match (&resident, asker.ask()) {
            (_, Err(fault)) => Err(device.error(fault)),
            (None, _) => Err(Error::Closed(format!("{} on {}", circuit.name(), device.shared.label))),
            (Some(resident), Ok(())) => {
                guarded(device, asker.lane(), || prove::prove(device, asker, resident, assignment, layout))
            }
        };
        let failed = !matches!(result, Ok(_) | Err(Error::Cancelled));
        device.shared.with_stats(|stats| {
            stats.proofs += u64::from(result.is_ok());
            stats.failures += u64::from(failed);
        });
        if asker.done(*index, result).is_err() {
            return;
        }
    }
}

/// Asks the caller of one job.
pub(super) struct Asker<'a> {
    device: &'a Device,
    talk: Option<&'a Talk>,
    state: RefCell<Asked>,
}

#[derive(Default)]
struct Asked {
    dropped: Vec<usize>,
    current: usize,
    /// What the last poll was stopped by.
    fault: Option<Fault>,
}

impl<'a> Asker<'a> {
    /// Without `talk` it goes on always.
    pub(super) fn new(device: &'a Device, talk: Option<&'a Talk>) -> Self {
        Asker { device, talk, state: RefCell::default() }
    }

    pub(super) fn is_urgent(&self) -> bool {
        self.talk.is_some_and(|talk| talk.urgent)
    }

    /// The lane of this job.
    pub(super) fn lane(&self) -> &'a Lane {
        if self.is_urgent() {
            &self.device.urgent
        } else {
            &self.device.bulk
        }
    }

    fn turn_to(&self, index: usize) {
        self.state.borrow_mut().current = index;
    }

    /// Whether to go on with the assignment in work. Runs what is more urgent first.
    pub(super) fn ask(&self) -> Outcome<()> {
        let Some(talk) = self.talk else { return Ok(()) };
        talk.to_caller.send(Message::Ask).map_err(|_| Fault::Stopped)?;
        loop {
            match talk.from_caller.recv().map_err(|_| Fault::Stopped)? {
                Reply::GoOn => break,
                Reply::Drop(indices) => {
                    self.state.borrow_mut().dropped.extend(indices);
                    break;
                }
                Reply::Fail(why) => return Err(Fault::Other(Error::Internal(why))),
                Reply::Run(job) => execute(self.device, job),
            }
        }
        let state = self.state.borrow();
        match state.dropped.contains(&state.current) {
            true => Err(Fault::Stopped),
            false => Ok(()),
        }
    }

    /// The same for waiting inside functions of other modules.
    pub(super) fn waiting(&self) -> impl FnMut() -> Result<()> + '_ {
        || self.ask().map_err(|fault| self.device.error(fault))
    }

    /// Tells how far a load is.
    pub(super) fn progress(&self, done: u64, total: u64) {
        if let Some(talk) = self.talk {
            // A caller that is gone shows at the next question.
            let _ = talk.to_caller.send(Message::Progress(done, total));
        }
    }

    fn done(&self, index: usize, result: Result<RawSums>) -> std::result::Result<(), ()> {
        match self.talk {
            Some(talk) => talk.to_caller.send(Message::Done(index, result)).map_err(|_| ()),
            None => Ok(()),
        }
    }

    /// For the kernels. Valid as long as this asker.
    pub(super) fn poll(&self) -> Poll {
        let events = &self.lane().poll_events;
        Poll {
            ask: ask_from_c,
            context: std::ptr::from_ref(self).cast_mut().cast(),
            events: [events[0].as_ptr(), events[1].as_ptr()],
        }
    }

    /// What stopped an operation, if a poll did.
    pub(super) fn explain(&self, fault: Fault) -> Fault {
        match fault {
            Fault::Stopped => self.state.borrow_mut().fault.take().unwrap_or(Fault::Stopped),
            other => other,
        }
    }
}

extern "C" fn ask_from_c(context: *mut c_void) -> i32 {
    // SAFETY: `Asker::poll` put a reference there, to an asker that outlives the operation.
    let asker = unsafe { &*context.cast::<Asker<'_>>() };
    let outcome = catch_unwind(AssertUnwindSafe(|| asker.ask()))
        .unwrap_or_else(|_| Err(Fault::Other(Error::Internal("panic while the control was asked".into()))));
    match outcome {
        Ok(()) => 0,
        Err(fault) => {
            asker.state.borrow_mut().fault = Some(fault);
            1
        }
    }
}
