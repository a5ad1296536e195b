-- 0002_gaps: what people decided by hand about entries of the list of gaps
-- Clusters are named by an id of this program's making; pages by project and path.

-- An entry that was merged into another one; its id lives on as another name of that entry.
CREATE TABLE gap_merge (
    cluster      TEXT    NOT NULL PRIMARY KEY,
    into_cluster TEXT    NOT NULL,
    at           BIGINT  NOT NULL
);

-- A question that was put into a cluster by hand; stronger than question.cluster.
CREATE TABLE gap_member (
    project_id BIGINT  NOT NULL,
    iid        BIGINT  NOT NULL,
    key        TEXT    NOT NULL,
    cluster    TEXT    NOT NULL,
    at         BIGINT  NOT NULL,
    PRIMARY KEY (project_id, iid, key)
);

-- An entry that is no gap, whoever asks.
CREATE TABLE gap_dismissal (
    cluster TEXT    NOT NULL PRIMARY KEY,
    at      BIGINT  NOT NULL
);

-- The page on which an entry is to be documented.
CREATE TABLE gap_page (
    cluster    TEXT    NOT NULL PRIMARY KEY,
    project_id BIGINT  NOT NULL,
    path       TEXT    NOT NULL,
    at         BIGINT  NOT NULL
);
