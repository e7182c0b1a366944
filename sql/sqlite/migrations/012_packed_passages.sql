-- The passages of a large document are packed: then text is empty. See pack.go.
ALTER TABLE passages ADD COLUMN packed BLOB;
