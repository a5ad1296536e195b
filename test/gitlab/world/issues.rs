//! Issues: opened, edited, closed, moved, labelled, awarded.

use super::World;
use super::hooks::Happening;
use crate::gitlab::git::hex;
use crate::gitlab::hook::payload::{self, Changes};
use crate::gitlab::time::Millis;
use crate::gitlab::{BOT, effects};
use serde_json::json;
use sha1::{Digest, Sha1};

/// The kinds of work item that the issue interface returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueType {
    Issue,
    Task,
    Incident,
}

impl IssueType {
    /// `issue`, as the REST interface names it.
    pub fn rest(self) -> &'static str {
        match self {
            IssueType::Issue => "issue",
            IssueType::Task => "task",
            IssueType::Incident => "incident",
        }
    }

    /// `Issue`, as deliveries name it.
    pub fn title(self) -> &'static str {
        match self {
            IssueType::Issue => "Issue",
            IssueType::Task => "Task",
            IssueType::Incident => "Incident",
        }
    }
}

/// An issue with its discussions.
#[derive(Clone, Debug)]
pub struct Issue {
    pub id: u64,
    pub iid: u64,
    pub project: u64,
    pub title: String,
    pub description: Option<String>,
    pub author: u64,
    pub closed_at: Option<Millis>,
    pub confidential: bool,
    pub discussion_locked: Option<bool>,
    pub moved_to: Option<u64>,
    pub duplicated_to: Option<u64>,
    pub labels: Vec<u64>,
    pub assignees: Vec<u64>,
    pub issue_type: IssueType,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub updated_by: Option<u64>,
    pub last_edited_at: Option<Millis>,
    pub last_edited_by: Option<u64>,
    pub discussions: Vec<Discussion>,
}

impl Issue {
    /// `opened` or `closed`.
    pub fn state(&self) -> &'static str {
        if self.closed_at.is_some() { "closed" } else { "opened" }
    }

    /// Every note, oldest first.
    pub fn notes(&self) -> Vec<&Note> {
        let mut notes: Vec<&Note> =
            self.discussions.iter().flat_map(|discussion| &discussion.notes).collect();
        notes.sort_by_key(|note| note.id);
        notes
    }
}

/// A thread, or a note that stands alone.
#[derive(Clone, Debug)]
pub struct Discussion {
    /// 40 hex digits.
    pub id: String,
    /// A note that nobody answered in its own thread yet.
    pub individual: bool,
    pub notes: Vec<Note>,
}

/// A comment or a system note.
#[derive(Clone, Debug)]
pub struct Note {
    pub id: u64,
    pub author: u64,
    pub body: String,
    pub system: bool,
    pub internal: bool,
    /// Part of a thread (`DiscussionNote`).
    pub threaded: bool,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub updated_by: Option<u64>,
}

/// What an emoji was put on, by global id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awardable {
    Issue(u64),
    Note(u64),
}

/// An emoji somebody gave.
#[derive(Clone, Debug)]
pub struct Award {
    pub id: u64,
    pub user: u64,
    pub name: String,
    pub on: Awardable,
    pub at: Millis,
}

impl World {
    /// The issue of a project; a test that names none fails here.
    pub fn issue(&self, project: &str, iid: u64) -> &Issue {
        let id = self.project(project).id;
        self.find_issue(id, iid).unwrap_or_else(|| panic!("no issue {project}#{iid}"))
    }

    /// The issue of a project, by the project's id.
    pub fn find_issue(&self, project: u64, iid: u64) -> Option<&Issue> {
        self.issues.values().find(|issue| issue.project == project && issue.iid == iid)
    }

    /// The same, to be changed by hand (no event is sent).
    pub fn issue_mut(&mut self, project: &str, iid: u64) -> &mut Issue {
        let id = self.issue(project, iid).id;
        self.issues.get_mut(&id).expect("just found")
    }

    /// Somebody opens an issue. Returns its iid.
    pub fn open_issue(&mut self, project: &str, author: &str, title: &str, description: &str) -> u64 {
        self.open_with(project, author, title, description, |_| ())
    }

