-- Places that are followed, and their items. Their secrets are in files of the data directory.
CREATE TABLE places (
	n           bigint  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id          text    NOT NULL UNIQUE,
	user_id     text    NOT NULL,
	name        text    NOT NULL,
	setup       text    NOT NULL, -- placestore.Setup
	progress    text    NOT NULL, -- placestore.Progress
	removing    bigint  NOT NULL DEFAULT 0,
	revision    bigint  NOT NULL DEFAULT 1,
	looks       bigint  NOT NULL DEFAULT 0,
	created_at  bigint  NOT NULL,
	due_at      bigint  NOT NULL, -- 0: no look is planned
	owner       text    NOT NULL DEFAULT '',
	lease_until bigint  NOT NULL DEFAULT 0
);
CREATE INDEX places_user ON places (user_id, name);
CREATE INDEX places_due ON places (due_at) WHERE due_at > 0;

CREATE TABLE place_items (
	place    bigint  NOT NULL REFERENCES places (n) ON DELETE CASCADE,
	key      text    COLLATE "C" NOT NULL,
	look     bigint  NOT NULL, -- the last one that saw it
	wanted   bigint  NOT NULL,
	put_off  bigint  NOT NULL DEFAULT 0, -- the look that failed to fetch it
	version  text    NOT NULL DEFAULT '',
	document text    NOT NULL DEFAULT '',
	name     text    NOT NULL,
	link     text    NOT NULL,
	refusal  text    NOT NULL DEFAULT '', -- placestore.Failure
	body     text    NOT NULL, -- as it was listed
	PRIMARY KEY (place, key)
);
CREATE INDEX place_items_wanted ON place_items (place, put_off, key) WHERE wanted = 1;
CREATE INDEX place_items_look ON place_items (place, look);
CREATE INDEX place_items_document ON place_items (place, document) WHERE document <> '';
CREATE INDEX place_items_refused ON place_items (place, key) WHERE refusal <> '';
