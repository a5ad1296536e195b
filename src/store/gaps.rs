//! What people decided by hand about the list of gaps, and which entry each question belongs to.

use crate::clock::Millis;
use crate::store::queue::Place;
use crate::store::{Result, Store, read, transaction, write};

/// Everything that was decided by hand. Ids are those of clusters, see `crate::gaps::cluster`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hand {
    /// `(cluster, the one it was merged into)`.
    pub merges: Vec<(String, String)>,
    /// Questions put into a cluster: thread, key of the question, cluster.
    pub members: Vec<(Place, String, String)>,
    /// Clusters that are no gaps, and since when.
    pub dismissals: Vec<(String, Millis)>,
    /// Where to document: cluster, project id, path, when that was said.
    pub pages: Vec<(String, u64, String, Millis)>,
}

const MERGES: &str = "SELECT cluster, into_cluster FROM gap_merge ORDER BY cluster";
const MEMBERS: &str = "SELECT project_id, iid, key, cluster FROM gap_member ORDER BY project_id, iid, key";
const DISMISSALS: &str = "SELECT cluster, at FROM gap_dismissal ORDER BY cluster";
const PAGES: &str = "SELECT cluster, project_id, path, at FROM gap_page ORDER BY cluster";
/// Never over an existing row: what was merged once stays merged where it is.
const MERGE: &str = "
    INSERT INTO gap_merge (cluster, into_cluster, at) VALUES ($1, $2, $3) ON CONFLICT (cluster) DO NOTHING";
const MOVE: &str = "
    INSERT INTO gap_member (project_id, iid, key, cluster, at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (project_id, iid, key) DO UPDATE SET cluster = excluded.cluster, at = excluded.at";
const DISMISS: &str = "
    INSERT INTO gap_dismissal (cluster, at) VALUES ($1, $2) ON CONFLICT (cluster) DO NOTHING";
const REOPEN: &str = "DELETE FROM gap_dismissal WHERE cluster = $1";
const PAGE: &str = "
    INSERT INTO gap_page (cluster, project_id, path, at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (cluster) DO UPDATE SET project_id = excluded.project_id, path = excluded.path, at = excluded.at";
/// The first to name a question's cluster is right: two replicas may have read the same list.
const JOIN: &str = "
    UPDATE question SET cluster = $4 WHERE project_id = $1 AND iid = $2 AND key = $3 AND cluster IS NULL";

type Merges = Vec<(String, String)>;
type Members = Vec<(i64, i64, String, String)>;
type Dismissals = Vec<(String, i64)>;
type Pages = Vec<(String, i64, String, i64)>;

/// What a thread leaves behind here when it is forgotten.
pub(super) const FORGET_MEMBERS: &str = "DELETE FROM gap_member WHERE project_id = $1 AND iid = $2";

impl Store {
    /// Everything that was decided by hand.
    ///
    /// # Errors
    /// The database.
    pub async fn gap_decisions(&self) -> Result<Hand> {
        let place = |project: i64, iid: i64| Place { project: project as u64, iid: iid as u64 };
        let (merges, members, dismissals, pages): (Merges, Members, Dismissals, Pages) = read!(self, pool => (
            sqlx::query_as(MERGES).fetch_all(pool).await?,
            sqlx::query_as(MEMBERS).fetch_all(pool).await?,
            sqlx::query_as(DISMISSALS).fetch_all(pool).await?,
            sqlx::query_as(PAGES).fetch_all(pool).await?,
        ));
        Ok(Hand {
            merges,
            members: members.into_iter().map(|(p, i, key, cluster)| (place(p, i), key, cluster)).collect(),
            dismissals,
            pages: pages.into_iter().map(|(cluster, p, path, at)| (cluster, p as u64, path, at)).collect(),
        })
    }

    /// Writes down to which cluster questions belong that had none; one that has got one meanwhile keeps it.
    ///
    /// # Errors
    /// The database.
    pub async fn join_clusters(&self, joins: &[(Place, String, String)]) -> Result<()> {
        if joins.is_empty() {
            return Ok(());
        }
        transaction!(self, tx => {
            for (place, key, cluster) in joins {
                sqlx::query(JOIN).bind(place.project as i64).bind(place.iid as i64).bind(key).bind(cluster)
                    .execute(&mut *tx).await?;
            }
        });
        Ok(())
    }

    /// Makes `cluster` another name of `into`.
    ///
    /// # Errors
    /// The database.
    pub async fn merge_gap(&self, cluster: &str, into: &str, now: Millis) -> Result<()> {
        write!(self, pool => {
            sqlx::query(MERGE).bind(cluster).bind(into).bind(now).execute(pool).await?;
        });
        Ok(())
    }

    /// Puts questions of a thread into `cluster`.
    ///
    /// # Errors
    /// The database.
    pub async fn move_questions(
        &self,
        place: Place,
        keys: &[String],
        cluster: &str,
        now: Millis,
    ) -> Result<()> {
        transaction!(self, tx => {
            for key in keys {
                sqlx::query(MOVE).bind(place.project as i64).bind(place.iid as i64).bind(key).bind(cluster).bind(now)
                    .execute(&mut *tx).await?;
            }
        });
        Ok(())
    }

    /// Says that `cluster` is no gap.
    ///
    /// # Errors
    /// The database.
    pub async fn dismiss_gap(&self, cluster: &str, now: Millis) -> Result<()> {
        write!(self, pool => { sqlx::query(DISMISS).bind(cluster).bind(now).execute(pool).await?; });
        Ok(())
    }

    /// Takes a dismissal back.
    ///
    /// # Errors
    /// The database.
    pub async fn reopen_gap(&self, cluster: &str) -> Result<()> {
        write!(self, pool => { sqlx::query(REOPEN).bind(cluster).execute(pool).await?; });
        Ok(())
    }

    /// Says on which page `cluster` is to be documented.
    ///
    /// # Errors
    /// The database.
    pub async fn assign_gap(&self, cluster: &str, project: u64, path: &str, now: Millis) -> Result<()> {
        write!(self, pool => {
            sqlx::query(PAGE).bind(cluster).bind(project as i64).bind(path).bind(now).execute(pool).await?;
        });
        Ok(())
    }
}
