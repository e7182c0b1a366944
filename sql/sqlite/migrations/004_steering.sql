-- What readers think of answers.
CREATE TABLE feedback (
	n          INTEGER PRIMARY KEY,
	run        INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
	user       TEXT    NOT NULL,
	rating     TEXT    NOT NULL,
	reason     TEXT    NOT NULL,
	comment    TEXT    NOT NULL,
	created_at INTEGER NOT NULL,
	updated_at INTEGER NOT NULL,
	UNIQUE (run, user)
) STRICT;
CREATE INDEX feedback_by_age ON feedback (user, updated_at DESC, n DESC);

-- Questions that wait until their session's run is over.
CREATE TABLE queued (
	n          INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	session    INTEGER NOT NULL REFERENCES sessions ON DELETE CASCADE,
	place      INTEGER NOT NULL, -- the lowest is sent first
	key        TEXT    NOT NULL, -- idempotency key of the run it becomes
	request    TEXT    NOT NULL, -- RunRequest as JSON
	problem    TEXT    NOT NULL DEFAULT '',
	taken      INTEGER NOT NULL DEFAULT 0, -- it is being sent: nobody can change it
	created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX queued_by_session ON queued (session, place);
