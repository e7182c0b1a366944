-- The schema of this version, for an empty database. The other files migrate databases of earlier versions.
-- Times are Unix microseconds, 0 if there is none. Tables refer to rows by n; id is the public identifier.

-- Session names are unique per user, ids globally. An id is the name. If another user's session has that id, a slash
-- and a random suffix follow. Names contain no slash.
CREATE TABLE sessions (
	n          INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	name       TEXT    GENERATED ALWAYS AS (substr(id, 1, instr(id || '/', '/') - 1)) VIRTUAL,
	user_id    TEXT    NOT NULL,
	title      TEXT    NOT NULL,
	title_fold TEXT    NOT NULL, -- lower case, for the search
	head       INTEGER NOT NULL DEFAULT 0, -- runs.n
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	deleted_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX sessions_by_name ON sessions (user_id, name);
CREATE INDEX sessions_by_activity ON sessions (user_id, deleted_at, updated_at DESC, n DESC);

-- The texts of a run are in run_texts, so that updates of a run write little.
CREATE TABLE runs (
	n           INTEGER PRIMARY KEY,
	id          TEXT    NOT NULL UNIQUE,
	session     INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
	parent      INTEGER NOT NULL, -- runs.n, 0 for the first question
	depth       INTEGER NOT NULL, -- runs on the branch, including this one
	status      TEXT    NOT NULL,
	owner       TEXT    NOT NULL, -- of the lease
	lease_until INTEGER NOT NULL,
	tokens_in   INTEGER NOT NULL DEFAULT 0,
	tokens_out  INTEGER NOT NULL DEFAULT 0,
	created_at  INTEGER NOT NULL,
	ended_at    INTEGER NOT NULL DEFAULT 0,
	charged     TEXT    NOT NULL DEFAULT '' -- the user whose limit of concurrent runs it counts against; empty: none
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

-- The log. id is run << 20 | seq, so a run's events are adjacent without an index. A run has at most 2^20 - 1 events.
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
	user_id    TEXT    NOT NULL,
	key        TEXT    NOT NULL,
	request    BLOB    NOT NULL, -- SHA-256 of the request as JSON
	run        INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	created_at INTEGER NOT NULL,
	PRIMARY KEY (user_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_run ON idempotency_keys (run);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Ratings of answers by users.
CREATE TABLE feedback (
	n          INTEGER PRIMARY KEY,
	run        INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	user_id    TEXT    NOT NULL,
	rating     TEXT    NOT NULL,
	reason     TEXT    NOT NULL,
	comment    TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	UNIQUE (run, user_id)
) STRICT;
CREATE INDEX feedback_by_age ON feedback (user_id, updated_at DESC, n DESC);

-- Questions that wait for the end of their session's run.
CREATE TABLE queued (
	n          INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	session    INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
	place      INTEGER NOT NULL, -- the lowest is sent first
	key        TEXT    NOT NULL, -- idempotency key of its run
	request    TEXT    NOT NULL, -- RunRequest as JSON
	problem    TEXT    NOT NULL DEFAULT '',
	taken      INTEGER NOT NULL DEFAULT 0, -- 1: it is being sent and cannot be changed
	created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX queued_by_session ON queued (session, place);

-- Commands to running runs, such as stop, answer now or approve a call.
CREATE TABLE commands (
	n     INTEGER PRIMARY KEY,
	run   INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	about TEXT    NOT NULL, -- unique per run
	kind  TEXT    NOT NULL,
	call  TEXT    NOT NULL, -- call_id of a step; empty for the whole run
	input TEXT, -- JSON; NULL for none
	UNIQUE (run, about)
) STRICT;

-- Usage that counts against users' limits. Rows older than the limit's window are deleted.
CREATE TABLE spent (
	user_id TEXT    NOT NULL,
	what   TEXT    NOT NULL,
	at     INTEGER NOT NULL,
	amount INTEGER NOT NULL,
	PRIMARY KEY (user_id, what, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_by_age ON spent (at);

CREATE TABLE documents (
	n           INTEGER PRIMARY KEY,
	id          TEXT    NOT NULL UNIQUE,
	user_id     TEXT    NOT NULL,
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
	meta        TEXT    NOT NULL, -- JSON, from the file; given_meta takes precedence
	state       TEXT    NOT NULL,
	semantic    TEXT    NOT NULL,
	progress    TEXT    NOT NULL, -- JSON
	failure     TEXT    NOT NULL DEFAULT '', -- JSON
	passages    INTEGER NOT NULL DEFAULT 0,
	content     INTEGER NOT NULL DEFAULT 0, -- contents.n of the current content, 0 before the first
	created_at  INTEGER NOT NULL,
	updated_at  INTEGER NOT NULL,
	deleted_at  INTEGER NOT NULL DEFAULT 0,
	purging     INTEGER NOT NULL DEFAULT 0 -- 1: its removal has begun; it cannot be restored
) STRICT;
CREATE UNIQUE INDEX documents_by_path ON documents (user_id, namespace, path) WHERE deleted_at = 0;
CREATE INDEX documents_by_bytes ON documents (user_id, namespace, sha256);
CREATE INDEX documents_by_hash ON documents (sha256);
CREATE INDEX documents_by_age ON documents (user_id, deleted_at, created_at, n);
-- a covering index for the total size of a user's documents
CREATE INDEX documents_by_size ON documents (user_id, bytes);
CREATE INDEX documents_hidden ON documents (deleted_at) WHERE deleted_at > 0;

-- The extracted content of one version of a document. It is written in pieces and invisible until documents.content
-- refers to it and live is 1. Its passages are numbered from first_row without gaps.
CREATE TABLE contents (
	n          INTEGER PRIMARY KEY,
	document   INTEGER NOT NULL, -- documents.n
	live       INTEGER NOT NULL DEFAULT 0,
	changed    INTEGER NOT NULL DEFAULT 0, -- corpus_state.changes when it was last shown or hidden
	first_row  INTEGER NOT NULL,
	passages   INTEGER NOT NULL,
	lengths    BLOB    NOT NULL, -- number of terms of each passage, two bytes, little-endian
	sizes      TEXT    NOT NULL, -- of the pages, JSON
	sha256     TEXT    NOT NULL,
	filename   TEXT    NOT NULL, -- filename, mime and bytes of this version, to restore it
	mime       TEXT    NOT NULL,
	bytes      INTEGER NOT NULL,
	started_at INTEGER NOT NULL
) STRICT;
CREATE INDEX contents_by_document ON contents (document);
CREATE INDEX contents_by_hash ON contents (sha256);
CREATE INDEX contents_by_row ON contents (first_row);
CREATE INDEX contents_changed ON contents (changed);
CREATE INDEX contents_unseen ON contents (started_at) WHERE live = 0;

-- The texts of documents. at is contents.n << 32 | the offset of the piece's first rune; before version 18 the lower
-- half was 0, 1, 2, …. If packed is not NULL, it contains the compressed text and body is empty. In a table with row
-- numbers, rows of more than 1,000 bytes share pages.
CREATE TABLE texts (
	at     INTEGER PRIMARY KEY,
	body   TEXT NOT NULL,
	packed BLOB
) STRICT;

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

-- The text of a passage is in text or packed. If text is empty and packed is NULL, it is in texts.
CREATE TABLE passages (
	row         INTEGER PRIMARY KEY, -- contents.first_row + ordinal; also its number in the word index
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

-- The word index: see package postings.
CREATE TABLE segments (
	n          INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused
	owner      TEXT    NOT NULL,
	live       INTEGER NOT NULL DEFAULT 0, -- 1: visible to searches
	changed    INTEGER NOT NULL DEFAULT 0, -- corpus_state.changes of the newest content in it
	passages   INTEGER NOT NULL DEFAULT 0,
	started_at INTEGER NOT NULL
) STRICT;
CREATE INDEX segments_by_owner ON segments (owner) WHERE live = 1;
CREATE TABLE segment_pages (
	n       INTEGER PRIMARY KEY, -- so that a page of the index fills one page of the file
	segment INTEGER NOT NULL,
	key     BLOB    NOT NULL,
	body    BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX segment_pages_by_key ON segment_pages (segment, key);
-- Contents that are not in the word index yet. The next start indexes them.
CREATE TABLE unindexed (content INTEGER PRIMARY KEY) STRICT;

-- One row. changes counts changes of visible content, removals permanent removals; next_row is the number of the next
-- passage.
CREATE TABLE corpus_state (
	n               INTEGER PRIMARY KEY CHECK (n = 1),
	changes         INTEGER NOT NULL DEFAULT 0,
	removals        INTEGER NOT NULL DEFAULT 0,
	next_row        INTEGER NOT NULL DEFAULT 1,
	vector_changes  INTEGER NOT NULL DEFAULT 0,
	vector_removals INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO corpus_state (n) VALUES (1);

CREATE TABLE corpus_versions (
	user_id TEXT    PRIMARY KEY,
	version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE vector_models (
	n         INTEGER PRIMARY KEY AUTOINCREMENT,
	name      TEXT    NOT NULL UNIQUE, -- empty: not recorded, before version 17
	dimension INTEGER NOT NULL,
	signed    INTEGER NOT NULL DEFAULT 0 -- 1: all its vectors are in vector_signs
) STRICT;

CREATE TABLE vectors (
	n          INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with every write, so that readers can fetch what is new
	model      INTEGER NOT NULL, -- vector_models.n
	passage_id TEXT    NOT NULL,
	document   TEXT    NOT NULL, -- documents.id
	user_id    TEXT    NOT NULL,
	namespace  TEXT    NOT NULL,
	body       BLOB    NOT NULL, -- float32, little-endian
	text_hash  BLOB, -- 16 bytes of the text's SHA-256, so that equal texts share a vector; NULL before version 21
	UNIQUE (model, passage_id)
) STRICT;
CREATE INDEX vectors_by_document ON vectors (document, model);
CREATE INDEX vectors_by_text ON vectors (text_hash, model) WHERE text_hash IS NOT NULL;

-- The signs of vectors, one bit per dimension. A search reads all signs and only the vectors of the best ones. A row
-- contains vectors of one document and is written in their transaction.
CREATE TABLE vector_signs (
	n         INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with every write, so that readers can fetch what is new
	model     INTEGER NOT NULL, -- vector_models.n
	document  TEXT    NOT NULL, -- documents.id
	user_id   TEXT    NOT NULL,
	namespace TEXT    NOT NULL,
	body      BLOB    NOT NULL -- for each vector: vectors.n, then its signs in words of 64 bits; little-endian
) STRICT;
CREATE INDEX vector_signs_by_model ON vector_signs (model);
CREATE INDEX vector_signs_by_document ON vector_signs (document);

-- Users take turns: the job with the lowest turn is next. If a process dies, its jobs run alone until an attempt ends.
CREATE TABLE jobs (
	n        INTEGER PRIMARY KEY AUTOINCREMENT,
	kind     TEXT    NOT NULL,
	document TEXT    NOT NULL, -- documents.id
	sha256   TEXT    NOT NULL,
	user_id  TEXT    NOT NULL DEFAULT '',
	turn     INTEGER NOT NULL DEFAULT 0,
	attempt  INTEGER NOT NULL DEFAULT 0,
	leased   INTEGER NOT NULL DEFAULT 0,
	ready_at INTEGER NOT NULL DEFAULT 0, -- the earliest start; if leased, the end of the lease
	blame    INTEGER NOT NULL DEFAULT 0, -- see corpus.Job
	alone    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX jobs_by_turn ON jobs (kind, turn, n);
CREATE INDEX jobs_by_user ON jobs (kind, user_id, turn);
CREATE INDEX jobs_by_document ON jobs (document, kind);
CREATE INDEX jobs_alone ON jobs (kind) WHERE alone = 1;
CREATE INDEX jobs_leased ON jobs (kind) WHERE leased = 1;

-- Vectors and originals outside the database that are still to be removed: see corpus.Removal.
CREATE TABLE removals (
	document TEXT    NOT NULL, -- documents.id, whose vectors are to be removed; empty: only the original
	sha256   TEXT    NOT NULL, -- of the original
	attempts INTEGER NOT NULL DEFAULT 0,
	due_at   INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (document, sha256)
) STRICT, WITHOUT ROWID;

-- Folders that programs watch, with their state at the last look, for the documents page.
CREATE TABLE watched (
	user_id   TEXT    NOT NULL,
	namespace TEXT    NOT NULL,
	folder    TEXT    NOT NULL, -- absolute, on the program's machine
	looked_at INTEGER NOT NULL,
	body      TEXT    NOT NULL, -- corpus.Watched
	PRIMARY KEY (user_id, namespace, folder)
) STRICT;

-- Places that are synchronized, and their items. Their secrets are in files of the data directory.
CREATE TABLE places (
	n           INTEGER PRIMARY KEY,
	id          TEXT    NOT NULL UNIQUE,
	user_id     TEXT    NOT NULL,
	name        TEXT    NOT NULL,
	setup       TEXT    NOT NULL, -- placestore.Setup
	progress    TEXT    NOT NULL, -- placestore.Progress
	removing    INTEGER NOT NULL DEFAULT 0,
	revision    INTEGER NOT NULL DEFAULT 1,
	looks       INTEGER NOT NULL DEFAULT 0,
	created_at  INTEGER NOT NULL,
	due_at      INTEGER NOT NULL, -- 0: no look is planned
	owner       TEXT    NOT NULL DEFAULT '',
	lease_until INTEGER NOT NULL DEFAULT 0,
	deaths      INTEGER NOT NULL DEFAULT 0 -- of processes while they synchronized it: see placestore.MaxDeaths
) STRICT;
CREATE INDEX places_user ON places (user_id, name);
CREATE INDEX places_due ON places (due_at) WHERE due_at > 0;

CREATE TABLE place_items (
	place    INTEGER NOT NULL REFERENCES places (n) ON DELETE CASCADE,
	key      TEXT    NOT NULL,
	look     INTEGER NOT NULL, -- the last one that saw it
	wanted   INTEGER NOT NULL,
	put_off  INTEGER NOT NULL DEFAULT 0, -- the look that failed to fetch it
	version  TEXT    NOT NULL DEFAULT '',
	document TEXT    NOT NULL DEFAULT '',
	name     TEXT    NOT NULL,
	link     TEXT    NOT NULL,
	refusal  TEXT    NOT NULL DEFAULT '', -- placestore.Failure
	body     TEXT    NOT NULL, -- as it was listed
	PRIMARY KEY (place, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX place_items_wanted ON place_items (place, put_off, key) WHERE wanted = 1;
CREATE INDEX place_items_look ON place_items (place, look);
CREATE INDEX place_items_document ON place_items (place, document) WHERE document <> '';
CREATE INDEX place_items_refused ON place_items (place, key) WHERE refusal <> '';

-- Public links to one answer with its quotes.
CREATE TABLE shares (
	n          INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	run        INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	user_id    TEXT    NOT NULL,
	hash       BLOB    NOT NULL UNIQUE, -- SHA-256 of the token
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	opens      INTEGER NOT NULL DEFAULT 0,
	opened_at  INTEGER NOT NULL DEFAULT 0 -- the last time; 0: never
) STRICT;
CREATE INDEX shares_by_user ON shares (user_id, n);
CREATE INDEX shares_by_run ON shares (run);

-- Clients of /mcp, the grants of users, and the SHA-256 of their secrets: see package grants.
CREATE TABLE oauth (
	kind    TEXT    NOT NULL,
	id      TEXT    NOT NULL,
	owner   TEXT    NOT NULL,
	used    INTEGER NOT NULL,
	made    INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	body    TEXT    NOT NULL,
	PRIMARY KEY (kind, id)
) STRICT;
CREATE INDEX oauth_owner ON oauth (kind, owner, made);
CREATE INDEX oauth_expires ON oauth (expires);

-- Questions that are asked again when documents change.
CREATE TABLE standing (
	id         TEXT    NOT NULL PRIMARY KEY,
	user_id    TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	paused     INTEGER NOT NULL,
	unseen     INTEGER NOT NULL, -- 1: something changed since the user looked
	version    INTEGER NOT NULL, -- corpus_versions.version when the library was looked at
	due_at     INTEGER NOT NULL, -- when there is something to do; 0: when the library has another version
	body       TEXT    NOT NULL  -- chat.Standing
) STRICT;
CREATE INDEX standing_by_user ON standing (user_id, created_at);
CREATE INDEX standing_by_due ON standing (due_at) WHERE paused = 0;

-- The users' feeds of changes.
CREATE TABLE standing_feeds (
	user_id TEXT NOT NULL PRIMARY KEY,
	hash BLOB NOT NULL UNIQUE -- SHA-256 of the token in the address
) STRICT;

-- Tables over many documents.
CREATE TABLE grids (
	id         TEXT    NOT NULL PRIMARY KEY,
	user_id    TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	due_at     INTEGER NOT NULL, -- when there is something to do; 0: nothing is
	body       TEXT    NOT NULL  -- chat.Grid
) STRICT;
CREATE INDEX grids_by_user ON grids (user_id, created_at);
CREATE INDEX grids_by_due ON grids (due_at) WHERE due_at > 0;

CREATE TABLE grid_cells (
	grid   TEXT    NOT NULL,
	row    INTEGER NOT NULL,
	col    INTEGER NOT NULL,
	seq    INTEGER NOT NULL, -- grows with every change within the grid
	body   TEXT    NOT NULL, -- chat.GridCell
	PRIMARY KEY (grid, row, col)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX grid_cells_by_seq ON grid_cells (grid, seq);

-- The users' webhooks for changes.
CREATE TABLE webhooks (
	user_id   TEXT    NOT NULL PRIMARY KEY,
	url       TEXT    NOT NULL,
	origin    TEXT    NOT NULL, -- of links in notices
	secret    BLOB    NOT NULL, -- signs the notices
	set_at    INTEGER NOT NULL,
	sent_at   INTEGER NOT NULL,
	failed_at INTEGER NOT NULL,
	trouble   TEXT    NOT NULL,
	lost      INTEGER NOT NULL,
	local     INTEGER NOT NULL DEFAULT 0 -- 1: set by the local user; 0 for those set before version 29
) STRICT;

-- Notices to be sent to the webhooks.
CREATE TABLE notices (
	id     TEXT    NOT NULL PRIMARY KEY,
	user_id TEXT    NOT NULL REFERENCES webhooks (user_id) ON DELETE CASCADE,
	kept   TEXT    REFERENCES standing (id) ON DELETE CASCADE, -- NULL: a notice that the webhook was set
	failed INTEGER NOT NULL, -- failed attempts
	due_at INTEGER NOT NULL,
	body   TEXT    NOT NULL -- chat.Notice
) STRICT;
CREATE INDEX notices_due ON notices (due_at);
CREATE INDEX notices_user ON notices (user_id, due_at);
CREATE INDEX notices_kept ON notices (kept);
