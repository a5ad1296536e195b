//! What can go wrong with a request, sorted by what the caller does about it. No text of a body ever gets in.

use std::fmt;
use std::time::Duration;

use gitlab::api::ApiError;
use http::{HeaderMap, StatusCode};

/// A failed request. "Not there", "not allowed" and "could not find out" never share an arm.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It may work later: GitLab is away, slow, broken inside, or asks to wait. `after` is how long it asked
    /// to be left alone.
    #[error("GitLab cannot answer now: {call}")]
    Transient {
        /// How long to wait at least, where that is known.
        after: Option<Duration>,
        /// What was asked.
        call: Call,
    },
    /// The token is not valid, or may not do this (401, 403).
    #[error("{refusal}: {0}", refusal = refusal(.0))]
    Denied(Call),
    /// What was asked about does not exist, or not for this token (404, 410): GitLab does not tell which.
    #[error("GitLab knows nothing there: {0}")]
    Gone(Call),
    /// Asking again would not help: an answer that cannot be read, a body over the limit, a request refused as
    /// malformed, a redirect that leads away.
    #[error("GitLab's answer is of no use: {0}")]
    Broken(Call),
}

fn refusal(call: &Call) -> &'static str {
    match call.status {
        Some(401) => "GitLab does not accept the token (wrong, expired or revoked)",
        _ => "GitLab does not allow it to this token",
    }
}

impl Error {
    /// GitLab answers so slowly that `what` does not get done in the time there is for it.
    pub(super) fn slow(what: &'static str) -> Error {
        Error::Transient { after: None, call: Call::new(what).because("too slow for the time there is") }
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Error::Transient { .. })
    }

    /// The request that failed.
    pub fn call(&self) -> &Call {
        match self {
            Error::Transient { call, .. } | Error::Denied(call) | Error::Gone(call) | Error::Broken(call) => {
                call
            }
        }
    }
}

/// Which request failed and how, in words of our own: the path with its variable parts replaced, never a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Method and path template, such as `GET projects/:/issues/:`.
    pub endpoint: String,
    /// The status, where an answer came.
    pub status: Option<u16>,
    /// What was wrong beyond the status.
    pub what: &'static str,
}

impl Call {
    /// A call that `endpoint` names, not yet answered.
    pub(super) fn new(endpoint: &str) -> Call {
        Call { endpoint: endpoint.to_owned(), status: None, what: "" }
    }

    pub(super) fn because(mut self, what: &'static str) -> Call {
        self.what = what;
        self
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.endpoint)?;
        if let Some(status) = self.status {
            write!(f, " answered {status}")?;
        }
        if !self.what.is_empty() {
            write!(f, " ({})", self.what)?;
        }
        Ok(())
    }
}

/// Sorts an answer by its status; the one place that does. `after` is what the answer said about waiting.
pub(super) fn judge(
    mut call: Call,
    status: StatusCode,
    headers: &HeaderMap,
    after: Option<Duration>,
) -> Result<(), Error> {
    call.status = Some(status.as_u16());
    match status.as_u16() {
        200..=299 => Ok(()),
        401 | 403 => Err(Error::Denied(call)),
        // A page in HTML is a proxy's word, not GitLab's: it does not mean that the thing is gone.
        404 if is_html(headers) => {
            Err(Error::Transient { after, call: call.because("a page instead of an answer") })
        }
        404 | 410 => Err(Error::Gone(call)),
        408 | 425 | 429 | 500.. => Err(Error::Transient { after, call }),
        300..=399 => Err(Error::Broken(call.because("a redirect that is not followed"))),
        _ => Err(Error::Broken(call)),
    }
}

fn is_html(headers: &HeaderMap) -> bool {
    headers
        .get(http::header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("text/html"))
}

/// Our own error out of the `gitlab` crate's: ours travels inside it; what the crate finds itself is an answer
/// of an unexpected shape, or a request that could not be built.
pub(super) fn ours(error: ApiError<Error>, endpoint: &str) -> Error {
    match error {
        ApiError::Client { source } => source,
        _ => Error::Broken(Call::new(endpoint).because("unexpected shape")),
    }
}

/// Absence as an answer: `Gone` becomes `None`, every other failure stays one.
pub(super) fn absent<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Gone(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(status: u16, content_type: Option<&'static str>) -> &'static str {
        let mut headers = HeaderMap::new();
        if let Some(value) = content_type {
            headers.insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static(value));
        }
        let status = StatusCode::from_u16(status).expect("a status");
        match judge(Call::new("GET x"), status, &headers, None) {
            Ok(()) => "fine",
            Err(Error::Transient { .. }) => "later",
            Err(Error::Denied(_)) => "denied",
            Err(Error::Gone(_)) => "gone",
            Err(Error::Broken(_)) => "broken",
        }
    }

    #[test]
    fn each_status_has_one_meaning() {
        for (status, meaning) in [
            (200, "fine"),
            (201, "fine"),
            (202, "fine"),
            (204, "fine"),
            (302, "broken"),
            (400, "broken"),
            (401, "denied"),
            (403, "denied"),
            (404, "gone"),
            (405, "broken"),
            (408, "later"),
            (410, "gone"),
            (413, "broken"),
            (422, "broken"),
            (429, "later"),
            (500, "later"),
            (502, "later"),
            (503, "later"),
            (521, "later"),
        ] {
            assert_eq!(verdict(status, Some("application/json")), meaning, "{status}");
        }
    }

    #[test]
    fn a_proxys_404_is_not_an_absence() {
        assert_eq!(verdict(404, Some("text/html; charset=utf-8")), "later");
        assert_eq!(verdict(404, None), "gone");
    }

    #[test]
    fn an_error_tells_endpoint_and_status_only() {
        let headers = HeaderMap::new();
        let error =
            judge(Call::new("GET projects/:"), StatusCode::FORBIDDEN, &headers, None).expect_err("denied");
        assert_eq!(error.to_string(), "GitLab does not allow it to this token: GET projects/: answered 403");
    }
}
