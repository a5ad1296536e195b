//! Deliveries: built when something happens, signed and posted afterwards.

pub mod payload;
pub mod send;

use super::git::hex;
use super::time::Millis;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use std::sync::Arc;

pub use send::Attempt;

/// A delivery to one hook.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// Its number in this world.
    pub id: u64,
    pub hook: u64,
    pub url: String,
    /// `X-Gitlab-Event`
    pub event: &'static str,
    /// `Idempotency-Key` and `webhook-id`: the same in every attempt.
    pub key: String,
    /// `X-Gitlab-Event-UUID`
    pub chain: String,
    /// The exact bytes.
    pub body: Arc<[u8]>,
}

impl Delivery {
    /// The body, read.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// Compact JSON as Rails writes it: `&`, `<` and `>` are escaped.
pub fn encode(body: &Value) -> Vec<u8> {
    let text = body.to_string();
    text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e").into_bytes()
}

/// `v1,<base64>` over `<id>.<timestamp>.<body>`, as Standard Webhooks and GitLab sign. A token that is no
/// `whsec_…` signs with the bytes of its text.
pub fn sign(token: &str, id: &str, timestamp: i64, body: &[u8]) -> String {
    let key = token.strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok());
    let key = key.unwrap_or_else(|| token.as_bytes().to_vec());
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC takes keys of any length");
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// The headers of one attempt to deliver, made anew each time.
pub fn headers(
    delivery: &Delivery,
    hook: &super::world::Hook,
    instance: &str,
    version: &str,
    now: Millis,
) -> Vec<(String, String)> {
    let seconds = now.div_euclid(1000);
    let mut headers: Vec<(String, String)> = hook.custom_headers.clone();
    let mut add = |name: &str, value: &str| {
        headers.retain(|(kept, _)| !kept.eq_ignore_ascii_case(name));
        headers.push((name.to_owned(), value.to_owned()));
    };
    add("Content-Type", "application/json");
    add("User-Agent", &format!("GitLab/{version}"));
    add("Idempotency-Key", &delivery.key);
    add("X-Gitlab-Event", delivery.event);
    add("X-Gitlab-Webhook-UUID", &uuid());
    add("X-Gitlab-Instance", instance);
    add("X-Gitlab-Event-UUID", &delivery.chain);
    if let Some(token) = &hook.token {
        add("X-Gitlab-Token", &token.replace(['\r', '\n'], ""));
    }
    let signs = version
        .split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok())
        .is_some_and(|major| major >= 19);
    if signs {
        add("webhook-id", &delivery.key);
        add("webhook-timestamp", &seconds.to_string());
        if let Some(token) = &hook.signing_token {
            add("webhook-signature", &sign(token, &delivery.key, seconds, &delivery.body));
        }
    }
    headers
}

/// A fresh random UUID.
pub fn uuid() -> String {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    let text = hex(&bytes);
    format!("{}-{}-4{}-a{}-{}", &text[..8], &text[8..12], &text[13..16], &text[17..20], &text[20..])
}

/// A fresh signing token, as GitLab's page shows one once.
pub fn signing_token() -> String {
    let mut key = [0u8; 32];
    getrandom::fill(&mut key).expect("the system has random numbers");
    format!("whsec_{}", STANDARD.encode(key))
}
