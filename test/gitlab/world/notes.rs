//! Comments: written, edited, deleted, and what GitLab does with the text of one.

use super::World;
use super::hooks::Happening;
use super::issues::{Discussion, Note};
use crate::gitlab::BOT;
use crate::gitlab::effects::{self, Act, Command, Effect};
use crate::gitlab::hook::payload;

/// Where a new note goes.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// A note that stands alone.
    Alone,
    /// A note that stands alone and that guests do not see.
    Internal,
    /// The first note of a new thread.
    Thread,
    /// A reply in this discussion.
    Reply(&'a str),
}

/// What became of a posted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// Stored under these ids (note, discussion).
    Stored(u64, String),
    /// It consisted only of quick actions; they ran, nothing was stored.
    OnlyCommands,
    /// The discussion does not take replies (a system note).
    Refused,
}

impl World {
    /// Somebody comments on an issue. Returns the note's id.
    pub fn comment(&mut self, project: &str, iid: u64, by: &str, body: &str) -> u64 {
        self.comment_at(project, iid, by, body, Place::Alone)
    }

    /// Somebody replies in the discussion that a note belongs to.
    pub fn reply(&mut self, note: u64, by: &str, body: &str) -> u64 {
        let (issue, discussion) = self.place_of_note(note).expect("the note exists");
        let by = self.user(by).id;
        match self.post(issue, by, body, Place::Reply(&discussion)) {
            Posted::Stored(id, _) => id,
            other => panic!("the reply was not stored: {other:?}"),
        }
    }

    /// Somebody comments, in a place of their choice.
    pub fn comment_at(&mut self, project: &str, iid: u64, by: &str, body: &str, place: Place<'_>) -> u64 {
        let (issue, by) = (self.issue(project, iid).id, self.user(by).id);
        match self.post(issue, by, body, place) {
            Posted::Stored(id, _) => id,
            other => panic!("the comment was not stored: {other:?}"),
        }
    }

    /// A text arrives for an issue: its quick actions run, the rest becomes a note with all that follows.
    pub(crate) fn post(&mut self, issue: u64, by: u64, body: &str, place: Place<'_>) -> Posted {
        if let Place::Reply(id) = place {
            let refuses = |d: &&Discussion| d.id == id && d.notes.iter().all(|note| note.system);
            if self.issues[&issue].discussions.iter().any(|d| refuses(&d)) {
                return Posted::Refused;
            }
        }
        self.typed_by(by, body);
        let reading = effects::read(body, &self.instance);
        self.run(issue, by, None, &reading.commands);
        if reading.text.trim().is_empty() {
            return Posted::OnlyCommands;
        }
        let (note, discussion) = self.store_note(issue, by, reading.text, place);
        self.act(issue, by, Some(note), reading.acts);
        self.emit_note(note, "create");
        Posted::Stored(note, discussion)
    }

    fn store_note(&mut self, issue: u64, by: u64, body: String, place: Place<'_>) -> (u64, String) {
        let (id, now, fresh) = (self.next_id("note"), self.time.now(), self.discussion_id());
        let issue = self.issues.get_mut(&issue).expect("callers looked it up");
        issue.updated_at = now;
        let mut note = Note {
            id,
            author: by,
            body,
            system: false,
            internal: matches!(place, Place::Internal),
            threaded: matches!(place, Place::Thread | Place::Reply(_)),
            created_at: now,
            updated_at: now,
            updated_by: None,
        };
        if let Place::Reply(discussion) = place {
            let found =
                issue.discussions.iter_mut().find(|d| d.id == discussion).expect("callers looked it up");
            // A reply makes a thread of a note that stood alone, and is as internal as what it answers.
            note.internal = found.notes.iter().any(|first| first.internal);
            found.individual = false;
            found.notes.iter_mut().for_each(|note| note.threaded = true);
            found.notes.push(note);
            return (id, discussion.to_owned());
        }
        let individual = matches!(place, Place::Alone | Place::Internal);
        issue.discussions.push(Discussion { id: fresh.clone(), individual, notes: vec![note] });
        (id, fresh)
    }

