-- A database of version 14.
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;
INSERT INTO migrations VALUES (14, '014_schema', 1);
-- The whole schema. Times are Unix microseconds, 0 for none. A row's number n is what other tables refer to; id is the
-- public name.

-- Each user names sessions for oneself: two users may use the same name. id stays unique among all of them; where
-- another user has the name already, it is the name, a slash and a random id. No name holds a slash.
CREATE TABLE sessions (
	n          INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	name       TEXT    GENERATED ALWAYS AS (substr(id, 1, instr(id || '/', '/') - 1)) VIRTUAL,
	user       TEXT    NOT NULL,
	title      TEXT    NOT NULL,
	title_fold TEXT    NOT NULL, -- lower case, for the search
	head       INTEGER NOT NULL DEFAULT 0, -- runs.n
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	deleted_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX sessions_by_name ON sessions (user, name);
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
	ended_at    INTEGER NOT NULL DEFAULT 0,
	charged     TEXT    NOT NULL DEFAULT '' -- the user whose limit of runs at once it counts against; empty: nobody's
) STRICT;
CREATE INDEX runs_by_session ON runs (session);
CREATE INDEX runs_charged ON runs (charged) WHERE status = 'running' AND charged <> '';
CREATE INDEX runs_running ON runs (session, lease_until) WHERE status = 'running';

CREATE TABLE run_texts (
	run           INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
	request       TEXT NOT NULL, -- RunRequest as JSON
	question_fold TEXT NOT NULL, -- lower case, for the search
	answer        TEXT NOT NULL DEFAULT ''
) STRICT;

-- The log. id is run << 20 | seq: a run's events lie together in the table itself and need no index. So a run has at
-- most 2^20 - 1 events.
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

-- What users want of runs under way: stop, answer now, approve a call and so on.
CREATE TABLE commands (
	n     INTEGER PRIMARY KEY,
	run   INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	about TEXT    NOT NULL, -- a run has one command about each thing
	kind  TEXT    NOT NULL,
	call  TEXT    NOT NULL, -- call_id of a step; empty for the whole run
	input TEXT, -- JSON; NULL for none
	UNIQUE (run, about)
) STRICT;

-- What users spend of what their limits allow, newest last; rows older than a limit's window go.
CREATE TABLE spent (
	user   TEXT    NOT NULL,
	what   TEXT    NOT NULL,
	at     INTEGER NOT NULL,
	amount INTEGER NOT NULL,
	PRIMARY KEY (user, what, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_by_age ON spent (at);

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
-- the sum of a user's documents is read without the documents
CREATE INDEX documents_by_size ON documents (user, bytes);
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
CREATE INDEX contents_by_row ON contents (first_row);
CREATE INDEX contents_changed ON contents (changed);
CREATE INDEX contents_unseen ON contents (started_at) WHERE live = 0;

-- The text, the blocks and the passages of a large document are packed: then body or text is empty. See unpacked.go.
CREATE TABLE content_texts (
	content INTEGER NOT NULL,
	piece   INTEGER NOT NULL,
	body    TEXT    NOT NULL,
	packed  BLOB,
	PRIMARY KEY (content, piece)
) STRICT, WITHOUT ROWID;

CREATE TABLE content_blocks (
	content INTEGER NOT NULL,
	piece   INTEGER NOT NULL,
	body    TEXT    NOT NULL, -- JSON
	packed  BLOB,
	PRIMARY KEY (content, piece)
) STRICT, WITHOUT ROWID;

CREATE TABLE content_words (
	content   INTEGER NOT NULL,
	piece     INTEGER NOT NULL,
	start_off INTEGER NOT NULL,
	end_off   INTEGER NOT NULL,
	body      BLOB    NOT NULL, -- see corpus.Words
	PRIMARY KEY (content, piece)
) STRICT, WITHOUT ROWID;

CREATE TABLE passages (
	row         INTEGER PRIMARY KEY, -- contents.first_row + ordinal; also its number in the index of words
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
	text        TEXT    NOT NULL,
	packed      BLOB
) STRICT;
CREATE INDEX passages_by_id ON passages (id);

-- The index of words, in rows of bytes: see package postings.
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
-- The contents that the index does not hold yet: the next start makes their postings.
CREATE TABLE unindexed (content INTEGER PRIMARY KEY) STRICT;

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

-- Users take turns: a job has the number of the turn it is for, and the lowest is served first. A process may die of
-- one of the jobs that are at work in it. Those are done alone afterwards, until an attempt ends; a job is blamed only
-- for what happened while it was the only one of its kind.
CREATE TABLE jobs (
	n        INTEGER PRIMARY KEY AUTOINCREMENT,
	kind     TEXT    NOT NULL,
	document TEXT    NOT NULL, -- documents.id
	sha256   TEXT    NOT NULL,
	user     TEXT    NOT NULL DEFAULT '',
	turn     INTEGER NOT NULL DEFAULT 0,
	attempt  INTEGER NOT NULL DEFAULT 0,
	leased   INTEGER NOT NULL DEFAULT 0,
	ready_at INTEGER NOT NULL DEFAULT 0, -- not before this; of a leased one: the end of the lease
	deaths   INTEGER NOT NULL DEFAULT 0, -- of processes that it is blamed for
	alone    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX jobs_by_turn ON jobs (kind, turn, n);
CREATE INDEX jobs_by_user ON jobs (kind, user, turn);
CREATE INDEX jobs_by_document ON jobs (document, kind);
CREATE INDEX jobs_alone ON jobs (kind) WHERE alone = 1;
CREATE INDEX jobs_leased ON jobs (kind) WHERE leased = 1;
