-- Times are Unix microseconds, 0 for none. One clock, the database's, stamps what is stored, whichever replica stores it.
CREATE FUNCTION now_micros() RETURNS bigint LANGUAGE sql VOLATILE AS
	$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- A session's and a run's number n are what other tables refer to; id is the public name.
CREATE TABLE sessions (
	n          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id         text   COLLATE "C" NOT NULL UNIQUE,
	user_id    text   COLLATE "C" NOT NULL,
	title      text   NOT NULL,
	title_fold text   COLLATE "C" NOT NULL, -- lower case, for the search
	head       text   COLLATE "C" NOT NULL, -- runs.id of the end of the branch that is shown
	turns      int    NOT NULL, -- runs on that branch
	previous   text   COLLATE "C" NOT NULL DEFAULT '', -- the head before the last run was started
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	deleted_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 80);
CREATE INDEX sessions_by_activity ON sessions (user_id, deleted_at, updated_at DESC, n DESC);
CREATE INDEX sessions_hidden ON sessions (deleted_at) WHERE deleted_at > 0;

-- What changes while a run is under way is apart from its texts: every append changes the row, so it is small and its
-- pages have room for the next version.
CREATE TABLE runs (
	n           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id          text   COLLATE "C" NOT NULL UNIQUE,
	session     bigint NOT NULL REFERENCES sessions ON DELETE CASCADE,
	parent      text   COLLATE "C" NOT NULL, -- runs.id, empty for a first question
	depth       int    NOT NULL, -- runs on the branch up to this one
	status      text   COLLATE "C" NOT NULL,
	owner       text   COLLATE "C" NOT NULL, -- of the lease
	lease_until bigint NOT NULL,
	last        int    NOT NULL DEFAULT 0, -- the number of its last event
	tokens_in   bigint NOT NULL DEFAULT 0,
	tokens_out  bigint NOT NULL DEFAULT 0,
	created_at  bigint NOT NULL,
	ended_at    bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE INDEX runs_by_session ON runs (session);
CREATE INDEX runs_running ON runs (session, lease_until) WHERE status = 'running';

CREATE TABLE run_texts (
	run           bigint PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
	request       bytea  NOT NULL, -- RunRequest as JSON
	question_fold text   COLLATE "C" NOT NULL, -- lower case, for the search
	answer        bytea  NOT NULL DEFAULT ''
);

-- The log. It has no foreign key, which would cost a look-up for every event: purging removes events by their run.
CREATE TABLE events (
	run  bigint NOT NULL,
	seq  int    NOT NULL,
	at   bigint NOT NULL,
	type text   NOT NULL,
	body bytea  NOT NULL, -- JSON
	PRIMARY KEY (run, seq)
);

CREATE TABLE step_outputs (
	run     bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
	call_id text   COLLATE "C" NOT NULL,
	body    bytea  NOT NULL, -- JSON
	PRIMARY KEY (run, call_id)
);

CREATE TABLE idempotency_keys (
	user_id    text   COLLATE "C" NOT NULL,
	key        bytea  NOT NULL,
	request    bytea  NOT NULL, -- SHA-256 of the request as JSON
	run        bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
	created_at bigint NOT NULL,
	CONSTRAINT idempotency_keys_once PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_keys_by_run ON idempotency_keys (run);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
