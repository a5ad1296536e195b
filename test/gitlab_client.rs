//! The client against a GitLab that acts: threads, labels, notes, lists, hooks.

use secrecy::SecretString;
use signpost::clock::Clock;
use signpost::gitlab::{
    AlertStatus, Error, GitLab, HookOwner, HookSettings, HookTest, IssueAt, IssuesOf, Read, Role, Vote,
};
use signpost::reference::ProjectPath;
use signpost::reply::{Asked, Language, Marker, Reply, Wording};
use signpost::target::corpus::{Audience, Corpus, Scope};
use signpost::target::{ProjectId, Resolved};
use url::Url;

use crate::gitlab::world::World;
use crate::gitlab::{BOT, BOT_TOKEN, Change, FakeGitLab, Fault, OWNER_TOKEN};

fn client(fake: &FakeGitLab, token: &str) -> GitLab {
    let url = Url::parse(fake.url()).expect("a url");
    GitLab::new(&url, SecretString::from(token.to_owned()), Clock::System).expect("a client")
}

async fn start() -> (FakeGitLab, GitLab, ProjectId) {
    let fake = FakeGitLab::start(World::acme()).await;
    let gitlab = client(&fake, BOT_TOKEN);
    let id = fake.world().project("acme/api").id;
    (fake, gitlab, id)
}

fn reply() -> Reply {
    Reply::nothing_found(
        &Wording::new(Language::English, "https://gitlab.example.com"),
        &Marker::of(Asked::Issue),
    )
}

#[tokio::test]
async fn a_client_is_made_while_gitlab_is_away() {
    let url = Url::parse("http://127.0.0.1:1").expect("a url");
    let gitlab = GitLab::new(&url, SecretString::from("x"), Clock::System).expect("a client");
    assert!(gitlab.user().await.expect_err("away").is_transient());
}

#[tokio::test]
async fn it_knows_who_it_is_and_what_its_token_may() {
    let (_fake, gitlab, _) = start().await;
    let user = gitlab.user().await.expect("a user").clone();
    assert!(user.bot && user.username == BOT);
    let token = gitlab.token().await.expect("an answer").expect("a token");
    assert!(token.active && token.scopes.contains(&"api".to_owned()) && token.expires_at.is_some());
    assert!(gitlab.metadata().await.expect("a version").release().is_some());
    assert!(gitlab.is_us(user.id).await.expect("known") && gitlab.is_bot(user.id).await.expect("known"));
}

#[tokio::test]
async fn a_bad_token_is_denied_and_not_an_absence() {
    let (fake, _, id) = start().await;
    let gitlab = client(&fake, "glpat-wrong");
    assert!(matches!(gitlab.user().await, Err(Error::Denied(_))));
    assert!(matches!(gitlab.issue(id, 1).await, Err(Error::Denied(_))));
}

#[tokio::test]
async fn a_thread_is_read_as_it_is_now() {
    let (fake, gitlab, id) = start().await;
    let iid = fake.open_issue("acme/api", "mara", "How do I rotate a key?", "I looked everywhere.").await;
    let comment = fake.comment("acme/api", iid, "tom", "See docs/guide/keys.md").await;
    fake.comment_internally("acme/api", iid, "tom", "A secret").await;
    let thread = gitlab.thread(id, iid).await.expect("an answer").expect("a thread");
    assert_eq!((thread.project, thread.iid, thread.open, thread.confidential), (id, iid, true, false));
    assert_eq!(thread.author_id, fake.world().user("mara").id);
    assert!(thread.created_at > 0 && thread.own_notes_known && !thread.truncated);
    assert_eq!(format!("{:?}", thread.title), "Prose(22 bytes)");
    let note = thread.notes.iter().find(|note| note.id == comment).expect("the comment");
    assert!(!note.ours && !note.internal && !note.system && note.marker.is_none());
    assert_eq!(thread.notes.iter().filter(|note| note.internal).count(), 1);
    fake.set_confidential("acme/api", iid, "tom", true).await;
    fake.lock_issue("acme/api", iid, "tom", true).await;
    fake.close_issue("acme/api", iid, "tom").await;
    let thread = gitlab.thread(id, iid).await.expect("an answer").expect("a thread");
    assert!(thread.confidential && thread.locked && !thread.open);
    assert!(gitlab.thread(id, 999).await.expect("an answer").is_none());
    assert!(gitlab.thread(99_999, 1).await.expect("an answer").is_none());
}

