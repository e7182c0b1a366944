-- Version 8 is the oldest that can be migrated.
-- min_compatible: 9
ALTER TABLE wishes RENAME TO commands;
ALTER TABLE commands RENAME CONSTRAINT wishes_pkey TO commands_pkey;
ALTER TABLE commands RENAME CONSTRAINT wishes_run_about_key TO commands_run_about_key;
ALTER TABLE commands RENAME CONSTRAINT wishes_run_fkey TO commands_run_fkey;
ALTER SEQUENCE wishes_n_seq RENAME TO commands_n_seq;
DROP TABLE jobs; -- of the queue before River's
