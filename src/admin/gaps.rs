//! `GET /gaps`, `/gaps.json`, `/gaps.csv`.

use std::collections::{BTreeSet, HashMap};

use askama::Template;
use axum::Json;
use axum::extract::{self, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::admin::burndown::{self, Plot};
use crate::admin::query::{AGES, Query};
use crate::admin::titles::{self, Found};
use crate::admin::{Admin, Failure, draw, two};
use crate::gaps::filter::{Filter, Sort};
use crate::gaps::{self as list, Gap, Issue, Kind, State as Standing, load};
use crate::gitlab::TitleHtml;

/// Entries on one page.
const ENTRIES: usize = 50;
/// Issues that are named of one entry; all of them, up to [`ENTRIES`], where one entry is shown alone.
const ISSUES: usize = 3;

type Words = extract::Query<HashMap<String, String>>;

/// The list as JSON; every state unless the query names one.
pub(super) async fn json(State(admin): State<Admin>, words: Words) -> Result<Response, Failure> {
    Ok(Json(chosen(&admin, &Query::read(&words.0, None)).await?).into_response())
}

/// The list as CSV; every state unless the query names one.
pub(super) async fn csv(State(admin): State<Admin>, words: Words) -> Result<Response, Failure> {
    let gaps = chosen(&admin, &Query::read(&words.0, None)).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8; header=present"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"gaps.csv\""),
    ];
    Ok((headers, list::csv::write(&gaps)).into_response())
}

async fn chosen(admin: &Admin, query: &Query) -> Result<Vec<Gap>, Failure> {
    let now = admin.clock.now();
    let mut gaps = load::current(&admin.store, &admin.config, now).await?;
    let filter = query.filter();
    gaps.retain(|gap| filter.matches(gap, now));
    query.sort.apply(&mut gaps);
    Ok(gaps)
}

/// The list as a page; open entries unless the query says otherwise.
pub(super) async fn page(State(admin): State<Admin>, words: Words) -> Result<Response, Failure> {
    let query = Query::read(&words.0, Some(Standing::Open));
    let now = admin.clock.now();
    let all = load::current(&admin.store, &admin.config, now).await?;
    let filter = query.filter();
    let mut shown: Vec<&Gap> = all.iter().filter(|gap| filter.matches(gap, now)).collect();
    query.sort.apply(&mut shown);
    let pages = shown.len().div_ceil(ENTRIES).max(1);
    let query = Query { page: query.page.min(pages), ..query };
    let first = (query.page - 1) * ENTRIES;
    let page: Vec<&Gap> = shown.iter().copied().skip(first).take(ENTRIES).collect();
    let named = if query.id.is_some() { ENTRIES } else { ISSUES };
    let places = page.iter().flat_map(|gap| gap.issues.iter().take(named).map(Issue::place));
    let found = titles::fetch(admin.titles.as_deref(), places).await;
    let rows: Vec<Row<'_>> =
        page.iter().enumerate().filter_map(|(at, gap)| Row::of(gap, first + at + 1, named, &found)).collect();
    // The plot shows how the chosen part of the documentation fares, not only what is left of it.
    let plotted = Filter { id: None, state: None, age: None, ..filter };
    let plotted: Vec<Gap> = all.iter().filter(|gap| plotted.matches(gap, now)).cloned().collect();
    let plot = if query.id.is_none() { burndown::plot(&plotted, now) } else { None };
    draw(&Page {
        total: all.len(),
        count: shown.len(),
        pages,
        projects: projects(&all),
        plot,
        rows,
        columns: Sort::ALL.map(|sort| Column { href: query.sorted(sort), sorted: sort == query.sort }),
        csv: Query { page: 1, ..query.clone() }.href("/gaps.csv"),
        json: Query { page: 1, ..query.clone() }.href("/gaps.json"),
        query,
    })
}

/// The projects that can be chosen.
fn projects(gaps: &[Gap]) -> Vec<String> {
    let paths = gaps.iter().flat_map(|gap| gap.issues.iter().filter_map(|issue| issue.project.clone()));
    paths.collect::<BTreeSet<_>>().into_iter().collect()
}

#[derive(Template)]
#[template(path = "gaps.html")]
struct Page<'a> {
    query: Query,
    total: usize,
    count: usize,
    pages: usize,
    projects: Vec<String>,
    plot: Option<Plot>,
    rows: Vec<Row<'a>>,
    columns: [Column; Sort::ALL.len()],
    csv: String,
    json: String,
}

struct Column {
    href: String,
    sorted: bool,
}

impl Page<'_> {
    fn column(&self, sort: &str) -> &Column {
        let at = Sort::ALL.iter().position(|s| s.word() == sort).unwrap_or_default();
        &self.columns[at]
    }

    fn chosen_project(&self, path: &str) -> bool {
        self.query.project.as_deref() == Some(path)
    }

    /// A project that was asked for by hand, such as a group, and is no choice of the list.
    fn other_project(&self) -> Option<&str> {
        self.query.project.as_deref().filter(|path| !self.projects.iter().any(|known| known == path))
    }
}

/// One entry as it is drawn.
struct Row<'a> {
    gap: &'a Gap,
    rank: usize,
    issues: Vec<Line<'a>>,
    more: usize,
}

/// One issue of an entry.
struct Line<'a> {
    issue: &'a Issue,
    title: Option<TitleHtml>,
}

impl<'a> Row<'a> {
    /// `None` where every issue of the entry turned out to be hidden.
    fn of(gap: &'a Gap, rank: usize, named: usize, found: &Found) -> Option<Row<'a>> {
        let line = |issue: &'a Issue| match found.get(&issue.place()) {
            Some(None) => None,
            Some(Some(title)) => Some(Line { issue, title: Some(title.clone()) }),
            None => Some(Line { issue, title: None }),
        };
        let issues: Vec<Line<'_>> = gap.issues.iter().take(named).filter_map(line).collect();
        let more = gap.issues.len().saturating_sub(named);
        (!issues.is_empty() || more > 0).then_some(Row { gap, rank, issues, more })
    }
}

/// What a kind means, in a few words.
fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::WrongAnswer => "a reader said the answer was wrong",
        Kind::Outdated => "the answer was there once",
        Kind::ThreadOnly => "only threads tell it",
        Kind::Near => "the topic is there, the fact is not",
        Kind::Missing => "it is not documented",
    }
}

/// A commit as people write it.
fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}
