//! Logs as sentences with fields, and the Prometheus metrics.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::clock::Millis;

/// A worker that has not looked at the queue for this long is taken for dead.
const WORKER_SILENCE: Millis = 60_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: String,
}

/// The program's counters; owned by the application, so that tests do not share them. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    deliveries: Family<Outcome, Counter>,
    hook_seconds: Histogram,
    walks: Family<Outcome, Counter>,
    walk_seconds: Histogram,
    queue: Family<StateLabel, Gauge>,
    queue_oldest: Gauge,
    sections: Gauge,
    projects: Family<StateLabel, Gauge>,
    gaps: Family<StateLabel, Gauge>,
    token_expires: Gauge,
    breaker: Gauge,
    budget: Gauge,
    worker_seen: AtomicI64,
}

/// What the gauges show, read from the store when the page is drawn.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    /// Queue rows by state.
    pub queue: Vec<(String, i64)>,
    /// Seconds since the longest waiting row became due.
    pub queue_oldest_seconds: i64,
    /// Sections in the corpus.
    pub sections: i64,
    /// Projects by state.
    pub projects: Vec<(String, i64)>,
    /// Gaps by state.
    pub gaps: Vec<(String, i64)>,
    /// Whether the breaker is open.
    pub breaker_open: bool,
    /// Notes that the busiest project may still get within the hour.
    pub budget_remaining: i64,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics::new()
    }
}

impl Metrics {
    /// Fresh counters.
    pub fn new() -> Metrics {
        let seconds =
            || Histogram::new([0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0]);
        let mut inner = Inner {
            registry: Registry::default(),
            deliveries: Family::default(),
            hook_seconds: seconds(),
            walks: Family::default(),
            walk_seconds: seconds(),
            queue: Family::default(),
            queue_oldest: Gauge::default(),
            sections: Gauge::default(),
            projects: Family::default(),
            gaps: Family::default(),
            token_expires: Gauge::default(),
            breaker: Gauge::default(),
            budget: Gauge::default(),
            worker_seen: AtomicI64::new(i64::MAX),
        };
        let r = &mut inner.registry;
        r.register(
            "signpost_hook_deliveries",
            "Deliveries by what they were answered",
            inner.deliveries.clone(),
        );
        r.register("signpost_hook_seconds", "Time to answer a delivery", inner.hook_seconds.clone());
        r.register("signpost_walk_outcomes", "Looks at a place by what came of them", inner.walks.clone());
        r.register("signpost_walk_seconds", "Time of one look at a place", inner.walk_seconds.clone());
        r.register("signpost_queue_threads", "Rows of the queue by state", inner.queue.clone());
        r.register(
            "signpost_queue_oldest_seconds",
            "Age of the longest waiting row",
            inner.queue_oldest.clone(),
        );
        r.register("signpost_corpus_sections", "Sections that are searched", inner.sections.clone());
        r.register("signpost_corpus_projects", "Projects by state", inner.projects.clone());
        r.register("signpost_gaps", "Entries of the list of gaps by state", inner.gaps.clone());
        r.register(
            "signpost_token_expires_timestamp_seconds",
            "When GitLab's token expires",
            inner.token_expires.clone(),
        );
        r.register(
            "signpost_breaker_open",
            "1 while the bot has fallen back to labels only",
            inner.breaker.clone(),
        );
        r.register(
            "signpost_budget_remaining",
            "Notes that the busiest project may still get within the hour",
            inner.budget.clone(),
        );
        Metrics(Arc::new(inner))
    }

    /// Counts a delivery.
    pub fn hook(&self, outcome: &'static str, took: Duration) {
        self.0.deliveries.get_or_create(&Outcome { outcome }).inc();
        self.0.hook_seconds.observe(took.as_secs_f64());
    }

    /// Counts a look at a place.
    pub fn walk(&self, outcome: &'static str, took: Duration) {
        self.0.walks.get_or_create(&Outcome { outcome }).inc();
        self.0.walk_seconds.observe(took.as_secs_f64());
    }

    /// Notes that a worker looked at the queue.
    pub fn worker_seen(&self, now: Millis) {
        self.0.worker_seen.store(now, Ordering::Relaxed);
    }

    /// Whether a worker has looked at the queue within the last minute; true before the first start.
    pub fn worker_alive(&self, now: Millis) -> bool {
        let seen = self.0.worker_seen.load(Ordering::Relaxed);
        seen == i64::MAX || now - seen < WORKER_SILENCE
    }

    /// Notes when the token expires, in seconds since the epoch.
    pub fn token_expires(&self, at: i64) {
        self.0.token_expires.set(at);
    }

    /// The page for Prometheus, with `levels` as the gauges and `further` appended.
    pub fn page(&self, levels: &Levels, further: &str) -> String {
        let inner = &self.0;
        for (family, list) in
            [(&inner.queue, &levels.queue), (&inner.projects, &levels.projects), (&inner.gaps, &levels.gaps)]
        {
            // A state that nothing is in any more must not show what it showed last.
            family.clear();
            for (state, count) in list {
                family.get_or_create(&StateLabel { state: state.clone() }).set(*count);
            }
        }
        inner.queue_oldest.set(levels.queue_oldest_seconds);
        inner.sections.set(levels.sections);
        inner.breaker.set(i64::from(levels.breaker_open));
        inner.budget.set(levels.budget_remaining);
        let mut page = String::new();
        if prometheus_client::encoding::text::encode(&mut page, &inner.registry).is_err() {
            let _ = writeln!(page, "# the metrics could not be written");
        }
        let end = page.rfind("# EOF").unwrap_or(page.len());
        page.insert_str(end, further);
        page
    }
}

/// Installs the subscriber: sentences with fields, on standard error; JSON where that is no terminal, unless
/// `format` says otherwise. `RUST_LOG` filters; dependencies speak from `warn` on.
pub fn init(format: &str) {
    use std::io::IsTerminal;
    use tracing_subscriber::EnvFilter;

    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("signpost=info,warn"));
    let json = match format {
        "json" => true,
        "text" => false,
        _ => !std::io::stderr().is_terminal(),
    };
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second initialisation in one process (tests) is no fault.
    let _ = if json { builder.json().try_init() } else { builder.try_init() };
}