    /// A note that GitLab writes itself. No hook hears of it.
    pub(crate) fn system_note(&mut self, issue: u64, by: u64, body: &str) {
        let (id, now, discussion) = (self.next_id("note"), self.time.now(), self.discussion_id());
        let note = Note {
            id,
            author: by,
            body: body.to_owned(),
            system: true,
            internal: false,
            threaded: false,
            created_at: now,
            updated_at: now,
            updated_by: None,
        };
        let issue = self.issues.get_mut(&issue).expect("callers looked it up");
        issue.discussions.push(Discussion { id: discussion, individual: true, notes: vec![note] });
    }

    /// Somebody edits a note; quick actions in the new text run too. Nothing is sent when it stays the same.
    pub fn edit_note(&mut self, note: u64, by: &str, body: &str) {
        let by = self.user(by).id;
        self.edit_note_by_id(note, by, body);
    }

    pub(crate) fn edit_note_by_id(&mut self, note: u64, by: u64, body: &str) {
        self.typed_by(by, body);
        let (issue, _) = self.place_of_note(note).expect("callers looked it up");
        let reading = effects::read(body, &self.instance);
        self.run(issue, by, Some(note), &reading.commands);
        if self.note(note).body == reading.text {
            return;
        }
        let now = self.time.now();
        let stored = self.note_mut(note);
        (stored.body, stored.updated_at, stored.updated_by) = (reading.text, now, Some(by));
        self.issues.get_mut(&issue).expect("just found").updated_at = now;
        self.act(issue, by, Some(note), reading.acts);
        self.emit_note(note, "update");
    }

    /// Deletes a note. Nothing is sent.
    pub fn delete_note(&mut self, note: u64) {
        let Some((issue, _)) = self.place_of_note(note) else { return };
        let issue = self.issues.get_mut(&issue).expect("just found");
        for discussion in &mut issue.discussions {
            discussion.notes.retain(|kept| kept.id != note);
        }
        issue.discussions.retain(|discussion| !discussion.notes.is_empty());
    }

    /// The issue's global id and the discussion that a note belongs to.
    pub fn place_of_note(&self, note: u64) -> Option<(u64, String)> {
        self.issues.values().find_map(|issue| {
            let holds = |d: &&Discussion| d.notes.iter().any(|kept| kept.id == note);
            issue.discussions.iter().find(holds).map(|discussion| (issue.id, discussion.id.clone()))
        })
    }

    /// A note by its id; a test that names none fails here.
    pub fn note(&self, id: u64) -> &Note {
        let all = self
            .issues
            .values()
            .flat_map(|issue| &issue.discussions)
            .flat_map(|discussion| &discussion.notes);
        all.into_iter().find(|note| note.id == id).unwrap_or_else(|| panic!("no note {id}"))
    }

    fn note_mut(&mut self, id: u64) -> &mut Note {
        let all =
            self.issues.values_mut().flat_map(|issue| &mut issue.discussions).flat_map(|d| &mut d.notes);
        all.into_iter().find(|note| note.id == id).expect("callers looked it up")
    }

    fn emit_note(&mut self, note: u64, action: &'static str) {
        let (issue, discussion) = self.place_of_note(note).expect("just stored");
        let (issue, stored) = (&self.issues[&issue], self.note(note));
        let confidential = stored.internal || issue.confidential;
        let project = issue.project;
        let body = payload::note(self, issue, stored, &discussion, action);
        self.emit(Happening::note(project, confidential, body));
    }

