//! The time, as an argument: nothing else in the program asks the system what time it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Milliseconds since the Unix epoch, UTC. The only time unit at rest.
pub type Millis = i64;

/// Where the time comes from: the system, or a hand that a test moves.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's own clock.
    System,
    /// A clock that stands still until [`Clock::advance`] moves it.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A manual clock that shows `now`.
    pub fn manual(now: Millis) -> Clock {
        Clock::Manual(Arc::new(AtomicI64::new(now)))
    }

    /// The time now, in milliseconds since the Unix epoch.
    pub fn now(&self) -> Millis {
        match self {
            #[expect(clippy::disallowed_methods, reason = "the one place that reads the system clock")]
            Clock::System => chrono::Utc::now().timestamp_millis(),
            Clock::Manual(now) => now.load(Ordering::SeqCst),
        }
    }

    /// Moves a manual clock forward; a system clock is left as it is.
    pub fn advance(&self, by: Duration) {
        if let Clock::Manual(now) = self {
            now.fetch_add(by.as_millis() as i64, Ordering::SeqCst);
        }
    }
}
