//! Emoji on issues and notes.

use super::{Answer, Call, Outcome, shape};
use crate::gitlab::time;
use crate::gitlab::world::{Award, Awardable, World};
use serde_json::{Value, json};

impl Call {
    fn awardable(&self, world: &World, issue: u64, note: Option<&str>) -> Result<Awardable, Answer> {
        let Some(note) = note else { return Ok(Awardable::Issue(issue)) };
        let found = world.issues[&issue].notes().into_iter().find(|kept| kept.id.to_string() == note);
        let seen = found.filter(|note| {
            !note.internal
                || world.reads_internal(&world.projects[&world.issues[&issue].project], self.user(world))
        });
        seen.map(|note| Awardable::Note(note.id)).ok_or_else(|| Answer::missing(""))
    }

    pub(super) fn awards(&self, world: &World, issue: u64, note: Option<&str>) -> Outcome {
        let on = self.awardable(world, issue, note)?;
        let given = world.awards.values().filter(|award| award.on == on);
        self.page(world, given.map(|award| award_shape(world, award)).collect())
    }

    pub(super) fn give_award(&self, world: &mut World, issue: u64, note: Option<&str>) -> Outcome {
        let on = self.awardable(world, issue, note)?;
        let (name, user) = (self.need("name")?.to_owned(), self.may_comment(world, issue)?);
        if world.awards.values().any(|award| award.on == on && award.user == user && award.name == name) {
            return Err(Answer::missing("Award Emoji Name has already been taken"));
        }
        let by = world.users[&user].username.clone();
        let award = world.award(on, &by, &name);
        Ok(Answer::created(award_shape(world, &world.awards[&award])))
    }

    pub(super) fn take_award(&self, world: &mut World, award: &str) -> Outcome {
        let user = self.somebody(world)?;
        let found = award
            .parse()
            .ok()
            .and_then(|id: u64| world.awards.get(&id))
            .ok_or_else(|| Answer::missing(""))?;
        if found.user != user {
            return Err(Answer::forbidden());
        }
        let id = found.id;
        world.revoke(id);
        Ok(Answer::no_content())
    }
}

fn award_shape(world: &World, award: &Award) -> Value {
    let (kind, id) = match award.on {
        Awardable::Issue(id) => ("Issue", id),
        Awardable::Note(id) => ("Note", id),
    };
    json!({
        "id": award.id, "name": award.name, "user": shape::author(world, award.user), "created_at": time::rest(award.at),
        "updated_at": time::rest(award.at), "awardable_id": id, "awardable_type": kind, "url": null,
    })
}
