//! Proof of origin: Standard Webhooks signatures and plain secret tokens, over the raw bytes.

use axum::http::{HeaderMap, HeaderName};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::clock::Millis;

/// How old or how far ahead a signature's timestamp may be (Standard Webhooks' own five minutes).
const TOLERANCE_SECONDS: i64 = 300;
/// Shortest key that is taken for one; GitLab makes 32 bytes.
const KEY_MIN: usize = 16;

/// A configured token that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "SIGNPOST_SIGNING_TOKEN: token {position} is not `whsec_` followed by the base64 of a key; `signpost install` makes one"
)]
pub struct BadToken {
    position: usize,
}

/// Checks deliveries against every configured token.
pub struct Verifier {
    keys: Vec<Vec<u8>>,
    tokens: Vec<[u8; 32]>,
}

impl Verifier {
    /// A verifier for signing tokens (`whsec_…`) and plain secret tokens, several of each for rotation.
    ///
    /// # Errors
    /// A signing token of another shape, by its position.
    pub fn new(signing: &[SecretString], plain: &[SecretString]) -> Result<Verifier, BadToken> {
        let key = |(at, token): (usize, &SecretString)| {
            let encoded = token.expose_secret().strip_prefix("whsec_").unwrap_or_default();
            let key = STANDARD.decode(encoded).unwrap_or_default();
            if key.len() < KEY_MIN { Err(BadToken { position: at + 1 }) } else { Ok(key) }
        };
        let keys = signing.iter().enumerate().map(key).collect::<Result<_, _>>()?;
        let tokens = plain.iter().map(|t| Sha256::digest(t.expose_secret().as_bytes()).into()).collect();
        Ok(Verifier { keys, tokens })
    }

    /// Whether a delivery is authentic. With a signing token configured the signature is mandatory and decides;
    /// a plain token beside it must be right too where one is configured and sent.
    ///
    /// # Errors
    /// A fixed sentence that says what is wrong with the proof; never what was sent.
    pub fn verify(&self, headers: &HeaderMap, body: &[u8], now: Millis) -> Result<(), &'static str> {
        if self.keys.is_empty() {
            return self.plain(headers);
        }
        self.signature(headers, body, now)?;
        if !self.tokens.is_empty() && headers.contains_key("x-gitlab-token") {
            self.plain(headers)?;
        }
        Ok(())
    }

    fn plain(&self, headers: &HeaderMap) -> Result<(), &'static str> {
        let sent =
            only(headers, "x-gitlab-token", "X-Gitlab-Token is missing", "X-Gitlab-Token was sent twice")?;
        // Digests of both, so that neither content nor length is told by the time it takes.
        let digest = Sha256::digest(sent);
        let mut right = Choice::from(0);
        for token in &self.tokens {
            right |= token.as_slice().ct_eq(digest.as_slice());
        }
        if bool::from(right) { Ok(()) } else { Err("X-Gitlab-Token is wrong") }
    }

    /// Whether the headers alone rule the delivery out: what is not provable is not worth keeping until its body is there.
    ///
    /// # Errors
    /// As [`Verifier::verify`], but for a signature that does not belong to the body.
    pub fn provable(&self, headers: &HeaderMap, now: Millis) -> Result<(), &'static str> {
        if self.keys.is_empty() { self.plain(headers) } else { claimed(headers, now).map(|_| ()) }
    }

    fn signature(&self, headers: &HeaderMap, body: &[u8], now: Millis) -> Result<(), &'static str> {
        let Claimed { id, timestamp, signatures } = claimed(headers, now)?;
        let matches = signatures
            .split(|b| *b == b' ')
            .filter_map(|entry| entry.strip_prefix(b"v1,"))
            .filter_map(|encoded| STANDARD.decode(encoded).ok())
            .take(16)
            .any(|signature| self.keys.iter().any(|key| signed(key, id, timestamp, body, &signature)));
        if matches { Ok(()) } else { Err("webhook-signature is wrong") }
    }
}

/// What a delivery claims of itself.
struct Claimed<'h> {
    id: &'h [u8],
    timestamp: &'h [u8],
    signatures: &'h [u8],
}

fn claimed(headers: &HeaderMap, now: Millis) -> Result<Claimed<'_>, &'static str> {
    let id = only(headers, "webhook-id", "webhook-id is missing", "webhook-id was sent twice")?;
    let timestamp = only(
        headers,
        "webhook-timestamp",
        "webhook-timestamp is missing",
        "webhook-timestamp was sent twice",
    )?;
    let signatures = only(
        headers,
        "webhook-signature",
        "webhook-signature is missing",
        "webhook-signature was sent twice",
    )?;
    let seconds: i64 = std::str::from_utf8(timestamp)
        .ok()
        .filter(|t| t.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|t| t.parse().ok())
        .ok_or("webhook-timestamp is no number of seconds")?;
    match seconds.saturating_sub(now / 1000) {
        late if late < -TOLERANCE_SECONDS => Err("webhook-timestamp is over five minutes old"),
        early if early > TOLERANCE_SECONDS => Err("webhook-timestamp is over five minutes ahead"),
        _ => Ok(Claimed { id, timestamp, signatures }),
    }
}

