//! What the engine's threads share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::budget::Budget;
use super::config::Config;
use super::cost::{self, Cost};
#[cfg(feature = "testing")]
use super::echo_options::{EchoFault, EchoOptions};
use super::event::{Event, Health, Phase};
use super::events::Events;
use super::job::JobState;
use super::limits::HostLimits;
use super::stats::{Counters, KindStats, PhaseStats, PoolStats, Stats};
use crate::circuit::Kind;
use crate::error::{Error, Result};

/// Everything but the threads.
pub(super) struct Shared {
    pub config: Config,
    pub state: Mutex<State>,
    pub events: Events,
    /// Memory for requests that wait.
    pub requests: Arc<Budget>,
    pub host: Arc<Budget>,
    left: AtomicBool,
}

/// What changes.
#[derive(Default)]
pub(super) struct State {
    pub closed: bool,
    pub next_number: u64,
    /// Unfinished requests by number.
    pub jobs: HashMap<u64, JobState>,
    /// Tags in use, until their completion is taken.
    pub tags: HashMap<u64, TagUse>,
    pub kinds: [KindStats; 4],
    /// Places taken by kind: unfinished requests and completions that nobody has taken.
    pub places: [u32; 4],
    pub phases: [PhaseStats; Phase::ALL.len()],
    pub counters: Counters,
}

/// Whom a tag belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct TagUse {
    pub number: u64,
    pub kind: Option<Kind>,
}

impl Shared {
    pub fn open(config: Config) -> Result<Arc<Self>> {
        let limits = HostLimits::read()?;
        let total = match config.host_memory_bytes {
            0 => limits.default_budget_bytes(),
            bytes => bytes.min(limits.memory_bytes),
        };
        // A quarter for requests that wait, so that they can't keep those that run from going on.
        let requests = total / 4;
        Ok(Arc::new(Shared {
            config,
            state: Mutex::default(),
            events: Events::default(),
            requests: Budget::new("host, waiting requests", requests, 0),
            host: Budget::new("host", total - requests, (total - requests) / 8),
            left: AtomicBool::new(false),
        }))
    }

    #[cfg(feature = "testing")]
    pub fn open_echo(config: Config, _options: EchoOptions) -> Result<Arc<Self>> {
        Self::open(config)
    }

    #[cfg(feature = "testing")]
    pub fn inject(&self, fault: EchoFault) -> Result<()> {
        Err(Error::Unsupported(format!("{fault:?}: this is no echo engine")))
    }

    /// The next event; its tag and place are free again.
    pub fn next(&self, timeout: Duration) -> Result<Option<Event>> {
        let event = self.events.next(timeout)?;
        if let Some(Event::Completion(completion)) = &event {
            let mut state = self.lock();
            if let Some(TagUse { kind: Some(kind), .. }) = state.tags.remove(&completion.tag) {
                state.places[kind as usize] -= 1;
            }
        }
        Ok(event)
    }

    pub fn stats(&self) -> Result<Stats> {
        let state = self.open_state()?;
        let (events_waiting, logs_dropped) = self.events.counts();
        Ok(Stats {
            kinds: state.kinds,
            phases: state.phases,
            counters: Counters { logs_dropped, ..state.counters },
            synthesising: 0,
            waiting_for_device: 0,
            proving: 0,
            events_waiting,
            pools: vec![PoolStats {
                name: "host".into(),
                total_bytes: self.host.total() + self.requests.total(),
                used_bytes: self.host.used() + self.requests.used(),
                peak_bytes: self.host.peak() + self.requests.peak(),
            }],
            devices: Vec::new(),
            resident: Vec::new(),
            health: Health::ok(),
        })
    }

    pub fn cost(&self, kind: Kind, sector_size: u64) -> Result<Cost> {
        drop(self.open_state()?);
        cost::cost(kind, sector_size, true)
    }

    /// Whether this is the first call.
    pub fn leave_once(&self) -> bool {
        !self.left.swap(true, Ordering::AcqRel)
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while a change is half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state of an engine that is open.
    pub fn open_state(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.lock();
        match state.closed {
            true => Err(Error::Closed("the engine".into())),
            false => Ok(state),
        }
    }
}
