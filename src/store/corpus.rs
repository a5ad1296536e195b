//! The corpus at rest: projects as GitLab last described them, files, sections, and the log of changes that
//! each replica's index follows.

use crate::clock::Millis;
use crate::reference::ProjectPath;
use crate::store::{Result, Store, read, transaction, write};
use crate::target::{Access, Project, ProjectId, Visibility};

/// A file that was read, or skipped with a reason.
#[derive(Clone, Debug, PartialEq)]
pub struct FileRow {
    /// Path in the repository.
    pub path: String,
    /// Blob id.
    pub blob: String,
    /// Git file mode.
    pub mode: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Why it has no sections; a fixed word.
    pub skipped: Option<String>,
}

/// A section at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionRow {
    /// A number that names project, path and ordinal; stable between runs.
    pub id: u64,
    /// GitLab's project id.
    pub project: ProjectId,
    /// Path in the repository.
    pub path: String,
    /// Position in the file.
    pub ordinal: u32,
    /// `doc` or `code`.
    pub kind: String,
    /// Headings from the page's title down.
    pub headings: Vec<String>,
    /// GitLab's anchor.
    pub anchor: Option<String>,
    /// An explicit id of the heading.
    pub explicit_id: Option<String>,
    /// First and last line.
    pub lines: (u32, u32),
    /// First byte, and the byte after the last.
    pub bytes: (usize, usize),
    /// The text of the section.
    pub body: String,
    /// Its dense vector.
    pub vector: Option<Vec<u8>>,
}

/// A project with what the corpus knows beyond GitLab's description.
#[derive(Clone, Debug)]
pub struct ProjectRow {
    /// GitLab's description.
    pub project: Project,
    /// The check at which it fell, if it did.
    pub refusal: Option<String>,
    /// The commit that was synced last.
    pub head: Option<String>,
    /// When that was.
    pub synced_at: Millis,
}

/// Counts for `sync`'s summary, `check` and the metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusSize {
    /// Projects admitted.
    pub admitted: i64,
    /// Projects refused.
    pub refused: i64,
    /// Files with sections.
    pub files: i64,
    /// Files skipped.
    pub skipped: i64,
    /// Sections.
    pub sections: i64,
    /// Bytes of the files with sections.
    pub bytes: i64,
}