#[tokio::test]
async fn a_reply_is_posted_known_again_and_edited() {
    let (fake, gitlab, id) = start().await;
    let iid = fake.open_issue("acme/api", "mara", "How?", "Please.").await;
    let comment = fake.comment("acme/api", iid, "mara", "And how else?").await;
    let posted = gitlab.start_discussion(id, iid, &reply()).await.expect("posted");
    let thread = gitlab.thread(id, iid).await.expect("an answer").expect("a thread");
    let ours = thread.notes.iter().find(|note| note.id == posted.note).expect("our note");
    assert!(ours.ours && ours.marker.as_ref().is_some_and(|marker| marker.asked() == Asked::Issue));
    assert_eq!(ours.discussion_id, posted.discussion);
    let theirs = thread.notes.iter().find(|note| note.id == comment).expect("the comment");
    let second = gitlab.reply_in_discussion(id, iid, &theirs.discussion_id, &reply()).await.expect("posted");
    let note =
        gitlab.note(id, iid, &theirs.discussion_id, second.note).await.expect("an answer").expect("a note");
    assert!(note.ours);
    gitlab.edit_note(id, iid, posted.note, &reply()).await.expect("edited");
    assert_eq!(
        gitlab.our_note(id, iid, posted.note).await.expect("an answer").as_deref(),
        Some(reply().markdown())
    );
    assert_eq!(gitlab.our_note(id, iid, comment).await.expect("an answer"), None);
    assert_eq!(fake.bot_notes("acme/api", iid).len(), 2);
}

#[tokio::test]
async fn a_post_is_never_sent_twice() {
    for fault in [
        Fault::ResetAfter,
        Fault::Cut,
        Fault::Garbled,
        Fault::Json(500),
        Fault::TooMany { retry_after: Some(1) },
    ] {
        let (fake, gitlab, id) = start().await;
        let iid = fake.open_issue("acme/api", "mara", "How?", "Please.").await;
        fake.faults().next(1, "POST", "*/discussions", fault.clone());
        let error = gitlab.start_discussion(id, iid, &reply()).await.expect_err("a failure");
        assert!(error.is_transient(), "{fault:?}: {error}");
        assert_eq!(fake.requests_to("POST", "*/discussions").len(), 1, "{fault:?}");
        assert!(fake.bot_notes("acme/api", iid).len() <= 1);
    }
}

#[tokio::test]
async fn a_limit_on_notes_does_not_stop_reading() {
    let (fake, gitlab, id) = start().await;
    let iid = fake.open_issue("acme/api", "mara", "How?", "Please.").await;
    fake.faults().next(1, "POST", "*/discussions", Fault::TooMany { retry_after: Some(30) });
    let error = gitlab.start_discussion(id, iid, &reply()).await.expect_err("limited");
    assert!(matches!(error, Error::Transient { after: Some(after), .. } if after.as_secs() == 30), "{error}");
    assert!(gitlab.thread(id, iid).await.expect("an answer").is_some());
    assert!(gitlab.start_discussion(id, iid, &reply()).await.is_err());
    assert_eq!(fake.requests_to("POST", "*/discussions").len(), 1, "the second one never left");
}

#[tokio::test]
async fn the_label_is_found_by_its_exact_name_and_created_in_the_group_once() {
    let (fake, gitlab, id) = start().await;
    let iid = fake.open_issue("acme/api", "mara", "How?", "Please.").await;
    fake.world().add_project_label("acme/api", "Documentation-Gap", "#ff0000");
    assert_eq!(gitlab.find_label(id, "documentation-gap").await.expect("an answer"), None);
    let made = gitlab.create_group_label("acme", "documentation-gap").await.expect("made");
    let again = gitlab.create_group_label("acme", "documentation-gap").await.expect("there");
    assert_eq!(made, again);
    let found = gitlab.find_label(id, "documentation-gap").await.expect("an answer").expect("a label");
    gitlab.add_label(id, iid, &found).await.expect("labelled");
    gitlab.add_label(id, iid, &found).await.expect("twice is once");
    assert_eq!(fake.labels("acme/api", iid), ["documentation-gap"]);
    assert!(
        gitlab.issue(id, iid).await.expect("an answer").expect("an issue").labels.has("documentation-gap")
    );
    gitlab.remove_label(id, iid, &found).await.expect("removed");
    assert!(fake.labels("acme/api", iid).is_empty());
}

