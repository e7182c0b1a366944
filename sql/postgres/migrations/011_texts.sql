-- The texts of large documents in pieces, each a DEFLATE stream. A passage of such a document has no text of its own but
-- that of these rows; then its body and packed are empty. Contents that were written before, or copied, have their text
-- in contents and passages.
CREATE TABLE texts (
	content   bigint NOT NULL,
	start_off int    NOT NULL, -- the piece's first rune
	packed    bytea  NOT NULL,
	PRIMARY KEY (content, start_off)
) WITH (toast_tuple_target = 8160);
ALTER TABLE texts ALTER COLUMN packed SET STORAGE EXTERNAL;
