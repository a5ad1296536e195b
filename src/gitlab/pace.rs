//! How fast to ask: at most so many requests at once, one at a time when GitLab says that little is left, and
//! none while it asked to be left alone.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

use http::HeaderMap;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::clock::{Clock, Millis};

/// The longest pause that an answer can impose: GitLab's own windows are a minute to an hour.
const PAUSE_MAX: Duration = Duration::from_secs(3600);
/// The first pause after a 429 that does not say how long; it doubles with each further one, up to a minute,
/// which is the window of the limits that answer so.
const UNSAID: Duration = Duration::from_secs(2);
const UNSAID_MAX: Duration = Duration::from_secs(60);

/// Requests that GitLab counts separately: a limit reached in one must not stop the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Everything else.
    General,
    /// Posting notes (60 a minute on GitLab.com).
    Notes,
    /// Archives (5 a minute and user, everywhere).
    Archive,
    /// Hook tests (5 a minute).
    HookTest,
}

const LANES: usize = 4;

/// The shared brake of all clones of a client.
#[derive(Debug)]
pub(super) struct Pace {
    clock: Clock,
    gate: Semaphore,
    single: Semaphore,
    scarce: AtomicBool,
    paused: [AtomicI64; LANES],
    strikes: [AtomicU32; LANES],
}

/// Leave to send one request; given back on drop.
pub(super) struct Pass<'a>(#[expect(dead_code, reason = "held, not read")] [Option<SemaphorePermit<'a>>; 2]);

impl Pace {
    pub(super) fn new(clock: Clock, concurrency: usize) -> Pace {
        Pace {
            clock,
            gate: Semaphore::new(concurrency.max(1)),
            single: Semaphore::new(1),
            scarce: AtomicBool::new(false),
            paused: Default::default(),
            strikes: Default::default(),
        }
    }

    /// Waits for a free place. Fails at once with the time that is left when the lane is paused.
    pub(super) async fn enter(&self, lane: Lane) -> Result<Pass<'_>, Duration> {
        self.open(lane)?;
        let permit = self.gate.acquire().await.ok();
        let single = match self.scarce.load(Ordering::Relaxed) {
            true => self.single.acquire().await.ok(),
            false => None,
        };
        self.open(lane)?;
        Ok(Pass([permit, single]))
    }

    pub(super) fn now(&self) -> Millis {
        self.clock.now()
    }

    /// How long the lane is paused still.
    pub(super) fn left(&self, lane: Lane) -> Option<Duration> {
        let left = self.paused[lane as usize].load(Ordering::Relaxed) - self.clock.now();
        (left > 0).then(|| Duration::from_millis(left as u64))
    }

    fn open(&self, lane: Lane) -> Result<(), Duration> {
        self.left(lane).map_or(Ok(()), Err)
    }

    /// Learns from an answer, and returns how long it asks to wait.
    pub(super) fn observe(&self, lane: Lane, status: u16, headers: &HeaderMap) -> Option<Duration> {
        self.learn_scarcity(headers);
        let strikes = &self.strikes[lane as usize];
        let now = self.clock.now();
        let said = retry_after(headers, now);
        let pause = match status {
            429 => {
                let before = strikes.fetch_add(1, Ordering::Relaxed).min(8);
                said.or_else(|| reset(headers, now))
                    .unwrap_or_else(|| (UNSAID * 2u32.pow(before)).min(UNSAID_MAX))
            }
            503 => said?,
            _ => {
                strikes.store(0, Ordering::Relaxed);
                return None;
            }
        }
        .min(PAUSE_MAX);
        self.paused[lane as usize].fetch_max(now + pause.as_millis() as i64, Ordering::Relaxed);
        Some(pause)
    }

    /// Less than a tenth of the window's requests left: one at a time from here.
    fn learn_scarcity(&self, headers: &HeaderMap) {
        let remaining = number(headers, "ratelimit-remaining");
        let limit = number(headers, "ratelimit-limit");
        if let Some((remaining, limit)) = remaining.zip(limit) {
            self.scarce.store(remaining.saturating_mul(10) < limit, Ordering::Relaxed);
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    text(headers, name)?.parse().ok()
}

/// `Retry-After`: seconds, or an HTTP date.
fn retry_after(headers: &HeaderMap, now: Millis) -> Option<Duration> {
    let value = text(headers, "retry-after")?;
    match value.parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let until = chrono::DateTime::parse_from_rfc2822(value).ok()?.timestamp_millis();
            Some(Duration::from_millis(until.saturating_sub(now).max(0) as u64))
        }
    }
}

/// `RateLimit-Reset`: seconds since the epoch.
fn reset(headers: &HeaderMap, now: Millis) -> Option<Duration> {
    let until = i64::try_from(number(headers, "ratelimit-reset")?).ok()?.saturating_mul(1000);
    Some(Duration::from_millis(u64::try_from(until.saturating_sub(now)).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_792_000_000_000;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), value.parse().expect("a value")))
            .collect()
    }

    fn pace() -> (Pace, Clock) {
        let clock = Clock::manual(NOW);
        (Pace::new(clock.clone(), 8), clock)
    }

    #[tokio::test]
    async fn a_429_pauses_its_lane_for_as_long_as_it_says() {
        let (pace, clock) = pace();
        let asked = pace.observe(Lane::Notes, 429, &headers(&[("retry-after", "30")]));
        assert_eq!(asked, Some(Duration::from_secs(30)));
        assert_eq!(pace.enter(Lane::Notes).await.err(), Some(Duration::from_secs(30)));
        assert!(pace.enter(Lane::General).await.is_ok());
        clock.advance(Duration::from_secs(30));
        assert!(pace.enter(Lane::Notes).await.is_ok());
    }

    #[test]
    fn the_wait_is_read_as_seconds_date_or_reset() {
        let (pace, _) = pace();
        let date = chrono::DateTime::from_timestamp_millis(NOW + 90_000).expect("in range");
        let date = date.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let asked = |pairs: &[_]| pace.observe(Lane::General, 429, &headers(pairs));
        assert_eq!(asked(&[("retry-after", &date)]), Some(Duration::from_secs(90)));
        assert_eq!(asked(&[("ratelimit-reset", "1792000045")]), Some(Duration::from_secs(45)));
        assert_eq!(asked(&[("retry-after", "999999999")]), Some(PAUSE_MAX));
    }

    #[test]
    fn a_429_without_a_word_backs_off_further_each_time() {
        let (pace, _) = pace();
        let waits: Vec<u64> = (0..7)
            .map(|_| pace.observe(Lane::General, 429, &HeaderMap::new()).expect("a wait").as_secs())
            .collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 60, 60]);
        pace.observe(Lane::General, 200, &HeaderMap::new());
        assert_eq!(pace.observe(Lane::General, 429, &HeaderMap::new()), Some(UNSAID));
    }

    #[tokio::test]
    async fn when_little_is_left_requests_go_one_by_one() {
        let (pace, _) = pace();
        pace.observe(
            Lane::General,
            200,
            &headers(&[("ratelimit-limit", "100"), ("ratelimit-remaining", "3")]),
        );
        let held = pace.enter(Lane::General).await;
        let second = tokio::time::timeout(Duration::from_millis(20), pace.enter(Lane::General)).await;
        assert!(second.is_err());
        drop(held);
        assert!(pace.enter(Lane::General).await.is_ok());
        pace.observe(
            Lane::General,
            200,
            &headers(&[("ratelimit-limit", "100"), ("ratelimit-remaining", "90")]),
        );
        let _one = pace.enter(Lane::General).await;
        assert!(pace.enter(Lane::General).await.is_ok());
    }
}
