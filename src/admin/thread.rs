//! `GET /threads/{project_id}/{iid}`: what was decided about a thread, and why.

use std::collections::HashMap;
use std::fmt::Write as _;

use askama::Template;
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::admin::home::named;
use crate::admin::{Admin, Failure, draw, titles};
use crate::gaps::Moment;
use crate::gitlab::TitleHtml;
use crate::store::question::Record;
use crate::store::queue::Place;
use crate::store::signpost::Signpost;

/// The decision trail: JSON when the client asks for it, a page otherwise.
pub(super) async fn page(
    State(admin): State<Admin>,
    Path((project, iid)): Path<(String, String)>,
    Query(words): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let (Ok(project), Ok(iid)) = (project.parse(), iid.parse()) else { return Err(Failure::NotFound) };
    let place = Place { project, iid };
    let questions = admin.store.questions(place).await?;
    let signposts = admin.store.signposts(place).await?;
    let trail = admin.store.trail(place).await?;
    if questions.is_empty() && signposts.is_empty() && trail.is_empty() {
        return Err(Failure::NotFound);
    }
    let found = titles::fetch(admin.titles.as_deref(), [place]).await;
    let title = match found.get(&place) {
        // Confidential or gone by now: as if nothing were known.
        Some(None) => return Err(Failure::NotFound),
        Some(Some(title)) => Some(title.clone()),
        None => None,
    };
    let projects = admin.store.projects().await?;
    let paths: HashMap<u64, String> =
        projects.iter().map(|row| (row.project.id, row.project.path.as_str().to_owned())).collect();
    let url = paths.get(&place.project).map(|path| {
        format!("{}/{path}/-/issues/{}", admin.config.gitlab.url.as_str().trim_end_matches('/'), place.iid)
    });
    if wants_json(&words, &headers) {
        let trail: Vec<Value> =
            trail.into_iter().map(|(at, entry)| json!({ "at": Moment(at), "entry": entry })).collect();
        return Ok(Json(json!({
            "project_id": place.project,
            "project": paths.get(&place.project),
            "iid": place.iid,
            "url": url,
            "questions": questions.iter().map(|record| question(record, &paths)).collect::<Vec<_>>(),
            "signposts": signposts.iter().map(|signpost| pointed(signpost, &paths)).collect::<Vec<_>>(),
            "trail": trail,
        }))
        .into_response());
    }
    let entries = trail.iter().rev().map(|(at, entry)| (Moment(*at).to_string(), tree(entry))).collect();
    draw(&Page {
        name: named(place, &paths),
        title,
        url,
        questions: questions.iter().map(|record| tree(&question(record, &paths))).collect(),
        signposts: signposts.iter().map(|signpost| tree(&pointed(signpost, &paths))).collect(),
        entries,
    })
}

#[derive(Template)]
#[template(path = "thread.html")]
struct Page {
    name: String,
    title: Option<TitleHtml>,
    url: Option<String>,
    /// HTML, see [`tree`].
    questions: Vec<String>,
    signposts: Vec<String>,
    entries: Vec<(String, String)>,
}

/// Whether JSON is asked for: by the query, or by an `Accept` that names it and not HTML.
fn wants_json(words: &HashMap<String, String>, headers: &HeaderMap) -> bool {
    if let Some(format) = words.get("format") {
        return format == "json";
    }
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.contains("application/json") && !accept.contains("text/html")
}

