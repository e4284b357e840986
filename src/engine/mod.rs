//! The engine: what a daemon opens once and asks for proofs.
//!
//! ```no_run
//! use std::time::{Duration, Instant};
//!
//! use cuzk::engine::{Config, Engine, Event, Job, Request};
//!
//! # fn main() -> cuzk::Result<()> {
//! # let c1 = Vec::new();
//! let engine = Engine::open(Config { cache_dir: Some("cuzk-cache".into()), ..Config::default() })?;
//! let request = Request::PoRep { miner: 1000, sector: 7, c1 };
//! let deadline = Some(Instant::now() + Duration::from_secs(600));
//! engine.submit(vec![Job { tag: 1, label: "sector 7".into(), request, deadline }]).remove(0)?;
//! while let Some(event) = engine.next(Duration::from_secs(600))? {
//!     match event {
//!         Event::Completion(completion) => {
//!             let _proof = completion.result?;
//!             break;
//!         }
//!         Event::Log(record) => println!("{} {}", record.level, record.message),
//!         Event::Progress(_) | Event::Health(_) => {}
//!     }
//! }
//! engine.close()
//! # }
//! ```

mod admission;
mod backends;
pub mod budget;
mod choose;
mod clock;
mod commands;
mod config;
mod control;
mod cost;
mod counts;
mod device;
#[cfg(feature = "testing")]
mod echo;
mod event;
mod events;
mod job;
mod library;
pub mod limits;
mod logs;
mod outcome;
mod pipeline;
mod pools;
mod report;
mod request;
mod residency;
mod shared;
mod stats;
mod stoppable;
mod watch;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

pub use config::{BackendChoice, Config, DEFAULT_DEVICE_RESERVE_BYTES, DEFAULT_QUEUE_LEN, MIN_POST_PLACES};
pub use cost::{cost, Cost};
#[cfg(feature = "testing")]
pub use echo::{echo_inputs, EchoCall, EchoCallKind, EchoFault, EchoFaultKind, EchoOptions};
pub use event::{Completion, Event, Health, HealthLevel, LogRecord, Phase, Place, Progress, Task, Timings};
pub use request::{Job, Request};
pub use stats::{Counters, DeviceState, DeviceStats, KindStats, PhaseStats, PoolStats, Stats};

use self::shared::Shared;
use crate::circuit::{CircuitId, Kind};
use crate::error::{Error, Result};

/// One open prover. All methods may be called from any thread; none but [`Self::next`], [`Self::close`] and opening
/// blocks. Dropping it closes it.
pub struct Engine {
    shared: Arc<Shared>,
    /// Whether this is the process's one release engine.
    only: bool,
    #[cfg(feature = "testing")]
    echo: Option<Arc<echo::Echo>>,
}

/// Whether a release engine is open.
static OPEN: AtomicBool = AtomicBool::new(false);

impl Engine {
    /// Opens the process's engine: starts its threads and opens its devices, but no circuit.
    /// Blocks: as long as devices take to open. Writes no file and no environment variable.
    /// Errors: ALREADY_OPEN; INVALID names a field of `config`; NO_DEVICE; INTERNAL (threads).
    pub fn open(config: Config) -> Result<Arc<Self>> {
        config.check()?;
        if OPEN.swap(true, Ordering::AcqRel) {
            return Err(Error::AlreadyOpen);
        }
        let shared = Shared::new(config, backends::open).inspect_err(|_| OPEN.store(false, Ordering::Release))?;
        Ok(Arc::new(Engine {
            shared,
            only: true,
            #[cfg(feature = "testing")]
            echo: None,
        }))
    }

    /// Opens an engine for tests, beside as many others as wanted: see [`EchoOptions`].
    /// Errors: INVALID names a field of `config`; INTERNAL (threads, a temporary directory).
    #[cfg(feature = "testing")]
    pub fn open_echo(config: Config, options: EchoOptions) -> Result<Arc<Self>> {
        config.check()?;
        let config = Config { allow_unknown_params: true, ..config };
        let echo = Arc::new(echo::Echo::new(options.faults.clone()));
        let shared = Shared::new(config, |config, threads, sink| echo::open(config, threads, sink, options, &echo))?;
        Ok(Arc::new(Engine { shared, only: false, echo: Some(echo) }))
    }

    /// Adds a fault to an echo engine; works after close too. Errors: UNSUPPORTED on any other.
    #[cfg(feature = "testing")]
    pub fn inject(&self, fault: EchoFault) -> Result<()> {
        self.echo_engine()?.inject(fault);
        Ok(())
    }

