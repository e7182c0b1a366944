-- What a document left outside the database and is still to be removed: see corpus.Removal.
CREATE TABLE removals (
	document text   NOT NULL, -- documents.id, whose vectors are to go; empty: of an original only
	sha256   text   NOT NULL, -- of the original
	attempts int    NOT NULL DEFAULT 0,
	due_at   bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (document, sha256)
);
