//! Webhooks of groups (Premium and above) and projects.

use super::{Answer, Call, Outcome};
use crate::gitlab::time;
use crate::gitlab::world::hooks::{GROUP_SWITCHES, Owner, SWITCHES};
use crate::gitlab::world::{Hook, Level, World};
use serde_json::{Value, json};

/// Test deliveries a user may ask for in a minute.
const TESTS_PER_MINUTE: usize = 5;

impl Call {
    pub(super) fn hook_routes(
        &self,
        world: &mut World,
        (kind, id): (&str, &str),
        path: &[&str],
    ) -> Option<Outcome> {
        let owner = match self.hook_owner(world, kind, id) {
            Ok(owner) => owner,
            Err(refusal) => return Some(Err(refusal)),
        };
        Some(match (self.method.as_str(), path) {
            ("GET", []) => {
                self.page(world, world.hooks_of(owner).into_iter().map(|hook| shape(world, hook)).collect())
            }
            ("POST", []) => self.create_hook(world, owner),
            ("GET", [hook]) => {
                found(world, owner, hook).map(|id| Answer::ok(shape(world, &world.hooks[&id])))
            }
            ("PUT", [hook]) => self.update_hook(world, owner, hook),
            ("DELETE", [hook]) => found(world, owner, hook).map(|id| {
                world.hooks.remove(&id);
                Answer::no_content()
            }),
            ("POST", [hook, "test", trigger]) => self.test_hook(world, owner, hook, trigger),
            _ => return None,
        })
    }

    /// Group hooks are for owners and need an enterprise edition; project hooks are for maintainers.
    fn hook_owner(&self, world: &World, kind: &str, id: &str) -> Result<Owner, Answer> {
        if kind == "projects" {
            let project = self.project(world, id)?;
            self.role(world, project, Level::Maintainer)?;
            return Ok(Owner::Project(project.id));
        }
        let group = self.find_group(world, id)?;
        if !world.version.ends_with("-ee") {
            return Err(Answer::no_route());
        }
        match world.group_level(group, self.somebody(world)?) >= Some(Level::Owner) {
            true => Ok(Owner::Group(group)),
            false => Err(Answer::forbidden()),
        }
    }

    fn create_hook(&self, world: &mut World, owner: Owner) -> Outcome {
        let url = self.valid_url()?.to_owned();
        let id = world.create_hook(owner, &url).id;
        self.apply(world, id)?;
        Ok(Answer::created(shape(world, &world.hooks[&id])))
    }

    /// A new address drops the secret token, unless it is sent again.
    fn update_hook(&self, world: &mut World, owner: Owner, hook: &str) -> Outcome {
        let (id, url) = (found(world, owner, hook)?, self.valid_url()?.to_owned());
        let hook = world.hooks.get_mut(&id).expect("just found");
        if hook.url != url {
            (hook.url, hook.token) = (url, None);
        }
        self.apply(world, id)?;
        Ok(Answer::ok(shape(world, &world.hooks[&id])))
    }

    fn valid_url(&self) -> Result<&str, Answer> {
        let url = self.need("url")?;
        match url.starts_with("http://") || url.starts_with("https://") {
            true => Ok(url),
            false => Err(Answer::json(422, json!({ "error": "Invalid url given" }))),
        }
    }

    fn apply(&self, world: &mut World, id: u64) -> Result<(), Answer> {
        let signs = world.signs();
        let hook = world.hooks.get_mut(&id).expect("callers looked it up");
        for (name, on) in hook.switches.iter_mut() {
            *on = self.flag(name, *on)?;
        }
        hook.enable_ssl_verification = self.flag("enable_ssl_verification", hook.enable_ssl_verification)?;
        let text = |name: &str, kept: &Option<String>| {
            self.given(name).map_or(kept.clone(), |text| Some(text.to_owned()).filter(|t| !t.is_empty()))
        };
        hook.token = text("token", &hook.token);
        if signs {
            hook.signing_token = text("signing_token", &hook.signing_token);
        }
        if hook.signing_token.as_ref().is_some_and(|token| !valid_signing_token(token)) {
            return Err(Answer::json(422, json!({ "message": { "signing_token": ["is invalid"] } })));
        }
        hook.push_events_branch_filter = text("push_events_branch_filter", &hook.push_events_branch_filter);
        hook.custom_webhook_template = text("custom_webhook_template", &hook.custom_webhook_template);
        hook.name = text("name", &Some(hook.name.clone())).unwrap_or_default();
        hook.description = text("description", &Some(hook.description.clone())).unwrap_or_default();
        if let Some(strategy) = self.get("branch_filter_strategy") {
            strategy.clone_into(&mut hook.branch_filter_strategy);
        }
        Ok(())
    }

    /// The delivery goes out before this answer; a success enables a disabled hook again.
    fn test_hook(&self, world: &mut World, owner: Owner, hook: &str, trigger: &str) -> Outcome {
        let (id, user) = (found(world, owner, hook)?, self.somebody(world)?);
        if !SWITCHES.contains(&trigger) || trigger == "confidential_note_events" {
            return Err(Answer::bad("trigger does not have a valid value"));
        }
        if !world.within_limit("hook test", user, TESTS_PER_MINUTE, 60_000) {
            return Err(Answer::too_many());
        }
        match world.test_delivery(id, trigger) {
            Some(delivery) => world.tests.push(delivery),
            None => {
                return Err(Answer::json(
                    422,
                    json!({ "message": "Ensure the project has data for this event." }),
                ));
            }
        }
        Ok(Answer::created(json!({ "message": "201 Created" })))
    }
}

fn valid_signing_token(token: &str) -> bool {
    use base64::Engine as _;
    let key = token
        .strip_prefix("whsec_")
        .and_then(|key| base64::engine::general_purpose::STANDARD.decode(key).ok());
    key.is_some_and(|key| key.len() == 32)
}

fn found(world: &World, owner: Owner, hook: &str) -> Result<u64, Answer> {
    let hook = hook.parse().ok().and_then(|id: u64| world.hooks.get(&id)).filter(|hook| hook.owner == owner);
    hook.map(|hook| hook.id).ok_or_else(|| Answer::missing(""))
}

fn shape(world: &World, hook: &Hook) -> Value {
    let mut shape = json!({
        "id": hook.id, "url": hook.url, "name": hook.name, "description": hook.description,
        "created_at": time::rest(hook.created_at), "alert_status": hook.alert_status(world.time.now()),
        "disabled_until": hook.disabled_until.map(time::rest), "url_variables": [],
        "enable_ssl_verification": hook.enable_ssl_verification, "repository_update_events": false,
        "push_events_branch_filter": hook.push_events_branch_filter, "branch_filter_strategy": hook.branch_filter_strategy,
        "custom_webhook_template": hook.custom_webhook_template.clone().unwrap_or_default(),
        "custom_headers": hook.custom_headers.iter().map(|(key, _)| json!({ "key": key })).collect::<Value>(),
        "token_present": hook.token.is_some(),
    });
    if world.signs() {
        shape["signing_token_present"] = json!(hook.signing_token.is_some());
    }
    match hook.owner {
        Owner::Group(id) => shape["group_id"] = json!(id),
        Owner::Project(id) => shape["project_id"] = json!(id),
    }
    for name in SWITCHES.iter().chain(&GROUP_SWITCHES) {
        if let Some(on) = hook.switches.get(name) {
            shape[*name] = json!(on);
        }
    }
    shape
}
