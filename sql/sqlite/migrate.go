package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/migrations"
	"github.com/footnote/footnote/text/locale"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrateSchema runs the pending migrations, each in a separate transaction.
func migrateSchema(ctx context.Context, conn *sql.Conn, log *slog.Logger) error {
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	return migrateTo(ctx, conn, log, all)
}

// migrateTo runs the pending ones of the given migrations, each in a separate transaction, so that an interrupted
// migration continues. Tests stop at an earlier one.
func migrateTo(ctx context.Context, conn *sql.Conn, log *slog.Logger, all []migrations.Migration) error {
	const table = `CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL,
		applied_at INTEGER NOT NULL) STRICT`
	if _, err := conn.ExecContext(ctx, table); err != nil {
		return fmt.Errorf("migrate: %w", failure(err))
	}
	for {
		done, err := migrateOne(ctx, conn, log, all)
		if err != nil || done {
			return err
		}
	}
}

// migrateOne runs the next migration, if any. It reads the version in the same transaction, so two processes that
// open a new file don't run a migration twice. SQLite's schema changes are transactional, so the migration and its
// record are committed together.
func migrateOne(
	ctx context.Context, conn *sql.Conn, log *slog.Logger, all []migrations.Migration,
) (done bool, err error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("migrate: %w", failure(err))
	}
	defer func() {
		if rollback := tx.Rollback(); err == nil && !errors.Is(rollback, sql.ErrTxDone) {
			err = rollback
		}
	}()
	var version int
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) FROM migrations`).Scan(&version); err != nil {
		return false, fmt.Errorf("migrate: %w", failure(err))
	}
	if version > migrations.Newest(all) {
		return false, &chat.Error{Code: chat.CodeUnavailable, Message: locale.Say(
			"This data directory was written by a newer Footnote (version {1}); use that version or another directory.",
			version)}
	}
	left, err := migrations.After(all, version)
	if err != nil || len(left) == 0 {
		return true, err
	}
	step := left[0]
	if _, err := tx.ExecContext(ctx, step.Script); err != nil {
		return false, fmt.Errorf("migrate to %s: %w", step.Name, failure(err))
	}
	if _, err := tx.ExecContext(
		ctx, `INSERT INTO migrations VALUES (?, ?, ?)`, step.Number, step.Name, time.Now().UnixMicro(),
	); err != nil {
		return false, fmt.Errorf("migrate to %s: %w", step.Name, failure(err))
	}
	if err := tx.Commit(); err != nil {
		return false, fmt.Errorf("migrate to %s: %w", step.Name, failure(err))
	}
	log.DebugContext(ctx, "database migrated", "step", step.Name)
	return false, nil
}
