//! A delivery's body, reduced to coordinates. No field that holds a stranger's text is even named here.

use serde::Deserialize;

use crate::store::inbox::Wish;
use crate::store::queue::Place;

/// What a delivery says happened. Every field may be missing or null: GitLab's payloads differ by version.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Event {
    object_kind: Option<String>,
    event_type: Option<String>,
    event_name: Option<String>,
    user: Option<Id>,
    user_id: Option<u64>,
    project: Option<Project>,
    project_id: Option<u64>,
    object_attributes: Option<Attributes>,
    issue: Option<Issue>,
    work_item: Option<Issue>,
    note: Option<Note>,
    #[serde(rename = "ref")]
    git_ref: Option<String>,
    after: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Id {
    id: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Project {
    id: Option<u64>,
    default_branch: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Attributes {
    id: Option<u64>,
    iid: Option<u64>,
    project_id: Option<u64>,
    target_project_id: Option<u64>,
    action: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    confidential: Option<bool>,
    internal: Option<bool>,
    system: Option<bool>,
    noteable_type: Option<String>,
    awardable_type: Option<String>,
    name: Option<String>,
    author_id: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Issue {
    iid: Option<u64>,
    confidential: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Note {
    internal: Option<bool>,
}

impl Event {
    /// Parses a body.
    ///
    /// # Errors
    /// The body is not JSON. JSON of any other shape is an event that asks for nothing.
    pub fn parse(body: &[u8]) -> Result<Event, serde_json::Error> {
        serde_json::from_slice(body).or_else(|_| {
            // Of a shape, or with a number or character, that we cannot hold: is it JSON all the same?
            serde_json::from_slice::<serde::de::IgnoredAny>(body).map(|_| Event::default())
        })
    }

    /// Where to look because of this event. `own` tells the bot's user ids.
    pub fn wish(&self, own: impl Fn(u64) -> bool) -> Wish {
        let actor = self.user.as_ref().and_then(|u| u.id).or(self.user_id);
        let by_us = actor.is_some_and(own);
        match (self.object_kind.as_deref(), self.event_name.as_deref()) {
            (Some("issue" | "work_item"), _) if !by_us => self.issue_wish(),
            (Some("note"), _) if !by_us => self.note_wish(),
            (Some("emoji"), _) if !by_us => self.emoji_wish(),
            (Some("push"), _) => self.push_wish(),
            (Some("merge_request"), _) => self.merge_wish(),
            // The last three come from system hooks only: a group hook never tells of them.
            (
                None,
                Some(
                    "project_create" | "project_destroy" | "subgroup_create" | "subgroup_destroy"
                    | "project_rename" | "project_transfer" | "project_update",
                ),
            ) => Wish::Look { place: Place::GROUP, opened: false, note: None },
            _ => Wish::Nothing,
        }
    }

    fn project(&self) -> Option<u64> {
        let attributes = self.object_attributes.as_ref();
        self.project
            .as_ref()
            .and_then(|p| p.id)
            .or(self.project_id)
            .or(attributes.and_then(|a| a.project_id))
            .filter(|id| *id > 0)
    }

    fn is_confidential(&self) -> bool {
        let attributes = self.object_attributes.as_ref();
        let issue = self.issue.as_ref().or(self.work_item.as_ref());
        self.event_type.as_deref().is_some_and(|t| t.starts_with("confidential"))
            || attributes.is_some_and(|a| a.confidential == Some(true) || a.internal == Some(true))
            || issue.is_some_and(|i| i.confidential == Some(true))
            || self.note.as_ref().is_some_and(|n| n.internal == Some(true))
    }

    /// `opened` only with the explicit action: test deliveries describe old issues and carry none.
    fn issue_wish(&self) -> Wish {
        let Some(attributes) = &self.object_attributes else { return Wish::Nothing };
        let treated = attributes
            .kind
            .as_deref()
            .is_none_or(|t| ["issue", "task", "incident"].iter().any(|k| t.eq_ignore_ascii_case(k)));
        let (Some(project), Some(iid), true) = (self.project(), attributes.iid.filter(|i| *i > 0), treated)
        else {
            return Wish::Nothing;
        };
        let place = Place::thread(project, iid);
        match attributes.action.as_deref() {
            _ if self.is_confidential() => Wish::Recheck(place),
            Some("open") => Wish::Look { place, opened: true, note: None },
            Some("update" | "close" | "reopen") => Wish::Look { place, opened: false, note: None },
            _ => Wish::Nothing,
        }
    }

    fn note_wish(&self) -> Wish {
        let Some(attributes) = &self.object_attributes else { return Wish::Nothing };
        let issue = self.issue.as_ref().or(self.work_item.as_ref());
        let on_issue = attributes.noteable_type.as_deref().is_none_or(|t| matches!(t, "Issue" | "WorkItem"));
        let (Some(project), Some(iid)) = (self.project(), issue.and_then(|i| i.iid).filter(|i| *i > 0))
        else {
            return Wish::Nothing;
        };
        let place = Place::thread(project, iid);
        if !on_issue || attributes.system == Some(true) {
            Wish::Nothing
        } else if self.is_confidential() {
            Wish::Recheck(place)
        } else {
            Wish::Look { place, opened: false, note: attributes.id }
        }
    }

    /// Only a 👎 on a note says anything: that an answer is wrong.
    fn emoji_wish(&self) -> Wish {
        let Some(attributes) = &self.object_attributes else { return Wish::Nothing };
        let issue = self.issue.as_ref().or(self.work_item.as_ref());
        let relevant = attributes.awardable_type.as_deref() == Some("Note")
            && attributes.name.as_deref().is_some_and(|n| n.starts_with("thumbsdown") || n == "-1")
            && !self.is_confidential();
        match (relevant, self.project(), issue.and_then(|i| i.iid)) {
            (true, Some(project), Some(iid)) if iid > 0 => Wish::Recheck(Place::thread(project, iid)),
            _ => Wish::Nothing,
        }
    }

    fn push_wish(&self) -> Wish {
        let Some(project) = self.project() else { return Wish::Nothing };
        let branch = self.git_ref.as_deref().and_then(|r| r.strip_prefix("refs/heads/"));
        let default = self.project.as_ref().and_then(|p| p.default_branch.as_deref());
        let gone = self.after.as_deref().is_some_and(|a| a.bytes().all(|b| b == b'0'));
        match (branch, default) {
            (Some(branch), Some(default)) if branch != default => Wish::Nothing,
            (Some(_), _) if !gone => {
                Wish::Look { place: Place::repository(project), opened: false, note: None }
            }
            _ => Wish::Nothing,
        }
    }

    fn merge_wish(&self) -> Wish {
        let Some(attributes) = &self.object_attributes else { return Wish::Nothing };
        match (attributes.action.as_deref(), attributes.target_project_id.or(self.project())) {
            (Some("merge"), Some(project)) => {
                Wish::Look { place: Place::repository(project), opened: false, note: None }
            }
            _ => Wish::Nothing,
        }
    }

    /// The author of the thing itself, where the payload names one.
    pub fn author(&self) -> Option<u64> {
        self.object_attributes.as_ref().and_then(|a| a.author_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(body: &str) -> Wish {
        Event::parse(body.as_bytes()).expect("JSON").wish(|user| user == 90)
    }

    const LOOK: Wish = Wish::Look { place: Place { project: 2, iid: 7 }, opened: false, note: None };
    const OPENED: Wish = Wish::Look { place: Place { project: 2, iid: 7 }, opened: true, note: None };
    const RECHECK: Wish = Wish::Recheck(Place { project: 2, iid: 7 });

    #[test]
    fn issues_by_action_kind_and_confidentiality() {
        let issue = |rest: &str| {
            wish(&format!(
                r#"{{"object_kind":"issue","project":{{"id":2}},"object_attributes":{{"iid":7{rest}}}}}"#
            ))
        };
        assert_eq!(issue(r#","action":"open""#), OPENED);
        assert_eq!(issue(r#","action":"open","type":"Epic""#), Wish::Nothing);
        assert_eq!(issue(r#","action":"open","type":"Task""#), OPENED);
        assert_eq!(issue(r#","action":"open","confidential":true"#), RECHECK);
        assert_eq!(issue(r#","action":"update","labels":null"#), LOOK);
        assert_eq!(issue(""), Wish::Nothing);
        assert_eq!(issue(r#","action":null"#), Wish::Nothing);
    }

    #[test]
    fn own_events_and_unknown_shapes_ask_for_nothing() {
        let own = r#"{"object_kind":"issue","user":{"id":90},"project":{"id":2},"object_attributes":{"iid":7,"action":"update"}}"#;
        for body in [
            own,
            "{}",
            "[]",
            "3",
            "null",
            r#"{"object_kind":"pipeline"}"#,
            r#"{"object_kind":"issue","object_attributes":"x"}"#,
            r#"{"object_kind":"issue","object_attributes":{"iid":1e999}}"#,
            r#"{"object_kind":"issue","object_attributes":{"action":"\ud800"}}"#,
        ] {
            assert_eq!(wish(body), Wish::Nothing, "{body}");
        }
        for broken in ["", "{", "{\"object_kind\":\"issue\",\"object_attributes\":\"x\"", "nope"] {
            assert!(Event::parse(broken.as_bytes()).is_err(), "{broken}");
        }
    }

    #[test]
    fn notes_on_issues_only_and_internal_ones_leave_no_new_trace() {
        let note = |attributes: &str| {
            wish(&format!(
                r#"{{"object_kind":"note","project_id":2,"issue":{{"iid":7}},"object_attributes":{{{attributes}}}}}"#
            ))
        };
        assert_eq!(note(r#""noteable_type":"Issue""#), LOOK);
        assert_eq!(note(r#""noteable_type":"MergeRequest""#), Wish::Nothing);
        assert_eq!(note(r#""noteable_type":"Issue","internal":true"#), RECHECK);
        assert_eq!(note(r#""noteable_type":"Issue","system":true"#), Wish::Nothing);
    }

    #[test]
    fn pushes_to_the_default_branch_want_the_repository() {
        let push = |git_ref: &str, after: &str| {
            wish(&format!(
                r#"{{"object_kind":"push","ref":"{git_ref}","after":"{after}","project":{{"id":2,"default_branch":"main"}}}}"#
            ))
        };
        assert_eq!(
            push("refs/heads/main", "ab"),
            Wish::Look { place: Place::repository(2), opened: false, note: None }
        );
        assert_eq!(push("refs/heads/topic", "ab"), Wish::Nothing);
        assert_eq!(push("refs/heads/main", "0000"), Wish::Nothing);
        assert_eq!(push("refs/tags/main", "ab"), Wish::Nothing);
    }
}
