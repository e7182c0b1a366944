-- A database of version 13, the last before 014_schema.sql, as its thirteen steps made it: tests take it over.
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;
INSERT INTO migrations VALUES (1, '001_chat', 1), (2, '002_corpus', 2), (13, '013_postings', 13);
-- 001_chat.sql
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
-- 002_corpus.sql
-- Times are Unix microseconds, 0 for none. A document's, a content's and a passage's number is what other tables refer to.
CREATE TABLE documents (
	n           INTEGER PRIMARY KEY,
	id          TEXT    NOT NULL UNIQUE,
	user        TEXT    NOT NULL,
	namespace   TEXT    NOT NULL,
	path        TEXT    NOT NULL,
	filename    TEXT    NOT NULL,
	title       TEXT    NOT NULL,
	title_fold  TEXT    NOT NULL, -- lower case, for sorting
	search_fold TEXT    NOT NULL, -- title and file name in lower case, for the filter
	mime        TEXT    NOT NULL,
	sha256      TEXT    NOT NULL,
	bytes       INTEGER NOT NULL,
	pages       INTEGER NOT NULL DEFAULT 0,
	language    TEXT    NOT NULL DEFAULT '',
	given_meta  TEXT    NOT NULL, -- JSON, from the upload
	meta        TEXT    NOT NULL, -- JSON: what the file says, overruled by given_meta
	state       TEXT    NOT NULL,
	semantic    TEXT    NOT NULL,
	progress    TEXT    NOT NULL, -- JSON
	failure     TEXT    NOT NULL DEFAULT '', -- JSON
	passages    INTEGER NOT NULL DEFAULT 0,
	content     INTEGER NOT NULL DEFAULT 0, -- contents.n of what serves, 0 before the first
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL,
	deleted_at  INTEGER NOT NULL DEFAULT 0,
	purging     INTEGER NOT NULL DEFAULT 0 -- its removal has begun: it can't be restored
) STRICT;
CREATE UNIQUE INDEX documents_by_path ON documents (user, namespace, path) WHERE deleted_at = 0;
CREATE INDEX documents_by_bytes ON documents (user, namespace, sha256);
CREATE INDEX documents_by_hash ON documents (sha256);
CREATE INDEX documents_by_age ON documents (user, deleted_at, created_at, n);
CREATE INDEX documents_hidden ON documents (deleted_at) WHERE deleted_at > 0;

-- What was made from one version of a document. It is written piece by piece, unseen, until documents.content points to
-- it and live is 1. Its passages have the numbers from first_row on, without gaps.
CREATE TABLE contents (
	n          INTEGER PRIMARY KEY,
	document   INTEGER NOT NULL, -- documents.n
	live       INTEGER NOT NULL DEFAULT 0,
	changed    INTEGER NOT NULL DEFAULT 0, -- corpus_state.changes when it was last shown or hidden
	first_row  INTEGER NOT NULL,
	passages   INTEGER NOT NULL,
	lengths    BLOB    NOT NULL, -- terms of each passage, two bytes each, little-endian
	sizes      TEXT    NOT NULL, -- of the pages, JSON
	sha256     TEXT    NOT NULL,
	filename   TEXT    NOT NULL, -- filename, mime and bytes: of that version, for going back to it
	mime       TEXT    NOT NULL,
	bytes      INTEGER NOT NULL,
	started_at INTEGER NOT NULL
) STRICT;
CREATE INDEX contents_by_document ON contents (document);
CREATE INDEX contents_by_hash ON contents (sha256);
CREATE INDEX contents_changed ON contents (changed);
CREATE INDEX contents_unseen ON contents (started_at) WHERE live = 0;

CREATE TABLE content_texts (
	content INTEGER NOT NULL,
	piece   INTEGER NOT NULL,
	body    TEXT    NOT NULL,
	PRIMARY KEY (content, piece)
) STRICT, WITHOUT ROWID;

CREATE TABLE content_blocks (
	content INTEGER NOT NULL,
	piece   INTEGER NOT NULL,
	body    TEXT    NOT NULL, -- JSON
	PRIMARY KEY (content, piece)
) STRICT, WITHOUT ROWID;