    /// The calls that an echo engine's back ends got so far, in order. Errors: UNSUPPORTED on any other.
    #[cfg(feature = "testing")]
    pub fn echo_calls(&self) -> Result<Vec<EchoCall>> {
        Ok(self.echo_engine()?.calls())
    }

    /// Lets go of what a hold of an echo engine keeps now; what comes to it later is held. Errors: UNSUPPORTED on any
    /// other.
    #[cfg(feature = "testing")]
    pub fn let_go(&self, hold: EchoFaultKind) -> Result<()> {
        self.echo_engine()?.let_go(hold);
        Ok(())
    }

    /// Makes an echo engine as old as if `time` had passed with nothing happening. Errors: UNSUPPORTED on any other.
    #[cfg(feature = "testing")]
    pub fn pass(&self, time: Duration) -> Result<()> {
        self.echo_engine()?;
        self.shared.pass(time);
        Ok(())
    }

    #[cfg(feature = "testing")]
    fn echo_engine(&self) -> Result<&Arc<echo::Echo>> {
        self.echo.as_ref().ok_or_else(|| Error::Unsupported("this is no echo engine".into()))
    }

    /// Takes requests in; each that is accepted ends in one [`Event::Completion`] with its tag.
    ///
    /// Shapes: result `i` belongs to `jobs[i]`; one that is refused doesn't keep others out.
    /// Threads: never blocks. Structure and limits alone are checked; what is wrong with the content arrives as a
    /// completion.
    /// Errors, per job: BUSY (all places of its kind are taken, or the memory for waiting requests; retry later);
    /// INVALID names the field, `tag` if it is in use; OUT_OF_MEMORY if the budgets can never hold it; CLOSED.
    pub fn submit(&self, jobs: Vec<Job>) -> Vec<Result<()>> {
        self.shared.submit(jobs)
    }

    /// The next event; None if there is none within `timeout`. [`Duration::MAX`] waits without end.
    /// Threads: any number may wait; each event goes to one of them. Taking a completion frees its tag and place.
    /// Errors: CLOSED once the engine is closed and every event is taken.
    pub fn next(&self, timeout: Duration) -> Result<Option<Event>> {
        self.shared.next(timeout)
    }

    /// Ends an unfinished request with CANCELLED: its completion is there when this returns. What runs for it is dropped
    /// at the next occasion, and its memory comes back then. A tag that isn't in use: nothing happens.
    /// Errors: CLOSED.
    pub fn cancel(&self, tag: u64) -> Result<()> {
        self.shared.cancel(tag)
    }

    /// Opens `circuit` and loads it on the devices that prove it. Ends in a completion, with progress events before.
    /// Errors: INVALID (`tag` in use), CLOSED; in the completion those of opening and loading.
    pub fn preload(&self, circuit: CircuitId, tag: u64) -> Result<()> {
        self.shared.command(Task::Preload, Some(circuit), tag)
    }

    /// Unloads `circuit` everywhere, once no request uses it. Ends in a completion, also if it wasn't loaded.
    /// Errors: INVALID (`tag` in use), CLOSED.
    pub fn evict(&self, circuit: CircuitId, tag: u64) -> Result<()> {
        self.shared.command(Task::Evict, Some(circuit), tag)
    }

    /// Unloads every circuit that no request uses, WinningPoSts' excepted, and frees idle buffers. Ends in a completion.
    /// Errors: INVALID (`tag` in use), CLOSED.
    pub fn trim(&self, tag: u64) -> Result<()> {
        self.shared.command(Task::Trim, None, tag)
    }

    /// Counters, gauges, health. Errors: CLOSED.
    pub fn stats(&self) -> Result<Stats> {
        self.shared.stats()
    }

    /// What a request of `kind` for sectors of `sector_size` bytes needs on this engine. Errors: UNSUPPORTED, CLOSED.
    pub fn cost(&self, kind: Kind, sector_size: u64) -> Result<Cost> {
        self.shared.cost(kind, sector_size)
    }

    /// Ends every unfinished request with CLOSED and stops all threads. Events that wait can still be taken. Idempotent.
    /// Blocks: until the threads have ended, 5 s at most.
    /// Errors: INTERNAL names a thread that hangs in a call and was left behind.
    pub fn close(&self) -> Result<()> {
        let closed = self.shared.close();
        if self.only && self.shared.leave_once() {
            OPEN.store(false, Ordering::Release);
        }
        closed
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Whoever drops has no use for the error.
        let _ = self.close();
    }
}
