-- The blocks and the text of a large document are packed: then body is empty. See pack.go.
ALTER TABLE content_blocks ADD COLUMN packed BLOB;
ALTER TABLE content_texts ADD COLUMN packed BLOB;
