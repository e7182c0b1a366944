-- From version 13 to the schema of 014_schema.sql.
ALTER TABLE wishes RENAME TO commands;
