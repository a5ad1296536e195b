//! The REST interface under `/api/v4`, as far as a documentation bot uses it.

mod answer;
mod awards;
mod call;
mod code;
mod commits;
mod files;
mod groups;
mod hooks;
mod issues;
mod labels;
mod merges;
mod notes;
mod people;
mod projects;
mod routes;
pub mod shape;

pub use answer::{Answer, Content};
pub use call::Call;

use super::faults::{Fault, Logged};
use super::wire::Doom;
use super::{State, lock};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, DefaultBodyLimit};
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri};
use serde_json::json;
use std::sync::Arc;

/// What an endpoint gives: an answer, or the answer of a check that failed on the way.
pub type Outcome = Result<Answer, Answer>;

/// Every address of the instance.
pub(super) fn router(state: Arc<State>) -> Router {
    let answer = move |ConnectInfo(doom): ConnectInfo<Doom>,
                       method: Method,
                       uri: Uri,
                       headers: HeaderMap,
                       body: Bytes| {
        let state = state.clone();
        async move { Arrival { method, uri, headers, body, doom }.answer(&state).await }
    };
    Router::new().fallback(answer).layer(DefaultBodyLimit::disable())
}

/// A request as it came in.
struct Arrival {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
    doom: Doom,
}

impl Arrival {
    /// The answer, dated by the world's own time.
    async fn answer(self, state: &State) -> Response<Body> {
        let mut response = self.given(state).await;
        let now = chrono::DateTime::from_timestamp_millis(lock(&state.world).time.now());
        let date = now.map(|now| now.format("%a, %d %b %Y %H:%M:%S GMT").to_string());
        if let Some(date) = date.and_then(|date| date.parse().ok()) {
            response.headers_mut().insert(axum::http::header::DATE, date);
        }
        response
    }

    async fn given(self, state: &State) -> Response<Body> {
        let (fault, latency) = {
            let mut faults = lock(&state.faults);
            (faults.strike(self.method.as_str(), self.path()), faults.latency())
        };
        tokio::time::sleep(latency).await;
        match fault {
            None => self.done(state).await.into_response(),
            Some(Fault::Slow(more)) => {
                tokio::time::sleep(more).await;
                self.done(state).await.into_response()
            }
            Some(Fault::Hang) => {
                self.log(state, None, None, true);
                std::future::pending().await
            }
            Some(Fault::ResetBefore) => {
                self.log(state, None, None, true);
                self.reset()
            }
            Some(Fault::ResetAfter) => {
                self.done(state).await;
                self.reset()
            }
            Some(Fault::Cut) => self.done(state).await.cut_off(),
            Some(Fault::Garbled) => self.done(state).await.garbled(),
            Some(other) => {
                let answer = Answer::of_fault(&other);
                self.log(state, Some(answer.status), None, true);
                answer.into_response()
            }
        }
    }

    fn reset(&self) -> Response<Body> {
        self.doom.seal();
        Response::new(Body::empty())
    }

    fn path(&self) -> &str {
        self.uri.path().strip_prefix("/api/v4").unwrap_or(self.uri.path())
    }

    /// Does what is asked, sends the test deliveries it asks for, and gives the answer.
    async fn done(&self, state: &State) -> Answer {
        let (mut answer, user, routed) = self.decide(state);
        let tests = std::mem::take(&mut lock(&state.world).tests);
        for test in tests {
            let status = state.post(&test, None).await;
            if !status.is_some_and(|status| (200..300).contains(&status)) {
                let why = status.map_or("no answer".to_owned(), |status| format!("HTTP {status}"));
                answer = Answer::json(422, json!({ "message": format!("Hook execution failed: {why}") }));
            }
        }
        self.log(state, Some(answer.status), user, routed);
        answer
    }

    /// The answer, who asked, and whether there is such an address.
    fn decide(&self, state: &State) -> (Answer, Option<String>, bool) {
        let mut world = lock(&state.world);
        let call = Call::read(&self.method, &self.uri, &self.headers, &self.body);
        world.chain =
            self.headers.get("x-gitlab-event-uuid").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (outcome, routed) = match self.uri.path().starts_with("/api/v4/") {
            true => call.serve(&mut world),
            false => (Err(Answer::no_route()), false),
        };
        world.chain = None;
        let caused = !world.outbox.is_empty();
        let user = call
            .token(&world)
            .and_then(|token| world.users.get(&token.user))
            .map(|user| user.username.clone());
        drop(world);
        let answer = outcome.unwrap_or_else(|answer| answer).conditional(&self.method, &self.headers);
        if caused {
            state.wake.notify_one();
        }
        (answer, user, routed)
    }

    fn log(&self, state: &State, status: Option<u16>, user: Option<String>, routed: bool) {
        lock(&state.log).push(Logged {
            method: self.method.to_string(),
            path: self.path().to_owned(),
            query: self.uri.query().unwrap_or_default().to_owned(),
            body: String::from_utf8_lossy(&self.body).into_owned(),
            at: std::time::Instant::now(),
            status,
            user,
            routed,
        });
    }
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
