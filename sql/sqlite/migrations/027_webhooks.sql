-- Where each user's changes are sent.
CREATE TABLE webhooks (
	user      TEXT    NOT NULL PRIMARY KEY,
	url       TEXT    NOT NULL,
	origin    TEXT    NOT NULL, -- of links in what is sent
	secret    BLOB    NOT NULL, -- signs what is sent
	set_at    INTEGER NOT NULL,
	sent_at   INTEGER NOT NULL,
	failed_at INTEGER NOT NULL,
	trouble   TEXT    NOT NULL,
	lost      INTEGER NOT NULL
) STRICT;

-- What is to be sent there.
CREATE TABLE notices (
	id     TEXT    NOT NULL PRIMARY KEY,
	user   TEXT    NOT NULL REFERENCES webhooks (user) ON DELETE CASCADE,
	kept   TEXT    REFERENCES standing (id) ON DELETE CASCADE, -- NULL: that the webhook was set
	failed INTEGER NOT NULL, -- times that it was sent in vain
	due_at INTEGER NOT NULL,
	body   TEXT    NOT NULL -- chat.Notice
) STRICT;
CREATE INDEX notices_due ON notices (due_at);
CREATE INDEX notices_user ON notices (user, due_at);
CREATE INDEX notices_kept ON notices (kept);
