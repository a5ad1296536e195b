//! Where threads pointed, and the fingerprints of closed issues.

use crate::clock::Millis;
use crate::store::queue::Place;
use crate::store::{Result, Store, read, transaction, write};

/// A reference at rest: a hash, and the target's coordinates once it resolved to something that exists.
#[derive(Clone, Debug, PartialEq)]
pub struct Signpost {
    /// Hash of the reference's kind and parts.
    pub hash: String,
    /// Project id, path, lines and anchor of the target, in GitLab's words.
    pub target: Option<SignpostTarget>,
}

/// Where a resolved reference led.
#[derive(Clone, Debug, PartialEq)]
pub struct SignpostTarget {
    /// GitLab's project id.
    pub project: u64,
    /// Path in the repository.
    pub path: String,
    /// Lines, where some were meant.
    pub lines: Option<(u32, u32)>,
    /// Anchor, where one exists.
    pub anchor: Option<String>,
}

const CLEAR: &str = "DELETE FROM signpost WHERE project_id = $1 AND iid = $2";
const ADD: &str = "
    INSERT INTO signpost (project_id, iid, hash, seen_at, target_project, target_path, first_line, last_line, anchor)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (project_id, iid, hash) DO NOTHING";
const OF: &str = "
    SELECT hash, target_project, target_path, first_line, last_line, anchor FROM signpost
    WHERE project_id = $1 AND iid = $2 ORDER BY hash";
const POINTING_BY: &str = "SELECT DISTINCT project_id, iid FROM signpost WHERE hash = $1 LIMIT 100";
const REMEMBER: &str = "
    INSERT INTO history (project_id, iid, closed_at, fingerprint) VALUES ($1, $2, $3, $4)
    ON CONFLICT (project_id, iid) DO UPDATE SET closed_at = excluded.closed_at, fingerprint = excluded.fingerprint";
const HISTORY: &str = "SELECT project_id, iid, fingerprint FROM history ORDER BY closed_at DESC LIMIT $1";
const FORGET_HISTORY: &str = "DELETE FROM history WHERE project_id = $1 AND iid = $2";
const PRUNE_HISTORY: &str = "DELETE FROM history WHERE closed_at < $1";
/// References of threads of which nothing else is known any more.
const PRUNE_SIGNPOSTS: &str = "
    DELETE FROM signpost WHERE seen_at < $1
        AND NOT EXISTS (SELECT 1 FROM question q WHERE q.project_id = signpost.project_id AND q.iid = signpost.iid)
        AND NOT EXISTS (SELECT 1 FROM history h WHERE h.project_id = signpost.project_id AND h.iid = signpost.iid)";

type Row = (String, Option<i64>, Option<String>, Option<i64>, Option<i64>, Option<String>);

impl Store {
    /// Replaces what is known of a thread's references.
    ///
    /// # Errors
    /// The database.
    pub async fn save_signposts(&self, place: Place, signposts: &[Signpost], now: Millis) -> Result<()> {
        transaction!(self, tx => {
            sqlx::query(CLEAR).bind(place.project as i64).bind(place.iid as i64).execute(&mut *tx).await?;
            for s in signposts {
                let t = s.target.as_ref();
                let lines = t.and_then(|t| t.lines);
                sqlx::query(ADD).bind(place.project as i64).bind(place.iid as i64).bind(&s.hash).bind(now)
                    .bind(t.map(|t| t.project as i64)).bind(t.map(|t| t.path.as_str()))
                    .bind(lines.map(|l| i64::from(l.0))).bind(lines.map(|l| i64::from(l.1)))
                    .bind(t.and_then(|t| t.anchor.as_deref()))
                    .execute(&mut *tx).await?;
            }
        });
        Ok(())
    }

    /// The references of a thread.
    ///
    /// # Errors
    /// The database.
    pub async fn signposts(&self, place: Place) -> Result<Vec<Signpost>> {
        let rows: Vec<Row> = read!(self, pool => sqlx::query_as(OF)
            .bind(place.project as i64).bind(place.iid as i64).fetch_all(pool).await?);
        Ok(rows
            .into_iter()
            .map(|(hash, project, path, first, last, anchor)| Signpost {
                hash,
                target: project.zip(path).map(|(project, path)| SignpostTarget {
                    project: project as u64,
                    path,
                    lines: first.zip(last).map(|(a, b)| (a as u32, b as u32)),
                    anchor,
                }),
            })
            .collect())
    }

    /// Threads that hold the reference with this hash; at most 100.
    ///
    /// # Errors
    /// The database.
    pub async fn threads_pointing_by(&self, hash: &str) -> Result<Vec<Place>> {
        let rows: Vec<(i64, i64)> =
            read!(self, pool => sqlx::query_as(POINTING_BY).bind(hash).fetch_all(pool).await?);
        Ok(rows.into_iter().map(|(p, i)| Place { project: p as u64, iid: i as u64 }).collect())
    }

    /// Remembers a closed issue by its fingerprint.
    ///
    /// # Errors
    /// The database.
    pub async fn remember(&self, place: Place, closed_at: Millis, fingerprint: &[u8]) -> Result<()> {
        write!(self, pool => {
            sqlx::query(REMEMBER).bind(place.project as i64).bind(place.iid as i64).bind(closed_at).bind(fingerprint)
                .execute(pool).await?;
        });
        Ok(())
    }

    /// The newest `limit` closed issues with their fingerprints.
    ///
    /// # Errors
    /// The database.
    pub async fn history(&self, limit: u32) -> Result<Vec<(Place, Vec<u8>)>> {
        let rows: Vec<(i64, i64, Vec<u8>)> =
            read!(self, pool => sqlx::query_as(HISTORY).bind(i64::from(limit)).fetch_all(pool).await?);
        Ok(rows.into_iter().map(|(p, i, f)| (Place { project: p as u64, iid: i as u64 }, f)).collect())
    }

    /// Drops a thread's references and its place in history.
    ///
    /// # Errors
    /// The database.
    pub async fn forget_signposts(&self, place: Place) -> Result<()> {
        write!(self, pool => {
            sqlx::query(CLEAR).bind(place.project as i64).bind(place.iid as i64).execute(pool).await?;
            sqlx::query(FORGET_HISTORY).bind(place.project as i64).bind(place.iid as i64).execute(pool).await?;
        });
        Ok(())
    }

    /// Drops closed issues older than `before` from history, and the references that nothing needs any more.
    ///
    /// # Errors
    /// The database.
    pub async fn prune_history(&self, before: Millis) -> Result<u64> {
        write!(self, pool => {
            let pruned = sqlx::query(PRUNE_HISTORY).bind(before).execute(pool).await?.rows_affected();
            sqlx::query(PRUNE_SIGNPOSTS).bind(before).execute(pool).await?;
            Ok(pruned)
        })
    }
}
