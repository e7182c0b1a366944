-- Folders that programs follow, as they last saw them: for the page of documents.
CREATE TABLE watched (
	user_id   text   NOT NULL,
	namespace text   NOT NULL,
	folder    text   NOT NULL, -- absolute, on the program's machine
	looked_at bigint NOT NULL,
	body      text   NOT NULL, -- corpus.Watched
	PRIMARY KEY (user_id, namespace, folder)
);
