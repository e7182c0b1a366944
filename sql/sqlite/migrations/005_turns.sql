-- Users take turns: a job has the number of the turn it is for, and the lowest is served first.
ALTER TABLE jobs ADD COLUMN user TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET user = coalesce((SELECT user FROM documents WHERE id = jobs.document), ''), turn = n;
DROP INDEX jobs_by_kind;
CREATE INDEX jobs_by_turn ON jobs (kind, turn, n);
CREATE INDEX jobs_by_user ON jobs (kind, user, turn);
