package postgres

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"footnote/chat"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrateTime bounds all steps together, with the wait for other replicas that take them.
const migrateTime = 10 * time.Minute

// A migration is one step of the schema. Steps only go forward, one that was released is never edited, and each must leave
// the version before it working, so that replicas can be replaced one by one.
type migration struct {
	number int
	name   string
	script string
	first  func(*tx) error // what comes before the script; may be nil
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

func (db *DB) migrate(ctx context.Context) error {
	steps, err := migrations(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	for i := range steps {
		if steps[i].name == "004_queue" {
			steps[i].first = db.migrateRiver
		}
	}
	return db.migrateTo(ctx, steps)
}

// migrateTo takes the steps that are missing, all in one transaction, so that a step that fails leaves nothing. An advisory
// lock, held until that commits, lets replicas take turns. A newer schema is used as it is, as in a rolling upgrade, unless one of its
// steps says that this program is too old for it: see leastVersion.
func (db *DB) migrateTo(ctx context.Context, steps []migration) error {
	err := db.inTx(ctx, migrateTime, func(t *tx) error {
		if _, err := t.exec(`SELECT pg_advisory_xact_lock(hashtextextended('footnote migrations', 0))`); err != nil {
			return err
		}
		if _, err := t.pgx.Exec(t.ctx, `CREATE TABLE IF NOT EXISTS migrations (number int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`); err != nil {
			return err
		}
		if _, err := t.pgx.Exec(t.ctx, `ALTER TABLE migrations ADD COLUMN IF NOT EXISTS min_compatible int NOT NULL DEFAULT 1`); err != nil {
			return err
		}
		var version, least int
		if err := t.queryRow(`SELECT coalesce(max(number), 0), coalesce(max(min_compatible), 1) FROM migrations`, nil, &version, &least); err != nil {
			return err
		}
		if least > len(steps) {
			return &chat.Error{Code: chat.CodeUnavailable, Message: fmt.Sprintf(
				"This database was written by a newer Footnote (version %d) that needs at least version %d beside it; this one is %d: start the newer program.", version, least, len(steps))}
		}
		for _, step := range steps[min(version, len(steps)):] {
			if step.first != nil {
				if err := step.first(t); err != nil {
					return fmt.Errorf("%s: %w", step.name, err)
				}
			}
			if _, err := t.pgx.Exec(t.ctx, step.script); err != nil { // without arguments, so that it may hold many statements
				return fmt.Errorf("%s: %w", step.name, err)
			}
			if _, err := t.exec(`INSERT INTO migrations (number, name, min_compatible) VALUES ($1, $2, $3)`, step.number, step.name, leastVersion(step.script)); err != nil {
				return err
			}
			db.log.DebugContext(ctx, "database migrated", "step", step.name)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}
