use super::*;
use crate::gaps::filter::Filter;
use crate::gaps::report::Audience;
use crate::gaps::testing::{fingerprint, gap};
use crate::store::question::{self, Near, Target};
use crate::target::{Project, Visibility};

const NOW: Millis = 1_700_100_000_000;

pub(crate) fn project(id: u64, path: &str, visibility: Visibility) -> ProjectRow {
    ProjectRow {
        project: Project { visibility: Some(visibility), ..Project::sample(id, path) },
        refusal: None,
        head: None,
        synced_at: 0,
    }
}

fn drawn(records: &[Record], hand: &Hand, projects: &[ProjectRow]) -> Vec<Gap> {
    let instance = Url::parse("https://gitlab.example.com/").unwrap();
    list(records.to_vec(), hand, &Scene { instance: &instance, projects, threshold: 900, now: NOW })
}

fn world() -> (Vec<Record>, Vec<ProjectRow>) {
    let print = fingerprint("How long do tokens live?", "Token expiry");
    let mut a = gap(1, 1, 10, print.clone());
    a.near =
        Some(Near {
            project: 2, path: "docs/über uns.md".into(), anchor: Some("to-ken".into()), score: 410
        });
    a.gap_kind = Some("near".into());
    let mut b = gap(2, 2, 11, print);
    b.gap_kind = Some("near".into());
    b.votes = 3;
    let other = gap(1, 3, 10, fingerprint("Dark theme", "Colours"));
    (
        vec![a, b, other],
        vec![project(1, "acme/api", Visibility::Public), project(2, "acme/sub/docs", Visibility::Public)],
    )
}

#[test]
fn an_entry_tells_all_about_its_questions() {
    let (records, projects) = world();
    let gaps = drawn(&records, &Hand::default(), &projects);
    assert_eq!(gaps.len(), 2);
    let json = serde_json::to_value(&gaps[0]).unwrap();
    let id = gaps[0].id.clone();
    assert_eq!(
        json,
        serde_json::json!({
            "id": id, "kind": "near", "state": "open", "score": gaps[0].score, "askers": 2, "votes": 3,
            "wrong_answers": 0, "projects": 2,
            "first_seen": "2023-11-14T22:14:20Z", "last_seen": "2023-11-14T22:15:20Z",
            "settled_at": null, "closed": null,
            "nearest": {
                "project_id": 2, "project": "acme/sub/docs", "path": "docs/über uns.md", "anchor": "to-ken",
                "url": "https://gitlab.example.com/acme/sub/docs/-/blob/main/docs/%C3%BCber%20uns.md#to-ken",
                "assigned": false,
            },
            "why": { "best_score": 0.41, "threshold": 0.9 },
            "issues": [
                { "project_id": 2, "project": "acme/sub/docs", "iid": 2, "note": null, "state": "open", "votes": 3,
                  "url": "https://gitlab.example.com/acme/sub/docs/-/issues/2", "asked_at": "2023-11-14T22:15:20Z" },
                { "project_id": 1, "project": "acme/api", "iid": 1, "note": null, "state": "open", "votes": 0,
                  "url": "https://gitlab.example.com/acme/api/-/issues/1", "asked_at": "2023-11-14T22:14:20Z" },
            ],
        })
    );
}

#[test]
fn an_entry_is_open_while_one_question_waits_and_closes_with_its_commit() {
    let (mut records, projects) = world();
    records.truncate(2);
    records[0].state = question::State::Answered;
    records[0].closed = Some(("c0ffee".into(), NOW - 5000));
    records[0].target = Some(Target {
        project: 2,
        path: "docs/a.md".into(),
        blob: "b".into(),
        commit: "c0ffee".into(),
        first_line: 1,
        last_line: 2,
        quote: String::new(),
    });
    assert_eq!(drawn(&records, &Hand::default(), &projects)[0].state, State::Open);
    records[1].state = question::State::Dismissed;
    let gaps = drawn(&records, &Hand::default(), &projects);
    assert_eq!(gaps[0].state, State::Closed);
    let closed = gaps[0].closed.as_ref().unwrap();
    assert_eq!(closed.url.as_deref(), Some("https://gitlab.example.com/acme/sub/docs/-/commit/c0ffee"));
    records[0].state = question::State::Dismissed;
    records[0].closed = None;
    assert_eq!(drawn(&records, &Hand::default(), &projects)[0].state, State::Dismissed);
    records[0].state = question::State::Silent;
    records[1].state = question::State::Deleted;
    assert!(drawn(&records, &Hand::default(), &projects).is_empty());
}

