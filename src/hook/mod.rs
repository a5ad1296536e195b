//! The door: `POST /hook`. Verified before a byte is parsed, durable before it is acknowledged, worked on later.

pub mod event;
pub mod signature;

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use tokio::sync::Notify;

use crate::clock::{Clock, Millis};
use crate::hook::event::Event;
use crate::hook::signature::Verifier;
use crate::store::inbox::{Delivery, Inbox, Refused, Taken};
use crate::store::{Store, setting};
use crate::telemetry::Metrics;

/// GitLab sends no body over 25 MB, so nothing larger is a delivery.
pub const BODY_LIMIT: usize = 25 * 1024 * 1024;
/// An oversized body is read to its end and thrown away up to this size, so that the sender hears its 413.
const DISCARD_LIMIT: usize = 4 * BODY_LIMIT;

/// Large bodies that are being read may take so much memory together, whoever sends them.
const BUFFERED_LIMIT: usize = 4 * BODY_LIMIT;
/// The beginning of each body is not counted: what GitLab sends is a few KB, and comes in whatever others send.
const SMALL: usize = 64 * 1024;
/// A body takes no longer than this; GitLab itself gives up after ten seconds.
const BODY_TIME: Duration = Duration::from_secs(30);

/// How often a delivery without proof is written down, in milliseconds.
const UNPROVEN_EVERY: Millis = 60_000;

/// How long `/readyz` waits for the database; probes wait a few seconds themselves.
const PING: Duration = Duration::from_secs(2);

/// User ids the bot has or has had: events they caused are its own.
#[derive(Clone, Debug, Default)]
pub struct OwnIds(Arc<RwLock<Vec<u64>>>);

impl OwnIds {
    /// Whether `user` is the bot.
    pub fn contains(&self, user: u64) -> bool {
        self.0.read().is_ok_and(|ids| ids.contains(&user))
    }

    /// Adds an id.
    pub fn add(&self, user: u64) {
        if let Ok(mut ids) = self.0.write()
            && !ids.contains(&user)
        {
            ids.push(user);
        }
    }

    /// All ids, the current one last.
    pub fn all(&self) -> Vec<u64> {
        self.0.read().map(|ids| ids.clone()).unwrap_or_default()
    }
}

/// What the door needs.
#[derive(Clone)]
pub struct Door {
    /// Checks the proof of origin.
    pub verifier: Arc<Verifier>,
    /// The way to the disk.
    pub inbox: Inbox,
    /// For `/readyz`.
    pub store: Store,
    /// The time.
    pub clock: Clock,
    /// Wakes the workers.
    pub wake: Arc<Notify>,
    /// Recognises the bot's own events.
    pub own: OwnIds,
    /// Counters.
    pub metrics: Metrics,
    /// When a delivery without proof was last written down, in milliseconds.
    pub unproven: Arc<AtomicI64>,
    /// Bytes of bodies that are being read.
    pub buffered: Arc<AtomicUsize>,
}

/// The public listener's routes: `/hook`, `/healthz`, `/readyz`. Nothing else is public.
pub fn router(door: Door) -> Router {
    Router::new()
        .route("/hook", post(hook))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .with_state(door)
}

/// What a delivery was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    Ignored,
    Duplicate,
    Unproven(&'static str),
    TooLarge,
    Unreadable,
    NotJson,
    Away,
}

impl Answer {
    fn word(self) -> &'static str {
        match self {
            Answer::Accepted => "accepted",
            Answer::Ignored => "ignored",
            Answer::Duplicate => "duplicate",
            Answer::Unproven(_) => "unproven",
            Answer::TooLarge => "too_large",
            Answer::Unreadable => "unreadable",
            Answer::NotJson => "not_json",
            Answer::Away => "store_away",
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Answer::Accepted => (StatusCode::OK, "accepted\n"),
            Answer::Ignored => (StatusCode::OK, "ignored\n"),
            Answer::Duplicate => (StatusCode::OK, "already taken\n"),
            Answer::Unproven(_) => (StatusCode::UNAUTHORIZED, "the proof of origin is missing or wrong\n"),
            Answer::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "the body is over 25 MiB\n"),
            Answer::Unreadable => (StatusCode::BAD_REQUEST, "the body ended early\n"),
            Answer::NotJson => (StatusCode::BAD_REQUEST, "the body is not JSON\n"),
            Answer::Away => (StatusCode::SERVICE_UNAVAILABLE, "try again later\n"),
        };
        (status, text).into_response()
    }
}

async fn hook(State(door): State<Door>, headers: HeaderMap, body: Body) -> Answer {
    let began = std::time::Instant::now();
    let answer = take(&door, &headers, body).await;
    door.metrics.hook(answer.word(), began.elapsed());
    if let Answer::Unproven(why) = answer {
        tracing::warn!(why, "a delivery without proof was refused");
        if headers.contains_key("x-gitlab-event") {
            tokio::spawn(remember_unproven(door));
        }
    } else {
        tracing::debug!(outcome = answer.word(), "a delivery was answered");
    }
    answer
}

