-- min_compatible: 9
-- The whole schema, beside River's tables, which are there by now. Times are Unix microseconds, 0 for none. A row's
-- number n is what other tables refer to; id is the public name.

-- One clock, the database's, stamps what is stored, whichever replica stores it.
CREATE FUNCTION now_micros() RETURNS bigint LANGUAGE sql VOLATILE AS
	$$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- Each user names sessions for oneself: two users may use the same name. id stays unique among all of them; where
-- another user has the name already, it is the name, a slash and a random id. No name holds a slash.
CREATE TABLE sessions (
	n          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id         text   COLLATE "C" NOT NULL UNIQUE,
	name       text   COLLATE "C" GENERATED ALWAYS AS (split_part(id, '/', 1)) STORED,
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
CREATE UNIQUE INDEX sessions_by_name ON sessions (user_id, name);
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
	ended_at    bigint NOT NULL DEFAULT 0,
	-- the user whose limit of runs at once it counts against; empty: nobody's
	charged     text   COLLATE "C" NOT NULL DEFAULT ''
) WITH (fillfactor = 50);
CREATE INDEX runs_by_session ON runs (session);
CREATE INDEX runs_charged ON runs (charged) WHERE status = 'running' AND charged <> '';
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

-- What readers think of answers.
CREATE TABLE feedback (
	n          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	run        bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
	user_id    text   COLLATE "C" NOT NULL,
	rating     text   COLLATE "C" NOT NULL,
	reason     text   COLLATE "C" NOT NULL,
	comment    text   NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	UNIQUE (run, user_id)
);
CREATE INDEX feedback_by_age ON feedback (user_id, updated_at DESC, n DESC);

-- Questions that wait until their session's run is over.
CREATE TABLE queued (
	n          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id         text   COLLATE "C" NOT NULL UNIQUE,
	session    bigint NOT NULL REFERENCES sessions ON DELETE CASCADE,
	place      bigint NOT NULL, -- the lowest is sent first
	key        bytea  NOT NULL, -- idempotency key of the run it becomes
	request    bytea  NOT NULL, -- RunRequest as JSON
	problem    text   NOT NULL DEFAULT '',
	taken      boolean NOT NULL DEFAULT false, -- it is being sent: nobody can change it
	created_at bigint NOT NULL
);
CREATE INDEX queued_by_session ON queued (session, place);

-- What users want of runs under way, for the replica that works on them: stop, answer now, approve a call and so on.
CREATE TABLE commands (
	n     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	run   bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
	about text   COLLATE "C" NOT NULL, -- a run has one command about each thing
	kind  text   COLLATE "C" NOT NULL,
	call  text   COLLATE "C" NOT NULL, -- call_id of a step; empty for the whole run
	input bytea, -- JSON; NULL for none
	UNIQUE (run, about)
);

-- What users spend of what their limits allow, newest last; rows older than a limit's window go.
CREATE TABLE spent (
	user_id text   COLLATE "C" NOT NULL,
	what    text   COLLATE "C" NOT NULL,
	at      bigint NOT NULL,
	amount  bigint NOT NULL,
	PRIMARY KEY (user_id, what, at)
);
CREATE INDEX spent_by_age ON spent (at);

-- spend finds the first of a user's limits that n more of something would break: {its number from 1, when what fills
-- it was spent, now}. If there is none, it counts n, unless keep is false, and returns {0, 0, now}. A limit is
-- something with a span, in which at most so much of it may be spent; one of something else than what is counted must
-- have room for 1. The lock holds until the transaction ends and makes the user's calls take turns, on all replicas;
-- each query of a function like this sees what was committed before it.
CREATE FUNCTION spend(who text, thing text, n bigint, things text[], spans bigint[], mosts bigint[], keep bool)
	RETURNS bigint[] LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	clock bigint;
	full_at bigint;
	need bigint;
