//! Answers, in the several forms that GitLab's refusals have.

use super::status;
use crate::gitlab::faults::Fault;
use crate::gitlab::git::object_id;
use crate::gitlab::time::system_now;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Response};
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::io;
use std::time::Duration;

/// What an answer carries.
#[derive(Clone, Debug)]
pub enum Content {
    Json(Value),
    Bytes(Vec<u8>, &'static str),
    Nothing,
}

/// An answer on its way out.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub content: Content,
}

impl Answer {
    /// A status with JSON.
    pub fn json(status: u16, body: Value) -> Answer {
        Answer { status, headers: Vec::new(), content: Content::Json(body) }
    }

    /// 200 with JSON.
    pub fn ok(body: Value) -> Answer {
        Answer::json(200, body)
    }

    /// 201 with JSON.
    pub fn created(body: Value) -> Answer {
        Answer::json(201, body)
    }

    /// 204.
    pub fn no_content() -> Answer {
        Answer { status: 204, headers: Vec::new(), content: Content::Nothing }
    }

    /// 200 with bytes.
    pub fn bytes(bytes: Vec<u8>, kind: &'static str) -> Answer {
        Answer { status: 200, headers: Vec::new(), content: Content::Bytes(bytes, kind) }
    }

    /// The same with one more header.
    pub fn with(mut self, name: &str, value: impl ToString) -> Answer {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// No such address.
    pub fn no_route() -> Answer {
        Answer::json(404, json!({ "error": "404 Not Found" }))
    }

    /// Not there, or not for this token: GitLab does not say which.
    pub fn missing(what: &str) -> Answer {
        let text = if what.is_empty() { "404 Not found".to_owned() } else { format!("404 {what} Not Found") };
        Answer::json(404, json!({ "message": text }))
    }

    /// No token where one is needed, or one that nobody knows.
    pub fn unauthorized() -> Answer {
        Answer::json(401, json!({ "message": "401 Unauthorized" }))
    }

    /// A token that is over.
    pub fn dead_token(why: &str) -> Answer {
        let text = format!("Token is {why}. You can either do re-authorization or token refresh.");
        Answer::json(401, json!({ "error": "invalid_token", "error_description": text }))
    }

    /// A token whose scopes do not reach.
    pub fn narrow_scope(needed: &str) -> Answer {
        let text = "The request requires higher privileges than provided by the access token.";
        Answer::json(
            403,
            json!({ "error": "insufficient_scope", "error_description": text, "scope": needed }),
        )
    }

    /// A role that does not reach.
    pub fn forbidden() -> Answer {
        Answer::json(403, json!({ "message": "403 Forbidden" }))
    }

    /// A parameter that is missing or wrong.
    pub fn bad(error: &str) -> Answer {
        Answer::json(400, json!({ "error": error }))
    }

    /// A limit of one feature.
    pub fn too_many() -> Answer {
        let text = "This endpoint has been requested too many times. Try again later.";
        Answer::json(429, json!({ "message": { "error": text } }))
    }

    /// The answer of a fault that is nothing but an answer.
    pub(super) fn of_fault(fault: &Fault) -> Answer {
        let usual = |code: u16| json!({ "message": format!("{code} {}", status(code).canonical_reason().unwrap_or("")) });
        match fault {
            Fault::TooMany { retry_after: None } => Answer::too_many(),
            Fault::TooMany { retry_after: Some(seconds) } => rate_limited(*seconds),
            Fault::Json(code) => Answer::json(*code, usual(*code)),
            Fault::Body(code, text) => {
                Answer { status: *code, ..Answer::bytes(text.clone().into_bytes(), "application/json") }
            }
            Fault::Html(code) => {
                let page =
                    format!("<html><head><title>{code}</title></head><body><h1>{code}</h1></body></html>");
                Answer { status: *code, ..Answer::bytes(page.into_bytes(), "text/html") }
            }
            Fault::Redirect(to) => Answer { status: 302, ..Answer::no_content() }.with("Location", to),
            Fault::Empty(code) => Answer { status: *code, ..Answer::no_content() },
            _ => Answer { status: 500, ..Answer::no_content() },
        }
    }

    /// Gives JSON answers to `GET` an `ETag`, and answers 304 to who has them already.
    pub(super) fn conditional(mut self, method: &Method, headers: &HeaderMap) -> Answer {
        if let (&Method::GET, 200, Content::Json(body)) = (method, self.status, &self.content) {
            let tag = format!("W/\"{}\"", &object_id("answer", body.to_string().as_bytes())[..32]);
            if headers.get("if-none-match").is_some_and(|value| value.as_bytes() == tag.as_bytes()) {
                (self.status, self.content) = (304, Content::Nothing);
            }
            self.headers.push(("ETag".into(), tag));
        }
        if method == Method::HEAD {
            self.content = Content::Nothing;
        }
        self
    }

    fn encode(&self) -> (Vec<u8>, Option<&'static str>) {
        match &self.content {
            Content::Json(body) => (body.to_string().into_bytes(), Some("application/json")),
            Content::Bytes(bytes, kind) => (bytes.clone(), Some(kind)),
            Content::Nothing => (Vec::new(), None),
        }
    }

    fn respond(self, body: Body, kind: Option<&'static str>) -> Response<Body> {
        let mut response = Response::builder().status(status(self.status));
        for (name, value) in self
            .headers
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .chain(kind.map(|k| ("Content-Type", k)))
        {
            response = response.header(name, value);
        }
        response.body(body).expect("the fake's own headers are valid")
    }

    pub(super) fn into_response(self) -> Response<Body> {
        let (bytes, kind) = self.encode();
        self.respond(Body::from(bytes), kind)
    }

    /// The first half, and then the connection closes.
    pub(super) fn cut_off(self) -> Response<Body> {
        let (bytes, kind) = self.encode();
        let half = Bytes::copy_from_slice(&bytes[..bytes.len() / 2]);
        let parts = [Ok(half), Err(io::Error::from(io::ErrorKind::ConnectionReset))];
        let slowly = |part: Result<Bytes, io::Error>| async {
            if part.is_err() {
                // The half must be on its way before the end of the connection overtakes it.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            part
        };
        self.respond(Body::from_stream(futures_util::stream::iter(parts).then(slowly)), kind)
    }

    /// The first half as if it were the whole.
    pub(super) fn garbled(self) -> Response<Body> {
        let (bytes, kind) = self.encode();
        let half = bytes[..bytes.len() / 2].to_vec();
        self.respond(Body::from(half), kind)
    }
}

fn rate_limited(seconds: u64) -> Answer {
    let reset = system_now() / 1000 + seconds as i64;
    Answer { status: 429, ..Answer::bytes(b"Retry later\n".to_vec(), "text/plain") }
        .with("Retry-After", seconds)
        .with("RateLimit-Limit", 2000)
        .with("RateLimit-Name", "throttle_authenticated_api")
        .with("RateLimit-Observed", 2001)
        .with("RateLimit-Remaining", 0)
        .with("RateLimit-Reset", reset)
}
