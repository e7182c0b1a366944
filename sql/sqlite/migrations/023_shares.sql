-- Links by which anybody reads one answer with its quotes.
CREATE TABLE shares (
	n          INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	run        INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	user       TEXT    NOT NULL,
	hash       BLOB    NOT NULL UNIQUE, -- SHA-256 of the token
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	opens      INTEGER NOT NULL DEFAULT 0,
	opened_at  INTEGER NOT NULL DEFAULT 0 -- the last time; 0: never
) STRICT;
CREATE INDEX shares_by_user ON shares (user, n);
CREATE INDEX shares_by_run ON shares (run);