/// For `check`, which is another process. Anybody may cause it, so it costs one write a minute at most.
async fn remember_unproven(door: Door) {
    let now = door.clock.now();
    let last = door.unproven.load(Ordering::Relaxed);
    let free = now - last >= UNPROVEN_EVERY;
    if !free || door.unproven.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    if let Err(error) = door.store.set(setting::UNPROVEN, &now.to_string()).await {
        tracing::warn!(%error, "a delivery without proof could not be remembered");
    }
}

async fn take(door: &Door, headers: &HeaderMap, body: Body) -> Answer {
    let now = door.clock.now();
    // Of a body that cannot be proven nothing is kept; it is read, so that the sender hears the answer.
    let provable = door.verifier.provable(headers, now);
    let mut share = Buffered { door, taken: 0 };
    let reading = read(headers, body, provable.is_ok().then_some(&mut share));
    let bytes = match tokio::time::timeout(BODY_TIME, reading).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(answer)) => return answer,
        Err(_) => return Answer::Unreadable,
    };
    if let Err(why) = provable {
        return Answer::Unproven(why);
    }
    if let Err(why) = door.verifier.verify(headers, &bytes, now) {
        return Answer::Unproven(why);
    }
    let event = match Event::parse(&bytes) {
        Ok(event) => event,
        Err(_) => {
            // For `check`, which is another process. Losing it is no harm: the next one tells it again.
            if let Err(error) = door.store.set(setting::NOT_JSON, &now.to_string()).await {
                tracing::warn!(%error, "a delivery that is not JSON could not be remembered");
            }
            return Answer::NotJson;
        }
    };
    let wish = event.wish(|user| door.own.contains(user));
    let ignored = wish == crate::store::inbox::Wish::Nothing;
    let delivery = Delivery { id: delivery_id(headers, &bytes), wish, received_at: now };
    match door.inbox.take(delivery).await {
        Ok(Taken::Duplicate) => Answer::Duplicate,
        Ok(Taken::New) if ignored => Answer::Ignored,
        Ok(Taken::New) => {
            door.wake.notify_one();
            Answer::Accepted
        }
        Err(Refused::Overload | Refused::Away) => Answer::Away,
    }
}

/// What one delivery holds of the memory for large bodies; given back when it is answered.
struct Buffered<'d> {
    door: &'d Door,
    taken: usize,
}

impl Buffered<'_> {
    fn take(&mut self, bytes: usize) -> Result<(), Answer> {
        self.taken += bytes;
        let all = self.door.buffered.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if all > BUFFERED_LIMIT { Err(Answer::Away) } else { Ok(()) }
    }
}

impl Drop for Buffered<'_> {
    fn drop(&mut self) {
        self.door.buffered.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

/// Reads the body up to the limit. What is over it, and all where there is no `share` of the memory for it, is discarded.
async fn read(
    headers: &HeaderMap,
    body: Body,
    mut share: Option<&mut Buffered<'_>>,
) -> Result<Bytes, Answer> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.parse::<usize>().ok())
        .unwrap_or(0);
    let mut kept = Vec::with_capacity(announced.min(64 * 1024));
    let mut seen = 0usize;
    let mut stream = body.into_data_stream();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| Answer::Unreadable)?;
        seen += chunk.len();
        if seen > DISCARD_LIMIT {
            break;
        }
        if seen > BODY_LIMIT {
            kept = Vec::new();
        } else if let Some(share) = &mut share {
            share.take(chunk.len().min(seen.saturating_sub(SMALL)))?;
            kept.extend_from_slice(&chunk);
        }
    }
    if seen > BODY_LIMIT { Err(Answer::TooLarge) } else { Ok(Bytes::from(kept)) }
}

/// What recognises a repetition. The headers are trusted only as names: the longest that is kept is 200 bytes.
fn delivery_id(headers: &HeaderMap, body: &[u8]) -> String {
    for name in ["webhook-id", "idempotency-key"] {
        if let Some(id) = headers.get(name).and_then(|v| v.to_str().ok())
            && !id.is_empty()
            && id.len() <= 200
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b':'))
        {
            return id.to_owned();
        }
    }
    let hash: String = Sha256::digest(body).iter().map(|b| format!("{b:02x}")).collect();
    format!("body:{hash}")
}

async fn ready(State(door): State<Door>) -> Response {
    let answered = tokio::time::timeout(PING, door.store.ping()).await;
    if !matches!(answered, Ok(Ok(()))) {
        tracing::warn!("not ready: the database does not answer");
        return (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n").into_response();
    }
    if !door.metrics.worker_alive(door.clock.now()) {
        return (
            StatusCode::SERVICE_UNAVAILABLE,
            "the queue is not moving: no worker has looked at it for a minute\n",
        )
            .into_response();
    }
    (StatusCode::OK, "ready\n").into_response()
}
