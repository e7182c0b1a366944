-- What users allowed programs that use /mcp: clients, grants and the SHA-256 of their secrets. See package grants.
CREATE TABLE oauth (
	n       bigint  GENERATED ALWAYS AS IDENTITY,
	kind    text    NOT NULL,
	id      text    NOT NULL,
	owner   text    NOT NULL,
	used    boolean NOT NULL,
	made    bigint  NOT NULL,
	expires bigint  NOT NULL,
	body    text    NOT NULL,
	PRIMARY KEY (kind, id)
);
CREATE INDEX oauth_owner ON oauth (kind, owner, made);
CREATE INDEX oauth_expires ON oauth (expires);
