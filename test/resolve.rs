//! References to what is there today, against a GitLab with a history, hostile variants included.

use secrecy::SecretString;
use signpost::clock::Clock;
use signpost::config::{Docsite, Generator};
use signpost::docsite::Sites;
use signpost::gitlab::{Budget, Error, GitLab, Outcome, ProjectRef, Why};
use signpost::reference::{Iid, Lines, ProjectPath, Reference, RepoPath, Sha};
use signpost::target::Resolved;
use signpost::target::corpus::{Audience, Corpus, Refusal, Scope};
use url::Url;

use crate::gitlab::world::{Merge, Switch, World};
use crate::gitlab::{BOT_TOKEN, Change, FakeGitLab, Fault};

const OLD: &str = "# Backup\n\nOne.\n\nTwo.\n\nThree.\n\n## Restore\n\nStop first.\n\nThen restore.\n";

/// A world with one more project, `acme/handbook`, whose `docs/backup.md` has a past.
fn world() -> World {
    let mut world = World::acme();
    world.add_project("acme/handbook").public().files([
        ("docs/backup.md", OLD),
        ("docs/other.md", "# Other\n\nText.\n"),
        ("src/lib.rs", "//! A library.\n"),
    ]);
    world
}

fn write(path: &str, text: &str) -> Change {
    Change::Write(path.into(), text.as_bytes().to_vec())
}

fn rename(from: &str, to: &str) -> Change {
    Change::Rename(from.into(), to.into())
}

fn commit(world: &mut World, changes: Vec<Change>) -> String {
    world.commit("acme/handbook", None, "tom", "Change things", changes)
}

fn head(world: &World) -> String {
    world.head("acme/handbook").id.clone()
}

struct Asker {
    fake: FakeGitLab,
    gitlab: GitLab,
    corpus: Corpus,
    sites: Sites,
    audience: Audience,
}

impl Asker {
    /// Somebody who reads a thread of `acme/api`, a public project.
    async fn new(world: World) -> Asker {
        let fake = FakeGitLab::start(world).await;
        let url = Url::parse(fake.url()).expect("a url");
        let gitlab = GitLab::new(&url, SecretString::from(BOT_TOKEN), Clock::System).expect("a client");
        let scope = Scope {
            group: "acme".into(),
            exclude: vec!["acme/infra".into()],
            docs: vec!["docs/**".into(), "**/*.md".into()],
            code: vec!["**/*.rs".into()],
            ..Scope::default()
        };
        let site = Docsite {
            url: Url::parse("https://docs.acme.example/").expect("a url"),
            project: "acme/docs".into(),
            root: "docs".into(),
            generator: Generator::Mkdocs,
        };
        let thread = gitlab.project(path("acme/api")).await.expect("an answer").expect("a project");
        Asker {
            fake,
            gitlab,
            corpus: Corpus::new(&scope).expect("patterns"),
            sites: Sites::declared(&[site]),
            audience: Audience::of_thread(&thread),
        }
    }

    async fn try_ask(&self, reference: &Reference, budget: Budget) -> Result<Outcome, Error> {
        self.gitlab.walk(&self.corpus, &self.sites, self.audience, budget).resolve(reference).await
    }

    async fn ask(&self, reference: &Reference) -> Outcome {
        self.try_ask(reference, Budget::default()).await.expect("found out")
    }

    /// Where a reference leads: `path`, `path:first-last`, or the check at which it fell.
    async fn told(&self, reference: &Reference) -> String {
        match self.ask(reference).await {
            Outcome::Found(places) => places.iter().map(told).collect::<Vec<_>>().join(" "),
            outcome => format!("fell: {}", outcome.fell().expect("it fell")),
        }
    }
}

fn told(place: &Resolved) -> String {
    let lines = place.lines().map(|lines| format!(":{}-{}", lines.first, lines.last)).unwrap_or_default();
    let anchor = place.anchor().map(|anchor| format!("#{anchor}")).unwrap_or_default();
    format!("{}{lines}{anchor}", place.path().as_str())
}

fn path(path: &str) -> ProjectPath {
    ProjectPath::parse(path).expect("a path")
}

