-- The signs of vectors, one bit a dimension, in blocks: a search reads all of them, and of the vectors only those that
-- they bring. Blocks hold vectors of one document and are written in the transaction that writes those.
CREATE TABLE vector_signs (
	n         INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with every write, so that readers can ask for what is new
	model     INTEGER NOT NULL, -- vector_models.n
	document  TEXT    NOT NULL, -- documents.id
	user      TEXT    NOT NULL,
	namespace TEXT    NOT NULL,
	body      BLOB    NOT NULL -- for each vector: vectors.n, and its signs in words of 64 bits; all little-endian
) STRICT;
CREATE INDEX vector_signs_by_model ON vector_signs (model);
CREATE INDEX vector_signs_by_document ON vector_signs (document);

ALTER TABLE vector_models ADD COLUMN signed INTEGER NOT NULL DEFAULT 0; -- 1: each of its vectors has its signs
