//! The decision trail: what was considered for a thread, at which check it fell, what was done.

use crate::clock::Millis;
use crate::store::queue::Place;
use crate::store::{Result, Store, read, write};

/// Entries kept per thread; older ones go.
const KEEP: i64 = 20;

const ADD: &str = "
    INSERT INTO trail (project_id, iid, at, entry, body)
    SELECT $1, $2, $3, COUNT(*), $4 FROM trail WHERE project_id = $1 AND iid = $2 AND at = $3";
const TRIM: &str = "
    DELETE FROM trail WHERE project_id = $1 AND iid = $2 AND at < (
        SELECT MIN(at) FROM (
            SELECT at FROM trail WHERE project_id = $1 AND iid = $2 ORDER BY at DESC LIMIT $3) AS kept)";
const LIST: &str = "SELECT at, body FROM trail WHERE project_id = $1 AND iid = $2 ORDER BY at, entry";
const FORGET: &str = "DELETE FROM trail WHERE project_id = $1 AND iid = $2";
const PRUNE: &str = "DELETE FROM trail WHERE at < $1";

impl Store {
    /// Adds an entry: `body` is JSON of places, names of checks and numbers.
    ///
    /// # Errors
    /// The database.
    pub async fn add_trail(&self, place: Place, at: Millis, body: &serde_json::Value) -> Result<()> {
        write!(self, pool => {
            sqlx::query(ADD).bind(place.project as i64).bind(place.iid as i64).bind(at).bind(body.to_string())
                .execute(pool).await?;
            sqlx::query(TRIM).bind(place.project as i64).bind(place.iid as i64).bind(KEEP).execute(pool).await?;
        });
        Ok(())
    }

    /// The entries of a thread, oldest first.
    ///
    /// # Errors
    /// The database.
    pub async fn trail(&self, place: Place) -> Result<Vec<(Millis, serde_json::Value)>> {
        let rows: Vec<(i64, String)> = read!(self, pool => sqlx::query_as(LIST)
            .bind(place.project as i64).bind(place.iid as i64).fetch_all(pool).await?);
        Ok(rows.into_iter().map(|(at, body)| (at, serde_json::from_str(&body).unwrap_or_default())).collect())
    }

    /// Drops the trail of a thread.
    ///
    /// # Errors
    /// The database.
    pub async fn forget_trail(&self, place: Place) -> Result<()> {
        write!(self, pool => {
            sqlx::query(FORGET).bind(place.project as i64).bind(place.iid as i64).execute(pool).await?;
        });
        Ok(())
    }

    /// Drops entries older than `before`.
    ///
    /// # Errors
    /// The database.
    pub async fn prune_trail(&self, before: Millis) -> Result<u64> {
        write!(self, pool => Ok(sqlx::query(PRUNE).bind(before).execute(pool).await?.rows_affected()))
    }
}
