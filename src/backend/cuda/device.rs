//! What a device thread owns. Everything here lives and dies on that thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use super::arena::{Arena, Reservation};
use super::config::{CudaConfig, Uuid};
use super::fault::{is_sticky, Fault, Outcome, NO_MEMORY};
use super::pinned::{Pinned, PinnedPool};
use super::resident::Resident;
use super::stats::{Calls, CudaStats, Health, Phases};
use super::sums::{Of, RESULT_BYTES};
use super::sys::{self, device_memory, CudaError, DeviceInfo, Event, MsmStreams, Ntt, Stream};
use crate::backend::PhaseTime;
use crate::error::{Error, Result};

/// Bytes that are read from a file at a time.
pub(super) const PIECE_BYTES: usize = 16 << 20;
/// Bytes of an assignment that are copied at a time.
const UPLOAD_BYTES: usize = 8 << 20;
/// Buffers of that size, which as many threads fill.
const UPLOADS: usize = 8;
/// Left to the driver and to others where no cap is configured.
const LEFT_FREE: u64 = 1 << 30;
/// Copies from pinned memory that may be on their way at once.
const STAGING_EVENTS: usize = 16;
/// Borders of the phases of a proof.
pub(super) const BORDERS: usize = 8;

/// What callers and the device thread both see.
pub(super) struct Shared {
    /// UUID and name, for errors.
    pub label: String,
    pub uuid: String,
    lost: Mutex<Option<String>>,
    pub stats: Mutex<CudaStats>,
}

pub(super) struct Device {
    pub info: DeviceInfo,
    pub shared: Arc<Shared>,
    pub arena: Rc<Arena>,
    pub pool: Arc<PinnedPool>,
    pub ntt: Ntt,
    pub circuits: RefCell<HashMap<u64, Rc<Resident>>>,
    pub readers: usize,
    /// Sections that are loaded, and the sums that are computed.
    pub sums: &'static [Of],
    pub bulk: Lane,
    pub urgent: Lane,
    _tables: Reservation,
}

/// What one proof at a time uses: streams, events, the place for its results, and its working memory.
pub(super) struct Lane {
    pub main: Stream,
    pub side: Stream,
    pub poll_events: [Event; 2],
    pub msm_events: [Event; 2],
    pub borders: Vec<Event>,
    pub results: RefCell<Pinned>,
    pub work: RefCell<Option<Rc<Reservation>>>,
    /// Buffers for uploads, each with the event behind its last copy.
    uploads: RefCell<Vec<(Pinned, Event)>>,
    pace: [Event; 2],
    paces: Cell<usize>,
    staging: Vec<Arc<Event>>,
    staged: Cell<usize>,
}

impl Shared {
    pub(super) fn new(info: &DeviceInfo) -> Arc<Self> {
        let uuid = Uuid(info.uuid);
        let stats = CudaStats {
            uuid,
            name: info.name.clone(),
            capability: info.capability,
            health: Health::Good,
            memory_cap_bytes: 0,
            memory_held_bytes: 0,
            memory_peak_bytes: 0,
            reservations: Vec::new(),
            pinned_cap_bytes: 0,
            pinned_held_bytes: 0,
            pinned_peak_bytes: 0,
            pageable_buffers: 0,
            proofs: 0,
            failures: 0,
            urgent_batches: 0,
            last: Phases::default(),
            times: Phases::NAMES.map(PhaseTime::named),
            calls: Calls::default(),
        };
        let label = format!("{uuid} ({})", info.name);
        Arc::new(Shared { label, uuid: uuid.to_string(), lost: Mutex::default(), stats: Mutex::new(stats) })
    }

    /// Marks the device lost, for the first reason that is given. Returns the error that every call gets.
    pub(super) fn lose(&self, why: &str) -> Error {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if lost.is_none() {
            log::error!("{} is lost, only a restart of the process clears this: {why}", self.label);
        }
        let why = lost.get_or_insert_with(|| why.into()).clone();
        drop(lost);
        self.with_stats(|stats| stats.health = Health::Lost(why.clone()));
        Error::DeviceLost(format!("{} ({why})", self.label))
    }

