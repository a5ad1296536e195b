//! A thread as it is now: the issue and what was said on it.

use std::ops::Deref;

use gitlab::api::projects::issues::Issue as IssueByIid;
use gitlab::api::projects::issues::notes::awards::IssueNoteAwards;

use crate::clock::Millis;
use crate::gitlab::GitLab;
use crate::gitlab::endpoint::{Own, segment};
use crate::gitlab::error::{Error, absent};
use crate::gitlab::http::TOO_LARGE;
use crate::gitlab::people::UserId;
use crate::gitlab::wire::{AwardRow, DiscussionRow, IssueRow, LabelName, NoteRow, when};
use crate::prose::Prose;
use crate::prose::question::Number;
use crate::reply::Marker;
use crate::target::ProjectId;

/// Notes of people that are kept, the newest; our own are kept however many there are.
const NOTES: usize = 500;
/// Pages of discussions that are read; GitLab allows 5,000 notes on an issue.
const PAGES: usize = 60;
/// Bytes of one text that are looked at: GitLab's own limit on a description.
const TEXT_MAX: usize = 1 << 20;

/// The labels of an issue. Members chose their names, so they are asked about, not shown.
#[derive(Clone, Default)]
pub struct Labels(Vec<String>);

impl Labels {
    /// Whether a label of exactly this name is there.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|label| label == name)
    }

    /// Takes the label of exactly this name off.
    pub fn take_off(&mut self, name: &str) {
        self.0.retain(|label| label != name);
    }

    /// Lends the names to a measure and returns its numbers: evidence for the question gate.
    pub fn weigh<N: Number>(&self, measure: impl FnOnce(&[String]) -> N) -> N {
        measure(&self.0)
    }
}

impl std::fmt::Debug for Labels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Labels({})", self.0.len())
    }
}

/// An issue (or task, or incident), without what was said on it.
#[derive(Clone, Debug)]
pub struct Issue {
    /// The project's id.
    pub project: ProjectId,
    /// The number within the project.
    pub iid: u64,
    /// The number within the instance.
    pub id: u64,
    /// Who opened it; 0 when GitLab does not say (a deleted user's issues belong to its ghost user).
    pub author_id: UserId,
    /// When it was opened.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    /// Whether it is open.
    pub open: bool,
    /// Whether only reporters and above see it.
    pub confidential: bool,
    /// Whether only members may comment.
    pub locked: bool,
    /// Whether it was moved to another project.
    pub moved: bool,
    /// `issue`, `task`, `incident`, …; empty when GitLab does not say.
    pub issue_type: String,
    /// Its labels.
    pub labels: Labels,
    /// How many thumbs are up.
    pub upvotes: u64,
    /// Its title.
    pub title: Prose,
    /// Its description.
    pub description: Prose,
}

/// One comment.
#[derive(Clone, Debug)]
pub struct Note {
    /// Its id.
    pub id: u64,
    /// The discussion it is in, which a reply to it goes to.
    pub discussion_id: String,
    /// Whether it stands alone; a reply makes a discussion of it.
    pub individual: bool,
    /// Who wrote it; 0 when GitLab does not say.
    pub author_id: UserId,
    /// Whether GitLab wrote it.
    pub system: bool,
    /// Whether only reporters and above see it.
    pub internal: bool,
    /// When it was written.
    pub created_at: Millis,
    /// When it was last edited.
    pub updated_at: Millis,
    /// What it says; empty for our own notes, which are never listened to.
    pub body: Prose,
    /// Whether we wrote it.
    pub ours: bool,
    /// Our marker, when we wrote it; somebody else's imitation is none.
    pub marker: Option<Marker>,
}

/// An issue and its comments, oldest discussion first.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The issue.
    pub issue: Issue,
    /// Its comments.
    pub notes: Vec<Note>,
    /// Whether there is more than was read. Our own notes may be among it only when not even all pages could
    /// be read: see [`Thread::own_notes_known`].
    pub truncated: bool,
    /// Whether every note of ours is among `notes`. When not, nothing new must be posted.
    pub own_notes_known: bool,
}

impl Deref for Thread {
    type Target = Issue;

    fn deref(&self) -> &Issue {
        &self.issue
    }
}

/// What somebody thinks of a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// 👍 in any skin tone.
    Up,
    /// 👎 in any skin tone.
    Down,
    /// Any other emoji.
    Other,
}

/// An emoji that somebody put on a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Award {
    /// Who.
    pub user_id: UserId,
    /// What.
    pub vote: Vote,
    /// When.
    pub at: Millis,
}

/// Text within its limit, cut at a character.
fn prose(text: Option<String>) -> Prose {
    let mut text = text.unwrap_or_default();
    if text.len() > TEXT_MAX {
        let end = (0..=TEXT_MAX).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
    }
    Prose::from(text)
}

