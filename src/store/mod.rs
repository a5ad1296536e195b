//! The only SQL. One enum of two pools, one body per operation, statements as constants in the dialect that
//! SQLite and Postgres share; where they must differ the constant has one hole.

#![expect(clippy::disallowed_methods, reason = "the one module that speaks SQL")]

pub mod corpus;
pub mod gaps;
pub mod inbox;
pub mod question;
pub mod queue;
pub mod setting;
pub mod signpost;
pub mod trail;

use std::borrow::Cow;
use std::str::FromStr;
use std::time::Duration;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, PgPool, SqlStr, SqlitePool};

/// The store could not do what was asked; nothing was written.
#[derive(Debug, thiserror::Error)]
#[error("the database: {0}")]
pub struct StoreError(#[from] sqlx::Error);

/// Shorthand of this module.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Where everything durable lies. Cheap to clone.
#[derive(Clone, Debug)]
pub enum Store {
    /// One file, one process. Writes go through one connection, reads beside it.
    Sqlite {
        /// The one writer.
        write: SqlitePool,
        /// The readers.
        read: SqlitePool,
    },
    /// A server, any number of replicas.
    Postgres(PgPool),
}

/// Runs one body against the pool that writes.
macro_rules! write {
    ($store:expr, $pool:ident => $body:expr) => {
        match $store {
            $crate::store::Store::Sqlite { write: $pool, .. } => $body,
            $crate::store::Store::Postgres($pool) => $body,
        }
    };
}
/// Runs one body against the pool that reads.
macro_rules! read {
    ($store:expr, $pool:ident => $body:expr) => {
        match $store {
            $crate::store::Store::Sqlite { read: $pool, .. } => $body,
            $crate::store::Store::Postgres($pool) => $body,
        }
    };
}
/// Runs one body inside a transaction that is committed at its end. `BEGIN IMMEDIATE` on SQLite, where a
/// transaction that reads first and writes later fails at once when somebody else wrote in between.
macro_rules! transaction {
    ($store:expr, $tx:ident => $body:expr) => {
        match $store {
            $crate::store::Store::Sqlite { write, .. } => {
                let mut $tx = write.begin_with("BEGIN IMMEDIATE").await?;
                let out = $body;
                $tx.commit().await?;
                out
            }
            $crate::store::Store::Postgres(pool) => {
                let mut $tx = pool.begin().await?;
                let out = $body;
                $tx.commit().await?;
                out
            }
        }
    };
}
pub(crate) use {read, transaction, write};

/// The migrations, by version and name; the same list for both databases.
const MIGRATIONS: &[(i64, &str, &str, &str)] = &[
    (
        1,
        "foundation",
        include_str!("../../migrations/sqlite/0001_foundation.sql"),
        include_str!("../../migrations/postgres/0001_foundation.sql"),
    ),
    (
        2,
        "gaps",
        include_str!("../../migrations/sqlite/0002_gaps.sql"),
        include_str!("../../migrations/postgres/0002_gaps.sql"),
    ),
    (
        3,
        "quote",
        include_str!("../../migrations/sqlite/0003_quote.sql"),
        include_str!("../../migrations/postgres/0003_quote.sql"),
    ),
    (
        4,
        "vectors",
        include_str!("../../migrations/sqlite/0004_vectors.sql"),
        include_str!("../../migrations/postgres/0004_vectors.sql"),
    ),
    (
        5,
        "unasked",
        include_str!("../../migrations/sqlite/0005_unasked.sql"),
        include_str!("../../migrations/postgres/0005_unasked.sql"),
    ),
    (
        6,
        "undone",
        include_str!("../../migrations/sqlite/0006_undone.sql"),
        include_str!("../../migrations/postgres/0006_undone.sql"),
    ),
];

impl Store {
    /// Opens the database at `url` (`sqlite://path` or `postgres://…`) and brings its schema up to date.
    /// SQLite: WAL, `synchronous=FULL` (an acknowledged webhook is a promise), created when missing.
    ///
    /// # Errors
    /// A URL that cannot be parsed, a database that cannot be reached or migrated.
    pub async fn open(url: &str) -> Result<Store> {
        let store =
            if url.starts_with("sqlite:") { Store::sqlite(url).await? } else { Store::postgres(url).await? };
        store.migrate().await?;
        Ok(store)
    }

    async fn sqlite(url: &str) -> Result<Store> {
        let options = SqliteConnectOptions::from_str(url)?
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(10))
            .foreign_keys(true)
            // Deleted content must leave the file, not only the tables: an excluded project leaves no byte.
            .pragma("secure_delete", "ON")
            .disable_statement_logging();
        if let Some(folder) = options.get_filename().parent()
            && !folder.as_os_str().is_empty()
            && !folder.is_dir()
        {
            let missing = format!("database.url: there is no folder {}", folder.display());
            return Err(StoreError(sqlx::Error::Configuration(missing.into())));
        }
        let write = SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await?;
        let read = SqlitePoolOptions::new().max_connections(4).connect_with(options).await?;
        Ok(Store::Sqlite { write, read })
    }

    async fn postgres(url: &str) -> Result<Store> {
        let options =
            PgConnectOptions::from_str(url)?.application_name("signpost").disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(12)
            .acquire_timeout(Duration::from_secs(5))
            .connect_with(options)
            .await?;
        Ok(Store::Postgres(pool))
    }

    async fn migrate(&self) -> Result<()> {
        let list = |postgres: bool| {
            let migrations = MIGRATIONS.iter().map(|(version, name, sqlite, pg)| {
                let sql = if postgres { pg } else { sqlite };
                Migration::new(
                    *version,
                    Cow::Borrowed(name),
                    MigrationType::Simple,
                    SqlStr::from_static(sql),
                    false,
                )
            });
            let mut migrator = Migrator::with_migrations(migrations.collect());
            // An older program may run beside a newer schema while replicas are replaced.
            migrator.set_ignore_missing(true);
            migrator
        };
        let outcome = match self {
            Store::Sqlite { write, .. } => list(false).run(write).await,
            Store::Postgres(pool) => list(true).run(pool).await,
        };
        outcome.map_err(|e| StoreError(sqlx::Error::Migrate(Box::new(e))))
    }

    /// Whether the database answers.
    ///
    /// # Errors
    /// It does not.
    pub async fn ping(&self) -> Result<()> {
        write!(self, pool => { sqlx::query("SELECT 1").execute(pool).await?; });
        Ok(())
    }

    /// Whether this is the embedded database, which one process owns.
    pub fn is_sqlite(&self) -> bool {
        matches!(self, Store::Sqlite { .. })
    }

    /// Closes the connections; SQLite's log is folded into its file.
    pub async fn close(&self) {
        match self {
            Store::Sqlite { write, read } => {
                read.close().await;
                write.close().await;
            }
            Store::Postgres(pool) => pool.close().await,
        }
    }
}
