//! Notes and discussions of issues.

use super::issues::only_commands;
use super::{Answer, Call, Outcome, shape};
use crate::gitlab::world::notes::{Place, Posted};
use crate::gitlab::world::{Discussion, Issue, Level, Note, World};
use serde_json::{Value, json};

/// The longest comment GitLab takes.
const LONGEST: usize = 1_000_000;

impl Call {
    fn sees_note(&self, world: &World, issue: &Issue, note: &Note) -> bool {
        !note.internal || world.reads_internal(&world.projects[&issue.project], self.user(world))
    }

    fn discussion_shape(&self, world: &World, issue: &Issue, of: &Discussion) -> Option<Value> {
        let seen = of.notes.iter().filter(|note| self.sees_note(world, issue, note));
        let notes: Vec<Value> = seen.map(|note| shape::note(world, issue, note)).collect();
        (!notes.is_empty()).then(|| json!({ "id": of.id, "individual_note": of.individual, "notes": notes }))
    }

    pub(super) fn discussions(&self, world: &World, issue: u64) -> Outcome {
        let issue = &world.issues[&issue];
        self.page(
            world,
            issue.discussions.iter().filter_map(|d| self.discussion_shape(world, issue, d)).collect(),
        )
    }

    pub(super) fn discussion(&self, world: &World, issue: u64, id: &str) -> Outcome {
        let issue = &world.issues[&issue];
        let found = issue
            .discussions
            .iter()
            .find(|d| d.id == id)
            .and_then(|d| self.discussion_shape(world, issue, d));
        found.map(Answer::ok).ok_or_else(|| Answer::missing("Discussion"))
    }

    pub(super) fn notes(&self, world: &World, issue: u64) -> Outcome {
        let issue = &world.issues[&issue];
        let wanted = |note: &&&Note| match self.get("activity_filter") {
            Some("only_comments") => !note.system,
            Some("only_activity") => note.system,
            _ => true,
        };
        let mut notes = issue.notes();
        if self.get("order_by") == Some("updated_at") {
            notes.sort_by_key(|note| (note.updated_at, note.id));
        }
        if self.get("sort") != Some("asc") {
            notes.reverse();
        }
        let seen = notes.iter().filter(wanted).filter(|note| self.sees_note(world, issue, note));
        self.page(world, seen.map(|note| shape::note(world, issue, note)).collect())
    }

    pub(super) fn note(&self, world: &World, issue: u64, id: &str) -> Outcome {
        let issue = &world.issues[&issue];
        let found = issue
            .notes()
            .into_iter()
            .find(|note| note.id.to_string() == id && self.sees_note(world, issue, note));
        found.map(|note| Answer::ok(shape::note(world, issue, note))).ok_or_else(|| Answer::missing("Note"))
    }

    fn text(&self) -> Result<&str, Answer> {
        let refused = |why: &str| {
            Answer::json(400, json!({ "message": format!("400 Bad request - Note {{:note=>[\"{why}\"]}}") }))
        };
        let body = self.given("body").ok_or_else(|| Answer::bad("body is missing"))?;
        match body {
            body if body.trim().is_empty() => Err(refused("can't be blank")),
            body if body.chars().count() > LONGEST => {
                Err(refused("is too long (maximum is 1000000 characters)"))
            }
            body => Ok(body),
        }
    }

    fn post_text(&self, world: &mut World, issue: u64, place: Place<'_>) -> Result<(u64, String), Answer> {
        let body = self.text()?;
        let user = self.may_comment(world, issue)?;
        if let Some(most) = world.notes_per_minute
            && !world.within_limit("notes", user, most, 60_000)
        {
            return Err(Answer::too_many());
        }
        match world.post(issue, user, body, place) {
            Posted::Stored(note, discussion) => Ok((note, discussion)),
            Posted::OnlyCommands => Err(only_commands()),
            Posted::Refused => Err(Answer::json(
                400,
                json!({ "message": "400 Bad request - Discussion can not be replied to" }),
            )),
        }
    }

    pub(super) fn create_note(&self, world: &mut World, issue: u64) -> Outcome {
        let internal = self.flag("internal", false)? || self.flag("confidential", false)?;
        if internal && !world.reads_internal(&world.projects[&world.issues[&issue].project], self.user(world))
        {
            return Err(Answer::forbidden());
        }
        let place = if internal { Place::Internal } else { Place::Alone };
        let (note, _) = self.post_text(world, issue, place)?;
        Ok(Answer::created(shape::note(world, &world.issues[&issue], world.note(note))))
    }

    pub(super) fn create_discussion(&self, world: &mut World, issue: u64) -> Outcome {
        let (_, discussion) = self.post_text(world, issue, Place::Thread)?;
        let mut answer = self.discussion(world, issue, &discussion)?;
        answer.status = 201;
        Ok(answer)
    }

    pub(super) fn reply(&self, world: &mut World, issue: u64, discussion: &str) -> Outcome {
        self.discussion(world, issue, discussion)?;
        let (note, _) = self.post_text(world, issue, Place::Reply(discussion))?;
        Ok(Answer::created(shape::note(world, &world.issues[&issue], world.note(note))))
    }

    /// The note, if the caller may change it: an own one, or as a maintainer; no system note.
    fn own_note(
        &self,
        world: &World,
        issue: u64,
        id: &str,
        discussion: Option<&str>,
    ) -> Result<(u64, u64), Answer> {
        let user = self.may_comment(world, issue)?;
        let issue = &world.issues[&issue];
        let inside = |d: &&Discussion| discussion.is_none_or(|id| d.id == id);
        let mut notes = issue.discussions.iter().filter(inside).flat_map(|d| &d.notes);
        let found = notes.find(|note| note.id.to_string() == id && self.sees_note(world, issue, note));
        let note = found.ok_or_else(|| Answer::missing("Note"))?;
        let maintainer =
            world.project_level(&world.projects[&issue.project], user) >= Some(Level::Maintainer);
        match !note.system && (note.author == user || maintainer) {
            true => Ok((note.id, user)),
            false => Err(Answer::forbidden()),
        }
    }

    pub(super) fn update_note(
        &self,
        world: &mut World,
        issue: u64,
        id: &str,
        discussion: Option<&str>,
    ) -> Outcome {
        let body = self.text()?;
        let (note, user) = self.own_note(world, issue, id, discussion)?;
        world.edit_note_by_id(note, user, body);
        Ok(Answer::ok(shape::note(world, &world.issues[&issue], world.note(note))))
    }

    pub(super) fn delete_note(
        &self,
        world: &mut World,
        issue: u64,
        id: &str,
        discussion: Option<&str>,
    ) -> Outcome {
        let (note, _) = self.own_note(world, issue, id, discussion)?;
        world.delete_note(note);
        Ok(Answer::no_content())
    }
}
