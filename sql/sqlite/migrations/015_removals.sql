-- What a document left outside the database and is still to be removed: see corpus.Removal.
CREATE TABLE removals (
	document TEXT    NOT NULL, -- documents.id, whose vectors are to go; empty: of an original only
	sha256   TEXT    NOT NULL, -- of the original
	attempts INTEGER NOT NULL DEFAULT 0,
	due_at   INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (document, sha256)
) STRICT, WITHOUT ROWID;
