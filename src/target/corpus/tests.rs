use super::*;

fn scope() -> Scope {
    Scope {
        group: "acme".into(),
        exclude: vec!["acme/infra".into(), "acme/customers/*".into()],
        docs: vec!["docs/**".into(), "README*".into(), "*.md".into()],
        code: vec!["**/*.rs".into()],
        ignore: vec!["**/vendor/**".into(), "**/CHANGELOG*".into()],
        members: false,
    }
}

fn project(path: &str) -> Project {
    Project::sample(7, path)
}

fn verdict(scope: &Scope, project: Project) -> Result<(), Refusal> {
    let audience = Audience::of_thread(&self::project("acme/any"));
    Corpus::new(scope).expect("globs").admit_project(&Arc::new(project), &audience).map(|_| ())
}

fn place(path: &str, mode: &str) -> Result<Admitted, Refusal> {
    let place = Resolved::observed(
        Arc::new(project("acme/docs")),
        "c".repeat(40),
        RepoPath::parse(path).expect("a path"),
        "b".repeat(40),
        mode.into(),
        None,
        None,
    );
    let audience = Audience::of_thread(&project("acme/any"));
    Corpus::new(&scope()).expect("globs").admit(place, &audience)
}

#[test]
fn a_group_is_compared_by_whole_segments_and_without_case() {
    assert_eq!(verdict(&scope(), project("acme/docs")), Ok(()));
    assert_eq!(verdict(&scope(), project("ACME/team/docs")), Ok(()));
    for path in ["acme-evil/docs", "acmex/docs", "other/acme", "x/acme/docs"] {
        assert_eq!(verdict(&scope(), project(path)), Err(Refusal::OutsideGroup), "{path}");
    }
    let nested = Scope { group: "/acme/team/".into(), ..scope() };
    assert_eq!(verdict(&nested, project("acme/team/docs")), Ok(()));
    assert_eq!(verdict(&nested, project("acme/team2/docs")), Err(Refusal::OutsideGroup));
    assert_eq!(verdict(&nested, project("acme/team")), Err(Refusal::OutsideGroup));
}

#[test]
fn an_exclusion_takes_everything_below_it() {
    for path in [
        "acme/infra",
        "acme/INFRA",
        "acme/infra/dns",
        "acme/infra/a/b",
        "acme/customers/one",
        "acme/customers/one/app",
    ] {
        assert_eq!(verdict(&scope(), project(path)), Err(Refusal::Excluded), "{path}");
    }
    for path in ["acme/infrastructure", "acme/infra2", "acme/customers", "acme/team/infra"] {
        assert_eq!(verdict(&scope(), project(path)), Ok(()), "{path}");
    }
}

#[test]
fn a_star_stays_within_a_segment_and_two_cross() {
    let with = |pattern: &str| Scope { exclude: vec![pattern.into()], ..scope() };
    assert_eq!(verdict(&with("acme/*/secret"), project("acme/a/secret/x")), Err(Refusal::Excluded));
    assert_eq!(verdict(&with("acme/*/secret"), project("acme/a/b/secret")), Ok(()));
    assert_eq!(verdict(&with("acme/**/secret"), project("acme/a/b/secret")), Err(Refusal::Excluded));
    assert_eq!(verdict(&with("**/secret"), project("acme/secret")), Err(Refusal::Excluded));
    assert_eq!(verdict(&with("acme/priv*"), project("acme/private-a")), Err(Refusal::Excluded));
    assert_eq!(verdict(&with("acme/customers/**"), project("acme/customers/a/b")), Err(Refusal::Excluded));
    assert_eq!(verdict(&with("/acme/infra/"), project("acme/infra")), Err(Refusal::Excluded));
}

#[test]
fn archived_and_doomed_projects_are_out() {
    let archived = Project { archived: true, ..project("acme/docs") };
    assert_eq!(verdict(&scope(), archived), Err(Refusal::Archived));
    let marked = Project { deletion_scheduled: true, ..project("acme/docs") };
    assert_eq!(verdict(&scope(), marked), Err(Refusal::DeletionScheduled));
    for path in ["acme/docs-deletion_scheduled-42", "acme/team-deletion_scheduled-9/docs"] {
        assert_eq!(verdict(&scope(), project(path)), Err(Refusal::DeletionScheduled), "{path}");
    }
    for path in ["acme/deletion_scheduled-9", "acme/docs-deletion_scheduled-x"] {
        assert_eq!(verdict(&scope(), project(path)), Ok(()), "{path}");
    }
}

#[test]
fn only_listed_regular_files_are_admitted() {
    assert!(place("docs/a/b.md", "100644").is_ok());
    assert!(place("src/lib.rs", "100755").is_ok());
    for (path, mode, refusal) in [
        ("docs/a.md", "120000", Refusal::Symlink),
        ("docs/a.md", "160000", Refusal::Submodule),
        ("docs/a.md", "040000", Refusal::NotAFile),
        ("docs/a.md", "", Refusal::NotAFile),
        ("notes/a.md", "100644", Refusal::NotListed),
        ("docs/vendor/a.md", "100644", Refusal::Ignored),
        ("vendor/a.rs", "100644", Refusal::Ignored),
        ("changelog.md", "100644", Refusal::Ignored),
    ] {
        assert_eq!(place(path, mode).map(|_| ()), Err(refusal), "{path} {mode}");
    }
}

#[test]
fn a_broken_pattern_or_group_is_named() {
    let broken = Scope { docs: vec!["docs/[".into()], ..scope() };
    assert_eq!(Corpus::new(&broken).expect_err("broken").to_string(), "`docs/[` is no pattern");
    assert!(Corpus::new(&Scope { group: " ".into(), ..scope() }).is_err());
}

#[test]
fn names_are_stable_and_differ() {
    let names: std::collections::BTreeSet<_> = Refusal::ALL.iter().map(|r| r.name()).collect();
    assert_eq!(names.len(), Refusal::ALL.len());
}
