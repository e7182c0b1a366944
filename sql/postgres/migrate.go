package postgres

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/migrations"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrateTime bounds all steps together, with the wait for other replicas that take them.
const migrateTime = 10 * time.Minute

// migrateTo takes the steps that are missing, all in one transaction, so that a step that fails leaves nothing. An
// advisory lock, held until that commits, lets replicas take turns. A newer schema is used as it is, as in a rolling
// upgrade, unless one of its steps says that this program is too old for it: see leastProgram. Each step must leave the
// version before it working, so that replicas can be replaced one by one. The lock's name has no schema in it: servers
// of several schemas of one database take turns as well.
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
			return &chat.Error{Code: chat.CodeUnavailable, Message: fmt.Sprintf(
				"This database was written by a newer Footnote (version %d) that needs at least version %d beside "+
					"it; this one is %d: start the newer program.",
				version, least, newest)}
		}
		left, err := migrations.After(all, version)
		if err != nil {
			return err
		}
		if version == 0 { // the first step adds to River's tables
			if err := db.migrateRiver(t); err != nil {
				return fmt.Errorf("the queue: %w", err)
			}
		}
		for _, step := range left {
			// without arguments, so that it may hold many statements
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