/// A question without what only the bot needs: hashes and fingerprints.
fn question(record: &Record, paths: &HashMap<u64, String>) -> Value {
    let share = |thousandths: i64| thousandths as f64 / 1000.0;
    json!({
        "key": record.key,
        "state": record.state.word(),
        "asked_at": Moment(record.asked_at),
        "decided_at": Moment(record.decided_at),
        "judged_at": Moment(record.judged_at),
        "score": share(record.score),
        "note_id": record.note_id,
        "posted_at": record.posted_at.map(Moment),
        "undone": record.undone,
        "labelled": record.labelled,
        "votes": record.votes,
        "gap_kind": record.gap_kind,
        "gap": record.cluster,
        "target": record.target.as_ref().map(|target| json!({
            "project_id": target.project, "project": paths.get(&target.project), "path": target.path,
            "lines": [target.first_line, target.last_line], "commit": target.commit, "blob": target.blob,
        })),
        "nearest": record.near.as_ref().map(|near| json!({
            "project_id": near.project, "project": paths.get(&near.project), "path": near.path,
            "anchor": near.anchor, "score": share(near.score),
        })),
        "closed": record.closed.as_ref().map(|(commit, at)| json!({ "commit": commit, "at": Moment(*at) })),
    })
}

fn pointed(signpost: &Signpost, paths: &HashMap<u64, String>) -> Value {
    match &signpost.target {
        Some(target) => json!({
            "project_id": target.project, "project": paths.get(&target.project), "path": target.path,
            "lines": target.lines.map(|lines| [lines.0, lines.1]), "anchor": target.anchor,
        }),
        None => json!({ "unresolved": signpost.hash }),
    }
}

/// Deeper than this nothing is drawn; the trail has no such depth.
const DEPTH: usize = 8;

/// JSON as nested HTML lists, everything escaped. Nulls are left out.
fn tree(value: &Value) -> String {
    let mut html = String::new();
    branch(value, DEPTH, &mut html);
    html
}

fn branch(value: &Value, depth: usize, html: &mut String) {
    match value {
        _ if depth == 0 => html.push('…'),
        Value::Object(parts) => {
            html.push_str("<dl>");
            for (name, part) in parts.iter().filter(|(_, part)| !part.is_null()) {
                html.push_str("<div><dt>");
                escape(&name.replace('_', " "), html);
                html.push_str("</dt><dd>");
                branch(part, depth - 1, html);
                html.push_str("</dd></div>");
            }
            html.push_str("</dl>");
        }
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            for (at, item) in items.iter().enumerate() {
                html.push_str(if at > 0 { ", " } else { "" });
                branch(item, depth - 1, html);
            }
        }
        Value::Array(items) => {
            html.push_str("<ol>");
            for item in items {
                html.push_str("<li>");
                branch(item, depth - 1, html);
                html.push_str("</li>");
            }
            html.push_str("</ol>");
        }
        Value::String(text) => escape(text, html),
        Value::Bool(true) => html.push_str("yes"),
        Value::Bool(false) => html.push_str("no"),
        Value::Null => html.push('–'),
        Value::Number(number) => {
            let _ = write!(html, "{number}");
        }
    }
}

fn escape(text: &str, html: &mut String) {
    let _ = write!(
        html,
        "{}",
        askama::filters::escape(text, askama::filters::Html).expect("escaping never fails")
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_escapes_names_and_values() {
        let value = json!({ "a<b": "<script>&\"'", "list": [1, 2], "none": null, "deep": [{ "x_y": true }] });
        assert_eq!(
            tree(&value),
            "<dl><div><dt>a&#60;b</dt><dd>&#60;script&#62;&#38;&#34;&#39;</dd></div><div><dt>deep</dt><dd><ol><li>\
             <dl><div><dt>x y</dt><dd>yes</dd></div></dl></li></ol></dd></div><div><dt>list</dt><dd>1, 2</dd></div>\
             </dl>"
        );
    }

    #[test]
    fn json_is_given_to_those_who_ask_for_it() {
        let accept = |value: &str| HeaderMap::from_iter([(header::ACCEPT, value.parse().unwrap())]);
        let none = HashMap::new();
        assert!(wants_json(&none, &accept("application/json")));
        assert!(!wants_json(&none, &accept("text/html,application/xhtml+xml,*/*;q=0.8")));
        assert!(!wants_json(&none, &HeaderMap::new()));
        assert!(wants_json(&HashMap::from([("format".into(), "json".into())]), &accept("text/html")));
    }
}
