//! `GET /`: the state at a glance.

use std::collections::HashMap;

use askama::Template;
use axum::extract::State;
use axum::response::Response;

use crate::admin::{Admin, Failure, draw, two};
use crate::answer::breaker_open;
use crate::clock::Millis;
use crate::gaps::{Gap, Moment, State as Standing, load};
use crate::store::corpus::CorpusSize;
use crate::store::question::{self, Record};
use crate::store::queue::{Depth, Place};

/// Answers and entries that are shown.
const LAST: u32 = 10;
const URGENT: usize = 5;

/// The start page.
pub(super) async fn page(State(admin): State<Admin>) -> Result<Response, Failure> {
    let (store, now) = (&admin.store, admin.clock.now());
    let projects = store.projects().await?;
    let paths: HashMap<u64, String> =
        projects.iter().map(|row| (row.project.id, row.project.path.as_str().to_owned())).collect();
    let gaps = load::current(store, &admin.config, now).await?;
    let depth = store.depth().await?;
    let (notes, undone) = store.undone_of_last().await?;
    let answered = store.questions_in(question::State::Answered, LAST).await?;
    let buried = store.buried().await?;
    let named = |place: &Place| named(*place, &paths);
    draw(&Page {
        group: admin.config.group(),
        observing: admin.config.answer.mode == crate::config::Mode::Observe,
        breaker: breaker_open(store, &admin.config).await?,
        waiting: depth.oldest.filter(|at| *at < now).map(|at| span(now - at)),
        depth,
        size: store.corpus_size().await?,
        refusals: store.refusals().await?,
        skipped: store.skipped().await?,
        open: count(&gaps, Standing::Open),
        dismissed: count(&gaps, Standing::Dismissed),
        closed: count(&gaps, Standing::Closed),
        urgent: gaps.into_iter().filter(|gap| gap.state == Standing::Open).take(URGENT).collect(),
        notes,
        undone,
        answers: answered.iter().map(|record| answer(record, &paths)).collect(),
        buried: buried
            .iter()
            .map(|(place, why, attempts)| (*place, named(place), why.clone(), *attempts))
            .collect(),
    })
}

#[derive(Template)]
#[template(path = "home.html")]
struct Page<'a> {
    group: &'a str,
    observing: bool,
    breaker: bool,
    depth: Depth,
    waiting: Option<String>,
    size: CorpusSize,
    refusals: Vec<(String, i64)>,
    skipped: Vec<(String, i64)>,
    open: usize,
    dismissed: usize,
    closed: usize,
    urgent: Vec<Gap>,
    notes: u32,
    undone: u32,
    answers: Vec<Answer>,
    buried: Vec<(Place, String, String, i64)>,
}

/// A question that was answered: where it was asked, what was quoted.
struct Answer {
    place: Place,
    name: String,
    day: String,
    score: f64,
    target: Option<String>,
    commit: String,
    undone: bool,
}

fn answer(record: &Record, paths: &HashMap<u64, String>) -> Answer {
    let target = record.target.as_ref();
    let place = |target: &question::Target| {
        let project =
            paths.get(&target.project).cloned().unwrap_or_else(|| format!("project {}", target.project));
        format!("{project}: {}, lines {}–{}", target.path, target.first_line, target.last_line)
    };
    Answer {
        place: record.place,
        name: named(record.place, paths),
        day: Moment(record.posted_at.unwrap_or(record.decided_at)).day(),
        score: record.score as f64 / 1000.0,
        target: target.map(place),
        commit: target.map(|target| target.commit.chars().take(8).collect()).unwrap_or_default(),
        undone: record.undone,
    }
}

/// A place as people write it.
pub(super) fn named(place: Place, paths: &HashMap<u64, String>) -> String {
    let project = paths.get(&place.project).cloned().unwrap_or_else(|| format!("project {}", place.project));
    match place {
        Place::GROUP => "the group".to_owned(),
        Place::REPORT => "the report issue".to_owned(),
        Place { iid: 0, .. } => format!("repository of {project}"),
        Place { iid, .. } => format!("{project}#{iid}"),
    }
}

fn count(gaps: &[Gap], state: Standing) -> usize {
    gaps.iter().filter(|gap| gap.state == state).count()
}

/// A time span as people say it.
fn span(time: Millis) -> String {
    let seconds = time / 1000;
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
