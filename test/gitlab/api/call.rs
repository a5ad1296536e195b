//! One call: its parameters, who makes it, and how lists are cut into pages.

use super::{Answer, Outcome};
use crate::gitlab::time;
use crate::gitlab::world::{Level, Project, Token, World};
use axum::http::{HeaderMap, Method, Uri};
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// A call, read.
pub struct Call {
    pub method: Method,
    /// The parts of the path after `/api/v4`, each decoded.
    pub path: Vec<String>,
    raw_path: String,
    /// Query and body (form or JSON) together.
    params: Vec<(String, String)>,
    query: Vec<(String, String)>,
    secret: Option<String>,
}

impl Call {
    /// Reads a request. What is no parameter anybody knows is kept and never looked at.
    pub fn read(method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Call {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let query = form(uri.query().unwrap_or_default().as_bytes());
        let mut params = query.clone();
        match header("content-type") {
            Some(kind) if kind.starts_with("application/json") => params.extend(json_params(body)),
            _ => params.extend(form(body)),
        }
        let bearer = || header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let secret = header("private-token").or_else(bearer).map(str::to_owned);
        let raw_path = uri.path().to_owned();
        let parts = raw_path.trim_start_matches("/api/v4").trim_matches('/').split('/');
        let path = parts.map(|part| percent_decode_str(part).decode_utf8_lossy().into_owned()).collect();
        Call { method: method.clone(), path, raw_path, params, query, secret }
    }

    /// A parameter that is there and not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// A parameter that is there, even if empty.
    pub fn given(&self, name: &str) -> Option<&str> {
        self.params.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A list parameter: `name[]=a&name[]=b` or `name=a,b`.
    pub fn list(&self, name: &str) -> Vec<&str> {
        let many = format!("{name}[]");
        let repeated = self.params.iter().filter(|(key, _)| *key == many).map(|(_, value)| value.as_str());
        let joined = self.get(name).into_iter().flat_map(|text| text.split(','));
        repeated.chain(joined).map(str::trim).filter(|text| !text.is_empty()).collect()
    }

    /// A yes or no; the default when it is not given; 400 when it is neither.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool, Answer> {
        match self.get(name) {
            None => Ok(default),
            Some("true" | "1" | "t" | "on") => Ok(true),
            Some("false" | "0" | "f" | "off") => Ok(false),
            Some(_) => Err(Answer::bad(&format!("{name} is invalid"))),
        }
    }

    /// A yes or no that may be absent.
    pub fn maybe_flag(&self, name: &str) -> Result<Option<bool>, Answer> {
        self.get(name).map(|_| self.flag(name, false)).transpose()
    }

    /// A time that may be absent.
    pub fn time(&self, name: &str) -> Result<Option<time::Millis>, Answer> {
        let read = |text: &str| time::parse(text).ok_or_else(|| Answer::bad(&format!("{name} is invalid")));
        self.get(name).map(read).transpose()
    }

    /// A parameter that must be there.
    pub fn need(&self, name: &str) -> Result<&str, Answer> {
        self.get(name).ok_or_else(|| Answer::bad(&format!("{name} is missing")))
    }

    /// The token the call was made with.
    pub fn token<'w>(&self, world: &'w World) -> Option<&'w Token> {
        self.secret.as_ref().and_then(|secret| world.tokens.get(secret))
    }

    /// The user who calls; none for an anonymous call.
    pub fn user(&self, world: &World) -> Option<u64> {
        self.token(world).map(|token| token.user)
    }

    /// The user who calls, or 401.
    pub fn somebody(&self, world: &World) -> Result<u64, Answer> {
        self.user(world).ok_or_else(Answer::unauthorized)
    }

    /// Checks the token, dates its last use, and finds the endpoint. The second value says whether there is one.
    pub fn serve(&self, world: &mut World) -> (Outcome, bool) {
        if let Err(refusal) = self.check_token(world) {
            return (Err(refusal), true);
        }
        self.route(world)
    }

    fn check_token(&self, world: &mut World) -> Result<(), Answer> {
        let Some(secret) = &self.secret else { return Ok(()) };
        let token = world.tokens.get(secret).ok_or_else(Answer::unauthorized)?;
        if !world.alive(token) {
            return Err(Answer::dead_token(if token.revoked { "revoked" } else { "expired" }));
        }
        let has = |scope: &str| token.scopes.iter().any(|held| held == scope);
        let reading = matches!(self.method, Method::GET | Method::HEAD);
        let repository =
            reading && has("read_repository") && self.path.iter().any(|part| part == "repository");
        let own =
            reading && self.path[0] == "personal_access_tokens" || self.path[0] == "user" && has("read_user");
        if !(has("api") || reading && has("read_api") || repository || own) {
            return Err(Answer::narrow_scope(if reading { "api read_api" } else { "api" }));
        }
        let now = world.time.now();
        if let Some(token) = world.tokens.get_mut(secret) {
            token.last_used_at = Some(now);
        }
        Ok(())
    }

    /// The project a path part names (id or full path), if the caller may see it.
    pub fn project<'w>(&self, world: &'w World, name: &str) -> Result<&'w Project, Answer> {
        let missing = || Answer::missing("Project");
        let (project, moved) = match name.parse::<u64>() {
            Ok(id) => (world.projects.get(&id), false),
            Err(_) => match world.find_project(name) {
                Some(project) => (Some(project), false),
                None => (
                    world.redirects.get(&name.to_ascii_lowercase()).and_then(|id| world.projects.get(id)),
                    true,
                ),
            },
        };
        let project = project.ok_or_else(missing)?;
        if !world.sees_project(project, self.user(world)) {
            return Err(missing());
        }
        match (moved, &self.method) {
            (false, _) => Ok(project),
            (true, &Method::GET | &Method::HEAD) => Err(self.moved_to(world, project.id)),
            (true, _) => Err(Answer::json(
                405,
                serde_json::json!({ "message": "Non GET methods are not allowed for moved projects" }),
            )),
        }
    }

    fn moved_to(&self, world: &World, id: u64) -> Answer {
        let rest: Vec<String> = self.path[2..].iter().map(|part| encode(part)).collect();
        let rest = rest.iter().fold(String::new(), |all, part| format!("{all}/{part}"));
        let query = self.query_without(&[]);
        let query = if query.is_empty() { query } else { format!("?{query}") };
        Answer { status: 301, ..Answer::no_content() }
            .with("Location", format!("{}/api/v4/projects/{id}{rest}{query}", world.instance))
    }

    /// The caller's role in a project must reach; 403 otherwise.
    pub fn role(&self, world: &World, project: &Project, least: Level) -> Result<u64, Answer> {
        let user = self.somebody(world)?;
        match world.project_level(project, user) >= Some(least) {
            true => Ok(user),
            false => Err(Answer::forbidden()),
        }
    }

    fn query_without(&self, names: &[&str]) -> String {
        let kept = self.query.iter().filter(|(key, _)| !names.contains(&key.as_str()));
        kept.map(|(key, value)| format!("{}={}", encode(key), encode(value))).collect::<Vec<_>>().join("&")
    }

    /// One page of a list, with `Link` and the counting headers.
    pub fn page(&self, world: &World, rows: Vec<Value>) -> Outcome {
        self.page_counted(world, rows, true)
    }

    /// The same without totals, as lists of commits are.
    pub fn page_uncounted(&self, world: &World, rows: Vec<Value>) -> Outcome {
        self.page_counted(world, rows, false)
    }

    fn page_counted(&self, world: &World, rows: Vec<Value>, counted: bool) -> Outcome {
        let number = |name: &str, default: usize| match self.get(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(|| Answer::bad(&format!("{name} does not have a valid value"))),
        };
        let per_page = number("per_page", 20)?.min(100);
        if self.get("pagination") == Some("keyset") {
            return Ok(self.keyset(world, rows, per_page));
        }
        let page = number("page", 1)?;
        let pages = rows.len().div_ceil(per_page).max(1);
        let link = |page: usize, rel: &str| {
            let query = self.query_without(&["page", "per_page"]);
            let query = if query.is_empty() { query } else { format!("{query}&") };
            format!(
                "<{}{}?{query}page={page}&per_page={per_page}>; rel=\"{rel}\"",
                world.instance, self.raw_path
            )
        };
        let mut links = Vec::new();
        if page > 1 {
            links.push(link(page - 1, "prev"));
        }
        let more = page < pages;
        if more {
            links.push(link(page + 1, "next"));
        }
        links.push(link(1, "first"));
        let totals = counted && rows.len() <= 10_000;
        if totals {
            links.push(link(pages, "last"));
        }
        let shown: Vec<Value> = rows.iter().skip((page - 1) * per_page).take(per_page).cloned().collect();
        let mut answer = Answer::ok(Value::Array(shown))
            .with("Link", links.join(", "))
            .with("X-Page", page)
            .with("X-Per-Page", per_page)
            .with("X-Next-Page", if more { (page + 1).to_string() } else { String::new() })
            .with("X-Prev-Page", if page > 1 { (page - 1).to_string() } else { String::new() });
        if totals {
            answer = answer.with("X-Total", rows.len()).with("X-Total-Pages", pages);
        }
        Ok(answer)
    }

    /// Keyset pages: only `Link` with `rel="next"` leads on. The cursor is where the next page begins.
    fn keyset(&self, world: &World, rows: Vec<Value>, per_page: usize) -> Answer {
        let from: usize = self
            .get("page_token")
            .or_else(|| self.get("cursor"))
            .and_then(|text| text.strip_prefix("at-")?.parse().ok())
            .unwrap_or(0);
        let shown: Vec<Value> = rows.iter().skip(from).take(per_page).cloned().collect();
        let next = from + per_page;
        let answer = Answer::ok(Value::Array(shown)).with("X-Per-Page", per_page);
        if next >= rows.len() {
            return answer;
        }
        let name = if self.path.last().is_some_and(|part| part == "tree") { "page_token" } else { "cursor" };
        let query = self.query_without(&["page_token", "cursor"]);
        let url = format!("{}{}?{query}&{name}=at-{next}", world.instance, self.raw_path);
        answer.with("Link", format!("<{url}>; rel=\"next\"")).with("X-Next-Cursor", format!("at-{next}"))
    }
}

const UNRESERVED: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes everything but letters, digits and `-._~`.
pub fn encode(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, UNRESERVED).to_string()
}

/// Text as a header value: other than visible ASCII is percent-encoded.
pub fn encode_header(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::CONTROLS).to_string()
}

fn form(text: &[u8]) -> Vec<(String, String)> {
    url::form_urlencoded::parse(text).into_owned().collect()
}

fn json_params(body: &[u8]) -> Vec<(String, String)> {
    let Ok(Value::Object(map)) = serde_json::from_slice(body) else { return Vec::new() };
    let text = |value: Value| match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let mut params = Vec::new();
    for (key, value) in map {
        match value {
            Value::Array(items) => {
                params.extend(items.into_iter().map(|item| (format!("{key}[]"), text(item))))
            }
            other => params.push((key, text(other))),
        }
    }
    params
}
