//! A folder that is read for the first time is fetched as one archive, where nothing in it is left out by the predicate.

use crate::app::{TestApp, on_both};
use crate::gitlab::{Change, Fault, World};
use crate::life::{HOW, HOW_MORE};

const DOCS: &str = "acme/docs";
const PAGES: usize = 60;

fn page(at: usize) -> Change {
    // Longer than a row of an archive has room for, now and then.
    let name = if at.is_multiple_of(20) { "a-rather-long-name-".repeat(8) } else { "page".to_owned() };
    let text = format!("# Page {at}\n\nWhat page {at} tells about turbine number {at}.\n");
    Change::Write(format!("docs/pages/{name}-{at}.md"), text.into())
}

fn large(more: &[(&str, &[u8])]) -> World {
    let mut world = World::acme();
    let more = more.iter().map(|(path, bytes)| Change::Write((*path).to_owned(), bytes.to_vec()));
    world.commit(DOCS, None, "ines", "Write the manual", (0..PAGES).map(page).chain(more).collect());
    world
}

/// What was asked for: the folders of archives, and how many blobs of the project.
fn asked(app: &TestApp) -> (Vec<String>, usize) {
    let project = app.gitlab.world().project(DOCS).id;
    let archives = app.gitlab.requests_to("GET", &format!("/projects/{project}/repository/archive.tar.gz"));
    let folder = |query: &str| {
        let path = query.split('&').find_map(|part| part.strip_prefix("path=")).unwrap_or_default();
        path.replace("%2F", "/")
    };
    let blobs = app.gitlab.requests_to("GET", &format!("/projects/{project}/repository/blobs/*/raw"));
    (archives.iter().map(|call| folder(&call.query)).collect(), blobs.len())
}

/// Every page is in the corpus, as it is in the repository.
async fn everything_is_there(app: &TestApp) {
    let project = app.gitlab.world().project(DOCS).id;
    let files = app.store().files(project).await.expect("files");
    let pages = files.iter().filter(|file| file.path.starts_with("docs/pages/") && file.skipped.is_none());
    assert_eq!(pages.count(), PAGES);
    for at in [0, 7] {
        let Change::Write(path, bytes) = page(at) else { panic!("a page") };
        let sections = app.store().sections_of_file(project, &path).await.expect("sections");
        assert_eq!(sections.iter().map(|row| row.body.as_str()).collect::<String>().as_bytes(), bytes);
    }
}

on_both! {
    async fn a_folder_is_one_request(app: TestApp, large(&[("docs/logo.md", b"a\0b"), ("docs/pages/empty.md", b"")])) {
        let (folders, blobs) = asked(app);
        // Nothing in this repository is left out: the folder is all of it.
        assert_eq!((folders, blobs), (vec![String::new()], 0));
        everything_is_there(app).await;
        let project = app.gitlab.world().project(DOCS).id;
        let logo = app.store().file(project, "docs/logo.md").await.expect("the store").expect("there");
        assert_eq!(logo.skipped.as_deref(), Some("binary"));
        let iid = app.ask("acme/api", "mara", HOW, HOW_MORE).await;
        assert!(app.note("acme/api", iid).contains("keys.md"));
        // A push of one page is one blob.
        app.gitlab.forget_requests();
        app.gitlab.edit_file(DOCS, "docs/pages/page-7.md", "# Page 7\n\nAnother text.\n").await;
        app.drain().await;
        assert_eq!(asked(app), (Vec::new(), 1));
    }
}

on_both! {
    async fn what_the_predicate_leaves_out_is_not_fetched(app: TestApp, large(&[("docs/vendor/theirs.md", b"# Not ours\n\nNobody reads this.\n")])) {
        assert_eq!(asked(app).0, ["docs/pages"]);
        everything_is_there(app).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_gitlab_gives_no_archive_the_files_are_read_one_by_one() {
    for fault in [Fault::TooMany { retry_after: Some(60) }, Fault::Json(404), Fault::Cut, Fault::Garbled] {
        let app = TestApp::start_with(crate::app::Database::Sqlite, World::acme(), |_| {}).await;
        app.gitlab.faults().always("GET", "*/archive.tar.gz", fault.clone());
        app.gitlab.push(DOCS, (0..PAGES).map(page).collect()).await;
        app.drain().await;
        assert!(!asked(&app).0.is_empty(), "{fault:?}");
        everything_is_there(&app).await;
        app.gitlab.faults().clear();
        app.finish().await;
    }
}