fn file(git_ref: Option<&str>, file: &str, lines: Option<(u32, u32)>) -> Reference {
    file_of("acme/handbook", git_ref, file, lines)
}

fn file_of(project: &str, git_ref: Option<&str>, file: &str, lines: Option<(u32, u32)>) -> Reference {
    Reference::File {
        project: path(project),
        git_ref: git_ref.map(str::to_owned),
        path: RepoPath::parse(file).expect("a path"),
        lines: lines.and_then(|(first, last)| Lines::between(first, last)),
    }
}

fn commit_of(project: &str, sha: &str) -> Reference {
    Reference::Commit { project: path(project), sha: Sha::parse(sha).expect("a hash") }
}

fn request(project: &str, iid: u64) -> Reference {
    Reference::MergeRequest { project: path(project), iid: Iid::parse(&iid.to_string()).expect("a number") }
}

fn page(url: &str, anchor: Option<&str>) -> Reference {
    Reference::Page { url: url.into(), anchor: anchor.map(str::to_owned) }
}

#[tokio::test]
async fn a_file_of_the_default_branch_is_itself_with_the_heads_commit_and_blob() {
    let world = world();
    let commit = head(&world);
    let blob = world.head("acme/handbook").tree["docs/backup.md"].id.clone();
    let asker = Asker::new(world).await;
    for git_ref in [None, Some("main"), Some("HEAD"), Some(commit.as_str())] {
        let Outcome::Found(places) = asker.ask(&file(git_ref, "docs/backup.md", Some((9, 11)))).await else {
            panic!("{git_ref:?} leads nowhere")
        };
        let place = &places[0];
        assert_eq!((place.commit(), place.blob(), place.mode()), (commit.as_str(), blob.as_str(), "100644"));
        assert_eq!(told(place), "docs/backup.md:9-11");
    }
    assert_eq!(asker.fake.unexpected_requests().len(), 0);
}

#[tokio::test]
async fn what_is_not_there_fell_at_its_own_check() {
    let asker = Asker::new(world()).await;
    for (reference, fell) in [
        (file(None, "docs/missing.md", None), "no_file"),
        (file(None, "nowhere/missing.md", None), "no_file"),
        (file(None, "docs", None), "no_file"),
        (file(None, "DOCS/backup.md", None), "no_file"),
        (file(None, "docs/backup.md", Some((10, 400))), "no_lines"),
        (file_of("acme/nothing", None, "docs/backup.md", None), "no_project"),
        (file_of("other/nothing", None, "docs/backup.md", None), "no_project"),
        (commit_of("acme/handbook", "deadbeef"), "no_commit"),
        (request("acme/handbook", 7), "no_merge_request"),
        (page("https://docs.acme.example/guide/missing/", None), "no_page"),
        (page("https://elsewhere.example/guide/keys/", None), "no_site"),
    ] {
        assert_eq!(asker.told(&reference).await, format!("fell: {fell}"), "{reference:?}");
    }
}

#[tokio::test]
async fn lines_of_an_older_commit_are_where_they_are_today() {
    let mut world = world();
    let then = head(&world);
    world.tag("acme/handbook", "v1", &then);
    let longer = format!("---\ntitle: x\n---\n\n{}", OLD.replace("Two.\n\n", ""));
    commit(&mut world, vec![write("docs/backup.md", &longer)]);
    let asker = Asker::new(world).await;
    let short = &then[..8];
    for git_ref in [then.as_str(), short, "v1"] {
        assert_eq!(
            asker.told(&file(Some(git_ref), "docs/backup.md", Some((9, 11)))).await,
            "docs/backup.md:11-13",
            "{git_ref}"
        );
        assert_eq!(
            asker.told(&file(Some(git_ref), "docs/backup.md", Some((5, 5)))).await,
            "fell: no_lines",
            "{git_ref}"
        );
        assert_eq!(asker.told(&file(Some(git_ref), "docs/backup.md", None)).await, "docs/backup.md");
    }
}