CREATE TABLE content_words (
	content   INTEGER NOT NULL,
	piece     INTEGER NOT NULL,
	start_off INTEGER NOT NULL,
	end_off   INTEGER NOT NULL,
	body      BLOB    NOT NULL, -- see content_words.go
	PRIMARY KEY (content, piece)
) STRICT, WITHOUT ROWID;

CREATE TABLE passages (
	row         INTEGER PRIMARY KEY, -- contents.first_row + ordinal; also the row in lexical
	id          TEXT    NOT NULL,
	content     INTEGER NOT NULL,
	ordinal     INTEGER NOT NULL,
	start_off   INTEGER NOT NULL,
	end_off     INTEGER NOT NULL,
	first_block TEXT    NOT NULL,
	last_block  TEXT    NOT NULL,
	page        INTEGER NOT NULL,
	section     TEXT    NOT NULL,
	tokens      INTEGER NOT NULL,
	text        TEXT    NOT NULL
) STRICT;
CREATE INDEX passages_by_id ON passages (id);

-- One row. changes counts what made content visible or hidden, removals what took it away for good, next_row is the
-- number of the next passage.
CREATE TABLE corpus_state (
	n                INTEGER PRIMARY KEY CHECK (n = 1),
	changes          INTEGER NOT NULL DEFAULT 0,
	removals         INTEGER NOT NULL DEFAULT 0,
	next_row         INTEGER NOT NULL DEFAULT 1,
	vector_changes   INTEGER NOT NULL DEFAULT 0,
	vector_removals  INTEGER NOT NULL DEFAULT 0,
	vector_dimension INTEGER NOT NULL DEFAULT 0 -- 0 while there are none
) STRICT;
INSERT INTO corpus_state (n) VALUES (1);

