package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
)

// OpenRows opens the database file at path for code that copies its rows, and creates or upgrades it. No other process
// may use the file. Writes have no journal: after a failed one the file is unusable.
func OpenRows(ctx context.Context, path string, log *slog.Logger) (*sql.DB, error) {
	db, err := Open(ctx, path, log)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, failure(err)
	}
	return openPool(path, 1, "journal_mode(OFF)", "synchronous(OFF)", "cache_size(-8000)")
}
