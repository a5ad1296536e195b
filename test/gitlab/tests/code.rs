//! Repositories: trees, files, commits, merge requests.

use super::{acme, call, get};
use crate::gitlab::git::{Repository, Signature};
use crate::gitlab::{BOT_TOKEN, Change, Merge};
use serde_json::json;
use std::io::Read as _;
use std::process::Command;

fn write(path: &str, content: &str) -> Change {
    Change::Write(path.into(), content.as_bytes().to_vec())
}

#[tokio::test]
async fn a_tree_has_folders_links_and_submodules_and_a_missing_path_is_404() {
    let gitlab = acme().await;
    let other = "1".repeat(40);
    gitlab
        .push(
            "acme/docs",
            vec![
                Change::Symlink("docs/link.md".into(), "guide/keys.md".into()),
                Change::Submodule("vendor/x".into(), other),
            ],
        )
        .await;
    let top = get(&gitlab, "/projects/101/repository/tree").await;
    assert_eq!(top.each("path"), ["docs", "vendor", "README.md", "mkdocs.yml"]);
    let all = get(&gitlab, "/projects/101/repository/tree?recursive=true&per_page=100").await;
    assert_eq!(
        all.each("path"),
        [
            "README.md",
            "docs",
            "docs/guide",
            "docs/guide/keys.md",
            "docs/guide/limits.md",
            "docs/index.md",
            "docs/link.md",
            "mkdocs.yml",
            "vendor",
            "vendor/x",
        ]
    );
    assert_eq!((all.each("mode")[6].as_str(), all.each("type")[9].as_str()), ("120000", "commit"));
    assert_eq!(
        get(&gitlab, "/projects/101/repository/tree?path=docs/guide").await.each("name"),
        ["keys.md", "limits.md"]
    );
    assert_eq!(get(&gitlab, "/projects/101/repository/tree?path=docs/none").await.status, 404);
    assert_eq!(get(&gitlab, "/projects/101/repository/tree?ref=none").await.status, 404);
}

#[tokio::test]
async fn files_come_raw_as_json_and_as_headers() {
    let gitlab = acme().await;
    let first = gitlab.world().head("acme/docs").id.clone();
    let second = gitlab.edit_file("acme/docs", "docs/index.md", "# Two\n").await;
    let raw = get(&gitlab, "/projects/101/repository/files/docs%2Findex.md/raw").await;
    assert_eq!((raw.status, raw.text.as_str(), raw.header("x-gitlab-size")), (200, "# Two\n", "6"));
    let keys = "/projects/101/repository/files/docs%2Fguide%2Fkeys.md";
    let head = call(&gitlab, BOT_TOKEN, "HEAD", &format!("{keys}?ref=main"), &[]).await;
    assert_eq!(
        (head.status, head.text.as_str(), head.header("x-gitlab-commit-id")),
        (200, "", second.as_str())
    );
    assert_eq!(head.header("x-gitlab-last-commit-id"), first);
    let json = get(&gitlab, &format!("{keys}?ref={first}")).await.body;
    assert_eq!((&json["commit_id"], &json["encoding"]), (&json!(first), &json!("base64")));
    let blob = get(
        &gitlab,
        &format!("/projects/101/repository/blobs/{}/raw", json["blob_id"].as_str().expect("an id")),
    )
    .await;
    assert!(blob.text.starts_with("# Rotating signing keys"));
    assert_eq!(get(&gitlab, keys).await.status, 400);
    assert_eq!(get(&gitlab, "/projects/101/repository/files/docs%2FINDEX.md/raw").await.status, 404);
    assert_eq!(get(&gitlab, "/projects/101/repository/files/docs/raw").await.status, 404);
}

