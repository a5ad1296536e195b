//! The one way a request goes out. All policy sits here: time-outs, where the token may travel, how much of a
//! body is read, what is tried twice, how fast, and what an answer means.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use gitlab::api::{ApiError, AsyncClient, AsyncQuery, Endpoint, RestClient};
use http::request::{Builder, Parts};
use http::{HeaderMap, HeaderValue, Method, Response, header};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use url::Url;

use crate::clock::{Clock, Millis};
use crate::gitlab::error::{Call, Error, judge, ours};
use crate::gitlab::pace::{Lane, Pace};
use crate::gitlab::route::{lane, template};

/// Requests at once, over all clones of a client.
const CONCURRENCY: usize = 8;
/// Further tries of a `GET` that failed in transport or with a 5xx; the queue does the patient retrying.
const QUICK_TRIES: u32 = 2;
/// Redirects followed: GitLab sends one, for a renamed project.
const REDIRECTS: usize = 3;

/// What one call may cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Bytes of the body, unpacked.
    pub(super) bytes: usize,
    /// From the first byte sent to the last one read.
    pub(super) time: Duration,
}

impl Limits {
    /// An answer in JSON: a page of a hundred rows of the largest kind stays below.
    pub(super) const JSON: Limits = Limits { bytes: 16 << 20, time: Duration::from_secs(30) };

    /// A body of at most so many bytes.
    pub(super) fn bytes(bytes: usize) -> Limits {
        Limits { bytes, ..Limits::JSON }
    }
}

/// The connection to one instance.
pub(super) struct Http {
    client: reqwest::Client,
    api: Url,
    token: SecretString,
    pace: Pace,
    /// GitLab's clock minus ours at the last answer, in milliseconds; `i64::MIN` before the first.
    skew: AtomicI64,
    clock: Clock,
    counts: Mutex<BTreeMap<(String, u16), u64>>,
    times: Mutex<Times>,
}

/// How often an endpoint answered with a status; status 0 means that no answer came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// Method and path template.
    pub endpoint: String,
    /// The status.
    pub status: u16,
    /// How often.
    pub times: u64,
}

/// Upper ends of the buckets in which the time of a request is counted, in seconds.
pub const TIMES: [f64; 11] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// How long requests took, from the first byte sent to the last one read or the failure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// Requests that took at most as long as the bucket of the same place in [`TIMES`], and no bucket before.
    pub buckets: [u64; TIMES.len()],
    /// All requests, those beyond the last bucket included.
    pub count: u64,
    /// Seconds of all requests together.
    pub sum: f64,
}

impl Times {
    fn observe(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        if let Some(at) = TIMES.iter().position(|end| seconds <= *end) {
            self.buckets[at] += 1;
        }
        self.count += 1;
        self.sum += seconds;
    }
}

impl Http {
    pub(super) fn new(base: &Url, token: SecretString, clock: Clock) -> Result<Http, Error> {
        let broken = |what| Error::Broken(Call::new("").because(what));
        if !may_carry_a_token(base) {
            return Err(broken(
                "the address must be https, or http on a loopback address, without user or query",
            ));
        }
        let mut base = base.clone();
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let client = reqwest::Client::builder()
            .user_agent(concat!("signpost/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(Duration::from_secs(5))
            .redirect(reqwest::redirect::Policy::none())
            .pool_idle_timeout(Duration::from_secs(60))
            .build()
            .map_err(|_| broken("no TLS to be had"))?;
        Ok(Http {
            client,
            api: base.join("api/v4/").map_err(|_| broken("no base address"))?,
            token,
            skew: AtomicI64::new(i64::MIN),
            pace: Pace::new(clock.clone(), CONCURRENCY),
            clock,
            counts: Mutex::default(),
            times: Mutex::default(),
        })
    }

    /// A view of the client for calls with these limits.
    pub(super) fn within(&self, limits: Limits) -> Caller<'_> {
        Caller { http: self, limits }
    }

    /// One answer in JSON.
    pub(super) async fn json<T>(&self, endpoint: &(impl Endpoint + Sync)) -> Result<T, Error>
    where
        T: DeserializeOwned + 'static,
    {
        let answer: Result<T, _> = endpoint.query_async(&self.within(Limits::JSON)).await;
        answer.map_err(|error| ours(error, &self.name(endpoint)))
    }

    /// One answer as it comes.
    pub(super) async fn raw(
        &self,
        endpoint: &(impl Endpoint + Sync),
        limits: Limits,
    ) -> Result<Bytes, Error> {
        Ok(self.answer(endpoint, limits).await?.into_body())
    }

    /// One answer with its status and headers.
    pub(super) async fn answer(
        &self,
        endpoint: &(impl Endpoint + Sync),
        limits: Limits,
    ) -> Result<Response<Bytes>, Error> {
        let name = self.name(endpoint);
        let broken = |what| Error::Broken(Call::new(&name).because(what));
        let mut url = self.api.join(&endpoint.endpoint()).map_err(|_| broken("no address"))?;
        endpoint.parameters().add_to_url(&mut url);
        let mut request = http::Request::builder().method(endpoint.method()).uri(url.as_str());
        let body = endpoint.body().map_err(|_| broken("no body"))?;
        if let Some((kind, _)) = &body {
            request = request.header(header::CONTENT_TYPE, *kind);
        }
        let bytes = body.map(|(_, bytes)| bytes).unwrap_or_default();
        self.within(limits).rest_async(request, bytes).await.map_err(|error| ours(error, &name))
    }

    /// How often each endpoint answered with which status, since the start.
    pub(super) fn counts(&self) -> Vec<Count> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let row = |((endpoint, status), times): (&(String, u16), &u64)| Count {
            endpoint: endpoint.clone(),
            status: *status,
            times: *times,
        };
        counts.iter().map(row).collect()
    }

