-- Vectors of several embedding models beside each other: what one model made can't be compared with what another did.
CREATE TABLE vector_models (
	n         INTEGER PRIMARY KEY AUTOINCREMENT,
	name      TEXT    NOT NULL UNIQUE, -- empty: a vector of an earlier version, which did not note its model
	dimension INTEGER NOT NULL
) STRICT;
INSERT INTO vector_models (n, name, dimension)
	SELECT 1, '', vector_dimension FROM corpus_state WHERE vector_dimension > 0;
ALTER TABLE corpus_state DROP COLUMN vector_dimension;

ALTER TABLE vectors RENAME TO vectors_before;
DROP INDEX vectors_by_document;
CREATE TABLE vectors (
	n          INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with every write, so that readers can ask for what is new
	model      INTEGER NOT NULL, -- vector_models.n
	passage_id TEXT NOT NULL,
	document   TEXT NOT NULL, -- documents.id
	user       TEXT NOT NULL,
	namespace  TEXT NOT NULL,
	body       BLOB NOT NULL, -- float32, little-endian
	UNIQUE (model, passage_id)
) STRICT;
INSERT INTO vectors (n, model, passage_id, document, user, namespace, body)
	SELECT n, 1, passage_id, document, user, namespace, body FROM vectors_before ORDER BY n;
DROP TABLE vectors_before;
CREATE INDEX vectors_by_document ON vectors (document, model);
