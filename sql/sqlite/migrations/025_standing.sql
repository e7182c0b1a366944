-- Questions that are asked again when documents change.
CREATE TABLE standing (
	id         TEXT    NOT NULL PRIMARY KEY,
	user       TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	paused     INTEGER NOT NULL,
	unseen     INTEGER NOT NULL, -- 1: something changed since the user looked
	version    INTEGER NOT NULL, -- corpus_versions.version when the library was looked at
	due_at     INTEGER NOT NULL, -- when there is something to do; 0: when the library has another version
	body       TEXT    NOT NULL  -- chat.Standing
) STRICT;
CREATE INDEX standing_by_user ON standing (user, created_at);
CREATE INDEX standing_by_due ON standing (due_at) WHERE paused = 0;

-- Where each user's changes can be read as a feed.
CREATE TABLE standing_feeds (
	user TEXT NOT NULL PRIMARY KEY,
	hash BLOB NOT NULL UNIQUE -- SHA-256 of the token in the address
) STRICT;