    /// Opens an issue that is something special from its first moment (confidential, a task, labelled …).
    pub fn open_with(
        &mut self,
        project: &str,
        author: &str,
        title: &str,
        description: &str,
        shape: impl FnOnce(&mut Issue),
    ) -> u64 {
        let reading = effects::read(description, &self.instance);
        let (id, author, now) = (self.next_id("issue"), self.user(author).id, self.time.now());
        let project = self.project_mut(project);
        project.last_issue += 1;
        let (iid, project) = (project.last_issue, project.id);
        let mut issue = Issue {
            id,
            iid,
            project,
            title: title.to_owned(),
            description: Some(reading.text).filter(|text| !text.is_empty()),
            author,
            closed_at: None,
            confidential: false,
            discussion_locked: None,
            moved_to: None,
            duplicated_to: None,
            labels: Vec::new(),
            assignees: Vec::new(),
            issue_type: IssueType::Issue,
            created_at: now,
            updated_at: now,
            updated_by: None,
            last_edited_at: None,
            last_edited_by: None,
            discussions: Vec::new(),
        };
        shape(&mut issue);
        let changes = payload::opening_changes(&issue);
        self.issues.insert(id, issue);
        self.typed_by(author, title);
        self.typed_by(author, description);
        self.emit_issue(id, author, Some("open"), changes);
        self.run(id, author, None, &reading.commands);
        self.act(id, author, None, reading.acts);
        iid
    }

    /// Changes an issue as somebody, stamps it, and sends the `update`.
    fn change_issue(
        &mut self,
        id: u64,
        by: u64,
        action: &'static str,
        change: impl FnOnce(&mut Issue, Millis) -> Changes,
    ) {
        let now = self.time.now();
        let issue = self.issues.get_mut(&id).expect("callers looked it up");
        let before = payload::change(
            json!(crate::gitlab::time::hook(issue.updated_at)),
            json!(crate::gitlab::time::hook(now)),
        );
        let mut changes = change(issue, now);
        (issue.updated_at, issue.updated_by) = (now, Some(by));
        changes.insert("updated_at".into(), before);
        self.emit_issue(id, by, Some(action), changes);
    }

    /// Somebody edits title or description.
    pub fn edit_issue(
        &mut self,
        project: &str,
        iid: u64,
        by: &str,
        title: Option<&str>,
        description: Option<&str>,
    ) {
        let (id, by) = (self.issue(project, iid).id, self.user(by).id);
        self.edit_issue_by_id(id, by, title, description);
    }

    pub(crate) fn edit_issue_by_id(
        &mut self,
        id: u64,
        by: u64,
        title: Option<&str>,
        description: Option<&str>,
    ) {
        self.typed_by(by, title.unwrap_or_default());
        self.typed_by(by, description.unwrap_or_default());
        let reading = description.map(|text| effects::read(text, &self.instance));
        let stored = reading.as_ref().map(|reading| reading.text.clone());
        self.change_issue(id, by, "update", |issue, now| {
            let mut changes = Changes::new();
            if let Some(title) = title {
                changes.insert("title".into(), payload::change(json!(issue.title), json!(title)));
                issue.title = title.to_owned();
            }
            if let Some(text) = stored {
                changes.insert("description".into(), payload::change(json!(issue.description), json!(text)));
                issue.description = Some(text);
                (issue.last_edited_at, issue.last_edited_by) = (Some(now), Some(by));
            }
            changes
        });
        if let Some(reading) = reading {
            self.run(id, by, None, &reading.commands);
            self.act(id, by, None, reading.acts);
        }
    }

    /// Somebody closes the issue.
    pub fn close_issue(&mut self, project: &str, iid: u64, by: &str) {
        let (id, by) = (self.issue(project, iid).id, self.user(by).id);
        self.set_closed(id, by, true);
    }

    /// Somebody reopens the issue.
    pub fn reopen_issue(&mut self, project: &str, iid: u64, by: &str) {
        let (id, by) = (self.issue(project, iid).id, self.user(by).id);
        self.set_closed(id, by, false);
    }

    pub(crate) fn set_closed(&mut self, id: u64, by: u64, closed: bool) {
        if self.issues[&id].closed_at.is_some() == closed {
            return;
        }
        let (action, word) = if closed { ("close", "closed") } else { ("reopen", "reopened") };
        self.change_issue(id, by, action, |issue, now| {
            issue.closed_at = closed.then_some(now);
            let (before, after) = if closed { (1, 2) } else { (2, 1) };
            Changes::from_iter([("state_id".to_owned(), payload::change(json!(before), json!(after)))])
        });
        self.system_note(id, by, word);
    }

    /// Makes an issue confidential, or open to all again.
    pub fn set_confidential(&mut self, project: &str, iid: u64, by: &str, confidential: bool) {
        let (id, by) = (self.issue(project, iid).id, self.user(by).id);
        self.set_confidential_by_id(id, by, confidential);
    }

