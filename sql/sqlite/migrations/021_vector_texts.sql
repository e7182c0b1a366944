-- Of which text a vector was made: the same text is not embedded twice.
ALTER TABLE vectors ADD COLUMN text_hash BLOB; -- 16 bytes of its SHA-256; NULL: a vector of an earlier version
CREATE INDEX vectors_by_text ON vectors (text_hash, model) WHERE text_hash IS NOT NULL;
