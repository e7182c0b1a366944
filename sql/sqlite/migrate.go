package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"footnote/chat"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A migration is one step of the schema. Steps only go forward, and one that was released is never edited.
type migration struct {
	number int
	name   string
	script string
}

// migrations reads the steps in dir, files named NNN_name.sql, in order. Their numbers must be 1, 2, 3 and so on.
func migrations(files fs.FS, dir string) ([]migration, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	var steps []migration
	for _, entry := range entries {
		number, _, _ := strings.Cut(entry.Name(), "_")
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("migrations: %s does not begin with a number", entry.Name())
		}
		script, err := fs.ReadFile(files, dir+"/"+entry.Name())
		if err != nil {
			return nil, fmt.Errorf("migrations: %w", err)
		}
		steps = append(steps, migration{number: n, name: strings.TrimSuffix(entry.Name(), ".sql"), script: string(script)})
	}
	slices.SortFunc(steps, func(a, b migration) int { return cmp.Compare(a.number, b.number) })
	for i, step := range steps {
		if step.number != i+1 {
			return nil, fmt.Errorf("migrations: %s should have the number %d", step.name, i+1)
		}
	}
	return steps, nil
}

// migrate brings the database up to the newest step, each step in a transaction of its own.
func migrate(ctx context.Context, conn *sql.Conn, log *slog.Logger) error {
	steps, err := migrations(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	return migrateTo(ctx, conn, log, steps)
}

func migrateTo(ctx context.Context, conn *sql.Conn, log *slog.Logger, steps []migration) error {
	const table = `CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT`
	if _, err := conn.ExecContext(ctx, table); err != nil {
		return fmt.Errorf("migrate: %w", failure(err))
	}
	for {
		done, err := migrateOne(ctx, conn, log, steps)
		if err != nil || done {
			return err
		}
	}
}

// migrateOne applies the next step, if there is one. It reads the version inside the step's transaction, so two processes
// that open the same new file don't apply a step twice.
func migrateOne(ctx context.Context, conn *sql.Conn, log *slog.Logger, steps []migration) (done bool, err error) {
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
	if version > len(steps) {
		return false, &chat.Error{Code: chat.CodeUnavailable, Message: fmt.Sprintf(
			"This data directory was written by a newer Footnote (version %d); use that version or another directory.", version)}
	}
	if version == len(steps) {
		return true, nil
	}
	step := steps[version]
	if _, err := tx.ExecContext(ctx, step.script); err != nil {
		return false, fmt.Errorf("migrate to %s: %w", step.name, failure(err))
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO migrations VALUES (?, ?, ?)`, step.number, step.name, time.Now().UnixMicro()); err != nil {
		return false, fmt.Errorf("migrate to %s: %w", step.name, failure(err))
	}
	if err := tx.Commit(); err != nil {
		return false, fmt.Errorf("migrate to %s: %w", step.name, failure(err))
	}
	log.DebugContext(ctx, "database migrated", "step", step.name)
	return false, nil
}