#[tokio::test]
async fn group_projects_leave_out_what_is_only_shared() {
    let mut world = World::acme();
    world.add_project("partner/tool").public().shared_with("acme", crate::gitlab::Level::Reporter);
    let fake = FakeGitLab::start(world).await;
    let gitlab = client(&fake, BOT_TOKEN);
    let mut projects = gitlab.group_projects("acme").expect("a list");
    let mut paths = Vec::new();
    while let Some(page) = projects.next().await.expect("a page") {
        paths.extend(page.into_iter().map(|project| project.path.as_str().to_owned()));
    }
    paths.sort();
    assert_eq!(paths, ["acme/api", "acme/docs", "acme/infra", "acme/platform/gateway"]);
    assert_eq!(gitlab.group("acme").await.expect("an answer").expect("a group").path, "acme");
    assert!(gitlab.group("nobody").await.expect("an answer").is_none());
}

#[tokio::test]
async fn long_lists_are_read_to_their_end() {
    let mut world = World::acme();
    let changes =
        (0..250).map(|n| Change::Write(format!("docs/many/{n:03}.md"), b"# X\n".to_vec())).collect();
    world.commit("acme/docs", None, "tom", "Many", changes);
    for n in 0..230 {
        world.open_issue("acme/api", "mara", &format!("Question {n}"), "…");
    }
    let fake = FakeGitLab::start(world).await;
    let gitlab = client(&fake, BOT_TOKEN);
    let docs = fake.world().project("acme/docs").id;
    let api = fake.world().project("acme/api").id;
    let head = gitlab.head(docs, "main").await.expect("an answer").expect("a head");
    let mut tree = gitlab.tree(docs, &head).expect("a tree");
    let mut many = 0;
    while let Some(page) = tree.next().await.expect("a page") {
        many += page.iter().filter(|row| row.path.as_str().starts_with("docs/many/")).count();
    }
    assert_eq!(many, 250);
    let mut updated = gitlab.issues_updated_since(IssuesOf::Group("acme".into()), 0);
    let mut iids = std::collections::BTreeSet::new();
    while let Some(page) = updated.next().await.expect("a page") {
        iids.extend(page.iter().map(|issue| (issue.project, issue.iid)));
    }
    assert_eq!(iids.len(), 230);
    let all: Vec<u64> = (1..=230).collect();
    assert_eq!(gitlab.faces(api, &all).await.expect("faces").len(), 230);
}

#[tokio::test]
async fn closed_issues_titles_and_counts_are_listed() {
    let (fake, gitlab, id) = start().await;
    let open = fake.open_issue("acme/api", "mara", "How <b>now</b>?", "…").await;
    let closed = fake.open_issue("acme/api", "mara", "Done", "…").await;
    fake.close_issue("acme/api", closed, "tom").await;
    fake.award_issue("acme/api", open, "tom", "thumbsup").await;
    let page = gitlab
        .closed_issues(&IssuesOf::Project(id))
        .expect("a list")
        .next()
        .await
        .expect("a page")
        .expect("rows");
    assert_eq!(page.iter().map(|issue| issue.iid).collect::<Vec<_>>(), [closed]);
    let faces = gitlab.faces(id, &[open, closed, 999]).await.expect("faces");
    let face = faces.iter().find(|face| face.iid == open).expect("a face");
    assert_eq!(
        (face.title.to_string().as_str(), face.upvotes, face.open),
        ("How &lt;b&gt;now&lt;/b&gt;?", 1, true)
    );
    let title = gitlab.title_for_display(IssueAt { project: id, iid: closed }).await.expect("an answer");
    assert_eq!(title.expect("a title").to_string(), "Done");
}

