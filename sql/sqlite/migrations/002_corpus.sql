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

-- The terms arrive analysed, separated by spaces. The tokeniser leaves them as they are: all bytes above 127 and all marks of
-- ASCII belong to a term, so only white space separates.
CREATE VIRTUAL TABLE lexical USING fts5(t, b, content='', contentless_delete=1,
	tokenize="ascii tokenchars '!#$%&()*+,-./:;<=>?@[\]^_`{|}~''""'");
CREATE VIRTUAL TABLE lexical_terms USING fts5vocab(lexical, 'row');
CREATE VIRTUAL TABLE lexical_places USING fts5vocab(lexical, 'instance');

-- Every body term ever indexed that a typing error could have been meant for.
CREATE TABLE lexicon (
	n    INTEGER PRIMARY KEY,
	term TEXT NOT NULL UNIQUE
) STRICT;

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
