//! What a request's path tells: the name it is counted under, and the limit it counts against.

use http::Method;

use crate::gitlab::pace::Lane;

/// Which limit of GitLab's the request counts against.
pub(super) fn lane(method: &Method, path: &str) -> Lane {
    let posts_note = *method == Method::POST && (path.ends_with("/notes") || path.ends_with("/discussions"));
    if posts_note {
        Lane::Notes
    } else if path.contains("/repository/archive") {
        Lane::Archive
    } else if *method == Method::POST && path.contains("/hooks/") {
        Lane::HookTest
    } else {
        Lane::General
    }
}

/// Words of GitLab's routes; everything else in a path is a variable part, and might be a stranger's text.
const WORDS: [&str; 38] = [
    "all",
    "archive.tar.gz",
    "award_emoji",
    "blobs",
    "branches",
    "commits",
    "compare",
    "diff",
    "discussions",
    "events",
    "files",
    "groups",
    "hooks",
    "issues",
    "issues_statistics",
    "labels",
    "members",
    "merge_base",
    "merge_requests",
    "metadata",
    "notes",
    "pages",
    "personal_access_tokens",
    "projects",
    "raw",
    "refs",
    "repository",
    "resend",
    "search",
    "self",
    "subgroups",
    "tags",
    "test",
    "tree",
    "user",
    "users",
    "version",
    "archive",
];

/// Method and path with the variable parts replaced by `:`.
pub(super) fn template(method: &Method, path: &str) -> String {
    let parts = path.split('/').map(|part| if WORDS.contains(&part) { part } else { ":" });
    format!("{method} {}", parts.collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_keeps_only_words_of_gitlabs_routes() {
        let path = "projects/acme%2Fdocs/repository/files/a%20secret%20sentence.md/raw";
        assert_eq!(template(&Method::GET, path), "GET projects/:/repository/files/:/raw");
        assert_eq!(template(&Method::PUT, "projects/7/issues/3/notes/11"), "PUT projects/:/issues/:/notes/:");
    }

    #[test]
    fn limits_that_gitlab_counts_apart_have_lanes_of_their_own() {
        assert_eq!(lane(&Method::POST, "projects/7/issues/3/discussions"), Lane::Notes);
        assert_eq!(lane(&Method::POST, "projects/7/issues/3/discussions/ab/notes"), Lane::Notes);
        assert_eq!(lane(&Method::GET, "projects/7/issues/3/discussions"), Lane::General);
        assert_eq!(lane(&Method::GET, "projects/7/repository/archive.tar.gz"), Lane::Archive);
        assert_eq!(lane(&Method::POST, "groups/7/hooks/3/test/issues_events"), Lane::HookTest);
        assert_eq!(lane(&Method::POST, "groups/7/hooks"), Lane::General);
    }
}