#[tokio::test]
async fn a_commit_is_also_found_by_a_branch_name_and_its_diff_is_computed() {
    let gitlab = acme().await;
    let id = gitlab.edit_file("acme/api", "src/config.rs", "//! Reads.\n\npub const A: u8 = 1;\n").await;
    assert_eq!(get(&gitlab, "/projects/102/repository/commits/main").await.body["id"], id);
    assert_eq!(get(&gitlab, &format!("/projects/102/repository/commits/{}", &id[..8])).await.body["id"], id);
    assert_eq!(get(&gitlab, "/projects/102/repository/commits/deadbeef").await.status, 404);
    let diff = get(&gitlab, &format!("/projects/102/repository/commits/{id}/diff")).await;
    let text = diff.body[0]["diff"].as_str().expect("a diff");
    assert!(text.starts_with("@@ -1,") && text.contains("+pub const A: u8 = 1;\n"), "{text}");
    gitlab.rename_file("acme/api", "src/config.rs", "src/settings.rs").await;
    let renamed = get(&gitlab, "/projects/102/repository/commits/main/diff").await.body;
    assert_eq!(
        (&renamed[0]["renamed_file"], &renamed[0]["old_path"], &renamed[0]["diff"]),
        (&json!(true), &json!("src/config.rs"), &json!(""))
    );
    let log = get(&gitlab, "/projects/102/repository/commits?path=src/config.rs&per_page=1").await;
    assert_eq!((log.body.as_array().expect("rows").len(), log.headers.get("x-total")), (1, None));
    assert!(log.header("link").contains("rel=\"next\""));
}

#[tokio::test]
async fn commits_of_forks_are_served_by_the_target_and_are_ancestors_of_nothing() {
    let gitlab = acme().await;
    gitlab.world().fork_project("acme/docs", "eve");
    let iid = gitlab
        .propose(
            ("eve/docs", "acme/docs"),
            "eve",
            "better",
            "Better",
            vec![write("docs/evil.md", "# Evil\n")],
        )
        .await;
    let mr = get(&gitlab, &format!("/projects/101/merge_requests/{iid}")).await.body;
    let sha = mr["sha"].as_str().expect("a commit").to_owned();
    assert_ne!(mr["source_project_id"], mr["target_project_id"]);
    assert_eq!(get(&gitlab, &format!("/projects/101/repository/commits/{sha}")).await.status, 200);
    assert_eq!(get(&gitlab, &format!("/projects/101/repository/commits/{sha}/refs")).await.body, json!([]));
    let base = get(&gitlab, &format!("/projects/101/repository/merge_base?refs[]={sha}&refs[]=main")).await;
    assert_eq!(base.body["id"], gitlab.world().head("acme/docs").id);
    assert_eq!(
        get(&gitlab, &format!("/projects/101/repository/merge_base?refs[]={}&refs[]=main", "0".repeat(40)))
            .await
            .status,
        400
    );
    let raw = get(&gitlab, &format!("/projects/101/repository/files/docs%2Fevil.md/raw?ref={sha}")).await;
    assert_eq!(raw.text, "# Evil\n");
    let named = get(&gitlab, &format!("/projects/101/repository/commits/{sha}/merge_requests")).await;
    assert_eq!(named.each("iid"), [iid.to_string()]);
    assert_eq!(
        get(&gitlab, &format!("/projects/101/merge_requests/{iid}/diffs")).await.each("new_path"),
        ["docs/evil.md"]
    );
}

#[tokio::test]
async fn a_merge_request_lands_in_four_ways() {
    for (how, merge, squash) in [
        (Merge::Commit, true, false),
        (Merge::Squash, true, true),
        (Merge::FastForward, false, false),
        (Merge::SquashFastForward, false, true),
    ] {
        let gitlab = acme().await;
        let places = ("acme/docs", "acme/docs");
        let iid =
            gitlab.propose(places, "tom", "more", "More", vec![write("docs/more.md", "# More\n")]).await;
        let landed = gitlab.merge("acme/docs", iid, "ines", how).await;
        let mr = get(&gitlab, &format!("/projects/101/merge_requests/{iid}")).await.body;
        assert_eq!(
            (mr["state"].as_str(), mr["merge_commit_sha"].is_string(), mr["squash_commit_sha"].is_string()),
            (Some("merged"), merge, squash)
        );
        assert_eq!(gitlab.world().head("acme/docs").id, landed);
        assert_eq!(gitlab.world().read_file("acme/docs", "docs/more.md").as_deref(), Some("# More\n"));
        let commit = mr["merge_commit_sha"]
            .as_str()
            .or(mr["squash_commit_sha"].as_str())
            .or(mr["sha"].as_str())
            .expect("one of them");
        let base =
            get(&gitlab, &format!("/projects/101/repository/merge_base?refs[]={commit}&refs[]=main")).await;
        assert_eq!(base.body["id"], commit, "{how:?}");
    }
}

