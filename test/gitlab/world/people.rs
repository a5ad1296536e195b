//! Users, bots, their roles and tokens, and who may see what.

use super::{Awardable, Issue, Project, Switch, Visibility, World};
use crate::gitlab::time::{self, Millis};
use std::collections::BTreeMap;

/// A role in a group or project, in GitLab's own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Guest = 10,
    Planner = 15,
    Reporter = 20,
    Developer = 30,
    Maintainer = 40,
    Owner = 50,
}

/// Members of a group or project: user id to role.
pub type Members = BTreeMap<u64, Level>;

/// Somebody who acts in the world.
#[derive(Clone, Debug)]
pub struct User {
    pub id: u64,
    pub username: String,
    pub name: String,
    pub bot: bool,
    /// Sees no internal projects.
    pub external: bool,
    /// `active` or `blocked`.
    pub state: &'static str,
    pub created_at: Millis,
}

/// An access token.
#[derive(Clone, Debug)]
pub struct Token {
    pub id: u64,
    pub user: u64,
    pub name: String,
    pub scopes: Vec<String>,
    /// `YYYY-MM-DD`; dead from 00:00 UTC of that day.
    pub expires_at: Option<String>,
    pub revoked: bool,
    pub created_at: Millis,
    pub last_used_at: Option<Millis>,
}

impl World {
    /// A person, by user name; the display name is what strangers typed.
    pub fn add_user(&mut self, username: &str, name: &str) -> u64 {
        self.typed(name);
        self.typed(username);
        self.insert_user(username, name, false)
    }

    /// A bot user (of a token, or a service account).
    pub fn add_bot(&mut self, username: &str, name: &str) -> u64 {
        self.insert_user(username, name, true)
    }

    fn insert_user(&mut self, username: &str, name: &str, bot: bool) -> u64 {
        let (id, created_at) = (self.next_id("user"), self.time.now());
        let (username, name) = (username.to_owned(), name.to_owned());
        self.users.insert(id, User { id, username, name, bot, external: false, state: "active", created_at });
        id
    }

    /// The user of that name; a test that names nobody fails here.
    pub fn user(&self, username: &str) -> &User {
        self.users
            .values()
            .find(|user| user.username == username)
            .unwrap_or_else(|| panic!("nobody is called {username}"))
    }

    /// Gives a role in a group or project.
    pub fn add_member(&mut self, place: &str, username: &str, level: Level) {
        let user = self.user(username).id;
        match self.find_project(place).map(|project| project.id) {
            Some(id) => drop(self.projects.get_mut(&id).expect("just found").members.insert(user, level)),
            None => drop(self.group_mut(place).members.insert(user, level)),
        }
    }

    /// A token of a user: the secret as it travels in `PRIVATE-TOKEN`, and what it may do.
    pub fn add_token(&mut self, secret: &str, username: &str, scopes: &[&str]) -> &mut Token {
        let (id, user, created_at) = (self.next_id("token"), self.user(username).id, self.time.now());
        let expires_at = Some("2099-10-20".to_owned());
        let scopes = scopes.iter().map(|scope| scope.to_string()).collect();
        let token = Token {
            id,
            user,
            name: "signpost".into(),
            scopes,
            expires_at,
            revoked: false,
            created_at,
            last_used_at: None,
        };
        self.tokens.entry(secret.to_owned()).insert_entry(token).into_mut()
    }

    /// Whether a token still opens anything.
    pub fn alive(&self, token: &Token) -> bool {
        let today = time::day(self.time.now());
        !token.revoked && token.expires_at.as_ref().is_none_or(|day| today < *day)
    }

    /// A user's role in a group, inherited ones included.
    pub fn group_level(&self, group: u64, user: u64) -> Option<Level> {
        let chain = self.group_chain(group);
        chain.iter().filter_map(|id| self.groups[id].members.get(&user)).max().copied()
    }

    /// A user's role in a project: direct, inherited, or through a group the project is shared with.
    pub fn project_level(&self, project: &Project, user: u64) -> Option<Level> {
        let direct = project.members.get(&user).copied();
        let inherited = self.group_level(project.namespace, user);
        let shared =
            |(group, cap): &(u64, Level)| self.group_level(*group, user).map(|level| level.min(*cap));
        direct.max(inherited).max(project.shared_with.iter().filter_map(shared).max())
    }

    fn sees_internal(&self, user: Option<u64>) -> bool {
        user.and_then(|id| self.users.get(&id)).is_some_and(|user| !user.external)
    }

    /// Whether a user (or nobody) may see that the project exists.
    pub fn sees_project(&self, project: &Project, user: Option<u64>) -> bool {
        let member = user.is_some_and(|id| self.project_level(project, id).is_some());
        match project.visibility {
            Visibility::Public => true,
            Visibility::Internal => member || self.sees_internal(user),
            Visibility::Private => member,
        }
    }

    /// Whether a user may see a group: it is open, or they have a role in it or below it.
    pub fn sees_group(&self, group: u64, user: Option<u64>) -> bool {
        let below = |id: u64| self.group_chain(id).contains(&group);
        match self.groups[&group].visibility {
            Visibility::Public => true,
            Visibility::Internal if self.sees_internal(user) => true,
            _ => user.is_some_and(|id| {
                self.group_level(group, id).is_some()
                    || self.groups.keys().any(|g| below(*g) && self.groups[g].members.contains_key(&id))
                    || self.projects.values().any(|p| below(p.namespace) && p.members.contains_key(&id))
            }),
        }
    }

    fn may_use(
        &self,
        project: &Project,
        user: Option<u64>,
        switch: Switch,
        role_when_private: Level,
    ) -> bool {
        let level = user.and_then(|id| self.project_level(project, id));
        let role = match (switch, project.visibility) {
            (Switch::Disabled, _) => return false,
            (Switch::Enabled, Visibility::Private) => role_when_private,
            (Switch::Enabled, _) => return self.sees_project(project, user),
            (Switch::Private, Visibility::Private) => role_when_private,
            (Switch::Private, _) => Level::Guest,
        };
        level >= Some(role)
    }

    /// Whether a user may read files and commits.
    pub fn reads_code(&self, project: &Project, user: Option<u64>) -> bool {
        self.may_use(project, user, project.repository_access, Level::Reporter)
    }

    /// Whether a user may read merge requests.
    pub fn reads_merge_requests(&self, project: &Project, user: Option<u64>) -> bool {
        self.may_use(project, user, project.merge_requests_access, Level::Reporter)
    }

    /// Whether a user may read the project's issues at all.
    pub fn reads_issues(&self, project: &Project, user: Option<u64>) -> bool {
        self.may_use(project, user, project.issues_access, Level::Guest)
    }

    /// Whether a user may read this issue: confidential ones are for planners and up, the author and assignees.
    pub fn reads_issue(&self, issue: &Issue, user: Option<u64>) -> bool {
        let project = &self.projects[&issue.project];
        let own = user.is_some_and(|id| issue.author == id || issue.assignees.contains(&id));
        self.reads_issues(project, user) && (!issue.confidential || own || self.reads_internal(project, user))
    }

    /// Whether a user may read internal notes.
    pub fn reads_internal(&self, project: &Project, user: Option<u64>) -> bool {
        user.and_then(|id| self.project_level(project, id)) >= Some(Level::Planner)
    }

    /// How often an emoji was given.
    pub fn award_count(&self, on: Awardable, name: &str) -> usize {
        self.awards.values().filter(|award| award.on == on && award.name == name).count()
    }
}
