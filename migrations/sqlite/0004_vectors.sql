-- 0004_vectors: sections that wait for their vector, documentation first
-- It is asked every second; without it every answer would read all sections.
CREATE INDEX section_without_vector ON section (kind DESC, id) WHERE vector IS NULL;