#[tokio::test]
async fn a_renamed_file_is_followed_with_its_lines_if_the_reference_names_a_commit() {
    let mut world = world();
    let then = head(&world);
    commit(&mut world, vec![write("docs/backup.md", &format!("Note.\n\n{OLD}"))]);
    commit(&mut world, vec![rename("docs/backup.md", "docs/ops/backups.md")]);
    commit(&mut world, vec![rename("docs/ops/backups.md", "docs/guide/backups.md")]);
    commit(&mut world, vec![write("docs/guide/backups.md", &format!("Another.\n\nNote.\n\n{OLD}"))]);
    let asker = Asker::new(world).await;
    assert_eq!(asker.told(&file(Some(&then), "docs/backup.md", None)).await, "docs/guide/backups.md");
    assert_eq!(
        asker.told(&file(Some(&then), "docs/backup.md", Some((9, 11)))).await,
        "docs/guide/backups.md:13-15"
    );
    assert_eq!(asker.told(&file(None, "docs/backup.md", None)).await, "fell: no_file");
    assert_eq!(asker.told(&file(Some("main"), "docs/backup.md", None)).await, "fell: no_file");
}

#[tokio::test]
async fn a_deleted_file_is_dead() {
    let mut world = world();
    let then = head(&world);
    commit(&mut world, vec![Change::Delete("docs/backup.md".into())]);
    let asker = Asker::new(world).await;
    assert_eq!(asker.told(&file(Some(&then), "docs/backup.md", None)).await, "fell: deleted");
}

#[tokio::test]
async fn a_slash_in_a_branch_is_found_by_asking_and_never_guessed() {
    let mut world = world();
    world.commit("acme/handbook", Some("feature/nav"), "tom", "Work", vec![write("docs/new.md", "# New\n")]);
    world.set_default_branch("acme/docs", "main");
    let asker = Asker::new(world).await;
    // `/-/blob/feature/nav/docs/backup.md`, cut behind the first segment.
    assert_eq!(asker.told(&file(Some("feature"), "nav/docs/backup.md", None)).await, "docs/backup.md");
    assert_eq!(
        asker.told(&file(Some("feature/nav"), "docs/backup.md", Some((3, 3)))).await,
        "docs/backup.md:3-3"
    );
    assert_eq!(
        asker.told(&file(Some("feature"), "nav/docs/new.md", None)).await,
        "fell: no_file",
        "not on the default branch"
    );
    assert_eq!(asker.told(&file(Some("gone"), "nav/docs/backup.md", None)).await, "fell: no_file");
    assert_eq!(asker.told(&file(Some("gone"), "docs/backup.md", None)).await, "docs/backup.md");
    assert_eq!(asker.told(&file(Some("gone"), "docs/backup.md", Some((3, 3)))).await, "fell: lines_lost");
}

#[tokio::test]
async fn a_default_branch_with_a_slash_is_the_head() {
    let mut world = world();
    world.commit("acme/handbook", Some("release/next"), "tom", "Work", vec![write("docs/new.md", "# New\n")]);
    world.set_default_branch("acme/handbook", "release/next");
    let asker = Asker::new(world).await;
    assert_eq!(asker.told(&file(Some("release"), "next/docs/new.md", Some((1, 1)))).await, "docs/new.md:1-1");
}

#[tokio::test]
async fn a_commit_is_the_files_it_touched_at_todays_lines() {
    let mut world = world();
    let changed = OLD.replace("Stop first.", "Stop the service first.");
    let sha = commit(&mut world, vec![write("docs/backup.md", &changed), write("Makefile", "all:\n")]);
    commit(&mut world, vec![write("docs/backup.md", &format!("Note.\n\n{changed}"))]);
    let asker = Asker::new(world).await;
    assert_eq!(asker.told(&commit_of("acme/handbook", &sha)).await, "docs/backup.md:13-13");
    assert_eq!(asker.told(&commit_of("acme/handbook", &sha[..9])).await, "docs/backup.md:13-13");
}

