-- Questions that are asked again when documents change.
CREATE TABLE standing (
	id         text    COLLATE "C" PRIMARY KEY,
	user_id    text    COLLATE "C" NOT NULL,
	created_at bigint  NOT NULL,
	paused     bigint  NOT NULL,
	unseen     bigint  NOT NULL, -- 1: something changed since the user looked
	version    bigint  NOT NULL, -- corpus_versions.version when the library was looked at
	due_at     bigint  NOT NULL, -- when there is something to do; 0: when the library has another version
	body       text    NOT NULL  -- chat.Standing
);
CREATE INDEX standing_by_user ON standing (user_id, created_at);
CREATE INDEX standing_by_due ON standing (due_at) WHERE paused = 0;

-- Where each user's changes can be read as a feed.
CREATE TABLE standing_feeds (
	user_id text  COLLATE "C" PRIMARY KEY,
	hash    bytea NOT NULL UNIQUE -- SHA-256 of the token in the address
);
