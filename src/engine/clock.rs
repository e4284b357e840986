//! Time since an engine was opened.

#[cfg(feature = "testing")]
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Runs from an engine's opening on; tests can put it forward.
#[derive(Debug)]
pub(super) struct Clock {
    start: Instant,
    #[cfg(feature = "testing")]
    skipped_ms: AtomicU64,
}

impl Clock {
    pub fn new() -> Self {
        Clock {
            start: Instant::now(),
            #[cfg(feature = "testing")]
            skipped_ms: AtomicU64::new(0),
        }
    }

    pub fn now(&self) -> Duration {
        let now = self.start.elapsed();
        #[cfg(feature = "testing")]
        let now = now + Duration::from_millis(self.skipped_ms.load(Ordering::Relaxed));
        now
    }

    /// When `instant` is; 0 if it was before the start.
    pub fn at(&self, instant: Instant) -> Duration {
        instant.saturating_duration_since(self.start)
    }

    #[cfg(feature = "testing")]
    pub fn skip(&self, time: Duration) {
        self.skipped_ms.fetch_add(time.as_millis() as u64, Ordering::Relaxed);
    }
}