CREATE TABLE corpus_versions (
	user    TEXT    PRIMARY KEY,
	version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE vectors (
	n          INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with every write, so that readers can ask for what is new
	passage_id TEXT NOT NULL UNIQUE,
	document   TEXT NOT NULL, -- documents.id
	user       TEXT NOT NULL,
	namespace  TEXT NOT NULL,
	body       BLOB NOT NULL -- float32, little-endian
) STRICT;
CREATE INDEX vectors_by_document ON vectors (document);

CREATE TABLE jobs (
	n        INTEGER PRIMARY KEY AUTOINCREMENT,
	kind     TEXT    NOT NULL,
	document TEXT    NOT NULL, -- documents.id
	sha256   TEXT    NOT NULL,
	attempt  INTEGER NOT NULL DEFAULT 0,
	leased   INTEGER NOT NULL DEFAULT 0,
	ready_at INTEGER NOT NULL DEFAULT 0 -- not before this; of a leased one: the end of the lease
) STRICT;
CREATE INDEX jobs_by_kind ON jobs (kind, n);
CREATE INDEX jobs_by_document ON jobs (document, kind);
-- 004_steering.sql
-- What readers think of answers.
CREATE TABLE feedback (
	n          INTEGER PRIMARY KEY,
	run        INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	user       TEXT    NOT NULL,
	rating     TEXT    NOT NULL,
	reason     TEXT    NOT NULL,
	comment    TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	UNIQUE (run, user)
) STRICT;
CREATE INDEX feedback_by_age ON feedback (user, updated_at DESC, n DESC);

-- Questions that wait until their session's run is over.
CREATE TABLE queued (
	n          INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	session    INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
	place      INTEGER NOT NULL, -- the lowest is sent first
	key        TEXT    NOT NULL, -- idempotency key of the run it becomes
	request    TEXT    NOT NULL, -- RunRequest as JSON
	problem    TEXT    NOT NULL DEFAULT '',
	taken      INTEGER NOT NULL DEFAULT 0, -- it is being sent: nobody can change it
	created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX queued_by_session ON queued (session, place);
-- 005_turns.sql
-- Users take turns: a job has the number of the turn it is for, and the lowest is served first.
ALTER TABLE jobs ADD COLUMN user TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET user = coalesce((SELECT user FROM documents WHERE id = jobs.document), ''), turn = n;
DROP INDEX jobs_by_kind;
CREATE INDEX jobs_by_turn ON jobs (kind, turn, n);
CREATE INDEX jobs_by_user ON jobs (kind, user, turn);
-- 006_wishes.sql
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
-- 007_session_names.sql
-- Each user names sessions for oneself: two users may use the same name. id stays unique among all of them; where another user has the name
-- already, it is the name, a slash and a random id. No name holds a slash.
ALTER TABLE sessions ADD COLUMN name TEXT GENERATED ALWAYS AS (substr(id, 1, instr(id || '/', '/') - 1)) VIRTUAL;
CREATE UNIQUE INDEX sessions_by_name ON sessions (user, name);
-- 008_deaths.sql
-- Attempts at a job that never ended: one is added when a process takes the job, and taken off when it says how the attempt ended.
ALTER TABLE jobs ADD COLUMN deaths INTEGER NOT NULL DEFAULT 0;
-- 009_packed.sql
-- The blocks and the text of a large document are packed: then body is empty. See pack.go.
ALTER TABLE content_blocks ADD COLUMN packed BLOB;
ALTER TABLE content_texts ADD COLUMN packed BLOB;
-- 010_limits.sql
-- What users spend of what their limits allow, newest last; rows older than a limit's window go. charged is the user whose limit of runs at
-- once a run counts against; empty: nobody's.
CREATE TABLE spent (
	user   TEXT    NOT NULL,
	what   TEXT    NOT NULL,
	at     INTEGER NOT NULL,
	amount INTEGER NOT NULL,
	PRIMARY KEY (user, what, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_by_age ON spent (at);

ALTER TABLE runs ADD COLUMN charged TEXT NOT NULL DEFAULT '';
UPDATE runs SET charged = (SELECT user FROM sessions WHERE n = session) WHERE status = 'running' AND (SELECT user FROM sessions WHERE n = session) <> 'local';
CREATE INDEX runs_charged ON runs (charged) WHERE status = 'running' AND charged <> '';

-- A day's questions go on counting across the upgrade.
INSERT INTO spent (user, what, at, amount) SELECT s.user, 'question', r.created_at, count(*) FROM runs r JOIN sessions s ON s.n = r.session
	WHERE s.user <> 'local' AND r.created_at > (unixepoch() - 86400) * 1000000 GROUP BY s.user, r.created_at;

-- The sum of a user's documents is read without the documents.
CREATE INDEX documents_by_size ON documents (user, bytes);
-- 011_alone.sql
-- A process may die of one of the jobs that are at work in it. Those are done alone afterwards (alone = 1), until an attempt ends; a job is blamed
-- (deaths) only for what happened while it was the only one of its kind. What was counted before may not have been a job's own fault.
ALTER TABLE jobs ADD COLUMN alone INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET deaths = 0;
CREATE INDEX jobs_alone ON jobs (kind) WHERE alone = 1;
CREATE INDEX jobs_leased ON jobs (kind) WHERE leased = 1;
-- 012_packed_passages.sql
-- The passages of a large document are packed: then text is empty. See pack.go.
ALTER TABLE passages ADD COLUMN packed BLOB;
-- 013_postings.sql
-- The index of words is package postings' now, which keeps it in rows of bytes.
CREATE TABLE segments (
	n          INTEGER PRIMARY KEY AUTOINCREMENT, -- none is used twice
	owner      TEXT    NOT NULL,
	live       INTEGER NOT NULL DEFAULT 0, -- searches see it
	changed    INTEGER NOT NULL DEFAULT 0, -- corpus_state.changes of the newest content in it
	passages   INTEGER NOT NULL DEFAULT 0,
	started_at INTEGER NOT NULL
) STRICT;
CREATE INDEX segments_by_owner ON segments (owner) WHERE live = 1;
CREATE TABLE segment_pages (
	n       INTEGER PRIMARY KEY, -- so that a page of the index is one of the file
	segment INTEGER NOT NULL,
	key     BLOB    NOT NULL,
	body    BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX segment_pages_by_key ON segment_pages (segment, key);
CREATE INDEX contents_by_row ON contents (first_row);
-- The contents that the new index does not hold yet: the next start makes their postings.
CREATE TABLE unindexed (content INTEGER PRIMARY KEY) STRICT;
INSERT INTO unindexed SELECT n FROM contents WHERE live = 1;
