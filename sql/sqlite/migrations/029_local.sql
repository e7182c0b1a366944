-- Whether the local user set a webhook. It is not known of those from before, so they are treated as another's.
ALTER TABLE webhooks ADD COLUMN local INTEGER NOT NULL DEFAULT 0;
