//! Records of the `log` facade become events; nothing is written anywhere else.
//!
//! An engine's own threads carry its sink; what other threads log goes to every open engine. If the process has another
//! logger already (a program that links this crate as a Rust library), records go there and engines see none. Panics of an
//! engine's threads, which all are caught, become records in the same way.

use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};

use log::{LevelFilter, Log, Metadata, Record};

use super::event::LogRecord;
use super::events::Events;

/// Where an engine's records go.
#[derive(Clone, Debug)]
pub(super) struct Sink {
    events: Weak<Events>,
    level: LevelFilter,
}

/// Has a size, so that its address is its own.
struct EventLogger {
    _size: u8,
}

static LOGGER: EventLogger = EventLogger { _size: 0 };
static SINKS: Mutex<Vec<Sink>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: RefCell<Option<Sink>> = const { RefCell::new(None) };
}

/// Records of `level` and above from now on go to `events`, as long as it lives.
pub(super) fn open(events: &Arc<Events>, level: LevelFilter) -> Sink {
    let sink = Sink { events: Arc::downgrade(events), level };
    let mut sinks = lock();
    sinks.retain(|sink| sink.events.strong_count() > 0);
    sinks.push(sink.clone());
    // Only the first call of a process can succeed. Raising the level is ours to do only if the logger is ours.
    let _ = log::set_logger(&LOGGER);
    if std::ptr::addr_eq(std::ptr::from_ref(log::logger()), std::ptr::from_ref(&LOGGER)) {
        let most = sinks.iter().map(|sink| sink.level).max().unwrap_or(LevelFilter::Off);
        log::set_max_level(most);
    }
    sink
}

/// What this thread logs goes to `sink` alone, and so does what it says when it panics.
pub(super) fn adopt(sink: &Sink) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !log_panic(info) {
                others(info);
            }
        }));
    });
    OWN.with(|own| *own.borrow_mut() = Some(sink.clone()));
}

/// Logs a panic of one of the engine's threads; others' are none of ours.
fn log_panic(info: &PanicHookInfo<'_>) -> bool {
    let own = OWN.try_with(|own| own.borrow().clone()).ok().flatten();
    let events = own.and_then(|sink| sink.events.upgrade());
    if let Some(events) = &events {
        let text = info.payload().downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| info.payload().downcast_ref::<String>().cloned()).unwrap_or_default();
        let place = info.location().map_or_else(String::new, |place| format!(" at {}:{}", place.file(), place.line()));
        let thread = std::thread::current().name().unwrap_or("a thread").to_owned();
        let message = format!("{thread} panicked{place}: {text}");
        events.log(LogRecord { level: log::Level::Error, target: "cuzk::panic".into(), message });
    }
    events.is_some()
}

impl Sink {
    fn take(&self, record: &Record<'_>) {
        if record.level() > self.level {
            return;
        }
        if let Some(events) = self.events.upgrade() {
            let (level, target, message) = (record.level(), record.target().to_owned(), record.args().to_string());
            events.log(LogRecord { level, target, message });
        }
    }
}

impl Log for EventLogger {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        // A thread that is about to end may have dropped its sink already.
        let own = OWN.try_with(|own| own.borrow().clone()).ok().flatten();
        match own {
            Some(sink) => sink.take(record),
            None => lock().clone().iter().for_each(|sink| sink.take(record)),
        }
    }

    fn flush(&self) {}
}

fn lock() -> MutexGuard<'static, Vec<Sink>> {
    SINKS.lock().unwrap_or_else(PoisonError::into_inner)
}
