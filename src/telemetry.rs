//! Logs as sentences with fields, the Prometheus metrics, and traces for whoever collects them.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
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

/// The words for what became of a delivery.
const HOOKS: [&str; 8] =
    ["accepted", "duplicate", "ignored", "unproven", "too_large", "not_json", "unreadable", "store_away"];

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
        // A counter that does not exist is no zero: nothing could be said of what never came.
        for outcome in HOOKS {
            let _ = inner.deliveries.get_or_create(&Outcome { outcome });
        }
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
/// `format` says otherwise. `RUST_LOG` filters; dependencies speak from `warn` on. Traces are sent as long as what it
/// returns is held.
pub fn init(format: &str) -> Traces {
    use std::io::IsTerminal;
    use tracing_subscriber::{EnvFilter, Layer, filter, prelude::*};

    let json = match format {
        "json" => true,
        "text" => false,
        _ => !std::io::stderr().is_terminal(),
    };
    let wanted = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("signpost=info,warn"));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = if json { lines.json().boxed() } else { lines.boxed() };
    // Spans are for the traces; a line of the log says by itself what it is about.
    let lines = lines.with_filter(filter::filter_fn(|metadata| metadata.is_event())).with_filter(wanted);
    let (traces, refusal) = match Traces::from_env() {
        Ok(traces) => (traces, None),
        Err(error) => (Traces(None), Some(error)),
    };
    let spans = traces.0.as_ref().map(|provider| {
        let own = filter::Targets::new().with_target("signpost", tracing::Level::INFO);
        let layer = tracing_opentelemetry::layer().with_location(false).with_threads(false);
        layer.with_tracer(provider.tracer("signpost")).with_filter(own)
    });
    // A second initialisation in one process (tests) is no fault.
    let _ = tracing_subscriber::registry().with(lines).with(spans).try_init();
    if let Some(error) = refusal {
        tracing::error!(%error, "no traces are sent: OTEL_EXPORTER_OTLP_ENDPOINT cannot be used");
    }
    traces
}

/// The way of traces to a collector; what is still held is sent when this is dropped.
pub struct Traces(Option<SdkTracerProvider>);

impl Traces {
    /// Over OTLP/HTTP, when the standard variables name a collector; they also set headers, time-outs and sampling. Spans
    /// carry ids and numbers, fixed words and the templates of addresses.
    fn from_env() -> Result<Traces, opentelemetry_otlp::ExporterBuildError> {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if !set("OTEL_EXPORTER_OTLP_ENDPOINT") && !set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
            return Ok(Traces(None));
        }
        let exporter = opentelemetry_otlp::SpanExporter::builder().with_http().build()?;
        let mut resource = Resource::builder();
        if !set("OTEL_SERVICE_NAME") {
            resource = resource.with_service_name("signpost");
        }
        let provider =
            SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build());
        Ok(Traces(Some(provider.build())))
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Some(provider) = &self.0
            && let Err(error) = provider.shutdown()
        {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}
