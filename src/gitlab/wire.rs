//! GitLab's JSON, as little of it as is used. Keys may be missing, null or more than these.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::clock::Millis;
use crate::reference::ProjectPath;
use crate::target::corpus::is_doomed;
use crate::target::{Access, Project, Visibility};

/// A missing or null value is the type's default; one of another shape as well, since these are never needed
/// to tell one thing from another.
pub(super) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// A time as GitLab writes it: RFC 3339 with or without fractions, or `2026-01-16 05:56:22 UTC`. What cannot be
/// read is `None`.
pub(super) fn when(text: Option<&str>) -> Option<Millis> {
    let text = text?;
    let time = chrono::DateTime::parse_from_rfc3339(text).or_else(|_| {
        chrono::DateTime::parse_from_str(&text.replace(" UTC", " +0000"), "%Y-%m-%d %H:%M:%S %z")
    });
    time.ok().map(|time| time.timestamp_millis())
}

#[derive(Deserialize)]
pub(super) struct ProjectRow {
    id: u64,
    path_with_namespace: String,
    visibility: Option<String>,
    archived: Option<bool>,
    marked_for_deletion_on: Option<serde_json::Value>,
    marked_for_deletion_at: Option<serde_json::Value>,
    repository_access_level: Option<String>,
    issues_access_level: Option<String>,
    issues_enabled: Option<bool>,
    default_branch: Option<String>,
    forked_from_project: Option<Numbered>,
}

/// Anything with an id.
#[derive(Deserialize)]
pub(super) struct Numbered {
    pub(super) id: u64,
}

fn access(level: Option<&str>) -> Option<Access> {
    match level? {
        "disabled" => Some(Access::Disabled),
        "private" => Some(Access::Private),
        "enabled" | "public" => Some(Access::Enabled),
        _ => None,
    }
}

impl ProjectRow {
    /// The project; `None` when its path is none that GitLab could give, which nothing can be cited by.
    pub(super) fn project(self) -> Option<Project> {
        let path = ProjectPath::parse(&self.path_with_namespace)?;
        let doomed = path.as_str().split('/').any(is_doomed);
        let issues = match (access(self.issues_access_level.as_deref()), self.issues_enabled) {
            (None, Some(false)) => Some(Access::Disabled),
            (level, _) => level,
        };
        Some(Project {
            id: self.id,
            visibility: match self.visibility.as_deref() {
                Some("private") => Some(Visibility::Private),
                Some("internal") => Some(Visibility::Internal),
                Some("public") => Some(Visibility::Public),
                _ => None,
            },
            archived: self.archived.unwrap_or(false),
            deletion_scheduled: doomed
                || self.marked_for_deletion_on.is_some()
                || self.marked_for_deletion_at.is_some(),
            repository: access(self.repository_access_level.as_deref()),
            issues,
            default_branch: self.default_branch.filter(|branch| !branch.is_empty()),
            forked_from: self.forked_from_project.map(|origin| origin.id),
            path,
        })
    }
}

#[derive(Deserialize)]
pub(super) struct GroupRow {
    pub(super) id: u64,
    pub(super) full_path: String,
    #[serde(default)]
    pub(super) marked_for_deletion_on: Option<serde_json::Value>,
}

#[derive(Deserialize)]
pub(super) struct TreeEntry {
    pub(super) id: String,
    pub(super) path: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) mode: String,
    #[serde(default, rename = "type", deserialize_with = "or_default")]
    pub(super) kind: String,
}

#[derive(Deserialize)]
pub(super) struct BranchRow {
    pub(super) commit: Option<CommitRow>,
}

#[derive(Clone, Deserialize)]
pub(super) struct CommitRow {
    pub(super) id: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) parent_ids: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct NamedRow {
    pub(super) name: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct DiffRow {
    pub(super) old_path: String,
    pub(super) new_path: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) diff: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) new_file: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) renamed_file: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) deleted_file: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) collapsed: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) too_large: bool,
}

#[derive(Deserialize)]
pub(super) struct CompareRow {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) diffs: Vec<DiffRow>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) compare_timeout: bool,
}

