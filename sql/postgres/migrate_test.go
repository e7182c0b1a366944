package postgres

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/sql/migrations"
)

func TestReplicasThatStartTogetherMigrateOnce(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			db, err := Open(t.Context(), url, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Errorf("Open: %v, want no error", err)
				return
			}
			defer db.Close()
			if err := db.Ping(t.Context()); err != nil {
				t.Errorf("Ping: %v, want no error", err)
			}
		})
	}
	wg.Wait()
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := openURL(t, url).queryRow(t.Context(), longTime, `SELECT count(*) FROM migrations`, nil, &n); err != nil ||
		n != len(all) {
		t.Errorf("%d steps, %v; want %d", n, err, len(all))
	}
}

func TestAStepThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	n := migrations.Newest(all)
	all = append(all, migrations.Migration{Number: n + 1, Name: "good", Script: `CREATE TABLE good (n int)`},
		migrations.Migration{Number: n + 2, Name: "bad", Script: `CREATE TABLE bad (n int); SELECT 1/0`})
	if err := db.migrateTo(t.Context(), all); err == nil || !strings.Contains(err.Error(), "bad") {
		t.Fatalf("migrateTo: %v, want %q in it", err, "bad")
	}
	var left int
	if err := db.queryRow(t.Context(), longTime,
		`SELECT count(*) FROM pg_class WHERE relname IN ('good', 'bad') AND relnamespace = `+
			`current_schema()::regnamespace`, nil, &left); err != nil || left != 0 {
		t.Errorf("%d tables are left, %v; want 0", left, err)
	}
	if err := db.migrateTo(t.Context(), all[:len(all)-1]); err != nil {
		t.Errorf("the good step alone: %v, want no error", err)
	}
}