impl From<IssueRow> for Issue {
    fn from(row: IssueRow) -> Issue {
        let name = |label| match label {
            LabelName::Name(name) | LabelName::Details { name } => Some(name),
            LabelName::Other(_) => None,
        };
        let created_at = when(row.created_at.as_deref()).unwrap_or(0);
        Issue {
            project: row.project_id,
            iid: row.iid,
            id: row.id,
            author_id: row.author.map_or(0, |author| author.id),
            created_at,
            updated_at: when(row.updated_at.as_deref()).unwrap_or(created_at),
            open: matches!(row.state.as_str(), "opened" | "reopened"),
            confidential: row.confidential.unwrap_or(false),
            locked: row.discussion_locked.unwrap_or(false),
            moved: row.moved_to_id.is_some(),
            issue_type: row.issue_type,
            labels: Labels(row.labels.into_iter().filter_map(name).collect()),
            upvotes: row.upvotes,
            title: prose(row.title),
            description: prose(row.description),
        }
    }
}

impl Note {
    /// Whether a person or another bot said it where everybody who reads the issue can read it.
    pub fn is_public_speech(&self) -> bool {
        !self.ours && !self.system && !self.internal
    }

    fn from_row(row: NoteRow, discussion_id: &str, individual: bool, ours: &[UserId]) -> Note {
        let author_id = row.author.map_or(0, |author| author.id);
        let ours = ours.contains(&author_id);
        let marker = if ours { row.body.as_deref().and_then(Marker::parse) } else { None };
        let created_at = when(row.created_at.as_deref()).unwrap_or(0);
        Note {
            id: row.id,
            discussion_id: discussion_id.to_owned(),
            individual,
            author_id,
            system: row.system,
            internal: row.internal.or(row.confidential).unwrap_or(false),
            created_at,
            updated_at: when(row.updated_at.as_deref()).unwrap_or(created_at),
            body: if ours { Prose::default() } else { prose(row.body) },
            ours,
            marker,
        }
    }
}

/// Notes as they are read, within bounds: what GitLab wrote is left out.
#[derive(Default)]
struct Gathered {
    notes: Vec<Note>,
    truncated: bool,
}

impl Gathered {
    fn take(&mut self, page: Vec<DiscussionRow>, ours: &[UserId]) {
        for discussion in page {
            let DiscussionRow { id, individual_note, notes } = discussion;
            let notes = notes.into_iter().map(|row| Note::from_row(row, &id, individual_note, ours));
            self.notes.extend(notes.filter(|note| note.ours || !note.system));
        }
        let mut ids: Vec<u64> = self.notes.iter().filter(|note| !note.ours).map(|note| note.id).collect();
        if ids.len() > NOTES {
            ids.sort_unstable_by(|a, b| b.cmp(a));
            self.notes.retain(|note| note.ours || note.id >= ids[NOTES - 1]);
            self.truncated = true;
        }
    }
}

impl GitLab {
    /// An issue; `None` when there is none, or none that the token may see.
    pub async fn issue(&self, project: ProjectId, iid: u64) -> Result<Option<Issue>, Error> {
        let endpoint =
            IssueByIid::builder().project(project).issue(iid).build().expect("every required field is given");
        let row: Option<IssueRow> = absent(self.http.json(&endpoint).await)?;
        Ok(row.map(Issue::from))
    }

