-- Version 13 is the oldest that can be migrated.
ALTER TABLE wishes RENAME TO commands;
