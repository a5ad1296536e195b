//! The visibility matrix, enumerated: every combination of what GitLab can say about a target and a thread,
//! judged by two oracles that share no code with the predicate. One knows people and asks for each whether he
//! can read the thread and the target; the other is the design's sentences, one line each.

use std::sync::Arc;

use super::{Audience, Corpus, Scope};
use crate::reference::ProjectPath;
use crate::target::{Access, Project, Visibility};

/// Everybody who can matter. Members are members of the one project only.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Person {
    Passerby,
    ExternalUser,
    Colleague,
    MemberOfThread,
    MemberOfTarget,
}

const PEOPLE: [Person; 5] = [
    Person::Passerby,
    Person::ExternalUser,
    Person::Colleague,
    Person::MemberOfThread,
    Person::MemberOfTarget,
];

/// What a person can read, told as GitLab's permission page tells it.
fn reads(member: bool, person: Person, visibility: Visibility, access: Access) -> bool {
    let sees_project = match visibility {
        Visibility::Public => true,
        Visibility::Internal => !matches!(person, Person::Passerby | Person::ExternalUser),
        Visibility::Private => false,
    };
    match access {
        Access::Disabled => false,
        Access::Private => member,
        Access::Enabled => member || sees_project,
    }
}

struct Case {
    target: Project,
    thread: Project,
    own: bool,
    members: bool,
}

impl Case {
    /// Nobody who reads the thread is kept from the target.
    fn leaks_to_nobody(&self) -> bool {
        PEOPLE.iter().all(|&person| {
            let of_thread =
                person == Person::MemberOfThread || (self.own && person == Person::MemberOfTarget);
            let of_target =
                person == Person::MemberOfTarget || (self.own && person == Person::MemberOfThread);
            // What GitLab did not say counts against us: the thread may be open to all, the target to none.
            let visibility = self.thread.visibility.unwrap_or(Visibility::Public);
            let thread = reads(of_thread, person, visibility, self.thread.issues.unwrap_or(Access::Enabled));
            let target = self.target.visibility.zip(self.target.repository);
            !thread || target.is_some_and(|(visibility, access)| reads(of_target, person, visibility, access))
        })
    }

    /// The design's words.
    fn by_the_book(&self) -> bool {
        let path = self.target.path.as_str().to_lowercase();
        let inside = path.starts_with("acme/");
        let excluded = path.starts_with("acme/infra/") || path == "acme/infra";
        let alive = !self.target.archived && !self.target.deletion_scheduled;
        let members_thread = self.thread.visibility == Some(Visibility::Private)
            || self.thread.issues == Some(Access::Private);
        let visible = match (self.target.visibility, self.target.repository) {
            (None, _) | (_, None | Some(Access::Disabled)) => false,
            (_, Some(Access::Private)) | (Some(Visibility::Private), _) => {
                self.members && self.own && members_thread
            }
            (Some(Visibility::Internal), _) => {
                self.thread.visibility == Some(Visibility::Internal) && !members_thread
            }
            (Some(Visibility::Public), _) => true,
        };
        inside && !excluded && alive && visible
    }
}

const VISIBILITIES: [Option<Visibility>; 4] =
    [None, Some(Visibility::Private), Some(Visibility::Internal), Some(Visibility::Public)];
const ACCESSES: [Option<Access>; 4] =
    [None, Some(Access::Disabled), Some(Access::Private), Some(Access::Enabled)];
const BOTH: [bool; 2] = [false, true];
/// In the group, shared into it from elsewhere, excluded by path, excluded with the group above.
const PATHS: [&str; 4] = ["acme/docs", "partner/docs", "acme/infra", "Acme/Infra/dns"];

fn project(
    id: u64,
    path: &str,
    visibility: Option<Visibility>,
    repository: Option<Access>,
    issues: Option<Access>,
) -> Project {
    Project {
        id,
        path: ProjectPath::parse(path).expect("a path"),
        visibility,
        archived: false,
        deletion_scheduled: false,
        repository,
        issues,
        default_branch: Some("main".into()),
        forked_from: None,
    }
}

fn every_target() -> impl Iterator<Item = Project> {
    PATHS.into_iter().flat_map(|path| {
        VISIBILITIES.into_iter().flat_map(move |visibility| {
            ACCESSES.into_iter().flat_map(move |repository| {
                ACCESSES.into_iter().flat_map(move |issues| {
                    (0..8).map(move |bits: u8| Project {
                        archived: bits & 1 != 0,
                        deletion_scheduled: bits & 2 != 0,
                        forked_from: (bits & 4 != 0).then_some(99),
                        ..project(7, path, visibility, repository, issues)
                    })
                })
            })
        })
    })
}

fn every_case() -> impl Iterator<Item = Case> {
    every_target().flat_map(|target| {
        let own =
            BOTH.map(|members| Case { thread: target.clone(), target: target.clone(), own: true, members });
        let others = VISIBILITIES.into_iter().flat_map(move |visibility| {
            let target = target.clone();
            ACCESSES.into_iter().flat_map(move |issues| {
                let thread = project(8, "acme/ask", visibility, Some(Access::Enabled), issues);
                BOTH.map(|members| Case {
                    target: target.clone(),
                    thread: thread.clone(),
                    own: false,
                    members,
                })
            })
        });
        own.into_iter().chain(others)
    })
}

fn corpus(members: bool) -> Corpus {
    let scope = Scope {
        group: "acme".into(),
        exclude: vec!["acme/infra".into()],
        docs: vec!["**".into()],
        members,
        ..Scope::default()
    };
    Corpus::new(&scope).expect("globs")
}

#[test]
fn every_combination_is_judged_as_designed_and_leaks_to_nobody() {
    let corpora = BOTH.map(corpus);
    let (mut cases, mut admitted) = (0, 0);
    for case in every_case() {
        let target = Arc::new(case.target.clone());
        let corpus = &corpora[usize::from(case.members)];
        let verdict = corpus.admit_project(&target, &Audience::of_thread(&case.thread));
        let told = || format!("{:?} for {:?}, members {}", case.target, case.thread, case.members);
        assert_eq!(verdict.is_ok(), case.by_the_book(), "{}", told());
        assert!(verdict.is_err() || case.leaks_to_nobody(), "a leak: {}", told());
        cases += 1;
        admitted += usize::from(verdict.is_ok());
    }
    assert_eq!(cases, 4 * 4 * 4 * 4 * 8 * (2 + 32));
    assert!(admitted > 0);
}

#[test]
fn the_index_holds_what_some_thread_may_cite_and_nothing_else() {
    for members in BOTH {
        let corpus = corpus(members);
        for target in every_target().map(Arc::new) {
            let indexed = corpus.admit_project(&target, &Audience::of_index(&target)).is_ok();
            let own = [Audience::of_thread(&target)].into_iter();
            let others = VISIBILITIES.into_iter().flat_map(|visibility| {
                ACCESSES.map(|issues| {
                    Audience::of_thread(&project(8, "acme/ask", visibility, Some(Access::Enabled), issues))
                })
            });
            let citable = own.chain(others).any(|a| corpus.admit_project(&target, &a).is_ok());
            assert_eq!(indexed, citable, "{target:?}, members {members}");
        }
    }
}