    /// How long requests took, since the start.
    pub(super) fn times(&self) -> Times {
        *self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far GitLab's clock is ahead of ours, by the last answer, in milliseconds.
    pub(super) fn skew(&self) -> Option<i64> {
        Some(self.skew.load(Ordering::Relaxed)).filter(|skew| *skew != i64::MIN)
    }

    fn look_at_clock(&self, headers: &HeaderMap) {
        let date = headers.get(header::DATE).and_then(|value| value.to_str().ok());
        if let Some(at) = date.and_then(|date| chrono::DateTime::parse_from_rfc2822(date).ok()) {
            self.skew.store(at.timestamp_millis() - self.clock.now(), Ordering::Relaxed);
        }
    }

    /// The time by the client's clock.
    pub(super) fn now(&self) -> Millis {
        self.pace.now()
    }

    /// How long all reading is paused, because GitLab asked for it.
    pub(super) fn paused_for(&self) -> Option<Duration> {
        self.pace.left(Lane::General)
    }

    pub(super) fn name(&self, endpoint: &impl Endpoint) -> String {
        template(&endpoint.method(), &endpoint.endpoint())
    }

    fn count(&self, endpoint: &str, status: u16) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((endpoint.to_owned(), status)).or_default() += 1;
    }

    async fn send(&self, request: Builder, body: Vec<u8>, limits: Limits) -> Result<Response<Bytes>, Error> {
        let unbuilt = || Error::Broken(Call::new("").because("a request that cannot be built"));
        let (parts, body) = request.body(Bytes::from(body)).map_err(|_| unbuilt())?.into_parts();
        let url = Url::parse(&parts.uri.to_string()).map_err(|_| unbuilt())?;
        let path = url.path().strip_prefix(self.api.path()).unwrap_or_default();
        let call = Call::new(&template(&parts.method, path));
        let lane = lane(&parts.method, path);
        let safe = parts.method == Method::GET;
        for tried in 0.. {
            match self.attempt(&parts, &body, &url, &call, lane, limits).await {
                Err(Failure { error, again: true }) if safe && tried < QUICK_TRIES => {
                    tracing::debug!(call = %error.call(), "trying again");
                    tokio::time::sleep(Duration::from_millis(100 << (2 * tried))).await;
                }
                Err(failure) => return Err(failure.error),
                Ok(answer) => return Ok(answer),
            }
        }
        unreachable!("the loop ends in an answer")
    }

    /// One try, redirects within the instance included.
    #[tracing::instrument(name = "gitlab", skip_all, fields(call = %call.endpoint, status = tracing::field::Empty))]
    async fn attempt(
        &self,
        parts: &Parts,
        body: &Bytes,
        url: &Url,
        call: &Call,
        lane: Lane,
        limits: Limits,
    ) -> Result<Response<Bytes>, Failure> {
        let paused = |after| {
            Failure::last(Error::Transient { after: Some(after), call: call.clone().because("paused") })
        };
        let _pass = self.pace.enter(lane).await.map_err(paused)?;
        let mut url = url.clone();
        for _ in 0..=REDIRECTS {
            let began = std::time::Instant::now();
            let answer = self.exchange(parts, body, &url, call, limits).await;
            self.times.lock().unwrap_or_else(PoisonError::into_inner).observe(began.elapsed());
            let answer = answer?;
            self.count(&call.endpoint, answer.status().as_u16());
            tracing::Span::current().record("status", answer.status().as_u16());
            self.look_at_clock(answer.headers());
            let after = self.pace.observe(lane, answer.status().as_u16(), answer.headers());
            if answer.status().is_redirection() && parts.method == Method::GET {
                url = self.onwards(&url, answer.headers(), call).map_err(Failure::last)?;
                continue;
            }
            let again = answer.status().is_server_error() && after.is_none();
            return match judge(call.clone(), answer.status(), answer.headers(), after) {
                Ok(()) => Ok(answer),
                Err(error) => Err(Failure { error, again }),
            };
        }
        Err(Failure::last(Error::Broken(call.clone().because("redirects in a circle"))))
    }