BEGIN
	IF keep THEN
		PERFORM pg_advisory_xact_lock(hashtextextended(current_schema() || ' limits of ' || who, 0));
	END IF;
	clock := now_micros();
	FOR i IN 1 .. coalesce(cardinality(spans), 0) LOOP
		need := CASE WHEN things[i] = thing THEN n ELSE 1 END;
		IF need > mosts[i] THEN
			RETURN ARRAY[i, 0, clock];
		END IF;
		SELECT s.at INTO full_at FROM (SELECT at, sum(amount) OVER (ORDER BY at DESC) AS total FROM spent
			WHERE user_id = who AND what = things[i] AND at > clock - spans[i]) s WHERE s.total > mosts[i] - need ORDER BY s.at DESC LIMIT 1;
		IF full_at IS NOT NULL THEN
			RETURN ARRAY[i, full_at, clock];
		END IF;
	END LOOP;
	IF keep THEN
		INSERT INTO spent AS s (user_id, what, at, amount) VALUES (who, thing, clock, n) ON CONFLICT (user_id, what, at) DO UPDATE SET amount = s.amount + excluded.amount;
		DELETE FROM spent WHERE user_id = who AND what = thing AND at <= clock - (SELECT max(span) FROM unnest(things, spans) AS t (of_what, span) WHERE of_what = thing);
	END IF;
	RETURN ARRAY[0, 0, clock];
END $$;

