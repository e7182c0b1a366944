-- Places that are followed, and their items. Their secrets are in files of the data directory.
CREATE TABLE places (
	n           INTEGER PRIMARY KEY,
	id          TEXT    NOT NULL UNIQUE,
	user        TEXT    NOT NULL,
	name        TEXT    NOT NULL,
	setup       TEXT    NOT NULL, -- placestore.Setup
	progress    TEXT    NOT NULL, -- placestore.Progress
	removing    INTEGER NOT NULL DEFAULT 0,
	revision    INTEGER NOT NULL DEFAULT 1,
	looks       INTEGER NOT NULL DEFAULT 0,
	created_at  INTEGER NOT NULL,
	due_at      INTEGER NOT NULL, -- 0: no look is planned
	owner       TEXT    NOT NULL DEFAULT '',
	lease_until INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX places_user ON places (user, name);
CREATE INDEX places_due ON places (due_at) WHERE due_at > 0;

CREATE TABLE place_items (
	place    INTEGER NOT NULL REFERENCES places (n) ON DELETE CASCADE,
	key      TEXT    NOT NULL,
	look     INTEGER NOT NULL, -- the last one that saw it
	wanted   INTEGER NOT NULL,
	put_off  INTEGER NOT NULL DEFAULT 0, -- the look that failed to fetch it
	version  TEXT    NOT NULL DEFAULT '',
	document TEXT    NOT NULL DEFAULT '',
	name     TEXT    NOT NULL,
	link     TEXT    NOT NULL,
	refusal  TEXT    NOT NULL DEFAULT '', -- placestore.Failure
	body     TEXT    NOT NULL, -- as it was listed
	PRIMARY KEY (place, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX place_items_wanted ON place_items (place, put_off, key) WHERE wanted = 1;
CREATE INDEX place_items_look ON place_items (place, look);
CREATE INDEX place_items_document ON place_items (place, document) WHERE document <> '';
CREATE INDEX place_items_refused ON place_items (place, key) WHERE refusal <> '';