    /// Where a redirect leads: within the instance's API, or nowhere. The token never leaves the host.
    fn onwards(&self, from: &Url, headers: &HeaderMap, call: &Call) -> Result<Url, Error> {
        let to = headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
        to.and_then(|to| from.join(to).ok())
            .filter(|to| to.origin() == self.api.origin() && to.path().starts_with(self.api.path()))
            .ok_or_else(|| Error::Broken(call.clone().because("a redirect that leads away")))
    }

    async fn exchange(
        &self,
        parts: &Parts,
        body: &Bytes,
        url: &Url,
        call: &Call,
        limits: Limits,
    ) -> Result<Response<Bytes>, Failure> {
        let failed = |error: reqwest::Error| {
            self.count(&call.endpoint, 0);
            let what = if error.is_timeout() { "no answer in time" } else { "no connection" };
            let again = !error.is_timeout();
            Failure { error: Error::Transient { after: None, call: call.clone().because(what) }, again }
        };
        let mut token = HeaderValue::from_str(self.token.expose_secret()).map_err(|_| {
            Failure::last(Error::Denied(call.clone().because("the token has characters that no token has")))
        })?;
        token.set_sensitive(true);
        let request = self
            .client
            .request(parts.method.clone(), url.clone())
            .headers(parts.headers.clone())
            .header("PRIVATE-TOKEN", token)
            .timeout(limits.time)
            .body(body.clone());
        let mut answer = request.send().await.map_err(failed)?;
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = answer.status();
        *response.headers_mut() = std::mem::take(answer.headers_mut());
        let too_large = || Failure::last(Error::Broken(call.clone().because(TOO_LARGE)));
        if answer.content_length().is_some_and(|length| length > limits.bytes as u64) {
            return Err(too_large());
        }
        let mut whole = BytesMut::new();
        while let Some(chunk) = answer.chunk().await.map_err(failed)? {
            if whole.len() + chunk.len() > limits.bytes {
                return Err(too_large());
            }
            whole.extend_from_slice(&chunk);
        }
        *response.body_mut() = whole.freeze();
        Ok(response)
    }
}

/// The reason of an [`Error::Broken`] whose body went over its limit.
pub(super) const TOO_LARGE: &str = "larger than allowed";

/// A failed try, and whether another one at once makes sense.
struct Failure {
    error: Error,
    again: bool,
}

impl Failure {
    fn last(error: Error) -> Failure {
        Failure { error, again: false }
    }
}

/// The client with the limits of one call: what the `gitlab` crate's endpoints are sent through.
pub(super) struct Caller<'a> {
    http: &'a Http,
    limits: Limits,
}

impl RestClient for Caller<'_> {
    type Error = Error;

    fn rest_endpoint(&self, endpoint: &str) -> Result<Url, ApiError<Error>> {
        Ok(self.http.api.join(endpoint)?)
    }
}

#[async_trait]
impl AsyncClient for Caller<'_> {
    async fn rest_async(&self, request: Builder, body: Vec<u8>) -> Result<Response<Bytes>, ApiError<Error>> {
        self.http.send(request, body, self.limits).await.map_err(ApiError::client)
    }
}

/// Whether a token may be sent there at all.
fn may_carry_a_token(base: &Url) -> bool {
    let loopback = match base.host() {
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    };
    let plain = base.username().is_empty() && base.password().is_none() && base.query().is_none();
    plain && (base.scheme() == "https" || (base.scheme() == "http" && loopback))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_travels_over_tls_or_not_at_all_but_to_this_machine() {
        for (url, fine) in [
            ("https://gitlab.example.com", true),
            ("https://example.com/gitlab", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::1]:8080/", true),
            ("http://localhost:3000", true),
            ("http://gitlab.example.com", false),
            ("http://10.0.0.1", false),
            ("https://me:pw@gitlab.example.com", false),
            ("ftp://gitlab.example.com", false),
        ] {
            assert_eq!(may_carry_a_token(&Url::parse(url).expect("a url")), fine, "{url}");
        }
    }
}
