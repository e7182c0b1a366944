-- What users want of runs under way.
CREATE TABLE wishes (
	n     INTEGER PRIMARY KEY,
	run   INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	about TEXT    NOT NULL, -- a run has one wish about each thing
	kind  TEXT    NOT NULL,
	call  TEXT    NOT NULL, -- call_id of a step; empty for the whole run
	input TEXT, -- JSON; NULL for none
	UNIQUE (run, about)
) STRICT;
