//! Single values.

use crate::store::{Result, Store, read, write};

/// When this installation first started, as milliseconds: issues older than that are not answered in bulk.
pub const BIRTH: &str = "birth";
/// The last moment up to which the sweep has looked, as milliseconds.
pub const SETTLED: &str = "settled";
/// User ids the bot has had, separated by spaces, the current one last.
pub const BOT_IDS: &str = "bot_ids";
/// When an authentic delivery that was not JSON last came, as milliseconds: somebody set a custom body template.
pub const NOT_JSON: &str = "not_json";
/// When a delivery that calls itself GitLab's last came without the right proof, as milliseconds, told once a minute: the
/// hook may have another token than the bot.
pub const UNPROVEN: &str = "unproven";
/// A hash of the corpus predicate's configuration at the last start.
pub const PREDICATE: &str = "predicate";

/// The group's gap label: its id, a space, and the configured name it was found by.
pub const LABEL: &str = "label";

/// Names that the gap label was configured to have before, one a line.
pub const FORMER_LABELS: &str = "former_labels";

/// Where the report issue is: project id and number, separated by a space.
pub const REPORT: &str = "report";
/// Set once the group's projects have been listed.
pub const GROUP_READ: &str = "group_read";
/// Set once the corpus has been read for the first time.
pub const CORPUS_READY: &str = "corpus_ready";

const GET: &str = "SELECT value FROM setting WHERE key = $1";
const SET: &str = "
    INSERT INTO setting (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value";
const SET_ONCE: &str = "INSERT INTO setting (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";

impl Store {
    /// The value of `key`, if it has one.
    ///
    /// # Errors
    /// The database.
    pub async fn setting(&self, key: &str) -> Result<Option<String>> {
        let row: Option<(String,)> =
            read!(self, pool => sqlx::query_as(GET).bind(key).fetch_optional(pool).await?);
        Ok(row.map(|(value,)| value))
    }

    /// Sets `key`.
    ///
    /// # Errors
    /// The database.
    pub async fn set(&self, key: &str, value: &str) -> Result<()> {
        write!(self, pool => { sqlx::query(SET).bind(key).bind(value).execute(pool).await?; });
        Ok(())
    }

    /// Sets `key` unless it has a value, and returns the value it has then.
    ///
    /// # Errors
    /// The database.
    pub async fn set_once(&self, key: &str, value: &str) -> Result<String> {
        write!(self, pool => { sqlx::query(SET_ONCE).bind(key).bind(value).execute(pool).await?; });
        Ok(self.setting(key).await?.unwrap_or_else(|| value.to_owned()))
    }
}