const SAVE_PROJECT: &str = "
    INSERT INTO project (id, path, visibility, repository, issues, archived, deletion, default_branch, forked_from,
                         refusal, seen_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    ON CONFLICT (id) DO UPDATE SET
        path = excluded.path, visibility = excluded.visibility, repository = excluded.repository,
        issues = excluded.issues, archived = excluded.archived, deletion = excluded.deletion,
        default_branch = excluded.default_branch, forked_from = excluded.forked_from, refusal = excluded.refusal,
        seen_at = excluded.seen_at";
macro_rules! project_columns {
    () => {
        "SELECT id, path, visibility, repository, issues, archived, deletion, default_branch, forked_from, refusal, head,
                synced_at
         FROM project "
    };
}
const PROJECTS: &str = concat!(project_columns!(), "ORDER BY id");
const PROJECT: &str = concat!(project_columns!(), "WHERE id = $1");
const SET_HEAD: &str = "UPDATE project SET head = $2, synced_at = $3 WHERE id = $1";
const FORGET_HEAD: &str = "UPDATE project SET head = NULL WHERE id = $1";
/// What is known of the threads of a project that is nobody's business any more.
/// A project's threads are forgotten as [`Store::forgotten`] says.
const FORGOTTEN_THREADS: &str = "UPDATE queue SET forgotten_at = $2 WHERE project_id = $1 AND iid > 0";
const FORGET_THREADS: [&str; 6] = [
    "DELETE FROM question WHERE project_id = $1",
    "DELETE FROM signpost WHERE project_id = $1",
    "DELETE FROM history WHERE project_id = $1",
    "DELETE FROM trail WHERE project_id = $1",
    "DELETE FROM gap_member WHERE project_id = $1",
    "DELETE FROM gap_page WHERE project_id = $1",
];
const FORGET_PROJECT: &str = "DELETE FROM project WHERE id = $1";
const FILES: &str = "SELECT path, blob, mode, bytes, skipped FROM file WHERE project_id = $1 ORDER BY path";
const FILE: &str = "SELECT path, blob, mode, bytes, skipped FROM file WHERE project_id = $1 AND path = $2";
const FORGET_FILE: &str = "DELETE FROM file WHERE project_id = $1 AND path = $2";
const FORGET_FILES: &str = "DELETE FROM file WHERE project_id = $1";
/// Every other place where paths of a project, or quotes from it, are kept. The target of an answer stays a
/// target, so that the answer is judged again.
const FORGET_PLACES: [&str; 5] = [
    "DELETE FROM change WHERE project_id = $1",
    "UPDATE question SET target_path = '' WHERE target_project = $1",
    "UPDATE question SET near_project = NULL, near_path = NULL, near_anchor = NULL WHERE near_project = $1",
    "DELETE FROM signpost WHERE target_project = $1",
    "DELETE FROM trail WHERE body LIKE '%\"project\":' || CAST($1 AS TEXT) || ',%'
        OR body LIKE '%\"project\":' || CAST($1 AS TEXT) || '}%'",
];
const SAVE_FILE: &str = "
    INSERT INTO file (project_id, path, blob, mode, bytes, skipped) VALUES ($1, $2, $3, $4, $5, $6)";
const FORGET_FILE_SECTIONS: &str = "DELETE FROM section WHERE project_id = $1 AND path = $2";
const FORGET_SECTIONS: &str = "DELETE FROM section WHERE project_id = $1";
const SAVE_SECTION: &str = "
    INSERT INTO section (id, project_id, path, ordinal, kind, headings, anchor, explicit_id, first_line, last_line,
                         first_byte, last_byte, body, vector)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
const CHANGED: &str = "INSERT INTO change (project_id, path, at) VALUES ($1, $2, $3)";
const UNASKED: &str = "INSERT INTO unasked (project_id, path) VALUES ($1, $2) ON CONFLICT DO NOTHING";
const UNASKED_PATHS: &str = "SELECT path FROM unasked WHERE project_id = $1 ORDER BY path";
const ASKED: &str = "DELETE FROM unasked WHERE project_id = $1 AND path = $2";
const FORGET_UNASKED: &str = "DELETE FROM unasked WHERE project_id = $1";
const CHANGES: &str = "SELECT seq, project_id, path, at FROM change WHERE seq > $1 ORDER BY seq LIMIT 1000";
const LAST_CHANGE: &str = "SELECT COALESCE(MAX(seq), 0) FROM change";
const PRUNE_CHANGES: &str = "DELETE FROM change WHERE at < $1";
macro_rules! section_columns {
    () => {
        "SELECT id, project_id, path, ordinal, kind, headings, anchor, explicit_id, first_line, last_line,
                first_byte, last_byte, body, vector FROM section "
    };
}
const SECTIONS_AFTER: &str = concat!(section_columns!(), "WHERE id > $1 ORDER BY id LIMIT $2");
const SECTIONS_OF_FILE: &str =
    concat!(section_columns!(), "WHERE project_id = $1 AND path = $2 ORDER BY ordinal");
const SECTION: &str = concat!(section_columns!(), "WHERE id = $1");
const SECTIONS_OF_PROJECT: &str = concat!(section_columns!(), "WHERE project_id = $1 ORDER BY path, ordinal");
const WITHOUT_VECTOR: &str =
    concat!(section_columns!(), "WHERE vector IS NULL ORDER BY kind DESC, id LIMIT $1");
/// Only where the section still says what the vector was made of: a push may have come meanwhile.
const SET_VECTOR: &str = "UPDATE section SET vector = $2 WHERE id = $1 AND body = $3 AND headings = $4";
const SIZE: &str = "
    SELECT (SELECT COUNT(*) FROM project WHERE refusal IS NULL), (SELECT COUNT(*) FROM project WHERE refusal IS NOT NULL),
           (SELECT COUNT(*) FROM file WHERE skipped IS NULL), (SELECT COUNT(*) FROM file WHERE skipped IS NOT NULL),
           (SELECT COUNT(*) FROM section), (SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM file WHERE skipped IS NULL)";
const REFUSALS: &str = "
    SELECT refusal, COUNT(*) FROM project WHERE refusal IS NOT NULL GROUP BY refusal ORDER BY refusal";
const SKIPPED: &str =
    "SELECT skipped, COUNT(*) FROM file WHERE skipped IS NOT NULL GROUP BY skipped ORDER BY skipped";
const SAVE_DOCSITE: &str = "
    INSERT INTO docsite (project_id, path, body) VALUES ($1, $2, $3)
    ON CONFLICT (project_id, path) DO UPDATE SET body = excluded.body";
const FORGET_DOCSITE: &str = "DELETE FROM docsite WHERE project_id = $1 AND path = $2";
const FORGET_DOCSITES: &str = "DELETE FROM docsite WHERE project_id = $1";
const DOCSITES: &str = "SELECT project_id, path, body FROM docsite ORDER BY project_id, path";

type ProjectTuple = (
    i64,
    String,
    Option<String>,
    Option<String>,
    Option<String>,
    i64,
    i64,
    Option<String>,
    Option<i64>,
    Option<String>,
    Option<String>,
    i64,
);
type SectionTuple = (
    i64,
    i64,
    String,
    i64,
    String,
    String,
    Option<String>,
    Option<String>,
    i64,
    i64,
    i64,
    i64,
    String,
    Option<Vec<u8>>,
);

fn visibility_word(v: Visibility) -> &'static str {
    match v {
        Visibility::Private => "private",
        Visibility::Internal => "internal",
        Visibility::Public => "public",
    }
}

