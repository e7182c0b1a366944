-- Folders that programs follow, as they last saw them: for the page of documents.
CREATE TABLE watched (
	user      TEXT    NOT NULL,
	namespace TEXT    NOT NULL,
	folder    TEXT    NOT NULL, -- absolute, on the program's machine
	looked_at INTEGER NOT NULL,
	body      TEXT    NOT NULL, -- corpus.Watched
	PRIMARY KEY (user, namespace, folder)
) STRICT;
