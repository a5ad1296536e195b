//! The hook: made, mended and looked at by `install` and `check`.

use http::Method;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use url::Url;

use crate::clock::Millis;
use crate::gitlab::GitLab;
use crate::gitlab::endpoint::{Own, segment};
use crate::gitlab::error::{Error, absent};
use crate::gitlab::http::Limits;
use crate::gitlab::wire::{HookRow, when};
use crate::target::ProjectId;

/// The events the bot lives on. Confidential ones stay off: the less arrives, the less can leak.
const WANTED: [&str; 5] =
    ["issues_events", "note_events", "emoji_events", "push_events", "merge_requests_events"];
/// Those that only a group's hook has.
const WANTED_OF_GROUPS: [&str; 2] = ["project_events", "subgroup_events"];
/// Switches that are turned off by name, because leaving them out means GitLab's default.
const UNWANTED: [&str; 14] = [
    "confidential_issues_events",
    "confidential_note_events",
    "tag_push_events",
    "job_events",
    "pipeline_events",
    "wiki_page_events",
    "deployment_events",
    "feature_flag_events",
    "releases_events",
    "milestone_events",
    "member_events",
    "resource_access_token_events",
    "vulnerability_events",
    "repository_update_events",
];

/// Whose hook it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookOwner {
    /// A group, by its path: one hook for all below it (Premium and Ultimate).
    Group(String),
    /// A project.
    Project(ProjectId),
}

impl HookOwner {
    fn path(&self) -> String {
        match self {
            HookOwner::Group(path) => format!("groups/{}/hooks", segment(path)),
            HookOwner::Project(id) => format!("projects/{id}/hooks"),
        }
    }

    fn wanted(&self) -> impl Iterator<Item = &'static str> {
        let more: &[_] = if matches!(self, HookOwner::Group(_)) { &WANTED_OF_GROUPS } else { &[] };
        WANTED.iter().chain(more).copied()
    }
}

/// What a hook of ours is set to. All switches are set, wanted ones on and all others off.
#[derive(Clone, Debug)]
pub struct HookSettings {
    /// Where deliveries go.
    pub url: Url,
    /// `whsec_` and 32 bytes in base64; signs deliveries from GitLab 19.0 on.
    pub signing_token: Option<SecretString>,
    /// The plain token, for older instances.
    pub secret_token: Option<SecretString>,
    /// Whether GitLab checks our certificate.
    pub verify_tls: bool,
}

impl HookSettings {
    fn body(&self, owner: &HookOwner) -> Value {
        let mut body = Map::new();
        body.insert("url".into(), self.url.as_str().into());
        body.insert("name".into(), "Signpost".into());
        body.insert("enable_ssl_verification".into(), self.verify_tls.into());
        body.insert("push_events_branch_filter".into(), "".into());
        // Somebody's template would replace the body that the bot reads.
        body.insert("custom_webhook_template".into(), "".into());
        body.insert("branch_filter_strategy".into(), "all_branches".into());
        body.extend(UNWANTED.iter().map(|name| ((*name).into(), false.into())));
        body.extend(owner.wanted().map(|name| (name.into(), true.into())));
        let secrets = [("signing_token", &self.signing_token), ("token", &self.secret_token)];
        for (name, secret) in secrets {
            if let Some(secret) = secret {
                body.insert(name.into(), secret.expose_secret().into());
            }
        }
        Value::Object(body)
    }
}

/// Whether GitLab delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertStatus {
    /// It does.
    Executable,
    /// Not until this moment, after failures in a row.
    TemporarilyDisabled(Option<Millis>),
    /// Not until a test succeeds.
    Disabled,
    /// GitLab did not say.
    Unknown,
}

/// A hook as GitLab shows it; tokens are never shown.
#[derive(Clone, Debug)]
pub struct Hook {
    /// Its id.
    pub id: u64,
    /// Where deliveries go; parts of it may be masked.
    pub url: String,
    /// Whether it is delivered.
    pub alert: AlertStatus,
    /// Wanted switches that are off.
    pub missing: Vec<&'static str>,
    /// Unwanted switches that are on.
    pub superfluous: Vec<&'static str>,
    /// Whether deliveries are signed; `None` when the instance does not know signing (before 19.0).
    pub signed: Option<bool>,
    /// Whether a plain token is sent; `None` when GitLab does not say.
    pub token: Option<bool>,
    /// Whether somebody replaced the body by a template.
    pub custom_template: bool,
    /// Whether only some branches' pushes are sent.
    pub branch_filter: bool,
    /// Whether our certificate is checked.
    pub verify_tls: bool,
}

