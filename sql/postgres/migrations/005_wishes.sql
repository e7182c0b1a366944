-- What users want of runs under way, for the replica that works on them.
CREATE TABLE wishes (
	n     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	run   bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
	about text   COLLATE "C" NOT NULL, -- a run has one wish about each thing
	kind  text   COLLATE "C" NOT NULL,
	call  text   COLLATE "C" NOT NULL, -- call_id of a step; empty for the whole run
	input bytea, -- JSON; NULL for none
	UNIQUE (run, about)
);