fn visibility(word: Option<String>) -> Option<Visibility> {
    match word?.as_str() {
        "private" => Some(Visibility::Private),
        "internal" => Some(Visibility::Internal),
        "public" => Some(Visibility::Public),
        _ => None,
    }
}

fn access_word(a: Access) -> &'static str {
    match a {
        Access::Disabled => "disabled",
        Access::Private => "private",
        Access::Enabled => "enabled",
    }
}

fn access(word: Option<String>) -> Option<Access> {
    match word?.as_str() {
        "disabled" => Some(Access::Disabled),
        "private" => Some(Access::Private),
        "enabled" => Some(Access::Enabled),
        _ => None,
    }
}

fn project_row(row: ProjectTuple) -> Option<ProjectRow> {
    Some(ProjectRow {
        project: Project {
            id: row.0 as u64,
            path: ProjectPath::parse(&row.1)?,
            visibility: visibility(row.2),
            repository: access(row.3),
            issues: access(row.4),
            archived: row.5 != 0,
            deletion_scheduled: row.6 != 0,
            default_branch: row.7,
            forked_from: row.8.map(|id| id as u64),
        },
        refusal: row.9,
        head: row.10,
        synced_at: row.11,
    })
}

fn section_row(row: SectionTuple) -> SectionRow {
    SectionRow {
        id: row.0 as u64,
        project: row.1 as u64,
        path: row.2,
        ordinal: row.3 as u32,
        kind: row.4,
        headings: serde_json::from_str(&row.5).unwrap_or_default(),
        anchor: row.6,
        explicit_id: row.7,
        lines: (row.8 as u32, row.9 as u32),
        bytes: (row.10 as usize, row.11 as usize),
        body: row.12,
        vector: row.13,
    }
}

impl Store {
    /// Writes down a project as GitLab describes it now, with the check at which it fell, if it did.
    ///
    /// # Errors
    /// The database.
    pub async fn save_project(&self, p: &Project, refusal: Option<&str>, now: Millis) -> Result<()> {
        write!(self, pool => {
            sqlx::query(SAVE_PROJECT)
                .bind(p.id as i64).bind(p.path.as_str()).bind(p.visibility.map(visibility_word))
                .bind(p.repository.map(access_word)).bind(p.issues.map(access_word))
                .bind(i64::from(p.archived)).bind(i64::from(p.deletion_scheduled))
                .bind(p.default_branch.as_deref()).bind(p.forked_from.map(|id| id as i64)).bind(refusal).bind(now)
                .execute(pool).await?;
        });
        Ok(())
    }

    /// Every project that is known.
    ///
    /// # Errors
    /// The database.
    pub async fn projects(&self) -> Result<Vec<ProjectRow>> {
        let rows: Vec<ProjectTuple> = read!(self, pool => sqlx::query_as(PROJECTS).fetch_all(pool).await?);
        Ok(rows.into_iter().filter_map(project_row).collect())
    }

    /// One project, if it is known.
    ///
    /// # Errors
    /// The database.
    pub async fn project(&self, id: ProjectId) -> Result<Option<ProjectRow>> {
        let row: Option<ProjectTuple> =
            read!(self, pool => sqlx::query_as(PROJECT).bind(id as i64).fetch_optional(pool).await?);
        Ok(row.and_then(project_row))
    }

