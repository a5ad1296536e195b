//! Who may read the admin pages.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{AppendHeaders, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::config::Config;

/// The rule: with a token everything but `/metrics` asks for it; without one the listener is on loopback and
/// open, to requests that name a loopback host.
#[derive(Clone)]
pub struct Access {
    token: Option<Arc<SecretString>>,
    loopback: bool,
}

impl Access {
    /// The rule for the configured listener. That a listener beyond loopback has a token is checked at start
    /// ([`crate::config::Secrets::require_for_serve`]); here it would be shut.
    pub fn new(config: &Config, token: Option<SecretString>) -> Access {
        let token = token.filter(|token| !token.expose_secret().is_empty());
        Access { token: token.map(Arc::new), loopback: config.admin.listen.ip().is_loopback() }
    }

    fn check(&self, path: &str, headers: &HeaderMap) -> Result<(), Refused> {
        match &self.token {
            Some(_) if path == "/metrics" => Ok(()),
            Some(token) if proof(headers).is_some_and(|given| same(&given, token.expose_secret())) => Ok(()),
            Some(_) => Err(Refused::Unproven),
            None if self.loopback && names_loopback(headers) => Ok(()),
            None => Err(Refused::Misdirected),
        }
    }
}

enum Refused {
    Unproven,
    Misdirected,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        match self {
            Refused::Unproven => (
                StatusCode::UNAUTHORIZED,
                AppendHeaders([
                    (header::WWW_AUTHENTICATE, "Bearer realm=\"signpost\""),
                    (header::WWW_AUTHENTICATE, "Basic realm=\"signpost\", charset=\"UTF-8\""),
                ]),
                "give the admin token, as Bearer token or as password of any user\n",
            )
                .into_response(),
            Refused::Misdirected => (
                StatusCode::MISDIRECTED_REQUEST,
                "without a token this listener answers to localhost, 127.0.0.1 and [::1] only\n",
            )
                .into_response(),
        }
    }
}

/// Lets a request pass, or answers it.
pub async fn guard(State(access): State<Access>, request: Request, next: Next) -> Response {
    match access.check(request.uri().path(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

/// The token that a request carries: a Bearer token, or the password of Basic credentials.
fn proof(headers: &HeaderMap) -> Option<String> {
    let (scheme, rest) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
    decoded.split_once(':').map(|(_, password)| password.to_owned())
}

/// Compares in a time that depends on neither content nor length of the token.
fn same(given: &str, token: &str) -> bool {
    Sha256::digest(given).ct_eq(&Sha256::digest(token)).into()
}

/// Whether the request was sent to a loopback name. A page of another origin can make a browser send requests
/// here under a name of its own that resolves to 127.0.0.1; it cannot make it send this header.
fn names_loopback(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    fn access(listen: &str, token: Option<&str>) -> Access {
        let text = format!(
            "[gitlab]\nurl = \"https://gitlab.example.com\"\ngroup = \"acme\"\n[admin]\nlisten = \"{listen}\""
        );
        Access::new(&Config::parse(&text, "test", &vec![]).unwrap(), token.map(SecretString::from))
    }

    #[test]
    fn a_token_is_asked_for_everywhere_but_at_the_metrics() {
        let access = access("0.0.0.0:9090", Some("s3cret"));
        let passes =
            |path: &str, value: &str| access.check(path, &headers(header::AUTHORIZATION, value)).is_ok();
        assert!(passes("/", "Bearer s3cret"));
        assert!(passes("/gaps", "bearer s3cret"));
        assert!(passes("/gaps", &format!("Basic {}", STANDARD.encode("anybody:s3cret"))));
        assert!(passes("/metrics", "nothing"));
        for wrong in
            ["Bearer s3cre", "Bearer s3cret2", "Bearer ", "s3cret", "Basic s3cret", "Digest s3cret", "Basic "]
        {
            assert!(!passes("/", wrong), "{wrong}");
            assert!(!passes("/style.css", wrong), "{wrong}");
        }
        assert!(!passes("/", &format!("Basic {}", STANDARD.encode("s3cret:"))));
        assert!(access.check("/", &HeaderMap::new()).is_err());
    }

    #[test]
    fn without_a_token_only_a_loopback_host_is_answered() {
        let access = access("127.0.0.1:9090", None);
        let passes = |host: &str| access.check("/gaps", &headers(header::HOST, host)).is_ok();
        for right in [
            "localhost",
            "localhost:9090",
            "127.0.0.1:1",
            "[::1]:9090",
            "[::1]",
            "LOCALHOST:9",
            "127.8.0.2:80",
        ] {
            assert!(passes(right), "{right}");
        }
        for wrong in ["rebound.example.com", "localhost.example.com", "127.0.0.1.example.com:9090", "", "::1"]
        {
            assert!(!passes(wrong), "{wrong}");
        }
        assert!(access.check("/gaps", &HeaderMap::new()).is_err());
    }

    #[test]
    fn a_listener_that_others_reach_is_shut_without_a_token() {
        for token in [None, Some("")] {
            let access = access("0.0.0.0:9090", token);
            assert!(access.check("/", &headers(header::HOST, "localhost")).is_err());
        }
    }
}
