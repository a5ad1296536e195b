-- 0001_foundation: the queue, the decisions, the corpus
-- Columns are TEXT, INTEGER and BLOB; times are milliseconds since the Unix epoch, UTC; states are words with a CHECK.

-- Deliveries already taken, so that a repetition is a no-op. Kept seven days.
CREATE TABLE delivery (
    id          TEXT   NOT NULL PRIMARY KEY,
    received_at INTEGER NOT NULL
) STRICT;
CREATE INDEX delivery_age ON delivery (received_at);

-- The queue. One row per place that was ever wanted: an issue's thread, or (iid = 0) a project's repository,
-- or (project_id = 0, iid = 0) the group itself. `wanted` counts events; a row settles only if no event
-- arrived while it was worked on. `since_note` is the smallest note id that an event announced since then. The lease
-- is the only lock.
CREATE TABLE queue (
    project_id      INTEGER NOT NULL,
    iid             INTEGER NOT NULL,
    state           TEXT   NOT NULL CHECK (state IN ('ready', 'idle', 'buried')),
    wanted          INTEGER NOT NULL,
    wanted_at       INTEGER NOT NULL,
    opened_at       INTEGER,
    since_note      INTEGER,
    run_at          INTEGER NOT NULL,
    attempts        INTEGER NOT NULL DEFAULT 0,
    first_failed_at INTEGER,
    failure         TEXT,
    lease_owner     TEXT,
    lease_until     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, iid)
) STRICT;
CREATE INDEX queue_ready ON queue (state, run_at);

-- What was decided about each question: the issue's own (key 'issue') or a comment's (key = note id).
-- Coordinates, numbers and hashes; nothing a sentence would fit in.
CREATE TABLE question (
    project_id     INTEGER NOT NULL,
    iid            INTEGER NOT NULL,
    key            TEXT   NOT NULL,
    state          TEXT   NOT NULL CHECK (state IN ('answered', 'gap', 'silent', 'dismissed', 'deleted')),
    asker          INTEGER NOT NULL,
    asked_at       INTEGER NOT NULL,
    decided_at     INTEGER NOT NULL,
    digest         TEXT   NOT NULL,
    fingerprint    BLOB,
    discussion     TEXT,
    note_id        INTEGER,
    posted_at      INTEGER,
    undone         INTEGER NOT NULL DEFAULT 0,
    labelled       INTEGER NOT NULL DEFAULT 0,
    target_project INTEGER,
    target_path    TEXT,
    target_blob    TEXT,
    target_commit  TEXT,
    first_line     INTEGER,
    last_line      INTEGER,
    score          INTEGER NOT NULL DEFAULT 0,
    gap_kind       TEXT,
    near_project   INTEGER,
    near_path      TEXT,
    near_anchor    TEXT,
    near_score     INTEGER NOT NULL DEFAULT 0,
    closed_commit  TEXT,
    closed_at      INTEGER,
    judged_at      INTEGER NOT NULL DEFAULT 0,
    votes          INTEGER NOT NULL DEFAULT 0,
    cluster        TEXT,
    PRIMARY KEY (project_id, iid, key)
) STRICT;
CREATE INDEX question_state ON question (state, decided_at);
CREATE INDEX question_posted ON question (posted_at);

-- Where threads pointed. Project, path and lines only of what resolved; the rest is a hash.
CREATE TABLE signpost (
    project_id     INTEGER NOT NULL,
    iid            INTEGER NOT NULL,
    hash           TEXT   NOT NULL,
    seen_at        INTEGER NOT NULL,
    target_project INTEGER,
    target_path    TEXT,
    first_line     INTEGER,
    last_line      INTEGER,
    anchor         TEXT,
    PRIMARY KEY (project_id, iid, hash)
) STRICT;
CREATE INDEX signpost_hash ON signpost (hash);

-- Closed issues, by fingerprint: their signposts become candidates for similar questions.
CREATE TABLE history (
    project_id  INTEGER NOT NULL,
    iid         INTEGER NOT NULL,
    closed_at   INTEGER NOT NULL,
    fingerprint BLOB   NOT NULL,
    PRIMARY KEY (project_id, iid)
) STRICT;

-- The decision trail of each thread: JSON of places, checks and numbers.
CREATE TABLE trail (
    project_id INTEGER NOT NULL,
    iid        INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    entry      INTEGER NOT NULL,
    body       TEXT   NOT NULL,
    PRIMARY KEY (project_id, iid, at, entry)
) STRICT;

-- The group's projects as GitLab last described them; `refusal` names the check at which one fell.
CREATE TABLE project (
    id             INTEGER NOT NULL PRIMARY KEY,
    path           TEXT   NOT NULL,
    visibility     TEXT,
    repository     TEXT,
    issues         TEXT,
    archived       INTEGER NOT NULL DEFAULT 0,
    deletion       INTEGER NOT NULL DEFAULT 0,
    default_branch TEXT,
    forked_from    INTEGER,
    refusal        TEXT,
    head           TEXT,
    synced_at      INTEGER NOT NULL DEFAULT 0,
    seen_at        INTEGER NOT NULL
) STRICT;

-- Files of admitted projects at the head that was synced last. `skipped` says why one has no sections.
CREATE TABLE file (
    project_id INTEGER NOT NULL,
    path       TEXT   NOT NULL,
    blob       TEXT   NOT NULL,
    mode       TEXT   NOT NULL,
    bytes      INTEGER NOT NULL,
    skipped    TEXT,
    PRIMARY KEY (project_id, path)
) STRICT;

-- Sections of those files: the text that is searched and judged.
CREATE TABLE section (
    id          INTEGER NOT NULL PRIMARY KEY,
    project_id  INTEGER NOT NULL,
    path        TEXT   NOT NULL,
    ordinal     INTEGER NOT NULL,
    kind        TEXT   NOT NULL,
    headings    TEXT   NOT NULL,
    anchor      TEXT,
    explicit_id TEXT,
    first_line  INTEGER NOT NULL,
    last_line   INTEGER NOT NULL,
    first_byte  INTEGER NOT NULL,
    last_byte   INTEGER NOT NULL,
    body        TEXT   NOT NULL,
    vector      BLOB
) STRICT;
CREATE INDEX section_file ON section (project_id, path);

-- What changed in the corpus, in order, so that each replica's index follows. An empty path means the whole project.
CREATE TABLE change (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL,
    path       TEXT   NOT NULL,
    at         INTEGER NOT NULL
) STRICT;

-- Documentation sites discovered in repositories: the parsed table as JSON.
CREATE TABLE docsite (
    project_id INTEGER NOT NULL,
    path       TEXT   NOT NULL,
    body       TEXT   NOT NULL,
    PRIMARY KEY (project_id, path)
) STRICT;

-- Single values: the settled moment, the first start, the bot's user ids, the breaker.
CREATE TABLE setting (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