    /// Notes that a project is synced up to `head`.
    ///
    /// # Errors
    /// The database.
    pub async fn set_head(&self, project: ProjectId, head: &str, now: Millis) -> Result<()> {
        write!(self, pool => {
            sqlx::query(SET_HEAD).bind(project as i64).bind(head).bind(now).execute(pool).await?;
        });
        Ok(())
    }

    /// Forgets up to which commit a project is synced, so that its tree is walked again.
    ///
    /// # Errors
    /// The database.
    pub async fn forget_head(&self, project: ProjectId) -> Result<()> {
        write!(self, pool => { sqlx::query(FORGET_HEAD).bind(project as i64).execute(pool).await?; });
        Ok(())
    }

    /// Drops every byte of a project's content; the row itself stays, with its refusal, unless `row` too: then nothing is
    /// kept of its threads either.
    ///
    /// # Errors
    /// The database.
    pub async fn forget_content(&self, project: ProjectId, row: bool, now: Millis) -> Result<()> {
        let id = project as i64;
        transaction!(self, tx => {
            sqlx::query(FORGET_SECTIONS).bind(id).execute(&mut *tx).await?;
            let had = sqlx::query(FORGET_FILES).bind(id).execute(&mut *tx).await?.rows_affected() > 0;
            if had {
                for statement in FORGET_PLACES {
                    sqlx::query(statement).bind(id).execute(&mut *tx).await?;
                }
            }
            sqlx::query(FORGET_UNASKED).bind(id).execute(&mut *tx).await?;
            sqlx::query(FORGET_DOCSITES).bind(id).execute(&mut *tx).await?;
            sqlx::query(FORGET_HEAD).bind(id).execute(&mut *tx).await?;
            if row {
                sqlx::query(FORGOTTEN_THREADS).bind(id).bind(now).execute(&mut *tx).await?;
                for statement in FORGET_THREADS {
                    sqlx::query(statement).bind(id).execute(&mut *tx).await?;
                }
                sqlx::query(FORGET_PROJECT).bind(id).execute(&mut *tx).await?;
            }
            sqlx::query(CHANGED).bind(id).bind("").bind(now).execute(&mut *tx).await?;
        });
        // What was deleted must leave SQLite's log file too.
        if let Store::Sqlite { write, .. } = self {
            sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(write).await?;
        }
        Ok(())
    }

    /// The files of a project as last synced.
    ///
    /// # Errors
    /// The database.
    pub async fn files(&self, project: ProjectId) -> Result<Vec<FileRow>> {
        let rows: Vec<(String, String, String, i64, Option<String>)> =
            read!(self, pool => sqlx::query_as(FILES).bind(project as i64).fetch_all(pool).await?);
        Ok(rows
            .into_iter()
            .map(|(path, blob, mode, bytes, skipped)| FileRow {
                path,
                blob,
                mode,
                bytes: bytes as u64,
                skipped,
            })
            .collect())
    }

    /// One file of a project as last synced.
    ///
    /// # Errors
    /// The database.
    pub async fn file(&self, project: ProjectId, path: &str) -> Result<Option<FileRow>> {
        let row: Option<(String, String, String, i64, Option<String>)> = read!(self, pool => sqlx::query_as(FILE).bind(project as i64).bind(path).fetch_optional(pool).await?);
        Ok(row.map(|(path, blob, mode, bytes, skipped)| FileRow {
            path,
            blob,
            mode,
            bytes: bytes as u64,
            skipped,
        }))
    }

    /// Replaces a file and its sections, in one transaction.
    ///
    /// # Errors
    /// The database.
    pub async fn save_file(
        &self,
        project: ProjectId,
        file: &FileRow,
        sections: &[SectionRow],
        now: Millis,
    ) -> Result<()> {
        let id = project as i64;
        transaction!(self, tx => {
            sqlx::query(FORGET_FILE_SECTIONS).bind(id).bind(&file.path).execute(&mut *tx).await?;
            sqlx::query(FORGET_FILE).bind(id).bind(&file.path).execute(&mut *tx).await?;
            sqlx::query(SAVE_FILE).bind(id).bind(&file.path).bind(&file.blob).bind(&file.mode)
                .bind(file.bytes as i64).bind(file.skipped.as_deref()).execute(&mut *tx).await?;
            for s in sections {
                sqlx::query(SAVE_SECTION).bind(s.id as i64).bind(id).bind(&s.path).bind(i64::from(s.ordinal))
                    .bind(&s.kind).bind(serde_json::json!(s.headings).to_string()).bind(s.anchor.as_deref())
                    .bind(s.explicit_id.as_deref()).bind(i64::from(s.lines.0)).bind(i64::from(s.lines.1))
                    .bind(s.bytes.0 as i64).bind(s.bytes.1 as i64).bind(&s.body).bind(s.vector.as_deref())
                    .execute(&mut *tx).await?;
            }
            sqlx::query(CHANGED).bind(id).bind(&file.path).bind(now).execute(&mut *tx).await?;
            sqlx::query(UNASKED).bind(id).bind(&file.path).execute(&mut *tx).await?;
        });
        Ok(())
    }