    /// The error that every call gets, once the device is lost.
    pub(super) fn lost(&self) -> Option<Error> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.as_ref().map(|why| Error::DeviceLost(format!("{} ({why})", self.label)))
    }

    pub(super) fn with_stats<T>(&self, look: impl FnOnce(&mut CudaStats) -> T) -> T {
        look(&mut self.stats.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Device {
    /// On the calling thread, which has made the device current.
    pub(super) fn new(
        info: DeviceInfo,
        shared: Arc<Shared>,
        pool: Arc<PinnedPool>,
        config: &CudaConfig,
    ) -> Outcome<Self> {
        let (free, _) = device_memory()?;
        let most = free.saturating_sub(LEFT_FREE);
        let cap = config.device_memory_bytes.map_or(most, |cap| cap.min(free));
        let arena = Arena::new(format!("device {}", Uuid(info.uuid)), cap);
        let (bulk, urgent) = (Lane::new(&pool)?, Lane::new(&pool)?);
        let tables = arena.reserve("tables", Ntt::table_bytes())?;
        // SAFETY: the reservation has the bytes, and lives as long as the device.
        let ntt = unsafe { Ntt::at(tables.at(0, Ntt::table_bytes()), &bulk.main)? };
        bulk.main.wait()?;
        if config.device_reserve_bytes > 0 {
            let reserve = arena.reserve("urgent", config.device_reserve_bytes)?;
            *urgent.work.borrow_mut() = Some(Rc::new(reserve));
        }
        let (circuits, readers) = (RefCell::default(), config.readers.max(1));
        #[cfg(feature = "testing")]
        let sums = if config.b_g1 { Of::ALL } else { Of::SHIPPED };
        #[cfg(not(feature = "testing"))]
        let sums = Of::ALL;
        Ok(Device { info, shared, arena, pool, ntt, circuits, readers, sums, bulk, urgent, _tables: tables })
    }

    /// What callers get for `fault`. Marks the device lost after an error that stays.
    pub(super) fn error(&self, fault: Fault) -> Error {
        match fault {
            Fault::Stopped => Error::Cancelled,
            Fault::Other(error) => error,
            Fault::Cuda(error) => self.cuda_error(&error),
        }
    }

    fn cuda_error(&self, error: &CudaError) -> Error {
        if let Some(lost) = self.shared.lost() {
            return lost;
        }
        if is_sticky(error.code) {
            return self.shared.lose(&error.to_string());
        }
        // An error that stays shows at every later call.
        if let Err(again) = device_memory() {
            return self.shared.lose(&format!("{error}; then {again}"));
        }
        match error.code {
            NO_MEMORY => {
                let free = device_memory().map_or(0, |(free, _)| free);
                Error::OutOfMemory { budget: format!("device {}", Uuid(self.info.uuid)), needed: 0, free }
            }
            _ => Error::Internal(format!("{}: {error}", self.shared.label)),
        }
    }

    /// Brings the numbers up to date that callers see.
    pub(super) fn publish(&self) {
        let calls = sys::calls();
        self.shared.with_stats(|stats| {
            stats.memory_cap_bytes = self.arena.cap();
            stats.memory_held_bytes = self.arena.held();
            stats.memory_peak_bytes = self.arena.peak();
            stats.reservations = self.arena.named();
            stats.pinned_cap_bytes = self.pool.cap_bytes();
            stats.pinned_held_bytes = self.pool.held_bytes();
            stats.pinned_peak_bytes = self.pool.peak_bytes();
            stats.pageable_buffers = self.pool.pageable_buffers();
            stats.calls = Calls {
                device_allocations: calls.device_allocations,
                pinned_allocations: calls.pinned_allocations,
                streams: calls.streams,
                events: calls.events,
            };
        });
    }

    /// Working memory of at least `bytes` for `lane`, kept for the next proof. The urgent lane's reserve is never given up
    /// for a smaller one, and other lanes' memory grows only while nothing uses it.
    pub(super) fn work(&self, lane: &Lane, bytes: u64) -> Outcome<Rc<Reservation>> {
        let mut work = lane.work.borrow_mut();
        match &*work {
            Some(enough) if enough.bytes() >= bytes => return Ok(Rc::clone(enough)),
            _ => {}
        }
        if std::ptr::eq(lane, &self.urgent) && work.is_some() {
            return Ok(Rc::new(self.arena.reserve("work of an urgent proof", bytes)?));
        }
        *work = None;
        // Else the memory that is too small would stay beside the larger.
        self.arena.trim();
        let reservation = Rc::new(self.arena.reserve("work", bytes)?);
        *work = Some(Rc::clone(&reservation));
        Ok(reservation)
    }

    /// Copies `bytes` to the device through the lane's pinned buffers, in the order of its main stream; several threads fill
    /// them where there is much. `waiting` is asked while there is no buffer.
    ///
    /// # Safety
    /// `to` has room for the bytes, until the stream gets there.
    pub(super) unsafe fn upload(
        &self,
        lane: &Lane,
        to: *mut c_void,
        bytes: &[u8],
        waiting: &mut dyn FnMut() -> Result<()>,
    ) -> Outcome<()> {
        let mut uploads = lane.uploads.borrow_mut();
        while uploads.len() < UPLOADS.min(bytes.len().div_ceil(UPLOAD_BYTES)) {
            let buffer = self.pool.take(UPLOAD_BYTES as u64, waiting)?;
            uploads.push((buffer, Event::new()?));
        }
        let mut to = to.cast::<u8>();
        for wave in bytes.chunks(UPLOAD_BYTES * UPLOADS) {
            fill(&mut uploads, wave)?;
            for ((buffer, copied), piece) in uploads.iter().zip(wave.chunks(UPLOAD_BYTES)) {
                // SAFETY: as the caller promises; the buffer isn't filled again before the event behind the copy.
                unsafe { sys::copy(to.cast(), buffer.as_ptr().cast(), piece.len() as u64, &lane.main)? };
                copied.record(&lane.main)?;
                to = to.wrapping_add(piece.len());
            }
        }
        Ok(())
    }

    /// Gives back all memory that no circuit needs. Nothing may run.
    pub(super) fn trim(&self) {
        for lane in [&self.bulk, &self.urgent] {
            lane.settle();
            lane.uploads.borrow_mut().clear();
        }
        self.arena.trim();
        self.pool.shrink(u64::MAX);
    }
}

/// A piece of `wave` into each buffer that the device has done with; the pieces behind the first by threads of their own.
fn fill(uploads: &mut [(Pinned, Event)], wave: &[u8]) -> Outcome<()> {
    let mut pieces = Vec::new();
    for ((buffer, copied), piece) in uploads.iter_mut().zip(wave.chunks(UPLOAD_BYTES)) {
        copied.wait()?;
        pieces.push((&mut buffer[..piece.len()], piece));
    }
    std::thread::scope(|scope| {
        let mut pieces = pieces.into_iter();
        let first = pieces.next();
        for (to, from) in pieces {
            scope.spawn(|| to.copy_from_slice(from));
        }
        if let Some((to, from)) = first {
            to.copy_from_slice(from);
        }
    });
    Ok(())
}

impl Lane {
    fn new(pool: &Arc<PinnedPool>) -> Outcome<Self> {
        let pair = || -> Outcome<[Event; 2]> { Ok([Event::new()?, Event::new()?]) };
        let results = pool.take(RESULT_BYTES, &mut || Ok(()))?;
        Ok(Lane {
            main: Stream::new()?,
            side: Stream::new()?,
            poll_events: pair()?,
            msm_events: pair()?,
            borders: (0..BORDERS).map(|_| Event::timing()).collect::<std::result::Result<_, _>>()?,
            results: RefCell::new(results),
            work: RefCell::default(),
            uploads: RefCell::default(),
            pace: pair()?,
            paces: Cell::new(0),
            staging: (0..STAGING_EVENTS).map(|_| Event::new().map(Arc::new)).collect::<std::result::Result<_, _>>()?,
            staged: Cell::new(0),
        })
    }

    pub(super) fn msm_streams(&self) -> MsmStreams<'_> {
        MsmStreams { stream: &self.main, side: Some(&self.side), events: &self.msm_events }
    }

    /// Gives a buffer back for the time when `stream` has got here.
    pub(super) fn release(&self, buffer: Pinned, stream: &Stream) -> Outcome<()> {
        let turn = self.staged.replace(self.staged.get() + 1);
        let event = &self.staging[turn % STAGING_EVENTS];
        event.record(stream)?;
        buffer.release_after(event);
        Ok(())
    }

    /// Waits until what was launched before the last call of this has run, so that never more than two phases are queued.
    pub(super) fn pace(&self) -> Outcome<()> {
        let turn = self.paces.replace(self.paces.get() + 1);
        self.pace[turn % 2].record(&self.main)?;
        if turn > 0 {
            self.pace[(turn + 1) % 2].wait()?;
        }
        Ok(())
    }

    /// Waits for everything that was launched. Errors have been told by what met them first.
    pub(super) fn settle(&self) {
        let _ = self.side.wait();
        let _ = self.main.wait();
    }
}
