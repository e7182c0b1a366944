-- The columns that name users have one name in both databases, so that both read and write with the same statements.
ALTER TABLE sessions RENAME COLUMN user TO user_id;
ALTER TABLE idempotency_keys RENAME COLUMN user TO user_id;
ALTER TABLE feedback RENAME COLUMN user TO user_id;
ALTER TABLE spent RENAME COLUMN user TO user_id;
ALTER TABLE documents RENAME COLUMN user TO user_id;
ALTER TABLE corpus_versions RENAME COLUMN user TO user_id;
ALTER TABLE vectors RENAME COLUMN user TO user_id;
ALTER TABLE vector_signs RENAME COLUMN user TO user_id;
ALTER TABLE jobs RENAME COLUMN user TO user_id;
ALTER TABLE watched RENAME COLUMN user TO user_id;
ALTER TABLE places RENAME COLUMN user TO user_id;
ALTER TABLE shares RENAME COLUMN user TO user_id;
ALTER TABLE standing RENAME COLUMN user TO user_id;
ALTER TABLE standing_feeds RENAME COLUMN user TO user_id;
ALTER TABLE grids RENAME COLUMN user TO user_id;
ALTER TABLE webhooks RENAME COLUMN user TO user_id;
ALTER TABLE notices RENAME COLUMN user TO user_id;
