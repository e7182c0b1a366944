-- Each user names sessions for oneself: two users may use the same name. id stays unique among all of them; where another user has the name
-- already, it is the name, a slash and a random id. No name holds a slash.
ALTER TABLE sessions ADD COLUMN name TEXT GENERATED ALWAYS AS (substr(id, 1, instr(id || '/', '/') - 1)) VIRTUAL;
CREATE UNIQUE INDEX sessions_by_name ON sessions (user, name);