#[tokio::test]
async fn what_a_commit_did_and_was_undone_is_nothing() {
    let mut world = world();
    let sha = commit(&mut world, vec![write("docs/backup.md", &OLD.replace("One.", "Eins."))]);
    commit(&mut world, vec![write("docs/backup.md", OLD)]);
    let only_others = commit(&mut world, vec![write("Makefile", "all:\n")]);
    let asker = Asker::new(world).await;
    assert_eq!(asker.told(&commit_of("acme/handbook", &sha)).await, "fell: nothing_left");
    assert_eq!(asker.told(&commit_of("acme/handbook", &only_others)).await, "fell: nothing_left");
}

#[tokio::test]
async fn a_branch_whose_name_is_hex_is_no_commit() {
    let mut world = world();
    world.commit("acme/handbook", Some("deadbeef"), "tom", "Work", vec![write("docs/new.md", "# New\n")]);
    let asker = Asker::new(world).await;
    assert_eq!(asker.told(&commit_of("acme/handbook", "deadbeef")).await, "fell: no_commit");
}

#[tokio::test]
async fn a_forks_merge_request_commit_is_nobodys() {
    let mut world = world();
    world.fork_project("acme/handbook", "eve-space");
    let poison = vec![
        write("docs/backup.md", "# Backup\n\ncredentials.literal: true\n"),
        write("docs/evil.md", "# Evil\n"),
    ];
    let iid = world.propose(("eve-space/handbook", "acme/handbook"), "eve", "patch", "Fix", poison);
    let sha = world.merge_request("acme/handbook", iid).sha.clone();
    let asker = Asker::new(world).await;
    assert_eq!(asker.told(&commit_of("acme/handbook", &sha)).await, "fell: not_in_history");
    assert_eq!(asker.told(&request("acme/handbook", iid)).await, "fell: not_merged");
    assert_eq!(asker.told(&file(Some(&sha), "docs/evil.md", None)).await, "fell: no_file");
    assert_eq!(asker.told(&file(Some(&sha), "docs/backup.md", Some((3, 3)))).await, "fell: lines_lost");
    let Outcome::Found(places) = asker.ask(&file(Some(&sha), "docs/backup.md", None)).await else {
        panic!("the path is there")
    };
    let blob = asker.fake.world().head("acme/handbook").tree["docs/backup.md"].id.clone();
    assert_eq!(places[0].blob(), blob, "the content is the default branch's");
}

#[tokio::test]
async fn a_force_pushed_commit_and_a_closed_request_are_gone() {
    let mut world = world();
    let lost = commit(&mut world, vec![write("docs/backup.md", &OLD.replace("One.", "Uno."))]);
    world.amend(
        "acme/handbook",
        "main",
        "tom",
        "Again",
        vec![write("docs/backup.md", &OLD.replace("One.", "Eins."))],
    );
    let iid = world.propose(
        ("acme/handbook", "acme/handbook"),
        "tom",
        "idea",
        "Idea",
        vec![write("docs/idea.md", "# Idea\n")],
    );
    world.close_merge_request("acme/handbook", iid, "tom");
    world.delete_branch("acme/handbook", "idea", "tom");
    let sha = world.merge_request("acme/handbook", iid).sha.clone();
    let asker = Asker::new(world).await;
    assert_eq!(asker.told(&commit_of("acme/handbook", &lost)).await, "fell: not_in_history");
    assert_eq!(asker.told(&commit_of("acme/handbook", &sha)).await, "fell: not_in_history");
    assert_eq!(asker.told(&request("acme/handbook", iid)).await, "fell: not_merged");
}

#[tokio::test]
async fn a_merged_request_is_its_commit_on_the_branch_however_it_was_merged() {
    for how in [Merge::Commit, Merge::Squash, Merge::FastForward, Merge::SquashFastForward] {
        let mut world = world();
        world.fork_project("acme/handbook", "eve-space");
        let change = vec![write("docs/backup.md", &OLD.replace("Three.", "Three, and four."))];
        let iid = world.propose(("eve-space/handbook", "acme/handbook"), "eve", "patch", "Fix", change);
        world.merge("acme/handbook", iid, "tom", how);
        let asker = Asker::new(world).await;
        assert_eq!(asker.told(&request("acme/handbook", iid)).await, "docs/backup.md:7-7", "{how:?}");
    }
}

