//! The admin listener: the state at a glance, the list of gaps, decision trails, metrics. Reads only.
//!
//! Everything is drawn on the server and works without a script. What is shown comes from the store; titles of
//! issues are fetched from GitLab while a page is drawn ([`titles`]) and end with it.

pub mod access;
pub mod burndown;
mod gaps;
mod home;
mod metrics;
mod query;
mod thread;
pub mod titles;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use secrecy::SecretString;

use crate::admin::access::Access;
use crate::admin::titles::Titles;
use crate::answer::{WalkError, World};
use crate::clock::Clock;
use crate::config::Config;
use crate::gitlab::GitLab;
use crate::store::{Store, StoreError};
use crate::telemetry::Metrics;

/// What the admin listener needs. Cheap to clone.
#[derive(Clone)]
pub struct Admin {
    /// The configuration.
    pub config: Arc<Config>,
    /// Everything that is shown but titles.
    pub store: Store,
    /// The time.
    pub clock: Clock,
    /// The counters.
    pub metrics: Metrics,
    /// Where titles come from; without a source, coordinates are shown.
    pub titles: Option<Arc<dyn Titles>>,
    /// The client whose requests are counted in the metrics.
    pub gitlab: Option<GitLab>,
    /// Who may read it.
    pub access: Access,
}

impl Admin {
    /// The admin listener of a running service; titles come from its GitLab client.
    pub fn of(world: &World, metrics: &Metrics, token: Option<SecretString>) -> Admin {
        Admin {
            config: Arc::clone(&world.config),
            store: world.store.clone(),
            clock: world.clock.clone(),
            metrics: metrics.clone(),
            titles: Some(Arc::new(world.gitlab.clone())),
            gitlab: Some(world.gitlab.clone()),
            access: Access::new(&world.config, token),
        }
    }
}

/// The routes of the admin listener.
pub fn router(admin: Admin) -> Router {
    let access = admin.access.clone();
    Router::new()
        .route("/", get(home::page))
        .route("/gaps", get(gaps::page))
        .route("/gaps.json", get(gaps::json))
        .route("/gaps.csv", get(gaps::csv))
        .route("/threads/{project_id}/{iid}", get(thread::page))
        .route("/metrics", get(metrics::page))
        .route("/style.css", get(style))
        .fallback(async || Failure::NotFound)
        .with_state(admin)
        .layer(middleware::from_fn_with_state(access, access::guard))
        .layer(middleware::from_fn(headers))
}

/// What every page may load: its style sheet, nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    for (name, value) in
        [("cross-origin-opener-policy", "same-origin"), ("cross-origin-resource-policy", "same-origin")]
    {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    // Titles are shown to whoever asks now; they stay in no cache.
    let stored = HeaderValue::from_static("no-store");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(stored);
    response
}

async fn style() -> impl IntoResponse {
    let headers =
        [(header::CONTENT_TYPE, "text/css; charset=utf-8"), (header::CACHE_CONTROL, "private, max-age=300")];
    (headers, include_str!("templates/style.css"))
}

/// Why a page could not be drawn.
enum Failure {
    NotFound,
    Store(StoreError),
    Walk(WalkError),
    Template(askama::Error),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::Store(error)
    }
}

impl From<WalkError> for Failure {
    fn from(error: WalkError) -> Failure {
        match error {
            WalkError::Store(error) => Failure::Store(error),
            error => Failure::Walk(error),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        match self {
            Failure::NotFound => (StatusCode::NOT_FOUND, "there is nothing here\n").into_response(),
            Failure::Store(error) => {
                tracing::warn!(%error, "an admin page could not be drawn: the database does not answer");
                (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n").into_response()
            }
            Failure::Walk(error) => {
                tracing::warn!(%error, "an admin page could not be drawn");
                (StatusCode::SERVICE_UNAVAILABLE, "try again later\n").into_response()
            }
            Failure::Template(error) => {
                tracing::error!(%error, "an admin page could not be drawn");
                (StatusCode::INTERNAL_SERVER_ERROR, "the page could not be drawn\n").into_response()
            }
        }
    }
}

/// A drawn page.
fn draw(template: &impl Template) -> Result<Response, Failure> {
    Ok(Html(template.render().map_err(Failure::Template)?).into_response())
}

/// A number as people read it.
fn two(number: &f64) -> String {
    format!("{number:.2}")
}