#[derive(Deserialize)]
pub(super) struct MergeRequestRow {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) state: String,
    pub(super) sha: Option<String>,
    pub(super) merge_commit_sha: Option<String>,
    pub(super) squash_commit_sha: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct IssueRow {
    pub(super) id: u64,
    pub(super) iid: u64,
    pub(super) project_id: u64,
    pub(super) author: Option<Numbered>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) state: String,
    pub(super) confidential: Option<bool>,
    pub(super) discussion_locked: Option<bool>,
    pub(super) moved_to_id: Option<u64>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) issue_type: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) labels: Vec<LabelName>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) upvotes: u64,
}

/// A label in an issue: its name, or with `with_labels_details` the whole of it.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum LabelName {
    Name(String),
    Details { name: String },
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
pub(super) struct DiscussionRow {
    pub(super) id: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) individual_note: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) notes: Vec<NoteRow>,
}

#[derive(Deserialize)]
pub(super) struct NoteRow {
    pub(super) id: u64,
    pub(super) author: Option<Numbered>,
    pub(super) body: Option<String>,
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) system: bool,
    pub(super) internal: Option<bool>,
    pub(super) confidential: Option<bool>,
}

#[derive(Deserialize)]
pub(super) struct AwardRow {
    #[serde(default, deserialize_with = "or_default")]
    pub(super) name: String,
    pub(super) user: Option<Numbered>,
    #[serde(default)]
    pub(super) created_at: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct MemberRow {
    pub(super) access_level: u64,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) state: String,
}

#[derive(Deserialize)]
pub(super) struct UserRow {
    pub(super) id: u64,
    pub(super) username: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) bot: bool,
}

#[derive(Deserialize)]
pub(super) struct LabelRow {
    pub(super) id: u64,
    pub(super) name: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) archived: bool,
    /// Only lists of a project's labels tell it.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) is_project_label: bool,
}

#[derive(Deserialize)]
pub(super) struct HookRow {
    pub(super) id: u64,
    pub(super) url: Option<String>,
    pub(super) alert_status: Option<String>,
    pub(super) disabled_until: Option<String>,
    pub(super) enable_ssl_verification: Option<bool>,
    pub(super) token_present: Option<bool>,
    pub(super) signing_token_present: Option<bool>,
    pub(super) custom_webhook_template: Option<String>,
    pub(super) push_events_branch_filter: Option<String>,
    /// The switches, and whatever else there is.
    #[serde(flatten)]
    pub(super) rest: BTreeMap<String, serde_json::Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_read_with_what_gitlab_said_and_nothing_assumed() {
        let bare: ProjectRow =
            serde_json::from_str(r#"{"id":7,"path_with_namespace":"acme/docs"}"#).expect("tolerant");
        let project = bare.project().expect("a path");
        assert_eq!((project.visibility, project.repository, project.issues), (None, None, None));
        assert!(!project.archived && !project.deletion_scheduled && project.default_branch.is_none());
    }

    #[test]
    fn deletion_shows_in_a_mark_or_in_a_path() {
        let read = |json: &str| {
            serde_json::from_str::<ProjectRow>(json)
                .expect("tolerant")
                .project()
                .expect("a path")
                .deletion_scheduled
        };
        assert!(read(r#"{"id":7,"path_with_namespace":"a/b","marked_for_deletion_on":"2026-10-01"}"#));
        assert!(read(r#"{"id":7,"path_with_namespace":"a/b","marked_for_deletion_at":"2026-10-01"}"#));
        assert!(read(r#"{"id":7,"path_with_namespace":"a-deletion_scheduled-3/b"}"#));
        assert!(!read(r#"{"id":7,"path_with_namespace":"a/b","marked_for_deletion_on":null}"#));
    }

    #[test]
    fn the_three_ways_to_write_a_time_are_one_time() {
        for text in ["2026-01-16T05:56:22Z", "2026-01-16T05:56:22.000+00:00", "2026-01-16 05:56:22 UTC"] {
            assert_eq!(when(Some(text)), Some(1_768_542_982_000), "{text}");
        }
        assert_eq!(when(Some("soon")), None);
    }

    #[test]
    fn labels_come_as_names_or_as_objects() {
        let rows: Vec<LabelName> =
            serde_json::from_str(r#"["a", {"name":"b","id":1}, null]"#).expect("tolerant");
        let names: Vec<&str> = rows
            .iter()
            .filter_map(|row| match row {
                LabelName::Name(name) | LabelName::Details { name } => Some(name.as_str()),
                LabelName::Other(_) => None,
            })
            .collect();
        assert_eq!(names, ["a", "b"]);
    }
}
