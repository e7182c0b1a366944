-- Times are Unix microseconds, 0 for none. A document's, a content's and a passage's number is what other tables refer to.
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
CREATE INDEX documents_changed ON documents (changed);
CREATE INDEX documents_hidden ON documents (deleted_at) WHERE deleted_at > 0;

-- What was made from the version of a document that serves. Its passages have the numbers from first_row on, without gaps.
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
	bytes     bigint NOT NULL
);
CREATE INDEX contents_by_document ON contents (document);
CREATE INDEX contents_by_hash ON contents (sha256);

CREATE TABLE content_words (
	content   bigint NOT NULL,
	piece     int    NOT NULL,
	start_off int    NOT NULL,
	end_off   int    NOT NULL,
	body      bytea  NOT NULL, -- see package wordbox
	PRIMARY KEY (content, piece)
);

CREATE TABLE passages (
	row         bigint PRIMARY KEY, -- contents.first_row + ordinal; also the row in lexical
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
	body        text   NOT NULL
);
CREATE INDEX passages_by_id ON passages (id);

-- The index of words. marks are made of each term and of how often it occurs, see lexical_marks.go; words are the terms themselves,
-- in order, for phrases. Both lie outside the row, so that a look-up of thousands of rows reads few pages.
CREATE TABLE lexical (
	row   bigint   PRIMARY KEY,
	marks bigint[] NOT NULL,
	words text     NOT NULL
) WITH (toast_tuple_target = 128);
ALTER TABLE lexical ALTER COLUMN marks SET STORAGE EXTERNAL;
-- What is new waits in a list that every look-up reads, until it is sorted in: after each document, see content_put.go. That
-- costs half of sorting in each passage by itself.
CREATE INDEX lexical_marks ON lexical USING gin (marks) WITH (fastupdate = on, gin_pending_list_limit = 4096);

-- Every body term ever indexed that a typing error could have been meant for.
CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;
CREATE TABLE lexicon (term text COLLATE "C" PRIMARY KEY);
CREATE INDEX lexicon_by_trigrams ON lexicon USING gin (term gin_trgm_ops) WITH (fastupdate = off);

-- The look-ups of the index. They are functions for the sake of their settings: the planner can't know how rare a mark is,
-- and must never read the whole table.

-- For each mark the rows that have it, at most so many, in the order of the table. Marks come in groups of one term's; when
-- the first of a group has no rows, or too many, the others are not looked up.
CREATE FUNCTION lexical_rows(wanted bigint[], per_term int, most bigint) RETURNS SETOF bigint[] LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
	n     int := 0;
	mark  bigint;
	found bigint[];
	skip  bool;
BEGIN
	FOREACH mark IN ARRAY wanted LOOP
		IF n % per_term = 0 THEN
			found := (SELECT array_agg(l.row) FROM (SELECT lexical.row FROM lexical WHERE marks @> ARRAY[mark] LIMIT most) l);
			skip := found IS NULL OR cardinality(found) >= most;
		ELSIF skip THEN
			found := NULL;
		ELSE
			found := (SELECT array_agg(lexical.row) FROM lexical WHERE marks @> ARRAY[mark]);
		END IF;
		n := n + 1;
		RETURN NEXT found;
	END LOOP;
END $$;

-- For each mark the number of rows that have it.
CREATE FUNCTION lexical_counts(wanted bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
	mark bigint;
BEGIN
	FOREACH mark IN ARRAY wanted LOOP
		RETURN NEXT (SELECT count(*) FROM lexical WHERE marks @> ARRAY[mark]);
	END LOOP;
END $$;

-- The rows that have all marks and hold all phrases.
CREATE FUNCTION lexical_phrases(wanted bigint[], phrases text[]) RETURNS SETOF bigint LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
	RETURN QUERY SELECT lexical.row FROM lexical WHERE marks @> wanted
		AND (SELECT bool_and(strpos(words, phrase) > 0) FROM unnest(phrases) phrase);
END $$;

-- The terms at least so alike to one, from 0 to 1, most alike first.
CREATE FUNCTION lexicon_similar(typed text, likeness real, most int) RETURNS SETOF text LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
	PERFORM set_config('pg_trgm.similarity_threshold', likeness::text, true);
	RETURN QUERY SELECT l.term FROM lexicon l WHERE l.term % typed ORDER BY similarity(l.term, typed) DESC, l.term LIMIT most;
END $$;

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

CREATE TABLE jobs (
	n        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	kind     text   COLLATE "C" NOT NULL,
	document text   COLLATE "C" NOT NULL, -- documents.id
	sha256   text   COLLATE "C" NOT NULL,
	attempt  int    NOT NULL DEFAULT 0,
	leased   bool   NOT NULL DEFAULT false,
	ready_at bigint NOT NULL DEFAULT 0 -- not before this; of a leased one: the end of the lease
);
CREATE INDEX jobs_by_kind ON jobs (kind, n);
CREATE INDEX jobs_by_document ON jobs (document, kind);