impl Hook {
    fn of(row: HookRow, owner: &HookOwner) -> Hook {
        let on = |name: &str| row.rest.get(name).and_then(Value::as_bool);
        let filled = |text: &Option<String>| text.as_deref().is_some_and(|text| !text.trim().is_empty());
        Hook {
            id: row.id,
            alert: match row.alert_status.as_deref() {
                Some("executable") => AlertStatus::Executable,
                Some("temporarily_disabled") => {
                    AlertStatus::TemporarilyDisabled(when(row.disabled_until.as_deref()))
                }
                Some("disabled") => AlertStatus::Disabled,
                _ => AlertStatus::Unknown,
            },
            // A switch that the instance does not know cannot be missing.
            missing: owner.wanted().filter(|name| on(name) == Some(false)).collect(),
            superfluous: UNWANTED.into_iter().filter(|name| on(name) == Some(true)).collect(),
            signed: row.signing_token_present,
            token: row.token_present,
            custom_template: filled(&row.custom_webhook_template),
            branch_filter: filled(&row.push_events_branch_filter),
            verify_tls: row.enable_ssl_verification.unwrap_or(true),
            url: row.url.unwrap_or_default(),
        }
    }
}

/// Which delivery a hook test makes, of real and old data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookTest {
    /// The last push; needs a project with a commit.
    Push,
    /// Some issue; needs one.
    Issue,
}

impl GitLab {
    /// The hooks of a group or project; `None` when it is not there. [`Error::Denied`] unless the token is an
    /// Owner's (Maintainer's for a project).
    pub async fn hooks(&self, owner: &HookOwner) -> Result<Option<Vec<Hook>>, Error> {
        let rows = absent(self.http.pages::<HookRow>(&Own::get(owner.path()))?.collect(10).await)?;
        Ok(rows.map(|(rows, _)| rows.into_iter().map(|row| Hook::of(row, owner)).collect()))
    }

    /// One hook; `None` when it is gone.
    pub async fn hook(&self, owner: &HookOwner, id: u64) -> Result<Option<Hook>, Error> {
        let row: Option<HookRow> = absent(self.http.json(&Own::get(format!("{}/{id}", owner.path()))).await)?;
        Ok(row.map(|row| Hook::of(row, owner)))
    }

    /// Makes a hook. An instance before 19.0 ignores the signing token in silence: look at [`Hook::signed`].
    pub async fn create_hook(&self, owner: &HookOwner, settings: &HookSettings) -> Result<Hook, Error> {
        let endpoint = Own::send(Method::POST, owner.path(), settings.body(owner));
        Ok(Hook::of(self.http.json(&endpoint).await?, owner))
    }

    /// Sets a hook to `settings`; tokens that are `None` stay as they are, unless the address changes: that
    /// drops the plain token.
    pub async fn mend_hook(
        &self,
        owner: &HookOwner,
        id: u64,
        settings: &HookSettings,
    ) -> Result<Hook, Error> {
        let endpoint = Own::send(Method::PUT, format!("{}/{id}", owner.path()), settings.body(owner));
        Ok(Hook::of(self.http.json(&endpoint).await?, owner))
    }

    /// Removes a hook; one that is gone already is removed.
    pub async fn delete_hook(&self, owner: &HookOwner, id: u64) -> Result<(), Error> {
        let endpoint = Own::bare(Method::DELETE, format!("{}/{id}", owner.path()));
        absent(self.http.raw(&endpoint, Limits::JSON).await).map(|_| ())
    }

    /// Makes GitLab deliver something now, and enables the hook again when it is answered. At most five a
    /// minute. `Ok(false)` when there is nothing to deliver, or the delivery was answered with an error.
    pub async fn test_hook(&self, owner: &HookOwner, id: u64, test: HookTest) -> Result<bool, Error> {
        let trigger = match test {
            HookTest::Push => "push_events",
            HookTest::Issue => "issues_events",
        };
        let endpoint = Own::bare(Method::POST, format!("{}/{id}/test/{trigger}", owner.path()));
        match self.http.raw(&endpoint, Limits::JSON).await {
            Ok(_) => Ok(true),
            Err(Error::Broken(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_switches_are_set_and_secrets_only_when_given() {
        let mut settings = HookSettings {
            url: Url::parse("https://bot.example.com/hook").expect("a url"),
            signing_token: None,
            secret_token: None,
            verify_tls: true,
        };
        let group = HookOwner::Group("acme".into());
        let body = settings.body(&group);
        assert_eq!(body["issues_events"], true);
        assert_eq!(body["subgroup_events"], true);
        assert_eq!(body["confidential_issues_events"], false);
        assert!(body.get("token").is_none() && body.get("signing_token").is_none());
        settings.signing_token = Some("whsec_x".into());
        let body = settings.body(&HookOwner::Project(7));
        assert_eq!(body["signing_token"], "whsec_x");
        assert!(body.get("subgroup_events").is_none());
    }

    #[test]
    fn a_hook_tells_what_is_amiss() {
        let row: HookRow = serde_json::from_str(
            r#"{"id":5,"url":"https://bot.example.com/hook","issues_events":true,"note_events":false,
                "confidential_note_events":true,"alert_status":"temporarily_disabled",
                "disabled_until":"2026-01-16T05:56:22Z","custom_webhook_template":"{}"}"#,
        )
        .expect("tolerant");
        let hook = Hook::of(row, &HookOwner::Group("acme".into()));
        assert_eq!(hook.missing, ["note_events"]);
        assert_eq!(hook.superfluous, ["confidential_note_events"]);
        assert_eq!(hook.alert, AlertStatus::TemporarilyDisabled(Some(1_768_542_982_000)));
        assert!(hook.custom_template && hook.signed.is_none());
    }
}
