-- The texts of documents in rows that fill the pages of the file: of a table without row numbers a row of more than
-- 1,000 bytes takes a page of its own. at is the content's number and, in its lower 32 bits, that of the piece's first
-- rune (of pieces written before: 0, 1, 2, …). A passage of a large document has no text of its own but that of these
-- rows; then text is empty and packed is NULL.
CREATE TABLE texts (
	at     INTEGER PRIMARY KEY,
	body   TEXT NOT NULL,
	packed BLOB
) STRICT;
INSERT INTO texts (at, body, packed) SELECT content << 32 | piece, body, packed FROM content_texts ORDER BY content, piece;
DROP TABLE content_texts;