CREATE TABLE documents (
	n           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id          text   COLLATE "C" NOT NULL UNIQUE,
	user_id     text   COLLATE "C" NOT NULL,
	namespace   text   COLLATE "C" NOT NULL,
	path        text   COLLATE "C" NOT NULL,
	filename    text   NOT NULL,
	title       text   NOT NULL,
	title_fold  text   COLLATE "C" NOT NULL, -- lower case, for sorting
	search_fold text   COLLATE "C" NOT NULL, -- title and file name in lower case, for the filter
	mime        text   COLLATE "C" NOT NULL,
	sha256      text   COLLATE "C" NOT NULL,
	bytes       bigint NOT NULL,
	pages       int    NOT NULL DEFAULT 0,
	language    text   NOT NULL DEFAULT '',
	given_meta  jsonb  NOT NULL, -- from the upload
	meta        jsonb  NOT NULL, -- what the file says, overruled by given_meta
	state       text   COLLATE "C" NOT NULL,
	semantic    text   NOT NULL,
	progress    text   NOT NULL, -- JSON
	failure     text   NOT NULL DEFAULT '', -- JSON
	passages    int    NOT NULL DEFAULT 0,
	content     bigint NOT NULL DEFAULT 0, -- contents.n of what serves, 0 before the first
	changed     bigint NOT NULL DEFAULT 0, -- corpus_state.changes when it was last shown, hidden or given content
	created_at  bigint NOT NULL,
	updated_at  bigint NOT NULL,
	deleted_at  bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX documents_by_path ON documents (user_id, namespace, path) WHERE deleted_at = 0;
CREATE INDEX documents_by_bytes ON documents (user_id, namespace, sha256);
CREATE INDEX documents_by_hash ON documents (sha256);
CREATE INDEX documents_by_age ON documents (user_id, deleted_at, created_at, n);
-- the sum of a user's documents is read without the documents
CREATE INDEX documents_by_size ON documents (user_id, bytes);
CREATE INDEX documents_changed ON documents (changed);
CREATE INDEX documents_hidden ON documents (deleted_at) WHERE deleted_at > 0;

-- What was made from the version of a document that serves. Its passages have the numbers from first_row on, without
-- gaps.
-- The text, the blocks and the passages of a large document are packed, see package pack: then body or blocks is empty.
CREATE TABLE contents (
	n         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	document  bigint NOT NULL, -- documents.n
	first_row bigint NOT NULL,
	passages  int    NOT NULL,
	lengths   bytea  NOT NULL, -- terms of each passage, two bytes each, little-endian
	sizes     text   NOT NULL, -- of the pages, JSON
	body      text   NOT NULL, -- the canonical text
	blocks    text   NOT NULL, -- JSON
	sha256    text   COLLATE "C" NOT NULL,
	filename  text   NOT NULL, -- filename, mime and bytes: of that version, for going back to it
	mime      text   NOT NULL,
	bytes     bigint NOT NULL,
	packed        bytea NOT NULL DEFAULT '',
	packed_blocks bytea NOT NULL DEFAULT ''
);
ALTER TABLE contents ALTER COLUMN packed SET STORAGE EXTERNAL, ALTER COLUMN packed_blocks SET STORAGE EXTERNAL;
CREATE INDEX contents_by_row ON contents (first_row);
CREATE INDEX contents_by_document ON contents (document);
CREATE INDEX contents_by_hash ON contents (sha256);

CREATE TABLE content_words (
	content   bigint NOT NULL,
	piece     int    NOT NULL,
	start_off int    NOT NULL,
	end_off   int    NOT NULL,
	body      bytea  NOT NULL, -- see corpus.Words
	PRIMARY KEY (content, piece)
);

CREATE TABLE passages (
	row         bigint PRIMARY KEY, -- contents.first_row + ordinal; also its number in the index of words
	id          text   COLLATE "C" NOT NULL,
	content     bigint NOT NULL,
	ordinal     int    NOT NULL,
	start_off   int    NOT NULL,
	end_off     int    NOT NULL,
	first_block text   NOT NULL,
	last_block  text   NOT NULL,
	page        int    NOT NULL,
	section     text   NOT NULL,
	tokens      int    NOT NULL,
	body        text   NOT NULL,
	packed      bytea  NOT NULL DEFAULT ''
);
ALTER TABLE passages ALTER COLUMN packed SET STORAGE EXTERNAL;
CREATE INDEX passages_by_id ON passages (id);

-- The index of words, in rows of bytes: see package postings.
CREATE TABLE segments (
	n          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- none is used twice
	owner      text   COLLATE "C" NOT NULL,
	live       bool   NOT NULL DEFAULT false, -- searches see it
	changed    bigint NOT NULL DEFAULT 0, -- corpus_state.changes of the newest content in it
	passages   int    NOT NULL DEFAULT 0,
	started_at bigint NOT NULL DEFAULT now_micros()
);
CREATE INDEX segments_by_owner ON segments (owner) WHERE live;
-- Pages are read whole, and two fit into one of the database's: they stay in the row as they are.
CREATE TABLE segment_pages (
	segment bigint NOT NULL,
	key     bytea  NOT NULL,
	body    bytea  NOT NULL,
	PRIMARY KEY (segment, key)
) WITH (toast_tuple_target = 8160);
ALTER TABLE segment_pages ALTER COLUMN body SET STORAGE EXTERNAL;
-- The contents that the index does not hold yet: the next start makes their postings.
CREATE TABLE unindexed (content bigint PRIMARY KEY);

-- One row. changes counts what made content visible or hidden, removals what took it away for good, next_row is the
-- number of the next passage.
CREATE TABLE corpus_state (
	n        int    PRIMARY KEY CHECK (n = 1),
	changes  bigint NOT NULL DEFAULT 0,
	removals bigint NOT NULL DEFAULT 0,
	next_row bigint NOT NULL DEFAULT 1
) WITH (fillfactor = 20);
INSERT INTO corpus_state (n) VALUES (1);

CREATE TABLE corpus_versions (
	user_id text   COLLATE "C" PRIMARY KEY,
	version bigint NOT NULL
) WITH (fillfactor = 50);

-- Users take turns at River's jobs: see queue_turns.go.
CREATE INDEX river_job_turns ON river_job (queue, ((args->>'turn')::bigint), id)
	WHERE state IN ('available', 'running');
CREATE INDEX river_job_users ON river_job (queue, (args->>'user'), ((args->>'turn')::bigint))
	WHERE state IN ('available', 'pending', 'retryable', 'scheduled', 'running');
