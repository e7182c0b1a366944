-- The index of words is package postings' now, which keeps it in rows of bytes. Older programs can't go on beside it.
-- min_compatible: 8
DROP FUNCTION lexical_rows(bigint[], int, bigint);
DROP FUNCTION lexical_counts(bigint[]);
DROP FUNCTION lexical_phrases(bigint[], text[]);
DROP FUNCTION lexicon_similar(text, real, int);
DROP TABLE lexical;
DROP TABLE lexicon; -- the extension pg_trgm stays: another schema may use it
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
CREATE INDEX contents_by_row ON contents (first_row);
-- The contents that the new index does not hold yet: the next start makes their postings.
CREATE TABLE unindexed (content bigint PRIMARY KEY);
INSERT INTO unindexed SELECT content FROM documents WHERE content > 0;

-- The text, blocks and passages of a large document are packed, see package pack: then body or blocks is empty.
ALTER TABLE contents ADD COLUMN packed bytea NOT NULL DEFAULT '', ADD COLUMN packed_blocks bytea NOT NULL DEFAULT '';
ALTER TABLE contents ALTER COLUMN packed SET STORAGE EXTERNAL, ALTER COLUMN packed_blocks SET STORAGE EXTERNAL;
ALTER TABLE passages ADD COLUMN packed bytea NOT NULL DEFAULT '';
ALTER TABLE passages ALTER COLUMN packed SET STORAGE EXTERNAL;