    /// Runs quick actions as their author, and records each.
    pub(crate) fn run(&mut self, issue: u64, by: u64, note: Option<u64>, commands: &[Command]) {
        for command in commands {
            self.record(
                issue,
                by,
                note,
                Act::QuickAction { name: command.name.clone(), argument: command.argument.clone() },
            );
            let labels: Vec<&str> = command
                .argument
                .split('~')
                .map(|l| l.trim().trim_matches('"'))
                .filter(|l| !l.is_empty())
                .collect();
            match command.name.as_str() {
                "close" => self.set_closed(issue, by, true),
                "reopen" => self.set_closed(issue, by, false),
                "label" | "labels" => self.change_labels(issue, by, &labels, &[], false),
                "unlabel" | "remove_label" => self.change_labels(issue, by, &[], &labels, false),
                "relabel" => self.replace_labels(issue, by, &labels),
                "confidential" => self.set_confidential_by_id(issue, by, true),
                "lock" => self.lock_by_id(issue, by, true),
                "unlock" => self.lock_by_id(issue, by, false),
                "title" => self.edit_issue_by_id(issue, by, Some(&command.argument), None),
                _ => {}
            }
        }
    }

    /// Records what the rest of the text makes GitLab do; cross-references leave a note on their target.
    pub(crate) fn act(&mut self, issue: u64, by: u64, note: Option<u64>, acts: Vec<Act>) {
        for act in acts {
            let here = self.issues[&issue].project;
            match &act {
                Act::Commit { sha, project } if !self.has_commit(here, project.as_deref(), sha) => continue,
                Act::Label { name } if !self.has_label(here, name) => continue,
                Act::Issue { project, iid } => self.mention_issue(issue, by, project.as_deref(), *iid),
                Act::MergeRequest { project, iid } => {
                    self.mention_merge_request(issue, by, project.as_deref(), *iid)
                }
                _ => {}
            }
            self.record(issue, by, note, act);
        }
    }

    fn record(&mut self, issue: u64, by: u64, note: Option<u64>, act: Act) {
        let (issue, author) = (&self.issues[&issue], &self.users[&by]);
        let project = self.project_path(&self.projects[&issue.project]);
        let (bot, username) = (author.username == BOT, author.username.clone());
        self.all_effects.push(Effect { author: username, bot, project, iid: issue.iid, note, act });
    }

    /// The project that a short reference names, seen from a project: a full path, or a neighbour's name.
    fn referenced(&self, here: u64, name: Option<&str>) -> Option<u64> {
        let Some(name) = name else { return Some(here) };
        let near = format!("{}/{name}", self.group_path(self.projects[&here].namespace));
        self.find_project(name).or_else(|| self.find_project(&near)).map(|project| project.id)
    }

    fn has_commit(&self, here: u64, project: Option<&str>, sha: &str) -> bool {
        let project = self.referenced(here, project);
        project.is_some_and(|id| self.projects[&id].repository.by_prefix(sha).is_some())
    }

    fn mention_issue(&mut self, from: u64, by: u64, project: Option<&str>, iid: u64) {
        let (here, source) = self.source(from);
        let target =
            self.referenced(here, project).and_then(|id| self.find_issue(id, iid)).map(|issue| issue.id);
        if let Some(target) = target.filter(|target| *target != from) {
            let text = format!("mentioned in issue {source}");
            // Each place is mentioned once, however often the text that does so is edited.
            if self.issues[&target].notes().iter().all(|note| !note.system || note.body != text) {
                self.system_note(target, by, &text);
            }
        }
    }

    fn mention_merge_request(&mut self, from: u64, by: u64, project: Option<&str>, iid: u64) {
        let (here, source) = self.source(from);
        let project = self.referenced(here, project);
        let found = self.merge_requests.values_mut().find(|mr| Some(mr.project) == project && mr.iid == iid);
        if let Some(target) = found {
            target.system_notes.push((by, format!("mentioned in issue {source}")));
        }
    }

    fn source(&self, issue: u64) -> (u64, String) {
        let issue = &self.issues[&issue];
        (issue.project, format!("{}#{}", self.project_path(&self.projects[&issue.project]), issue.iid))
    }
}
