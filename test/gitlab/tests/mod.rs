//! The fake, held to what it promises.

mod api;
mod behaviour;
mod code;
mod delivery;
mod effects;
mod shapes;

use super::{BOT_TOKEN, FakeGitLab, World};
use serde_json::Value;

/// An answer as a test looks at it.
pub(super) struct Got {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Value,
    pub text: String,
}

impl Got {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }

    /// A field of every row.
    pub fn each(&self, field: &str) -> Vec<String> {
        let rows = self.body.as_array().expect("a list");
        rows.iter()
            .map(|row| row[field].as_str().map_or_else(|| row[field].to_string(), str::to_owned))
            .collect()
    }
}

/// A call with a token.
pub(super) async fn call(
    gitlab: &FakeGitLab,
    token: &str,
    method: &str,
    path: &str,
    form: &[(&str, &str)],
) -> Got {
    let url =
        if path.starts_with("http") { path.to_owned() } else { format!("{}/api/v4{path}", gitlab.url()) };
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build()
        .expect("a client");
    let method = reqwest::Method::from_bytes(method.as_bytes()).expect("a method");
    let text = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    let request = client.request(method, url).header("PRIVATE-TOKEN", token);
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(text);
    let response = request.send().await.expect("the fake answers");
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.expect("the answer is whole");
    Got { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::Null), text }
}

/// `GET` as the bot.
pub(super) async fn get(gitlab: &FakeGitLab, path: &str) -> Got {
    call(gitlab, BOT_TOKEN, "GET", path, &[]).await
}

/// `POST` as the bot.
pub(super) async fn post(gitlab: &FakeGitLab, path: &str, form: &[(&str, &str)]) -> Got {
    call(gitlab, BOT_TOKEN, "POST", path, form).await
}

/// `PUT` as the bot.
pub(super) async fn put(gitlab: &FakeGitLab, path: &str, form: &[(&str, &str)]) -> Got {
    call(gitlab, BOT_TOKEN, "PUT", path, form).await
}

/// The ordinary world, served.
pub(super) async fn acme() -> FakeGitLab {
    FakeGitLab::start(World::default()).await
}
