-- The index of words is package postings' now, which keeps it in rows of bytes.
DROP TABLE lexical_terms;
DROP TABLE lexical_places;
DROP TABLE lexical;
DROP TABLE lexicon;
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
