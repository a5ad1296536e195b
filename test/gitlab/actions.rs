//! What people do, in one call each: it happens, and its deliveries are sent before the call returns.

use super::git::{Change, Sha};
use super::world::notes::Place;
use super::world::{Awardable, Hook, Issue, Merge, World};
use super::{BOT, Effect, FakeGitLab, Strangers};

/// A note as a person sees it in the thread.
#[derive(Clone, Debug)]
pub struct NoteView {
    pub id: u64,
    /// User name.
    pub author: String,
    /// Whether it is the bot of this service.
    pub bot: bool,
    pub body: String,
    pub system: bool,
    pub internal: bool,
    /// The thread it is in.
    pub discussion: String,
    /// Part of a thread, or standing alone.
    pub threaded: bool,
}

impl FakeGitLab {
    /// Changes the world by hand and sends what comes of it.
    pub async fn act<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        let result = change(&mut self.world());
        self.flush().await;
        result
    }

    /// Installs a hook on the group `acme` with every switch on but the confidential ones.
    /// Returns its id.
    pub fn with_hook(&self, url: &str, signing_token: Option<&str>) -> u64 {
        self.install_hook("acme", url, |hook| hook.signing_token = signing_token.map(str::to_owned))
    }

    /// Installs a hook on a group or project with every switch on but the confidential ones, then shapes it.
    pub fn install_hook(&self, place: &str, url: &str, shape: impl FnOnce(&mut Hook)) -> u64 {
        let mut world = self.world();
        let hook = world.add_hook(place, url);
        hook.switches.iter_mut().for_each(|(name, on)| *on = !name.starts_with("confidential"));
        shape(hook);
        hook.id
    }

    /// Opens an issue. Returns its iid.
    pub async fn open_issue(&self, project: &str, author: &str, title: &str, description: &str) -> u64 {
        self.act(|world| world.open_issue(project, author, title, description)).await
    }

    /// Opens an issue that is special from its first moment.
    pub async fn open_issue_with(
        &self,
        project: &str,
        author: &str,
        (title, description): (&str, &str),
        shape: impl FnOnce(&mut Issue),
    ) -> u64 {
        self.act(|world| world.open_with(project, author, title, description, shape)).await
    }

    /// Edits title or description.
    pub async fn edit_issue(
        &self,
        project: &str,
        iid: u64,
        by: &str,
        title: Option<&str>,
        description: Option<&str>,
    ) {
        self.act(|world| world.edit_issue(project, iid, by, title, description)).await;
    }

    /// Closes an issue.
    pub async fn close_issue(&self, project: &str, iid: u64, by: &str) {
        self.act(|world| world.close_issue(project, iid, by)).await;
    }

    /// Reopens an issue.
    pub async fn reopen_issue(&self, project: &str, iid: u64, by: &str) {
        self.act(|world| world.reopen_issue(project, iid, by)).await;
    }

    /// Makes an issue confidential or open to all.
    pub async fn set_confidential(&self, project: &str, iid: u64, by: &str, confidential: bool) {
        self.act(|world| world.set_confidential(project, iid, by, confidential)).await;
    }

    /// Locks or unlocks the discussion.
    pub async fn lock_issue(&self, project: &str, iid: u64, by: &str, locked: bool) {
        self.act(|world| world.lock_issue(project, iid, by, locked)).await;
    }

    /// Moves an issue to another project. Returns the iid there.
    pub async fn move_issue(&self, project: &str, iid: u64, by: &str, to: &str) -> u64 {
        self.act(|world| world.move_issue(project, iid, by, to)).await
    }

    /// Writes a comment that stands alone. Returns the note's id.
    pub async fn comment(&self, project: &str, iid: u64, by: &str, body: &str) -> u64 {
        self.act(|world| world.comment(project, iid, by, body)).await
    }

    /// Writes an internal comment. Returns the note's id.
    pub async fn comment_internally(&self, project: &str, iid: u64, by: &str, body: &str) -> u64 {
        self.act(|world| world.comment_at(project, iid, by, body, Place::Internal)).await
    }

    /// Replies in the thread of a note. Returns the note's id.
    pub async fn reply(&self, note: u64, by: &str, body: &str) -> u64 {
        self.act(|world| world.reply(note, by, body)).await
    }

    /// Edits a note.
    pub async fn edit_note(&self, note: u64, by: &str, body: &str) {
        self.act(|world| world.edit_note(note, by, body)).await;
    }

    /// Deletes a note; nobody is told.
    pub async fn delete_note(&self, note: u64) {
        self.act(|world| world.delete_note(note)).await;
    }

    /// Gives an emoji to a note. Returns the award's id.
    pub async fn award_note(&self, note: u64, by: &str, emoji: &str) -> u64 {
        self.act(|world| world.award(Awardable::Note(note), by, emoji)).await
    }

    /// Gives an emoji to an issue. Returns the award's id.
    pub async fn award_issue(&self, project: &str, iid: u64, by: &str, emoji: &str) -> u64 {
        self.act(|world| {
            let id = world.issue(project, iid).id;
            world.award(Awardable::Issue(id), by, emoji)
        })
        .await
    }

    /// Takes an emoji back.
    pub async fn revoke(&self, award: u64) {
        self.act(|world| world.revoke(award)).await;
    }

    /// Adds labels by name, as a person.
    pub async fn add_labels(&self, project: &str, iid: u64, by: &str, names: &[&str]) {
        self.act(|world| world.add_labels(project, iid, by, names)).await;
    }

    /// Takes labels off, as a person.
    pub async fn remove_labels(&self, project: &str, iid: u64, by: &str, names: &[&str]) {
        self.act(|world| world.remove_labels(project, iid, by, names)).await;
    }

    /// Writes a file on the default branch and pushes. Returns the commit.
    pub async fn edit_file(&self, project: &str, path: &str, content: &str) -> Sha {
        self.push(project, vec![Change::Write(path.to_owned(), content.as_bytes().to_vec())]).await
    }

    /// Deletes a file on the default branch and pushes. Returns the commit.
    pub async fn delete_file(&self, project: &str, path: &str) -> Sha {
        self.push(project, vec![Change::Delete(path.to_owned())]).await
    }

    /// Moves a file on the default branch and pushes. Returns the commit.
    pub async fn rename_file(&self, project: &str, from: &str, to: &str) -> Sha {
        self.push(project, vec![Change::Rename(from.to_owned(), to.to_owned())]).await
    }

    /// Commits changes to the default branch and pushes. Returns the commit.
    pub async fn push(&self, project: &str, changes: Vec<Change>) -> Sha {
        self.push_to(project, None, "ines", "Update", changes).await
    }

    /// Commits changes to a branch and pushes. Returns the commit.
    pub async fn push_to(
        &self,
        project: &str,
        branch: Option<&str>,
        by: &str,
        message: &str,
        changes: Vec<Change>,
    ) -> Sha {
        self.act(|world| world.commit(project, branch, by, message, changes)).await
    }

    /// Opens a merge request of a new branch (of the same project or a fork) with these changes.
    pub async fn propose(
        &self,
        places: (&str, &str),
        by: &str,
        branch: &str,
        title: &str,
        changes: Vec<Change>,
    ) -> u64 {
        self.act(|world| world.propose(places, by, branch, title, changes)).await
    }

    /// Merges a merge request. Returns the commit on the target branch.
    pub async fn merge(&self, project: &str, iid: u64, by: &str, how: Merge) -> Sha {
        self.act(|world| world.merge(project, iid, by, how)).await
    }

    /// Closes a merge request.
    pub async fn close_merge_request(&self, project: &str, iid: u64, by: &str) {
        self.act(|world| world.close_merge_request(project, iid, by)).await;
    }

    /// Every note of an issue, system notes included, oldest first.
    pub fn all_notes(&self, project: &str, iid: u64) -> Vec<NoteView> {
        let world = self.world();
        let issue = world.issue(project, iid);
        let mut notes = Vec::new();
        for discussion in &issue.discussions {
            notes.extend(discussion.notes.iter().map(|note| NoteView {
                id: note.id,
                author: world.users[&note.author].username.clone(),
                bot: world.users[&note.author].username == BOT,
                body: note.body.clone(),
                system: note.system,
                internal: note.internal,
                discussion: discussion.id.clone(),
                threaded: note.threaded,
            }));
        }
        notes.sort_by_key(|note| note.id);
        notes
    }

    /// The comments of an issue, oldest first.
    pub fn notes(&self, project: &str, iid: u64) -> Vec<NoteView> {
        self.all_notes(project, iid).into_iter().filter(|note| !note.system).collect()
    }

    /// The comments that the bot wrote, oldest first.
    pub fn bot_notes(&self, project: &str, iid: u64) -> Vec<NoteView> {
        self.notes(project, iid).into_iter().filter(|note| note.bot).collect()
    }

    /// The bodies of all comments that the bot wrote anywhere.
    pub fn all_bot_notes(&self) -> Vec<String> {
        let world = self.world();
        let notes = world.issues.values().flat_map(|issue| &issue.discussions).flat_map(|d| &d.notes);
        let by_bot = notes.filter(|note| !note.system && world.users[&note.author].username == BOT);
        by_bot.map(|note| note.body.clone()).collect()
    }

    /// The names of an issue's labels, sorted.
    pub fn labels(&self, project: &str, iid: u64) -> Vec<String> {
        self.world().label_names(project, iid)
    }

    /// What the notes of bots made GitLab do. A quoting bot leaves this empty.
    pub fn effects(&self) -> Vec<Effect> {
        self.world().effects().into_iter().cloned().collect()
    }

    /// The check for what strangers typed, over the world as it is now.
    pub fn strangers(&self) -> Strangers {
        Strangers::of(&self.world())
    }

    /// Everything the bot ever posted as notes, titles and descriptions, what was edited away since included.
    pub fn posted_by_the_bot(&self) -> String {
        self.posts_of_the_bot().join("\n\n")
    }

    /// The same, text by text.
    pub fn posts_of_the_bot(&self) -> Vec<String> {
        self.world().posted.clone()
    }

    /// The content of a blob, in whichever repository it is.
    pub fn blob(&self, id: &str) -> Option<Vec<u8>> {
        let world = self.world();
        world
            .projects
            .values()
            .find_map(|project| project.repository.read(id))
            .map(|content| content.to_vec())
    }
}