    /// Drops a file and its sections.
    ///
    /// # Errors
    /// The database.
    pub async fn forget_file(&self, project: ProjectId, path: &str, now: Millis) -> Result<()> {
        let id = project as i64;
        transaction!(self, tx => {
            sqlx::query(FORGET_FILE_SECTIONS).bind(id).bind(path).execute(&mut *tx).await?;
            sqlx::query(FORGET_FILE).bind(id).bind(path).execute(&mut *tx).await?;
            sqlx::query(FORGET_DOCSITE).bind(id).bind(path).execute(&mut *tx).await?;
            sqlx::query(CHANGED).bind(id).bind(path).bind(now).execute(&mut *tx).await?;
            sqlx::query(UNASKED).bind(id).bind(path).execute(&mut *tx).await?;
        });
        Ok(())
    }

    /// Files of a project that came, changed or went, and about which the open questions were not asked since.
    ///
    /// # Errors
    /// The database.
    pub async fn unasked(&self, project: ProjectId) -> Result<Vec<String>> {
        let rows: Vec<(String,)> =
            read!(self, pool => sqlx::query_as(UNASKED_PATHS).bind(project as i64).fetch_all(pool).await?);
        Ok(rows.into_iter().map(|(path,)| path).collect())
    }

    /// The open questions were asked about these files.
    ///
    /// # Errors
    /// The database.
    pub async fn asked(&self, project: ProjectId, paths: &[String]) -> Result<()> {
        transaction!(self, tx => {
            for path in paths {
                sqlx::query(ASKED).bind(project as i64).bind(path).execute(&mut *tx).await?;
            }
        });
        Ok(())
    }

    /// Up to `limit` sections with an id above `after`, in the order of ids: for building an index.
    ///
    /// # Errors
    /// The database.
    pub async fn sections_after(&self, after: i64, limit: u32) -> Result<Vec<SectionRow>> {
        let rows: Vec<SectionTuple> = read!(self, pool => sqlx::query_as(SECTIONS_AFTER)
            .bind(after).bind(i64::from(limit)).fetch_all(pool).await?);
        Ok(rows.into_iter().map(section_row).collect())
    }

    /// The sections of a file, in order.
    ///
    /// # Errors
    /// The database.
    pub async fn sections_of_file(&self, project: ProjectId, path: &str) -> Result<Vec<SectionRow>> {
        let rows: Vec<SectionTuple> = read!(self, pool => sqlx::query_as(SECTIONS_OF_FILE)
            .bind(project as i64).bind(path).fetch_all(pool).await?);
        Ok(rows.into_iter().map(section_row).collect())
    }

    /// The sections of a project, file by file.
    ///
    /// # Errors
    /// The database.
    pub async fn sections_of_project(&self, project: ProjectId) -> Result<Vec<SectionRow>> {
        let rows: Vec<SectionTuple> = read!(self, pool => sqlx::query_as(SECTIONS_OF_PROJECT)
            .bind(project as i64).fetch_all(pool).await?);
        Ok(rows.into_iter().map(section_row).collect())
    }

    /// The section with this id.
    ///
    /// # Errors
    /// The database.
    pub async fn section(&self, id: u64) -> Result<Option<SectionRow>> {
        let row: Option<SectionTuple> =
            read!(self, pool => sqlx::query_as(SECTION).bind(id as i64).fetch_optional(pool).await?);
        Ok(row.map(section_row))
    }

    /// Up to `limit` sections that have no dense vector yet, documentation before code.
    ///
    /// # Errors
    /// The database.
    pub async fn sections_without_vector(&self, limit: u32) -> Result<Vec<SectionRow>> {
        let rows: Vec<SectionTuple> =
            read!(self, pool => sqlx::query_as(WITHOUT_VECTOR).bind(i64::from(limit)).fetch_all(pool).await?);
        Ok(rows.into_iter().map(section_row).collect())
    }

