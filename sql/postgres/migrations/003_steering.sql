-- What readers think of answers.
CREATE TABLE feedback (
	n          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	run        bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
	user_id    text   COLLATE "C" NOT NULL,
	rating     text   COLLATE "C" NOT NULL,
	reason     text   COLLATE "C" NOT NULL,
	comment    text   NOT NULL,
	created_at bigint NOT NULL,
	updated_at bigint NOT NULL,
	UNIQUE (run, user_id)
);
CREATE INDEX feedback_by_age ON feedback (user_id, updated_at DESC, n DESC);

-- Questions that wait until their session's run is over.
CREATE TABLE queued (
	n          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id         text   COLLATE "C" NOT NULL UNIQUE,
	session    bigint NOT NULL REFERENCES sessions ON DELETE CASCADE,
	place      bigint NOT NULL, -- the lowest is sent first
	key        bytea  NOT NULL, -- idempotency key of the run it becomes
	request    bytea  NOT NULL, -- RunRequest as JSON
	problem    text   NOT NULL DEFAULT '',
	taken      boolean NOT NULL DEFAULT false, -- it is being sent: nobody can change it
	created_at bigint NOT NULL
);
CREATE INDEX queued_by_session ON queued (session, place);