    /// A thread as it is now; `None` when there is none, or none that the token may see.
    pub async fn thread(&self, project: ProjectId, iid: u64) -> Result<Option<Thread>, Error> {
        let mut ours = self.former.to_vec();
        ours.push(self.user().await?.id);
        let Some(issue) = self.issue(project, iid).await? else { return Ok(None) };
        let endpoint = Own::get(format!("projects/{project}/issues/{iid}/discussions"));
        let mut pages = self.http.pages::<DiscussionRow>(&endpoint)?;
        let mut gathered = Gathered::default();
        let mut own_notes_known = false;
        for _ in 0..PAGES {
            match pages.next().await {
                Ok(Some(page)) => gathered.take(page, &ours),
                Ok(None) => {
                    own_notes_known = true;
                    break;
                }
                // Somebody wrote more than can be read at once; what was read stands.
                Err(Error::Broken(call)) if call.what == TOO_LARGE => break,
                Err(Error::Gone(_)) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        let truncated = gathered.truncated || !own_notes_known;
        Ok(Some(Thread { issue, notes: gathered.notes, truncated, own_notes_known }))
    }

    /// One comment as it is now, with its discussion; `None` when it is gone.
    pub async fn note(
        &self,
        project: ProjectId,
        iid: u64,
        discussion: &str,
        note: u64,
    ) -> Result<Option<Note>, Error> {
        let ours = [&self.former[..], &[self.user().await?.id]].concat();
        let path = format!("projects/{project}/issues/{iid}/discussions/{}", segment(discussion));
        let row: Option<DiscussionRow> = absent(self.http.json(&Own::get(path)).await)?;
        Ok(row.and_then(|row| {
            let DiscussionRow { id, individual_note, notes } = row;
            let found = notes.into_iter().find(|row| row.id == note)?;
            Some(Note::from_row(found, &id, individual_note, &ours))
        }))
    }

    /// The Markdown of a note of ours, for `verify`; `None` when it is gone or somebody else's.
    pub async fn our_note(&self, project: ProjectId, iid: u64, note: u64) -> Result<Option<String>, Error> {
        let path = format!("projects/{project}/issues/{iid}/notes/{note}");
        let Some(row) = absent(self.http.json::<NoteRow>(&Own::get(path)).await)? else { return Ok(None) };
        let ours = self.is_us(row.author.map_or(0, |author| author.id)).await?;
        Ok(row.body.filter(|_| ours))
    }

    /// The emoji on a note; `None` when the note is gone.
    pub async fn awards(&self, project: ProjectId, iid: u64, note: u64) -> Result<Option<Vec<Award>>, Error> {
        let endpoint = IssueNoteAwards::builder()
            .project(project)
            .issue(iid)
            .note(note)
            .build()
            .expect("every required field is given");
        let rows = absent(self.http.pages::<AwardRow>(&endpoint)?.collect(PAGES).await)?;
        Ok(rows.map(|(rows, _)| rows.into_iter().map(Award::from).collect()))
    }
}

impl From<AwardRow> for Award {
    fn from(row: AwardRow) -> Award {
        let vote = match row.name.split("_tone").next() {
            Some("thumbsup" | "+1") => Vote::Up,
            Some("thumbsdown" | "-1") => Vote::Down,
            _ => Vote::Other,
        };
        let at = when(row.created_at.as_deref()).unwrap_or(Millis::MAX);
        Award { user_id: row.user.map_or(0, |user| user.id), vote, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(json: &str) -> Vec<Note> {
        let row: DiscussionRow = serde_json::from_str(json).expect("tolerant");
        let mut gathered = Gathered::default();
        gathered.take(vec![row], &[42]);
        gathered.notes
    }

    #[test]
    fn only_our_own_marker_counts() {
        let body = "x\\n\\n<!-- signpost:1 en nothing issue -->";
        let read = |author: u64| {
            notes(&format!(
                r#"{{"id":"ab","notes":[{{"id":1,"author":{{"id":{author}}},"body":"{body}"}}]}}"#
            ))
        };
        assert!(read(42)[0].marker.is_some() && read(42)[0].ours);
        assert!(read(43)[0].marker.is_none() && !read(43)[0].ours);
    }

    #[test]
    fn an_issue_is_read_from_what_is_there() {
        let row: IssueRow = serde_json::from_str(
            r#"{"id":900,"iid":3,"project_id":7,"state":"opened","title":null,"labels":null,"upvotes":null,"new_key":[]}"#,
        )
        .expect("tolerant");
        let issue = Issue::from(row);
        assert!(issue.open && !issue.confidential && !issue.locked && !issue.moved);
        assert_eq!((issue.author_id, issue.upvotes), (0, 0));
    }

    #[test]
    fn the_newest_notes_are_kept_and_our_own_are_never_lost() {
        let mut gathered = Gathered::default();
        for id in 0..600 {
            let author = if id == 0 { 42 } else { 9 };
            let json =
                format!(r#"{{"id":"ab","notes":[{{"id":{id},"author":{{"id":{author}}},"body":"x"}}]}}"#);
            gathered.take(vec![serde_json::from_str(&json).expect("tolerant")], &[42]);
        }
        let ids: Vec<u64> = gathered.notes.iter().map(|note| note.id).collect();
        assert!(gathered.truncated && gathered.notes[0].ours);
        assert_eq!((ids.len(), ids[1], ids[NOTES]), (NOTES + 1, 100, 599));
    }

    #[test]
    fn internal_is_known_under_both_of_its_names() {
        let read = |key: &str| notes(&format!(r#"{{"id":"ab","notes":[{{"id":1,"{key}":true}}]}}"#));
        assert!(read("internal")[0].internal && read("confidential")[0].internal);
        assert!(read("system").is_empty(), "what GitLab wrote is left out");
    }

    #[test]
    fn a_long_text_is_cut_at_a_character() {
        let text = "ä".repeat(TEXT_MAX);
        assert_eq!(format!("{:?}", prose(Some(text))), format!("Prose({TEXT_MAX} bytes)"));
    }

    #[test]
    fn thumbs_count_in_any_colour() {
        let vote =
            |name: &str| Award::from(AwardRow { name: name.into(), user: None, created_at: None }).vote;
        assert_eq!(vote("thumbsdown_tone3"), Vote::Down);
        assert_eq!(vote("thumbsup"), Vote::Up);
        assert_eq!(vote("tada"), Vote::Other);
    }
}
