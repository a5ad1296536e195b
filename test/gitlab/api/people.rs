//! The caller, users, members, and what this GitLab is.

use super::{Answer, Call, Outcome, shape};
use crate::gitlab::time;
use crate::gitlab::world::{Level, User, World};
use serde_json::json;

impl Call {
    pub(super) fn who_am_i(&self, world: &World) -> Outcome {
        let user = &world.users[&self.somebody(world)?];
        let mut shape = shape::user(world, user);
        for (key, value) in [
            ("email", json!("[REDACTED]")),
            ("commit_email", json!("[REDACTED]")),
            ("two_factor_enabled", json!(false)),
        ] {
            shape[key] = value;
        }
        Ok(Answer::ok(shape))
    }

    pub(super) fn users(&self, world: &World) -> Outcome {
        self.somebody(world)?;
        let wanted = self.get("username");
        let found = world
            .users
            .values()
            .filter(|user| wanted.is_none_or(|name| user.username.eq_ignore_ascii_case(name)));
        self.page(world, found.map(|user| shape::author(world, user.id)).collect())
    }

    pub(super) fn user_by_id(&self, world: &World, id: &str) -> Outcome {
        let user = id.parse().ok().and_then(|id: u64| world.users.get(&id));
        user.map(|user| Answer::ok(shape::user(world, user))).ok_or_else(|| Answer::missing("User"))
    }

    pub(super) fn own_token(&self, world: &World) -> Outcome {
        let token = self.token(world).ok_or_else(Answer::unauthorized)?;
        Ok(Answer::ok(json!({
            "id": token.id, "name": token.name, "revoked": token.revoked, "created_at": time::rest(token.created_at),
            "description": null, "scopes": token.scopes, "user_id": token.user,
            "last_used_at": token.last_used_at.map(time::rest), "active": world.alive(token),
            "expires_at": token.expires_at, "granular": false,
        })))
    }

    pub(super) fn version(&self, world: &World) -> Outcome {
        self.somebody(world)?;
        let enterprise = world.version.ends_with("-ee");
        Ok(Answer::ok(
            json!({ "version": world.version, "revision": "5f4e3d2c1b0", "enterprise": enterprise }),
        ))
    }

    pub(super) fn metadata(&self, world: &World) -> Outcome {
        let mut answer = self.version(world)?;
        if let super::Content::Json(body) = &mut answer.content {
            body["kas"] = json!({ "enabled": false, "externalUrl": null, "version": null });
        }
        Ok(answer)
    }

    pub(super) fn project_member(&self, world: &World, id: &str, user: &str) -> Outcome {
        let project = self.project(world, id)?;
        self.somebody(world)?;
        member(world, user, |user| world.project_level(project, user))
    }

    pub(super) fn group_member(&self, world: &World, id: &str, user: &str) -> Outcome {
        let group = self.find_group(world, id)?;
        self.somebody(world)?;
        member(world, user, |user| world.group_level(group, user))
    }
}

fn member(world: &World, user: &str, level: impl Fn(u64) -> Option<Level>) -> Outcome {
    let user: Option<&User> = user.parse().ok().and_then(|id: u64| world.users.get(&id));
    let found = user.and_then(|user| level(user.id).map(|level| (user, level)));
    let (user, level) = found.ok_or_else(|| Answer::missing(""))?;
    let mut shape = shape::author(world, user.id);
    shape["access_level"] = json!(level as u64);
    shape["expires_at"] = json!(null);
    shape["membership_state"] = json!("active");
    Ok(Answer::ok(shape))
}
