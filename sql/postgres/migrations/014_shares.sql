-- Links by which anybody reads one answer with its quotes.
CREATE TABLE shares (
	n          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id         text   COLLATE "C" NOT NULL UNIQUE,
	run        bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
	user_id    text   COLLATE "C" NOT NULL,
	hash       bytea  NOT NULL UNIQUE, -- SHA-256 of the token
	created_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	opens      bigint NOT NULL DEFAULT 0,
	opened_at  bigint NOT NULL DEFAULT 0 -- the last time; 0: never
);
CREATE INDEX shares_by_user ON shares (user_id, n);
CREATE INDEX shares_by_run ON shares (run);