    /// Writes the dense vectors of sections of one project and announces the change of their files.
    ///
    /// # Errors
    /// The database.
    pub async fn save_vectors(&self, vectors: &[(SectionRow, Vec<u8>)], now: Millis) -> Result<()> {
        let mut files: Vec<(ProjectId, &str)> =
            vectors.iter().map(|(row, _)| (row.project, row.path.as_str())).collect();
        files.sort_unstable();
        files.dedup();
        transaction!(self, tx => {
            for (row, vector) in vectors {
                sqlx::query(SET_VECTOR).bind(row.id as i64).bind(vector.as_slice()).bind(&row.body)
                    .bind(serde_json::json!(row.headings).to_string()).execute(&mut *tx).await?;
            }
            for (project, path) in files {
                sqlx::query(CHANGED).bind(project as i64).bind(path).bind(now).execute(&mut *tx).await?;
            }
        });
        Ok(())
    }

    /// Changes after `seq`, oldest first, at most 1,000: `(seq, project, path or "", at)`.
    ///
    /// # Errors
    /// The database.
    pub async fn changes(&self, seq: i64) -> Result<Vec<(i64, ProjectId, String, Millis)>> {
        let rows: Vec<(i64, i64, String, i64)> =
            read!(self, pool => sqlx::query_as(CHANGES).bind(seq).fetch_all(pool).await?);
        Ok(rows.into_iter().map(|(seq, project, path, at)| (seq, project as u64, path, at)).collect())
    }

    /// The number of the last change.
    ///
    /// # Errors
    /// The database.
    pub async fn last_change(&self) -> Result<i64> {
        let (seq,): (i64,) = read!(self, pool => sqlx::query_as(LAST_CHANGE).fetch_one(pool).await?);
        Ok(seq)
    }

    /// Drops changes older than `before`.
    ///
    /// # Errors
    /// The database.
    pub async fn prune_changes(&self, before: Millis) -> Result<u64> {
        write!(self, pool => Ok(sqlx::query(PRUNE_CHANGES).bind(before).execute(pool).await?.rows_affected()))
    }

    /// How large the corpus is.
    ///
    /// # Errors
    /// The database.
    pub async fn corpus_size(&self) -> Result<CorpusSize> {
        let (admitted, refused, files, skipped, sections, bytes): (i64, i64, i64, i64, i64, i64) =
            read!(self, pool => sqlx::query_as(SIZE).fetch_one(pool).await?);
        Ok(CorpusSize { admitted, refused, files, skipped, sections, bytes })
    }

    /// Refused projects by the check at which they fell.
    ///
    /// # Errors
    /// The database.
    pub async fn refusals(&self) -> Result<Vec<(String, i64)>> {
        Ok(read!(self, pool => sqlx::query_as(REFUSALS).fetch_all(pool).await?))
    }

    /// Skipped files by reason.
    ///
    /// # Errors
    /// The database.
    pub async fn skipped(&self) -> Result<Vec<(String, i64)>> {
        Ok(read!(self, pool => sqlx::query_as(SKIPPED).fetch_all(pool).await?))
    }

    /// Writes down a documentation site that a repository declares, or (`None`) that it no longer does.
    ///
    /// # Errors
    /// The database.
    pub async fn save_docsite(&self, project: ProjectId, path: &str, body: Option<&str>) -> Result<()> {
        write!(self, pool => {
            match body {
                Some(body) => {
                    sqlx::query(SAVE_DOCSITE).bind(project as i64).bind(path).bind(body).execute(pool).await?;
                }
                None => {
                    sqlx::query(FORGET_DOCSITE).bind(project as i64).bind(path).execute(pool).await?;
                }
            }
        });
        Ok(())
    }

    /// The documentation sites discovered in repositories: project, config file, table as JSON.
    ///
    /// # Errors
    /// The database.
    pub async fn docsites(&self) -> Result<Vec<(ProjectId, String, String)>> {
        let rows: Vec<(i64, String, String)> =
            read!(self, pool => sqlx::query_as(DOCSITES).fetch_all(pool).await?);
        Ok(rows.into_iter().map(|(project, path, body)| (project as u64, path, body)).collect())
    }
}
