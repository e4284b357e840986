//! What stands between an exported function and its caller: no panic passes, every outcome has a status and a message.

use std::any::Any;
use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;

use super::abi::ErrorOut;
use super::buffer;
use crate::error::{Error, Result, Status};

thread_local! {
    /// Whether an exported function runs on this thread: its panics are then reported as results, not on stderr.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs the body of the exported function `name` and reports how it ended through `error`, if that isn't NULL.
/// A panic becomes INTERNAL with its text.
pub fn call(name: &'static str, error: *mut ErrorOut, body: impl FnOnce() -> Result<()>) -> u32 {
    quiet_panics();
    let before = INSIDE.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "testing")]
        super::testing::fault_point(name);
        body()
    }));
    let result = outcome.unwrap_or_else(|panic| Err(Error::Internal(format!("{name} panicked: {}", text(panic)))));
    INSIDE.set(before);
    report(error, result.err().as_ref())
}

/// Writes the outcome to `error` and gives its status.
pub fn report(error: *mut ErrorOut, outcome: Option<&Error>) -> u32 {
    let status = outcome.map_or(Status::Ok, Error::status) as u32;
    if !error.is_null() {
        let message = outcome.map_or_else(Vec::new, |error| error.to_string().into_bytes());
        let written = ErrorOut { status, reserved: 0, message: buffer::give(message) };
        // SAFETY: the caller hands in NULL or memory for one cuzk_error_t; it needn't be initialised.
        unsafe { error.write(written) };
    }
    status
}

/// A panic's text. A payload of another type is leaked: dropping it could panic again.
fn text(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| {
        std::mem::forget(panic);
        "no text".into()
    })
}

/// The library is a guest: a panic inside it is a result or an event, never text on the host's stderr. Panics of other
/// threads, which a Rust caller has, go to the hook that was there.
fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if INSIDE.get() {
                return;
            }
            match std::thread::current().name() {
                Some(name) if name.starts_with("cuzk") => log::error!("{info}"),
                _ => before(info),
            }
        }));
    });
}
