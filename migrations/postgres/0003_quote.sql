-- 0003_quote: which words are quoted
-- A hash of the quoted passage: a passage that a human called wrong stays rejected when its file changes elsewhere.
ALTER TABLE question ADD COLUMN target_quote TEXT;
