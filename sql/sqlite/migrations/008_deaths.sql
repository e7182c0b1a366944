-- Attempts at a job that never ended: one is added when a process takes the job, and taken off when it says how the attempt ended.
ALTER TABLE jobs ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
