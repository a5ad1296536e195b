//! The fake's time: a calendar of its own while a world is laid out, somebody's clock afterwards.

use chrono::{DateTime, Utc};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Milliseconds since the Unix epoch.
pub type Millis = i64;

/// 2026-01-12 09:00:00 UTC: when the first thing in a seeded world happened.
const FIRST_DAY: Millis = 1_768_208_400_000;
const MINUTE: Millis = 60_000;

/// A source of "now".
pub type Now = Arc<dyn Fn() -> Millis + Send + Sync>;

/// Where a world takes its times from.
pub enum Time {
    /// While a world is laid out every event is a minute after the one before, so that ids of commits and
    /// the order of things are the same in every run.
    Seeding(AtomicI64),
    /// A running world follows this clock.
    Live(Now),
}

impl Time {
    /// The calendar of a world that is being laid out.
    pub fn seeding() -> Time {
        Time::Seeding(AtomicI64::new(FIRST_DAY))
    }

    /// Follows the machine's clock.
    pub fn system() -> Time {
        Time::Live(Arc::new(system_now))
    }

    /// The time of the event that happens now.
    pub fn now(&self) -> Millis {
        match self {
            Time::Seeding(next) => next.fetch_add(MINUTE, Ordering::Relaxed),
            Time::Live(now) => now(),
        }
    }
}

/// The machine's clock, in milliseconds.
#[expect(clippy::disallowed_methods, reason = "the fake stands for another machine and has its own clock")]
pub fn system_now() -> Millis {
    Utc::now().timestamp_millis()
}

fn utc(at: Millis) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(at).expect("times of a world are near the present")
}

/// `2026-10-05T09:14:22.000Z`, as the REST interface writes times.
pub fn rest(at: Millis) -> String {
    utc(at).format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// `2026-10-05 09:14:22 UTC`, as queued deliveries write times.
pub fn hook(at: Millis) -> String {
    utc(at).format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// `2026-10-05T09:14:22Z`, as project and subgroup deliveries write times.
pub fn short(at: Millis) -> String {
    utc(at).format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `2026-10-05T09:14:22+00:00`, as commits carry times.
pub fn offset(at: Millis) -> String {
    utc(at).format("%Y-%m-%dT%H:%M:%S+00:00").to_string()
}

/// `2026-10-05`.
pub fn day(at: Millis) -> String {
    utc(at).format("%Y-%m-%d").to_string()
}

/// Reads any of the forms above, and offsets.
pub fn parse(text: &str) -> Option<Millis> {
    DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp_millis()).or_else(|| {
        let date = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
        Some(date.and_hms_opt(0, 0, 0)?.and_utc().timestamp_millis())
    })
}
