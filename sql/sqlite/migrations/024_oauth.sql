-- What users allowed programs that use /mcp: clients, grants and the SHA-256 of their secrets. See package grants.
CREATE TABLE oauth (
	kind    TEXT    NOT NULL,
	id      TEXT    NOT NULL,
	owner   TEXT    NOT NULL,
	used    INTEGER NOT NULL,
	made    INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	body    TEXT    NOT NULL,
	PRIMARY KEY (kind, id)
) STRICT;
CREATE INDEX oauth_owner ON oauth (kind, owner, made);
CREATE INDEX oauth_expires ON oauth (expires);