#[test]
fn an_answer_that_was_never_a_gap_is_not_listed() {
    let (mut records, projects) = world();
    records.truncate(1);
    records[0].state = question::State::Answered;
    assert!(drawn(&records, &Hand::default(), &projects).is_empty());
}

#[test]
fn hands_merge_dismiss_and_assign() {
    let (mut records, projects) = world();
    for (place, key, id) in cluster::join(&records, &Hand::default()) {
        let record = records.iter_mut().find(|r| r.place == place && r.key == key).unwrap();
        record.cluster = Some(id);
    }
    let before = drawn(&records, &Hand::default(), &projects);
    let (big, small) = (before[0].id.clone(), before[1].id.clone());
    let hand = Hand {
        merges: vec![(small.clone(), big.clone())],
        pages: vec![(small.clone(), 1, "docs/new.md".into(), 5)],
        ..Hand::default()
    };
    let merged = drawn(&records, &hand, &projects);
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0].id, big);
    let nearest = merged[0].nearest.as_ref().unwrap();
    assert!(nearest.assigned);
    assert_eq!(nearest.url, "https://gitlab.example.com/acme/api/-/blob/main/docs/new.md");
    let hand = Hand { dismissals: vec![(big.clone(), 7)], ..Hand::default() };
    let gaps = drawn(&records, &hand, &projects);
    assert_eq!((gaps[0].id.as_str(), gaps[0].state), (small.as_str(), State::Open));
    assert_eq!((gaps[1].state, gaps[1].settled_at), (State::Dismissed, Some(Moment(7))));
}

#[test]
fn excluded_projects_are_not_named() {
    let (records, mut projects) = world();
    projects[1].refusal = Some("excluded".into());
    let text = serde_json::to_string(&drawn(&records, &Hand::default(), &projects)).unwrap();
    assert!(!text.contains("acme/sub") && !text.contains("uns.md"), "{text}");
    // A repository that may not be read is not named either, though its issues are.
    projects[1].refusal = Some("no_repository".into());
    let text = serde_json::to_string(&drawn(&records, &Hand::default(), &projects)).unwrap();
    assert!(text.contains("acme/sub/docs") && !text.contains("uns.md"), "{text}");
}

#[test]
fn filters_look_at_whole_segments() {
    let (records, projects) = world();
    let gaps = drawn(&records, &Hand::default(), &projects);
    let shown = |filter: Filter| gaps.iter().filter(|gap| filter.matches(gap, NOW)).count();
    let below = |path: &str| Filter { project: Some(path.into()), ..Filter::default() };
    assert_eq!(shown(below("ACME")), 2);
    assert_eq!(shown(below("acme/sub")), 1);
    assert_eq!(shown(below("acme/su")), 0);
    assert_eq!(shown(below("äcme")), 0);
    assert_eq!(shown(Filter { kind: Some(Kind::Near), ..Filter::default() }), 1);
    assert_eq!(shown(Filter { state: Some(State::Closed), ..Filter::default() }), 0);
    assert_eq!(shown(Filter { age: Some(1), ..Filter::default() }), 0);
}

#[test]
fn the_report_holds_numbers_coordinates_and_paths() {
    let (mut records, mut projects) = world();
    records[0].near.as_mut().unwrap().path = "docs/@all `x` <img>.md".into();
    let report = |records: &[Record], projects: &[ProjectRow]| {
        let report =
            Audience::of(&projects[0].project, projects).report(&drawn(records, &Hand::default(), projects));
        report.markdown().to_owned()
    };
    assert_eq!(
        report(&records, &projects),
        "Questions that the documentation does not answer yet, the most urgent first. This list is kept current; \
         what is written into it by hand is lost. Close the issue to stop it.\n\n\
         1. acme/sub/docs#2+, acme/api#1+\n   - asked by 2 people, 3 votes, last on 2023-11-14; `near`\n   \
         - nearest is ``docs/@all `x` <img>.md`` in `acme/sub/docs`, which scored 0.410 of 0.900\n\
         2. acme/api#3+\n   - asked by 1 person, 0 votes, last on 2023-11-14; `missing`\n\n\
         <!-- signpost:1 report -->"
    );
    projects[1].project.visibility = Some(Visibility::Private);
    let text = report(&records, &projects);
    assert!(!text.contains("acme/sub"), "{text}");
    assert!(text.contains("acme/api#1+"), "{text}");
    projects[1].project.visibility = Some(Visibility::Internal);
    assert!(!report(&records, &projects).contains("acme/sub"));
    assert!(report(&[], &projects).contains("\n\nNo question waits.\n\n"));
}
