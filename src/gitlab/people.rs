//! Who we are, who others are, and what the instance is.

use gitlab::api::personal_access_tokens::PersonalAccessTokenSelf;
use gitlab::api::projects::members::AllProjectMember;
use gitlab::api::users::{CurrentUser, User as UserById};
use serde::Deserialize;

use crate::gitlab::GitLab;
use crate::gitlab::endpoint::Own;
use crate::gitlab::error::{Error, absent};
use crate::gitlab::wire::{MemberRow, UserRow, or_default};
use crate::target::ProjectId;

/// GitLab's numeric user id.
pub type UserId = u64;

/// A user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The numeric id.
    pub id: UserId,
    /// The name that mentions it, without `@`.
    pub username: String,
    /// Whether it belongs to a token rather than to a person.
    pub bot: bool,
}

/// What a token says about itself.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Token {
    /// Its scopes, such as `api`.
    #[serde(default, deserialize_with = "or_default")]
    pub scopes: Vec<String>,
    /// The day at whose beginning (UTC) it dies, as `YYYY-MM-DD`.
    pub expires_at: Option<String>,
    /// Neither revoked nor expired.
    #[serde(default, deserialize_with = "or_default")]
    pub active: bool,
    /// The user behind it.
    pub user_id: Option<UserId>,
}

impl Token {
    /// The moment at which it dies, in seconds since the epoch; `None` when it has no end.
    pub fn dies_at(&self) -> Option<i64> {
        let day = chrono::NaiveDate::parse_from_str(self.expires_at.as_deref()?, "%Y-%m-%d").ok()?;
        Some(day.and_time(chrono::NaiveTime::MIN).and_utc().timestamp())
    }
}

/// The instance.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Metadata {
    /// The version, such as `19.2.1-ee`.
    pub version: String,
    /// Whether it is the Enterprise Edition.
    #[serde(default, deserialize_with = "or_default")]
    pub enterprise: bool,
}

impl Metadata {
    /// Major and minor version; `None` when the version is written otherwise.
    pub fn release(&self) -> Option<(u32, u32)> {
        let mut parts = self.version.split('.').map(|part| part.parse().ok());
        Some((parts.next()??, parts.next()??))
    }
}

/// A member's role in a project, from the least to the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// No member, or one without rights.
    None,
    /// Can comment.
    Guest,
    /// Can label too.
    Planner,
    /// Can read private code too.
    Reporter,
    /// Can push.
    Developer,
    /// Can configure the project.
    Maintainer,
    /// Can do everything, hooks of a group included.
    Owner,
}

impl Role {
    /// The role with GitLab's number, or the next lower one.
    pub(super) fn from_level(level: u64) -> Role {
        match level {
            50.. => Role::Owner,
            40.. => Role::Maintainer,
            30.. => Role::Developer,
            20.. => Role::Reporter,
            15.. => Role::Planner,
            10.. => Role::Guest,
            _ => Role::None,
        }
    }
}

/// So many users are remembered as bots or not.
const USERS: usize = 10_000;

impl GitLab {
    /// The user of our token. Asked once; a failure is not remembered.
    pub async fn user(&self) -> Result<&User, Error> {
        self.me
            .get_or_try_init(async || {
                let endpoint = CurrentUser::builder().build().expect("no field is required");
                let row: UserRow = self.http.json(&endpoint).await?;
                Ok(User { id: row.id, username: row.username, bot: row.bot })
            })
            .await
    }

    /// Whether `user` is our token's user, or was an earlier one's.
    pub async fn is_us(&self, user: UserId) -> Result<bool, Error> {
        Ok(self.former.contains(&user) || self.user().await?.id == user)
    }

    /// A user by id; `None` when there is none.
    pub async fn user_by_id(&self, id: UserId) -> Result<Option<User>, Error> {
        let endpoint = UserById::builder().user(id).build().expect("every required field is given");
        let row: Option<UserRow> = absent(self.http.json(&endpoint).await)?;
        Ok(row.map(|row| User { id: row.id, username: row.username, bot: row.bot }))
    }

    /// Whether the user belongs to a token; a deleted user does not. Asked once for each of the last users.
    pub async fn is_bot(&self, id: UserId) -> Result<bool, Error> {
        let known = self.bots.lock().ok().and_then(|bots| bots.get(&id).copied());
        if let Some(bot) = known {
            return Ok(bot);
        }
        let Some(user) = self.user_by_id(id).await? else { return Ok(false) };
        if let Ok(mut bots) = self.bots.lock() {
            if bots.len() >= USERS {
                bots.clear();
            }
            bots.insert(id, user.bot);
        }
        Ok(user.bot)
    }

    /// What our token says about itself; `None` where the instance does not tell (tokens of other kinds).
    pub async fn token(&self) -> Result<Option<Token>, Error> {
        let endpoint = PersonalAccessTokenSelf::builder().build().expect("no field is required");
        absent(self.http.json(&endpoint).await)
    }

    /// The instance's version.
    pub async fn metadata(&self) -> Result<Metadata, Error> {
        match absent(self.http.json(&Own::get("metadata".into())).await)? {
            Some(metadata) => Ok(metadata),
            None => self.http.json(&Own::get("version".into())).await,
        }
    }

    /// The role of a user in a project, inherited ones included.
    pub async fn role(&self, project: ProjectId, user: UserId) -> Result<Role, Error> {
        let endpoint = AllProjectMember::builder()
            .project(project)
            .user(user)
            .build()
            .expect("every required field is given");
        let row: Option<MemberRow> = absent(self.http.json(&endpoint).await)?;
        let active = row.filter(|row| !matches!(row.state.as_str(), "awaiting" | "blocked"));
        Ok(active.map_or(Role::None, |row| Role::from_level(row.access_level)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_two_numbers() {
        let of = |version: &str| Metadata { version: version.into(), enterprise: true }.release();
        assert_eq!(of("19.3.0-pre"), Some((19, 3)));
        assert_eq!(of("19"), None);
        assert_eq!(of("nightly.1"), None);
    }

    #[test]
    fn a_level_between_two_roles_counts_as_the_lower() {
        let levels = [0, 5, 10, 15, 20, 25, 30, 40, 50, 60].map(Role::from_level);
        use Role::*;
        assert_eq!(
            levels,
            [None, None, Guest, Planner, Reporter, Reporter, Developer, Maintainer, Owner, Owner]
        );
    }
}
