//! What the bot does in a thread: the only callers of GitLab's writes. Each looks once more before it acts.

use sha2::{Digest, Sha256};

use crate::answer::{Asking, Judgement, Walk, WalkError, label, standing};
use crate::gitlab::{Note, Posted, Role};
use crate::prose::Question;
use crate::reply::{Asked, Language, Marker, Reply, Says, Wording};
use crate::store::question::{ISSUE, Record, State, Target};
use crate::target::Validated;

/// The quoted place, for the record.
pub(super) fn target(validated: &Validated) -> Target {
    let best = validated.best();
    let place = best.blob.place();
    Target {
        project: place.project().id,
        path: place.path().as_str().to_owned(),
        blob: place.blob().to_owned(),
        commit: place.commit().to_owned(),
        first_line: best.lines.first,
        last_line: best.lines.last,
        quote: hash_of(&best.blob.text()[best.bytes.clone()]),
    }
}

/// What a record is about.
pub(super) fn asked(record: &Record) -> Asked {
    record.key.parse().map_or(Asked::Issue, Asked::Note)
}

fn hash_of(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The configured language, or the one of what is quoted: never that of the question, whose words must not show in
/// what is posted (R-KB-1b).
fn wording(walk: &Walk<'_>, quoted: impl FnOnce() -> Language) -> Wording {
    let config = &walk.world.config;
    let configured = Language::ALL.into_iter().find(|language| language.code() == config.answer.language);
    Wording::new(configured.unwrap_or_else(quoted), config.gitlab.url.as_str())
}

/// The note that answers a question.
pub(super) fn note(walk: &Walk<'_>, asking: &Asking, validated: &Validated) -> Reply {
    let wording = wording(walk, || Language::detect(validated.best().blob.text()));
    Reply::citing(validated, &wording, &Marker::of(asking.asked))
}

/// The wording of what takes our note back: the language that the note is in.
fn wording_of_note(walk: &Walk<'_>, id: u64) -> Wording {
    let note = walk.thread.notes.iter().find(|note| note.id == id && note.ours);
    let marker = note.and_then(|note| note.marker.as_ref());
    wording(walk, || marker.map_or(Language::default(), Marker::language))
}

/// Posts the answer, or edits the one note that the question has. False when the thread changed meanwhile and
/// nothing was done.
#[tracing::instrument(name = "post", skip_all)]
pub(super) async fn post_answer(
    walk: &mut Walk<'_>,
    asking: &Asking,
    record: &mut Record,
    validated: &Validated,
    judgement: &Judgement,
) -> Result<bool, WalkError> {
    let reply = note(walk, asking, validated);
    if let Some(id) = record.note_id {
        if !still_served(walk, asking.asked, &asking.digest).await? {
            return Ok(false);
        }
        walk.world.gitlab.edit_note(walk.project.id, walk.claim.place.iid, id, &reply).await?;
        walk.trail.act("edited", Some(id));
        return Ok(true);
    }
    let discussion = asking.discussion.clone().or(judgement.discussion.clone());
    let Some(posted) = post(walk, asking, discussion.as_deref(), &reply).await? else { return Ok(false) };
    remember_note(record, posted, walk.world.clock.now());
    Ok(true)
}

fn remember_note(record: &mut Record, posted: Posted, now: i64) {
    record.note_id = Some(posted.note);
    record.discussion = Some(posted.discussion);
    record.posted_at = Some(now);
}

/// Posts once: within budget, with the lease still held, on a thread that is still served. The record is
/// written before anything else can fail; a crash in between is healed by the marker in the thread.
async fn post(
    walk: &mut Walk<'_>,
    asking: &Asking,
    discussion: Option<&str>,
    reply: &Reply,
) -> Result<Option<Posted>, WalkError> {
    let world = walk.world;
    let (project, iid) = (walk.project.id, walk.claim.place.iid);
    if !walk.thread.own_notes_known {
        walk.trail.act("own_notes_unknown", None);
        walk.outcome = "too_many_notes";
        return Ok(None);
    }
    let hour_ago = world.clock.now() - 3_600_000;
    if world.store.posted_since(project, hour_ago).await? >= world.config.budget.per_project_hour {
        return Err(WalkError::Budget);
    }
    if !still_served(walk, asking.asked, &asking.digest).await? {
        return Ok(None);
    }
    let posted = match discussion {
        Some(discussion) => world.gitlab.reply_in_discussion(project, iid, discussion, reply).await?,
        None => world.gitlab.start_discussion(project, iid, reply).await?,
    };
    tracing::info!(project.id = project, issue.iid = iid, note.id = posted.note, "a note was posted");
    walk.trail.act("posted", Some(posted.note));
    Ok(Some(posted))
}

/// The last look before a write: the thread as it is this moment, and the lease.
async fn still_served(walk: &mut Walk<'_>, asked: Asked, digest: &str) -> Result<bool, WalkError> {
    let world = walk.world;
    let Some(issue) = world.gitlab.issue(walk.project.id, walk.claim.place.iid).await? else {
        walk.outcome = "gone";
        return Ok(false);
    };
    let edited =
        asked == Asked::Issue && super::digest(&Question::new(&issue.title, &issue.description)) != digest;
    walk.thread.issue = issue;
    if let Some(why) = unserved_now(walk).await? {
        walk.outcome = why;
        return Ok(false);
    }
    if edited {
        // The event of the edit is on its way; it will be judged as it reads then.
        world.store.want(walk.claim.place, None, world.clock.now()).await?;
        walk.outcome = "edited_meanwhile";
        return Ok(false);
    }
    if !world.store.renew(walk.claim, world.clock.now()).await? {
        return Err(WalkError::LeaseLost);
    }
    Ok(true)
}

/// Why the thread, read again just now, gets nothing any more: its own state, or that of its project.
async fn unserved_now(walk: &Walk<'_>) -> Result<Option<crate::answer::Outcome>, WalkError> {
    let world = walk.world;
    let Some(project) = world.gitlab.project(walk.project.id).await? else { return Ok(Some("gone")) };
    match world.corpus.admit_thread(&project) {
        Ok(audience) if audience == walk.audience => standing::unserved(world, &walk.thread).await,
        // Judged for other readers than there are now: the next look judges anew.
        Ok(_) => Ok(Some("audience_changed")),
        Err(refusal) => Ok(Some(refusal.name())),
    }
}

/// Says to somebody who mentioned the bot that nothing answers the comment.
pub(super) async fn say_nothing_found(
    walk: &mut Walk<'_>,
    asking: &Asking,
    record: &mut Record,
) -> Result<(), WalkError> {
    let reply = Reply::nothing_found(&wording(walk, Language::default), &Marker::of(asking.asked));
    if let Some(posted) = post(walk, asking, asking.discussion.as_deref(), &reply).await? {
        remember_note(record, posted, walk.world.clock.now());
        // Saved at once: the label comes next and may fail.
        walk.world.store.save_question(record).await?;
    }
    Ok(())
}

/// Takes an answer back that no longer holds: the note is edited, the target forgotten. False when the thread
/// changed meanwhile and nothing was done.
pub(super) async fn outdate(
    walk: &mut Walk<'_>,
    asked: Asked,
    digest: &str,
    record: &mut Record,
) -> Result<bool, WalkError> {
    if let Some(id) = record.note_id {
        let reply = Reply::outdated(&wording_of_note(walk, id), &Marker::of(asked));
        if !still_served(walk, asked, digest).await? {
            return Ok(false);
        }
        walk.world.gitlab.edit_note(walk.project.id, walk.claim.place.iid, id, &reply).await?;
        walk.trail.act("outdated", Some(id));
    }
    record.gap_kind = Some("outdated".to_owned());
    record.target = None;
    record.closed = None;
    Ok(true)
}

/// Puts the gap label on, if it is not there and no human took it off.
#[tracing::instrument(name = "label", skip_all)]
pub(super) async fn label(walk: &mut Walk<'_>, mut record: Record) -> Result<(), WalkError> {
    if record.labelled && walk.has_label() {
        return Ok(());
    }
    if !walk.has_label() {
        let Some(issue) = walk.world.gitlab.issue(walk.project.id, walk.claim.place.iid).await? else {
            return Ok(());
        };
        walk.thread.issue = issue;
        if let Some(why) = unserved_now(walk).await? {
            walk.outcome = why;
            return Ok(());
        }
        let label = label::found_or_created(walk.world, walk.project.id).await?;
        walk.world.gitlab.add_label(walk.project.id, walk.claim.place.iid, &label).await?;
        tracing::info!(project.id = walk.project.id, issue.iid = walk.claim.place.iid, "a gap was labelled");
        walk.trail.act("labelled", None);
    }
    record.labelled = true;
    walk.save(record).await
}

/// Takes the gap label off, unless another question of the thread is still a gap.
pub(super) async fn unlabel(walk: &mut Walk<'_>, mut record: Record) -> Result<(), WalkError> {
    let needed = walk.records.iter().any(|r| r.key != record.key && r.state == State::Gap);
    if record.labelled
        && walk.has_label()
        && !needed
        && !walk.observing()
        && let Some(label) = label::found(walk.world, walk.project.id).await?
    {
        walk.world.gitlab.remove_label(walk.project.id, walk.claim.place.iid, &label).await?;
        walk.thread.issue.labels.take_off(&walk.world.label.name());
        walk.trail.act("unlabelled", None);
    }
    if record.labelled {
        record.labelled = false;
        walk.save(record).await?;
    }
    Ok(())
}

impl Walk<'_> {
    /// Whether the issue carries the gap label, by the name it has now.
    fn has_label(&self) -> bool {
        self.thread.issue.labels.has(&self.world.label.name())
    }

    /// A crash between posting and writing it down: the marker in our own note tells.
    pub(super) async fn adopt_own_notes(&mut self) -> Result<(), WalkError> {
        let now = self.now();
        let mut adopted = Vec::new();
        for note in self.thread.notes.iter().filter(|n| n.ours) {
            let Some(marker) = &note.marker else { continue };
            let asked = self.asked_here(note, marker.asked());
            let key = match asked {
                Asked::Issue => ISSUE.to_owned(),
                Asked::Note(id) => id.to_string(),
            };
            let known = self.record(&key);
            if known.is_some_and(|r| r.note_id.is_some()) {
                continue;
            }
            let (asker, asked_at) = match asked {
                Asked::Issue => (self.thread.issue.author_id, self.thread.issue.created_at),
                Asked::Note(id) => {
                    let Some(asker) = self.thread.notes.iter().find(|n| n.id == id) else { continue };
                    (asker.author_id, asker.created_at)
                }
            };
            let mut record = known
                .cloned()
                .unwrap_or_else(|| Record::new(self.claim.place, &key, asker, asked_at, String::new(), now));
            // The question may have been edited since it was answered: it is judged again.
            record.digest = String::new();
            record.note_id = Some(note.id);
            record.discussion = Some(note.discussion_id.clone());
            record.posted_at = Some(note.created_at);
            match (marker.says(), marker.quoted()) {
                (Says::Answer, Some(quoted)) => {
                    record.state = State::Answered;
                    record.target = Some(Target {
                        project: quoted.project,
                        path: quoted.path.as_str().to_owned(),
                        blob: quoted.blob.clone(),
                        commit: quoted.commit.clone(),
                        first_line: quoted.lines.first,
                        last_line: quoted.lines.last,
                        quote: String::new(),
                    });
                }
                (Says::Withdrawn, _) => {
                    record.state = State::Gap;
                    record.gap_kind = Some("wrong-answer".to_owned());
                    record.undone = true;
                }
                _ => record.state = State::Gap,
            }
            adopted.push(record);
        }
        for record in adopted {
            self.save(record).await?;
        }
        Ok(())
    }

    /// What a note of ours is about in this thread. Where the issue was moved or cloned its comments have new ids: then the
    /// last call before it in its discussion.
    fn asked_here(&self, ours: &Note, asked: Asked) -> Asked {
        let Asked::Note(id) = asked else { return asked };
        let notes = &self.thread.notes;
        let before = notes.iter().rev().find(|note| {
            note.discussion_id == ours.discussion_id && note.id < ours.id && note.body.mentions(&self.me)
        });
        match before {
            Some(before) if notes.iter().all(|note| note.id != id) => Asked::Note(before.id),
            _ => asked,
        }
    }

    /// A note that a human deleted is never posted again.
    pub(super) async fn notice_deleted_notes(&mut self) -> Result<(), WalkError> {
        if !self.thread.own_notes_known {
            return Ok(());
        }
        let gone: Vec<Record> = self
            .records
            .iter()
            .filter(|r| r.state != State::Deleted)
            .filter(|r| r.note_id.is_some_and(|id| self.thread.notes.iter().all(|n| n.id != id)))
            .cloned()
            .collect();
        for mut record in gone {
            // Pages shift while they are read: a note that slipped through is asked for by its own address.
            let Some(id) = record.note_id else { continue };
            if self.world.gitlab.our_note(self.project.id, self.claim.place.iid, id).await?.is_some() {
                continue;
            }
            record.state = State::Deleted;
            record.undone = true;
            record.decided_at = self.now();
            self.trail.act("note_deleted_by_a_human", record.note_id);
            self.outcome = "deleted";
            self.save(record).await?;
        }
        Ok(())
    }

    /// A human takes the label off: dismissed. A human puts it on: a gap like any other.
    pub(super) async fn notice_label(&mut self) -> Result<(), WalkError> {
        let missed = self.records.iter().any(|r| r.state == State::Gap && r.labelled);
        if missed && !self.has_label() {
            // Taken off, or still there under another name?
            label::found(self.world, self.project.id).await?;
        }
        let now = self.now();
        if missed && !self.has_label() && self.relabel().await? {
            return Ok(());
        }
        if !self.has_label() {
            let dismissed: Vec<Record> =
                self.records.iter().filter(|r| r.state == State::Gap && r.labelled).cloned().collect();
            for mut record in dismissed {
                record.state = State::Dismissed;
                record.labelled = false;
                record.decided_at = now;
                self.trail.act("dismissed_by_a_human", None);
                self.outcome = "dismissed";
                self.save(record).await?;
            }
            return Ok(());
        }
        // Our own label, which something kept us from taking off: a crash, a GitLab that did not answer. And where a human
        // deleted the note that said nothing was found, the label that came with it goes too.
        let over =
            |r: &&Record| r.labelled && matches!(r.state, State::Answered | State::Silent | State::Deleted);
        let left_on: Vec<Record> = self.records.iter().filter(over).cloned().collect();
        if !left_on.is_empty() {
            for record in left_on {
                unlabel(self, record).await?;
            }
            return Ok(());
        }
        let known = self.record(ISSUE).cloned();
        let adopted = known.as_ref().is_none_or(|r| r.state != State::Deleted)
            && self.records.iter().all(|record| record.state != State::Gap);
        if adopted && !self.observing() {
            let asking = self.issue_asking();
            let mut record = known.unwrap_or_else(|| {
                Record::new(self.place(), ISSUE, asking.asker, asking.asked_at, asking.digest.clone(), now)
            });
            if record.state == State::Answered {
                // The human's word against the answer.
                record.reject();
            }
            record.state = State::Gap;
            record.labelled = true;
            record.decided_at = now;
            record.gap_kind.get_or_insert_with(|| "missing".to_owned());
            record.fingerprint = Some(crate::search::Fingerprint::of(&asking.question).to_bytes());
            self.trail.act("adopted", None);
            self.outcome = "adopted";
            self.save(record).await?;
        }
        Ok(())
    }

    /// Where another label is configured now, an issue that carries the one before gets the new one in its place. False when
    /// it carries none.
    async fn relabel(&mut self) -> Result<bool, WalkError> {
        let world = self.world;
        let former = label::former(&world.store, &world.config.gap.label).await?;
        let carried: Vec<&String> = former.iter().filter(|name| self.thread.issue.labels.has(name)).collect();
        if carried.is_empty() || self.observing() {
            return Ok(!carried.is_empty());
        }
        let (project, iid) = (self.project.id, self.claim.place.iid);
        let new = label::found_or_created(world, project).await?;
        world.gitlab.add_label(project, iid, &new).await?;
        for name in carried {
            if let Some(old) = world.gitlab.find_label(project, name).await? {
                world.gitlab.remove_label(project, iid, &old).await?;
            }
        }
        self.trail.act("relabelled", None);
        if let Some(issue) = world.gitlab.issue(project, iid).await? {
            self.thread.issue = issue;
        }
        Ok(true)
    }

    /// 👎 by who asked, or by a member from Developer up, takes the answer back.
    pub(super) async fn notice_downvotes(&mut self) -> Result<(), WalkError> {
        let answered: Vec<Record> = self
            .records
            .iter()
            .filter(|r| r.state == State::Answered && r.note_id.is_some())
            .cloned()
            .collect();
        for record in answered {
            let Some(note) = record.note_id else { continue };
            let iid = self.claim.place.iid;
            let awards = self.world.gitlab.awards(self.project.id, iid, note).await?.unwrap_or_default();
            // A 👎 at an answer that was withdrawn does not strike the one that took its place.
            let since = if record.undone { record.decided_at } else { 0 };
            let down = |a: &crate::gitlab::Award| a.vote == crate::gitlab::Vote::Down && a.at >= since;
            for award in awards.into_iter().filter(down) {
                let counts = award.user_id == record.asker
                    || self.world.gitlab.role(self.project.id, award.user_id).await? >= Role::Developer;
                if counts && !self.world.own.contains(award.user_id) {
                    self.withdraw(record, note).await?;
                    break;
                }
            }
        }
        Ok(())
    }

    async fn withdraw(&mut self, mut record: Record, note: u64) -> Result<(), WalkError> {
        if self.observing() {
            return Ok(());
        }
        let asked = asked(&record);
        // Who asked may have taken the comment away; what answered it is wrong all the same.
        let asking = match asked {
            Asked::Issue => Some(self.issue_asking()),
            Asked::Note(id) => self.thread.notes.iter().find(|n| n.id == id).map(|n| self.note_asking(n)),
        };
        let digest = asking.as_ref().map_or("", |asking| asking.digest.as_str());
        if !still_served(self, asked, digest).await? {
            return Ok(());
        }
        let reply = Reply::withdrawn(&wording_of_note(self, note), &Marker::of(asked));
        self.world.gitlab.edit_note(self.project.id, self.claim.place.iid, note, &reply).await?;
        self.trail.act("withdrawn", Some(note));
        self.outcome = "withdrawn";
        record.reject();
        record.decided_at = self.now();
        let Some(asking) = asking else {
            record.state = State::Silent;
            return self.save(record).await;
        };
        record.state = State::Gap;
        record.fingerprint = Some(crate::search::Fingerprint::of(&asking.question).to_bytes());
        self.save(record.clone()).await?;
        label(self, record).await
    }
}
