-- A process may die of one of the jobs that are at work in it. Those are done alone afterwards (alone = 1), until an attempt ends; a job is blamed
-- (deaths) only for what happened while it was the only one of its kind. What was counted before may not have been a job's own fault.
ALTER TABLE jobs ADD COLUMN alone INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET deaths = 0;
CREATE INDEX jobs_alone ON jobs (kind) WHERE alone = 1;
CREATE INDEX jobs_leased ON jobs (kind) WHERE leased = 1;