    pub(crate) fn set_confidential_by_id(&mut self, id: u64, by: u64, confidential: bool) {
        self.change_issue(id, by, "update", |issue, _| {
            let change = payload::change(json!(issue.confidential), json!(confidential));
            issue.confidential = confidential;
            Changes::from_iter([("confidential".to_owned(), change)])
        });
    }

    /// Locks or unlocks the discussion.
    pub fn lock_issue(&mut self, project: &str, iid: u64, by: &str, locked: bool) {
        let (id, by) = (self.issue(project, iid).id, self.user(by).id);
        self.lock_by_id(id, by, locked);
    }

    pub(crate) fn lock_by_id(&mut self, id: u64, by: u64, locked: bool) {
        self.change_issue(id, by, "update", |issue, _| {
            let change = payload::change(json!(issue.discussion_locked), json!(locked));
            issue.discussion_locked = Some(locked);
            Changes::from_iter([("discussion_locked".to_owned(), change)])
        });
    }

    /// Moves an issue to another project: a copy opens there, the old one closes and names the copy.
    pub fn move_issue(&mut self, project: &str, iid: u64, by: &str, to: &str) -> u64 {
        let (old, by_id) = (self.issue(project, iid).clone(), self.user(by).id);
        let author = self.users[&old.author].username.clone();
        let new = self.open_issue(to, &author, &old.title, old.description.as_deref().unwrap_or_default());
        let target = self.issue(to, new).id;
        self.change_issue(old.id, by_id, "close", |issue, now| {
            (issue.moved_to, issue.closed_at) = (Some(target), Some(now));
            Changes::from_iter([("moved_to_id".to_owned(), payload::change(json!(null), json!(target)))])
        });
        new
    }

    /// Deletes an issue. Nothing is sent.
    pub fn delete_issue(&mut self, project: &str, iid: u64) {
        let id = self.issue(project, iid).id;
        self.issues.remove(&id);
    }

    /// Replaces an issue's labels and tells the hooks, if that changes anything.
    pub(crate) fn put_labels(&mut self, id: u64, by: u64, labels: Vec<u64>) {
        if self.issues[&id].labels == labels {
            return;
        }
        let before = payload::labels(self, &self.issues[&id].labels);
        let after = payload::labels(self, &labels);
        self.change_issue(id, by, "update", |issue, _| {
            issue.labels = labels;
            Changes::from_iter([("labels".to_owned(), payload::change(before, after))])
        });
    }

    /// Somebody gives an emoji to an issue or note.
    pub fn award(&mut self, on: Awardable, by: &str, name: &str) -> u64 {
        let (user, id, at) = (self.user(by).id, self.next_id("award"), self.time.now());
        let award = Award { id, user, name: name.trim_matches(':').to_owned(), on, at };
        self.awards.insert(id, award.clone());
        self.emit_award(&award, "award");
        id
    }

    /// Takes an emoji back.
    pub fn revoke(&mut self, award: u64) {
        if let Some(award) = self.awards.remove(&award) {
            self.emit_award(&award, "revoke");
        }
    }

    fn emit_award(&mut self, award: &Award, action: &'static str) {
        let issue = match award.on {
            Awardable::Issue(id) => Some(id),
            Awardable::Note(note) => self.place_of_note(note).map(|(issue, _)| issue),
        };
        if let Some(issue) = issue {
            let body = payload::emoji(self, award, issue, action);
            self.emit(Happening::emoji(self.issues[&issue].project, body));
        }
    }

    pub(crate) fn emit_issue(&mut self, id: u64, by: u64, action: Option<&str>, changes: Changes) {
        let issue = &self.issues[&id];
        let body = payload::issue(self, issue, by, action, changes);
        self.emit(Happening::issue(issue.project, issue.confidential, body));
    }

    /// Remembers what was typed: by a stranger, other people's bots included, or posted by the bot itself.
    pub(crate) fn typed_by(&mut self, user: u64, text: &str) {
        match self.users[&user].username == BOT {
            true => self.posted.push(text.to_owned()),
            false => self.typed(text),
        }
    }

    /// A fresh discussion id: 40 hex digits, the same in every run.
    pub(crate) fn discussion_id(&mut self) -> String {
        let serial = self.next_id("discussion");
        hex(&Sha1::digest(format!("discussion {serial}")))
    }
}
