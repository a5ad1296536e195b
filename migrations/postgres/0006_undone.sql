-- 0006_undone: what people undid is remembered longer than what it was about
-- When what was known of a thread was dropped: what was asked before is no new question when the thread comes back.
ALTER TABLE queue ADD COLUMN forgotten_at BIGINT;
-- Hashes of the passages that people called wrong, separated by spaces: none of them is offered again.
ALTER TABLE question ADD COLUMN rejected TEXT;