fn signed(key: &[u8], id: &[u8], timestamp: &[u8], body: &[u8], signature: &[u8]) -> bool {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return false };
    for part in [id, b".", timestamp, b".", body] {
        mac.update(part);
    }
    mac.verify_slice(signature).is_ok()
}

/// The value of a header that must stand there exactly once, and not be empty.
fn only<'h>(
    headers: &'h HeaderMap,
    name: &'static str,
    missing: &'static str,
    twice: &'static str,
) -> Result<&'h [u8], &'static str> {
    let mut values = headers.get_all(HeaderName::from_static(name)).iter();
    let first = values.next().map(|v| v.as_bytes()).filter(|v| !v.is_empty()).ok_or(missing)?;
    if values.next().is_some() { Err(twice) } else { Ok(first) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vector that the Standard Webhooks libraries publish.
    const TOKEN: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    const ID: &str = "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk";
    const AT: i64 = 1649367553;
    const BODY: &[u8] = br#"{"email":"test@example.com","username":"test_user"}"#;
    const SIGNATURE: &str = "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=";

    fn secrets(list: &[&str]) -> Vec<SecretString> {
        list.iter().map(|s| SecretString::from(*s)).collect()
    }

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in list {
            map.append(*name, value.parse().expect("a header value"));
        }
        map
    }

    fn signed_headers(signature: &str) -> HeaderMap {
        headers(&[("webhook-id", ID), ("webhook-timestamp", "1649367553"), ("webhook-signature", signature)])
    }

    #[test]
    fn the_published_vector_verifies_within_five_minutes_both_ways() {
        let verifier = Verifier::new(&secrets(&[TOKEN]), &[]).expect("a token");
        for (offset, fine) in [(0, true), (300, true), (-300, true), (301, false), (-301, false)] {
            let outcome = verifier.verify(&signed_headers(SIGNATURE), BODY, (AT + offset) * 1000);
            assert_eq!(outcome.is_ok(), fine, "{offset}: {outcome:?}");
        }
    }

    #[test]
    fn one_of_several_signatures_and_one_of_several_keys_is_enough() {
        let other = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        let verifier = Verifier::new(&secrets(&[other, TOKEN]), &[]).expect("tokens");
        let list = format!("v2,xx v1,AAAA v1,!!! {SIGNATURE}");
        assert_eq!(verifier.verify(&signed_headers(&list), BODY, AT * 1000), Ok(()));
    }

    #[test]
    fn every_bit_of_body_counts() {
        let verifier = Verifier::new(&secrets(&[TOKEN]), &[]).expect("a token");
        for bit in 0..BODY.len() * 8 {
            let mut body = BODY.to_vec();
            body[bit / 8] ^= 1 << (bit % 8);
            assert!(verifier.verify(&signed_headers(SIGNATURE), &body, AT * 1000).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_configured_signing_token_never_falls_back_to_the_plain_one() {
        let verifier = Verifier::new(&secrets(&[TOKEN]), &secrets(&["plain"])).expect("tokens");
        let plain = headers(&[("x-gitlab-token", "plain")]);
        assert_eq!(verifier.verify(&plain, BODY, AT * 1000), Err("webhook-id is missing"));
        let mut both = signed_headers(SIGNATURE);
        assert_eq!(verifier.verify(&both, BODY, AT * 1000), Ok(()));
        both.insert("x-gitlab-token", "wrong".parse().expect("value"));
        assert_eq!(verifier.verify(&both, BODY, AT * 1000), Err("X-Gitlab-Token is wrong"));
    }

    #[test]
    fn plain_tokens_are_compared_whole_and_refused_empty_or_doubled() {
        let verifier = Verifier::new(&[], &secrets(&["one", "two"])).expect("tokens");
        let with = |tokens: &[&str]| {
            let list: Vec<_> = tokens.iter().map(|t| ("x-gitlab-token", *t)).collect();
            verifier.verify(&headers(&list), b"", 0)
        };
        assert_eq!(with(&["two"]), Ok(()));
        assert_eq!(with(&["tw"]), Err("X-Gitlab-Token is wrong"));
        assert_eq!(with(&[""]), Err("X-Gitlab-Token is missing"));
        assert_eq!(with(&[]), Err("X-Gitlab-Token is missing"));
        assert_eq!(with(&["one", "one"]), Err("X-Gitlab-Token was sent twice"));
    }

    #[test]
    fn a_signing_token_of_another_shape_is_named_by_its_position() {
        for bad in ["", "plain", "whsec_", "whsec_AAAA", "whsec_***"] {
            assert!(Verifier::new(&secrets(&[TOKEN, bad]), &[]).is_err(), "{bad}");
        }
    }
}