#[tokio::test]
async fn a_renamed_project_is_found_and_judged_by_where_it_is_now() {
    let mut world = world();
    world.rename_project("acme/handbook", "manual");
    let asker = Asker::new(world).await;
    let Outcome::Found(places) = asker.ask(&file(None, "docs/backup.md", None)).await else {
        panic!("followed")
    };
    assert_eq!(places[0].project().path, path("acme/manual"));

    let mut world = self::world();
    world.transfer_project("acme/handbook", "elsewhere");
    let asker = Asker::new(world).await;
    assert!(matches!(
        asker.ask(&file(None, "docs/backup.md", None)).await,
        Outcome::NotAllowed(Refusal::OutsideGroup) | Outcome::NotThere(Why::NoProject)
    ));
}

#[tokio::test]
async fn a_project_moved_into_an_excluded_group_is_excluded() {
    let mut world = world();
    world.transfer_project("acme/handbook", "acme/infra-tools");
    world.transfer_project("acme/docs", "acme/infra2");
    let mut asker = Asker::new(world).await;
    let scope = Scope {
        group: "acme".into(),
        exclude: vec!["acme/infra-tools".into()],
        docs: vec!["docs/**".into()],
        ..Scope::default()
    };
    asker.corpus = Corpus::new(&scope).expect("patterns");
    assert_eq!(asker.told(&file(None, "docs/backup.md", None)).await, "fell: excluded");
    assert_eq!(asker.told(&file_of("acme/docs", None, "docs/index.md", None)).await, "docs/index.md");
}

#[tokio::test]
async fn a_reused_path_is_another_project() {
    let mut world = world();
    world.rename_project("acme/handbook", "manual");
    let new = world.add_project("acme/handbook").public().file("docs/backup.md", "# Something else\n").id;
    let asker = Asker::new(world).await;
    let Outcome::Found(places) = asker.ask(&file(None, "docs/backup.md", None)).await else {
        panic!("there")
    };
    assert_eq!(places[0].project().id, new);
    let old = asker.gitlab.project(path("acme/manual")).await.expect("an answer").expect("a project");
    assert_ne!(old.id, new);
    assert_eq!(
        asker.gitlab.project(ProjectRef::Id(old.id)).await.expect("an answer").map(|p| p.id),
        Some(old.id)
    );
}

