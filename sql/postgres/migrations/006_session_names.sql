-- Each user names sessions for oneself: two users may use the same name. id stays unique among all of them, and older programs find by it;
-- where another user has the name already, it is the name, a slash and a random id. No name holds a slash.
ALTER TABLE sessions ADD COLUMN name text COLLATE "C" GENERATED ALWAYS AS (split_part(id, '/', 1)) STORED;
CREATE UNIQUE INDEX sessions_by_name ON sessions (user_id, name);