#[tokio::test]
async fn a_force_pushed_commit_stays_readable_by_its_id() {
    let gitlab = acme().await;
    let gone = gitlab.edit_file("acme/docs", "docs/index.md", "# Wrong\n").await;
    gitlab
        .act(|world| {
            world.amend("acme/docs", "main", "ines", "Right", vec![write("docs/index.md", "# Right\n")])
        })
        .await;
    assert_eq!(get(&gitlab, &format!("/projects/101/repository/commits/{gone}")).await.status, 200);
    assert_eq!(get(&gitlab, &format!("/projects/101/repository/commits/{gone}/refs")).await.body, json!([]));
    let compared = get(&gitlab, &format!("/projects/101/repository/compare?from={gone}&to=main")).await.body;
    assert_eq!(compared["diffs"].as_array().expect("diffs").len(), 1);
    assert_eq!(get(&gitlab, "/projects/101/repository/branches?search=ma").await.each("name"), ["main"]);
    assert_eq!(get(&gitlab, "/projects/101/repository/branches/main").await.body["default"], true);
}

#[tokio::test]
async fn five_archives_a_minute_and_each_is_a_real_one() {
    let gitlab = acme().await;
    let long = format!("docs/{}/page.md", "long-folder-name/".repeat(9).trim_end_matches('/'));
    gitlab
        .push(
            "acme/docs",
            vec![write(&long, "# Long\n"), Change::Symlink("docs/link".into(), "index.md".into())],
        )
        .await;
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let fetch = async |query: &str| {
        let url = format!("{}/api/v4/projects/101/repository/archive.tar.gz{query}", gitlab.url());
        let answer = client.get(url).header("PRIVATE-TOKEN", BOT_TOKEN).send().await.expect("an answer");
        (answer.status().as_u16(), answer.bytes().await.expect("bytes"))
    };
    let (status, bytes) = fetch("?exclude_paths=docs/guide").await;
    assert_eq!(status, 200);
    let mut tar = Vec::new();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut tar).expect("gzip");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("a.tar"), tar).expect("written");
    let listed =
        Command::new("tar").args(["-tf", "a.tar"]).current_dir(folder.path()).output().expect("tar runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let top = format!("docs-main-{}", gitlab.world().head("acme/docs").id);
    let mut wanted = vec![format!("{top}/")];
    wanted.extend(
        ["README.md", "docs/index.md", "docs/link", &long, "mkdocs.yml"].map(|path| format!("{top}/{path}")),
    );
    assert_eq!(listed.lines().collect::<Vec<_>>(), wanted);
    for _ in 0..4 {
        assert_eq!(fetch("").await.0, 200);
    }
    assert_eq!(fetch("").await.0, 429);
}

#[test]
fn ids_of_commits_are_those_that_git_gives() {
    let mut repository = Repository::default();
    let changes =
        vec![write("b/c.md", "c\n"), write("b.md", "b\n"), Change::Script("a.sh".into(), b"a\n".to_vec())];
    let by = Signature {
        name: "A".into(),
        email: "a@example.org".into(),
        at: 1_700_000_000_000,
        message: "One\n".into(),
    };
    let id = repository.record(&[], changes, by);
    let folder = tempfile::tempdir().expect("a folder");
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(folder.path()).args(arguments);
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "A").env(format!("GIT_{who}_EMAIL"), "a@example.org");
            git.env(format!("GIT_{who}_DATE"), "1700000000 +0000");
        }
        String::from_utf8_lossy(&git.output().expect("git runs").stdout).trim().to_owned()
    };
    std::fs::create_dir(folder.path().join("b")).expect("made");
    for (path, text) in [("b/c.md", "c\n"), ("b.md", "b\n"), ("a.sh", "a\n")] {
        std::fs::write(folder.path().join(path), text).expect("written");
    }
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["update-index", "--chmod=+x", "a.sh"]);
    git(&["commit", "-q", "--no-gpg-sign", "-m", "One"]);
    assert_eq!(git(&["rev-parse", "HEAD"]), id);
}
