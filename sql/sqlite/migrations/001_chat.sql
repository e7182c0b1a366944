-- Times are Unix microseconds, 0 for none. A session's and a run's number n are what other tables refer to; id is the public name.
CREATE TABLE sessions (
	n          INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	user       TEXT    NOT NULL,
	title      TEXT    NOT NULL,
	title_fold TEXT    NOT NULL, -- lower case, for the search
	head       INTEGER NOT NULL DEFAULT 0, -- runs.n
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	deleted_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_by_activity ON sessions (user, deleted_at, updated_at DESC, n DESC);

-- What changes while a run is under way is apart from its texts, so that a small change stays a small write.
CREATE TABLE runs (
	n           INTEGER PRIMARY KEY,
	id          TEXT    NOT NULL UNIQUE,
	session     INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
	parent      INTEGER NOT NULL, -- runs.n, 0 for a first question
	depth       INTEGER NOT NULL, -- runs on the branch up to this one
	status      TEXT    NOT NULL,
	owner       TEXT    NOT NULL, -- of the lease
	lease_until INTEGER NOT NULL,
	tokens_in   INTEGER NOT NULL DEFAULT 0,
	tokens_out  INTEGER NOT NULL DEFAULT 0,
	created_at  INTEGER NOT NULL,
	ended_at    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_session ON runs (session);
CREATE INDEX runs_running ON runs (session, lease_until) WHERE status = 'running';

CREATE TABLE run_texts (
	run           INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
	request       TEXT NOT NULL, -- RunRequest as JSON
	question_fold TEXT NOT NULL, -- lower case, for the search
	answer        TEXT NOT NULL DEFAULT ''
) STRICT;

-- The log. id is run << 20 | seq: a run's events lie together in the table itself and need no index. So a run has at most 2^20 - 1 events.
CREATE TABLE events (
	id   INTEGER PRIMARY KEY,
	at   INTEGER NOT NULL,
	type TEXT    NOT NULL,
	body BLOB    NOT NULL -- JSON
) STRICT;

CREATE TABLE step_outputs (
	run     INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	call_id TEXT    NOT NULL,
	body    BLOB    NOT NULL, -- JSON
	UNIQUE (run, call_id)
) STRICT;

CREATE TABLE idempotency_keys (
	user       TEXT    NOT NULL,
	key        TEXT    NOT NULL,
	request    BLOB    NOT NULL, -- SHA-256 of the request as JSON
	run        INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (user, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_run ON idempotency_keys (run);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
