-- 0005_unasked: changed files about which the open questions were not asked yet
-- A file is written down here with its change and taken out when the questions are asked, so that nothing is lost
-- when the program dies between the two.

CREATE TABLE unasked (
    project_id BIGINT NOT NULL,
    path       TEXT   NOT NULL,
    PRIMARY KEY (project_id, path)
);
