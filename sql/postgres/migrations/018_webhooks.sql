-- Where each user's changes are sent.
CREATE TABLE webhooks (
	user_id   text   COLLATE "C" PRIMARY KEY,
	url       text   NOT NULL,
	origin    text   NOT NULL, -- of links in what is sent
	secret    bytea  NOT NULL, -- signs what is sent
	set_at    bigint NOT NULL,
	sent_at   bigint NOT NULL,
	failed_at bigint NOT NULL,
	trouble   text   NOT NULL,
	lost      bigint NOT NULL
);

-- What is to be sent there.
CREATE TABLE notices (
	id      text   COLLATE "C" PRIMARY KEY,
	user_id text   COLLATE "C" NOT NULL REFERENCES webhooks (user_id) ON DELETE CASCADE,
	kept    text   COLLATE "C" REFERENCES standing (id) ON DELETE CASCADE, -- NULL: that the webhook was set
	failed  bigint NOT NULL, -- times that it was sent in vain
	due_at  bigint NOT NULL,
	body    text   NOT NULL  -- chat.Notice
);
CREATE INDEX notices_due ON notices (due_at);
CREATE INDEX notices_user ON notices (user_id, due_at);
CREATE INDEX notices_kept ON notices (kept);
