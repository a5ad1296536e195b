-- 0001_foundation: the queue, the decisions, the corpus
-- Columns are TEXT, BIGINT and BYTEA; times are milliseconds since the Unix epoch, UTC; states are words with a CHECK.

-- Deliveries already taken, so that a repetition is a no-op. Kept seven days.
CREATE TABLE delivery (
    id          TEXT   NOT NULL PRIMARY KEY,
    received_at BIGINT NOT NULL
);
CREATE INDEX delivery_age ON delivery (received_at);

-- The queue. One row per place that was ever wanted: an issue's thread, or (iid = 0) a project's repository,
-- or (project_id = 0, iid = 0) the group itself. `wanted` counts events; a row settles only if no event
-- arrived while it was worked on. `since_note` is the smallest note id that an event announced since then. The lease
-- is the only lock.
CREATE TABLE queue (
    project_id      BIGINT NOT NULL,
    iid             BIGINT NOT NULL,
    state           TEXT   NOT NULL CHECK (state IN ('ready', 'idle', 'buried')),
    wanted          BIGINT NOT NULL,
    wanted_at       BIGINT NOT NULL,
    opened_at       BIGINT,
    since_note      BIGINT,
    run_at          BIGINT NOT NULL,
    attempts        BIGINT NOT NULL DEFAULT 0,
    first_failed_at BIGINT,
    failure         TEXT,
    lease_owner     TEXT,
    lease_until     BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, iid)
);
CREATE INDEX queue_ready ON queue (state, run_at);

-- What was decided about each question: the issue's own (key 'issue') or a comment's (key = note id).
-- Coordinates, numbers and hashes; nothing a sentence would fit in.
CREATE TABLE question (
    project_id     BIGINT NOT NULL,
    iid            BIGINT NOT NULL,
    key            TEXT   NOT NULL,
    state          TEXT   NOT NULL CHECK (state IN ('answered', 'gap', 'silent', 'dismissed', 'deleted')),
    asker          BIGINT NOT NULL,
    asked_at       BIGINT NOT NULL,
    decided_at     BIGINT NOT NULL,
    digest         TEXT   NOT NULL,
    fingerprint    BYTEA,
    discussion     TEXT,
    note_id        BIGINT,
    posted_at      BIGINT,
    undone         BIGINT NOT NULL DEFAULT 0,
    labelled       BIGINT NOT NULL DEFAULT 0,
    target_project BIGINT,
    target_path    TEXT,
    target_blob    TEXT,
    target_commit  TEXT,
    first_line     BIGINT,
    last_line      BIGINT,
    score          BIGINT NOT NULL DEFAULT 0,
    gap_kind       TEXT,
    near_project   BIGINT,
    near_path      TEXT,
    near_anchor    TEXT,
    near_score     BIGINT NOT NULL DEFAULT 0,
    closed_commit  TEXT,
    closed_at      BIGINT,
    judged_at      BIGINT NOT NULL DEFAULT 0,
    votes          BIGINT NOT NULL DEFAULT 0,
    cluster        TEXT,
    PRIMARY KEY (project_id, iid, key)
);
CREATE INDEX question_state ON question (state, decided_at);
CREATE INDEX question_posted ON question (posted_at);

-- Where threads pointed. Project, path and lines only of what resolved; the rest is a hash.
CREATE TABLE signpost (
    project_id     BIGINT NOT NULL,
    iid            BIGINT NOT NULL,
    hash           TEXT   NOT NULL,
    seen_at        BIGINT NOT NULL,
    target_project BIGINT,
    target_path    TEXT,
    first_line     BIGINT,
    last_line      BIGINT,
    anchor         TEXT,
    PRIMARY KEY (project_id, iid, hash)
);
CREATE INDEX signpost_hash ON signpost (hash);

-- Closed issues, by fingerprint: their signposts become candidates for similar questions.
CREATE TABLE history (
    project_id  BIGINT NOT NULL,
    iid         BIGINT NOT NULL,
    closed_at   BIGINT NOT NULL,
    fingerprint BYTEA  NOT NULL,
    PRIMARY KEY (project_id, iid)
);

-- The decision trail of each thread: JSON of places, checks and numbers.
CREATE TABLE trail (
    project_id BIGINT NOT NULL,
    iid        BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    entry      BIGINT NOT NULL,
    body       TEXT   NOT NULL,
    PRIMARY KEY (project_id, iid, at, entry)
);

-- The group's projects as GitLab last described them; `refusal` names the check at which one fell.
CREATE TABLE project (
    id             BIGINT NOT NULL PRIMARY KEY,
    path           TEXT   NOT NULL,
    visibility     TEXT,
    repository     TEXT,
    issues         TEXT,
    archived       BIGINT NOT NULL DEFAULT 0,
    deletion       BIGINT NOT NULL DEFAULT 0,
    default_branch TEXT,
    forked_from    BIGINT,
    refusal        TEXT,
    head           TEXT,
    synced_at      BIGINT NOT NULL DEFAULT 0,
    seen_at        BIGINT NOT NULL
);

-- Files of admitted projects at the head that was synced last. `skipped` says why one has no sections.
CREATE TABLE file (
    project_id BIGINT NOT NULL,
    path       TEXT   NOT NULL,
    blob       TEXT   NOT NULL,
    mode       TEXT   NOT NULL,
    bytes      BIGINT NOT NULL,
    skipped    TEXT,
    PRIMARY KEY (project_id, path)
);

-- Sections of those files: the text that is searched and judged.
CREATE TABLE section (
    id          BIGINT NOT NULL PRIMARY KEY,
    project_id  BIGINT NOT NULL,
    path        TEXT   NOT NULL,
    ordinal     BIGINT NOT NULL,
    kind        TEXT   NOT NULL,
    headings    TEXT   NOT NULL,
    anchor      TEXT,
    explicit_id TEXT,
    first_line  BIGINT NOT NULL,
    last_line   BIGINT NOT NULL,
    first_byte  BIGINT NOT NULL,
    last_byte   BIGINT NOT NULL,
    body        TEXT   NOT NULL,
    vector      BYTEA
);
CREATE INDEX section_file ON section (project_id, path);

-- What changed in the corpus, in order, so that each replica's index follows. An empty path means the whole project.
CREATE TABLE change (
    seq        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    project_id BIGINT NOT NULL,
    path       TEXT   NOT NULL,
    at         BIGINT NOT NULL
);

-- Documentation sites discovered in repositories: the parsed table as JSON.
CREATE TABLE docsite (
    project_id BIGINT NOT NULL,
    path       TEXT   NOT NULL,
    body       TEXT   NOT NULL,
    PRIMARY KEY (project_id, path)
);

-- Single values: the settled moment, the first start, the bot's user ids, the breaker.
CREATE TABLE setting (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);