#[tokio::test]
async fn votes_and_roles_are_told() {
    let (fake, gitlab, id) = start().await;
    let iid = fake.open_issue("acme/api", "mara", "How?", "…").await;
    let posted = gitlab.start_discussion(id, iid, &reply()).await.expect("posted");
    fake.award_note(posted.note, "mara", "thumbsdown").await;
    let awards = gitlab.awards(id, iid, posted.note).await.expect("an answer").expect("a note");
    let mara = fake.world().user("mara").id;
    assert_eq!(
        awards.iter().map(|award| (award.user_id, award.vote)).collect::<Vec<_>>(),
        [(mara, Vote::Down)]
    );
    let tom = fake.world().user("tom").id;
    assert_eq!(gitlab.role(id, tom).await.expect("an answer"), Role::Developer);
    assert_eq!(gitlab.role(id, mara).await.expect("an answer"), Role::None);
}

#[tokio::test]
async fn admitted_content_is_read_byte_for_byte_and_within_bounds() {
    let mut world = World::acme();
    let changes = vec![
        Change::Write("docs/binary.md".into(), b"a\0b".to_vec()),
        Change::Write("docs/lfs.md".into(), b"version https://git-lfs.github.com/spec/v1\noid x\n".to_vec()),
        Change::Write("docs/crlf.md".into(), "\u{feff}# T\r\n\r\nä".as_bytes().to_vec()),
    ];
    world.commit("acme/docs", None, "tom", "Files", changes);
    let fake = FakeGitLab::start(world).await;
    let gitlab = client(&fake, BOT_TOKEN);
    let project = gitlab
        .project(ProjectPath::parse("ACME/Docs").expect("a path"))
        .await
        .expect("an answer")
        .expect("a project");
    let corpus = Corpus::new(&Scope { group: "acme".into(), docs: vec!["**".into()], ..Scope::default() })
        .expect("patterns");
    let audience = Audience::of_thread(&project);
    let head = gitlab.head(project.id, "main").await.expect("an answer").expect("a head");
    let rows = gitlab.tree(project.id, &head).expect("a tree").next().await.expect("a page").expect("rows");
    let read = async |path: &str, cap: usize| {
        let row = rows.iter().find(|row| row.path.as_str() == path).expect("a row").clone();
        let place = Resolved::observed(project.clone(), head.clone(), row.path, row.id, row.mode, None, None);
        let admitted = corpus.admit(place, &audience).expect("admitted");
        gitlab.read(&admitted, cap).await.expect("an answer").expect("an object")
    };
    let Read::Text(blob) = read("docs/crlf.md", 1000).await else { panic!("text") };
    assert_eq!(&**blob.text(), "\u{feff}# T\r\n\r\nä");
    assert!(matches!(read("docs/crlf.md", 5).await, Read::TooLarge));
    assert!(matches!(read("docs/binary.md", 1000).await, Read::Binary));
    assert!(matches!(read("docs/lfs.md", 1000).await, Read::Lfs));
    let open = corpus.admit_project(&project, &audience).expect("admitted");
    let changes = gitlab.compare(&open, &head, &head).await.expect("an answer").expect("a comparison");
    assert!(changes.paths.is_empty() && changes.complete);
}

#[tokio::test]
async fn a_hook_is_made_looked_at_mended_and_removed_by_an_owner() {
    let (fake, bot, _) = start().await;
    let owner = HookOwner::Group("acme".into());
    assert!(bot.hooks(&owner).await.is_err() || bot.hooks(&owner).await.expect("an answer").is_none());
    let gitlab = client(&fake, OWNER_TOKEN);
    let settings = HookSettings {
        url: Url::parse("http://127.0.0.1:9/hook").expect("a url"),
        signing_token: Some(SecretString::from(format!("whsec_{}", "A".repeat(43) + "="))),
        secret_token: None,
        verify_tls: true,
    };
    let made = gitlab.create_hook(&owner, &settings).await.expect("made");
    assert!(made.missing.is_empty() && made.superfluous.is_empty(), "{made:?}");
    assert_eq!((made.signed, made.alert), (Some(true), AlertStatus::Executable));
    let mended = gitlab.mend_hook(&owner, made.id, &settings).await.expect("mended");
    assert_eq!(mended.id, made.id);
    assert_eq!(gitlab.hooks(&owner).await.expect("an answer").expect("a group").len(), 1);
    let _ = gitlab.test_hook(&owner, made.id, HookTest::Push).await;
    gitlab.delete_hook(&owner, made.id).await.expect("removed");
    gitlab.delete_hook(&owner, made.id).await.expect("gone is removed");
    assert!(gitlab.hook(&owner, made.id).await.expect("an answer").is_none());
}
