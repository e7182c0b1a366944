package postgres

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/migrations"
	"github.com/footnote/footnote/text/locale"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrateTime is the timeout for all migrations, including the wait for other replicas.
const migrateTime = 10 * time.Minute

// migrateTo runs the pending migrations in one transaction, so that a failure changes nothing. An advisory lock
// until the commit serialises replicas. A newer schema is accepted, as in a rolling upgrade, unless one of its
// migrations excludes this program: see leastProgram. Each migration must be compatible with the previous version of
// the program, so that replicas can be upgraded one by one. The lock's name omits the schema: servers of several
// schemas in one database also take turns.
func (db *DB) migrateTo(ctx context.Context, all []migrations.Migration) error {
	err := db.inTx(ctx, migrateTime, func(t *tx) error {
		if _, err := t.Exec(`SELECT pg_advisory_xact_lock(hashtextextended('footnote migrations', 0))`); err != nil {
			return err
		}
		if _, err := t.pgx.Exec(
			t.ctx,
			`CREATE TABLE IF NOT EXISTS migrations (number int PRIMARY KEY, name text NOT NULL,
				applied_at timestamptz NOT NULL DEFAULT now())`,
		); err != nil {
			return err
		}
		if _, err := t.pgx.Exec(
			t.ctx, `ALTER TABLE migrations ADD COLUMN IF NOT EXISTS min_compatible int NOT NULL DEFAULT 1`,
		); err != nil {
			return err
		}
		var version, least int
		if err := t.One(
			`SELECT coalesce(max(number), 0), coalesce(max(min_compatible), 1) FROM migrations`, nil, &version, &least,
		); err != nil {
			return err
		}
		newest := migrations.Newest(all)
		if least > newest {
			return &chat.Error{Code: chat.CodeUnavailable, Message: locale.Say(
				"This database was written by a newer Footnote (version {1}) that needs at least version {2} beside "+
					"it; this one is {3}: start the newer program.",
				version, least, newest)}
		}
		left, err := migrations.After(all, version)
		if err != nil {
			return err
		}
		if version == 0 { // the first migration adds to River's tables
			if err := db.migrateRiver(t); err != nil {
				return fmt.Errorf("the queue: %w", err)
			}
		}
		for _, step := range left {
			// Without arguments a script may have several statements.
			if _, err := t.pgx.Exec(t.ctx, step.Script); err != nil {
				return fmt.Errorf("%s: %w", step.Name, err)
			}
			if _, err := t.Exec(
				`INSERT INTO migrations (number, name, min_compatible) VALUES ($1, $2, $3)`, step.Number, step.Name,
				leastProgram(step.Script),
			); err != nil {
				return err
			}
			db.log.DebugContext(ctx, "database migrated", "step", step.Name)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}
