-- What users spend of what their limits allow, newest last; rows older than a limit's window go. charged is the user whose limit of runs at
-- once a run counts against; empty: nobody's.
CREATE TABLE spent (
	user   TEXT    NOT NULL,
	what   TEXT    NOT NULL,
	at     INTEGER NOT NULL,
	amount INTEGER NOT NULL,
	PRIMARY KEY (user, what, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_by_age ON spent (at);

ALTER TABLE runs ADD COLUMN charged TEXT NOT NULL DEFAULT '';
UPDATE runs SET charged = (SELECT user FROM sessions WHERE n = session) WHERE status = 'running' AND (SELECT user FROM sessions WHERE n = session) <> 'local';
CREATE INDEX runs_charged ON runs (charged) WHERE status = 'running' AND charged <> '';

-- A day's questions go on counting across the upgrade.
INSERT INTO spent (user, what, at, amount) SELECT s.user, 'question', r.created_at, count(*) FROM runs r JOIN sessions s ON s.n = r.session
	WHERE s.user <> 'local' AND r.created_at > (unixepoch() - 86400) * 1000000 GROUP BY s.user, r.created_at;

-- The sum of a user's documents is read without the documents.
CREATE INDEX documents_by_size ON documents (user, bytes);