#[tokio::test]
async fn nothing_of_an_excluded_project_is_asked_but_what_it_is() {
    let mut world = world();
    let sha = world.commit(
        "acme/infra",
        None,
        "ines",
        "Secret",
        vec![write("docs/access.md", "# Access\n\nNew.\n")],
    );
    let asker = Asker::new(world).await;
    asker.fake.forget_requests();
    for reference in [
        file_of("acme/infra", None, "docs/access.md", None),
        file_of("acme/infra", Some(&sha), "docs/access.md", Some((1, 1))),
        commit_of("acme/infra", &sha),
        request("acme/infra", 1),
    ] {
        assert_eq!(asker.told(&reference).await, "fell: excluded", "{reference:?}");
    }
    let asked = asker.fake.requests();
    assert!(
        asked.iter().all(|call| !call.path.contains("/repository/") && !call.path.contains("merge_requests")),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_target_that_readers_of_the_thread_cannot_read_is_refused() {
    let mut world = world();
    world.add_project("acme/inner").internal().file("docs/a.md", "# A\n");
    world.add_project("acme/closed").private().file("docs/a.md", "# A\n");
    world
        .add_project("acme/code")
        .public()
        .with(|p| p.repository_access = Switch::Private)
        .file("docs/a.md", "# A\n");
    world.add_project("acme/old").public().with(|p| p.archived = true).file("docs/a.md", "# A\n");
    let asker = Asker::new(world).await;
    for (project, fell) in
        [("inner", "audience"), ("closed", "audience"), ("code", "audience"), ("old", "archived")]
    {
        let reference = file_of(&format!("acme/{project}"), None, "docs/a.md", None);
        assert_eq!(asker.told(&reference).await, format!("fell: {fell}"), "{project}");
    }
}

#[tokio::test]
async fn links_submodules_and_unlisted_files_are_refused() {
    let mut world = world();
    let changes = vec![
        Change::Symlink("docs/link.md".into(), "../../etc/passwd".into()),
        Change::Submodule("docs/sub".into(), "a".repeat(40)),
        write("secrets/key.txt", "x\n"),
        write("docs/image.bin", "\0\0\n"),
    ];
    commit(&mut world, changes);
    let asker = Asker::new(world).await;
    for (path, fell) in
        [("docs/link.md", "symlink"), ("docs/sub", "submodule"), ("secrets/key.txt", "not_listed")]
    {
        assert_eq!(asker.told(&file(None, path, None)).await, format!("fell: {fell}"), "{path}");
    }
    assert_eq!(asker.told(&file(None, "docs/image.bin", Some((1, 1)))).await, "fell: not_text");
    assert!(asker.fake.requests_to("GET", "*/blobs/*").len() <= 1, "what is refused is not read");
}

#[tokio::test]
async fn a_page_leads_to_its_source_and_an_unknown_anchor_to_the_page() {
    let world = world();
    let text = world.read_file("acme/docs", "docs/guide/limits.md").expect("a file");
    let heading = text
        .lines()
        .find(|line| line.starts_with("## "))
        .expect("a heading")
        .trim_start_matches("## ")
        .to_owned();
    let anchor = heading.to_lowercase().replace(' ', "-");
    let asker = Asker::new(world).await;
    let url = "https://docs.acme.example/guide/limits/";
    assert_eq!(asker.told(&page(url, None)).await, "docs/guide/limits.md");
    let found = asker.told(&page(url, Some(&anchor))).await;
    assert!(found.starts_with("docs/guide/limits.md:") && found.ends_with(&format!("#{anchor}")), "{found}");
    assert_eq!(asker.told(&page(url, Some("the-supported-way-is-literal"))).await, "docs/guide/limits.md");
    assert_eq!(asker.told(&page("https://docs.acme.example/", None)).await, "docs/index.md");
}

#[tokio::test]
async fn could_not_find_out_is_an_error_and_not_an_absence() {
    let asker = Asker::new(world()).await;
    for (pattern, reference) in [
        ("/projects/acme%2Fhandbook", file(None, "docs/backup.md", None)),
        ("/projects/*/repository/branches/*", file(None, "docs/backup.md", None)),
        ("/projects/*/repository/tree", file(None, "docs/backup.md", None)),
        ("/projects/*/repository/commits/*", commit_of("acme/handbook", "deadbeef")),
        ("/projects/*/merge_requests/*", request("acme/handbook", 3)),
    ] {
        for fault in [Fault::Json(500), Fault::Html(502), Fault::Html(404), Fault::ResetBefore, Fault::Cut] {
            asker.fake.faults().always("GET", pattern, fault.clone());
            let told = asker.try_ask(&reference, Budget::default()).await;
            assert!(told.as_ref().is_err_and(Error::is_transient), "{pattern} {fault:?}: {told:?}");
            asker.fake.faults().clear();
        }
    }
}

#[tokio::test]
async fn a_walk_asks_each_thing_once_and_ends_at_its_budget() {
    let asker = Asker::new(world()).await;
    let references: Vec<Reference> =
        (1..=20).map(|line| file(None, "docs/backup.md", Some((1, line.min(13))))).collect();
    asker.fake.forget_requests();
    let walk = asker.gitlab.walk(&asker.corpus, &asker.sites, asker.audience, Budget::default());
    for outcome in walk.resolve_all(&references).await {
        assert!(matches!(outcome, Ok(Outcome::Found(_))));
    }
    assert_eq!(asker.fake.requests().len(), 4, "project, head, folder, content");
    let tight = Budget { requests: 2, ..Budget::default() };
    let told = asker.try_ask(&file(None, "docs/backup.md", None), tight).await.expect("no failure");
    assert_eq!(told.fell(), Some("too_costly"));
}
