package postgres

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

func TestReplicasThatStartTogetherMigrateOnce(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			db, err := Open(t.Context(), url, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			defer db.Close()
			if err := db.Ping(t.Context()); err != nil {
				t.Errorf("Ping: %v", err)
			}
		})
	}
	wg.Wait()
	steps, err := migrations(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := openURL(t, url).queryRow(t.Context(), longTime, `SELECT count(*) FROM migrations`, nil, &n); err != nil || n != len(steps) {
		t.Errorf("%d steps, %v; want %d", n, err, len(steps))
	}
}

func TestAStepThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	steps, err := migrations(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	n := len(steps)
	steps = append(steps, migration{number: n + 1, name: "good", script: `CREATE TABLE good (n int)`}, migration{number: n + 2, name: "bad", script: `CREATE TABLE bad (n int); SELECT 1/0`})
	if err := db.migrateTo(t.Context(), steps); err == nil || !strings.Contains(err.Error(), "bad") {
		t.Fatalf("migrateTo: %v", err)
	}
	var left int
	if err := db.queryRow(t.Context(), longTime, `SELECT count(*) FROM pg_class WHERE relname IN ('good', 'bad') AND relnamespace = current_schema()::regnamespace`, nil, &left); err != nil || left != 0 {
		t.Errorf("%d tables are left, %v", left, err)
	}
	if err := db.migrateTo(t.Context(), steps[:n+1]); err != nil {
		t.Errorf("the good step alone: %v", err)
	}
}

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		files []string
		ok    bool
	}{
		{"in order", []string{"001_a.sql", "002_b.sql"}, true},
		{"a gap", []string{"001_a.sql", "003_b.sql"}, false},
		{"a number twice", []string{"001_a.sql", "001_b.sql"}, false},
		{"no number", []string{"a.sql"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			for _, name := range tt.files {
				files["m/"+name] = &fstest.MapFile{}
			}
			if steps, err := migrations(files, "m"); (err == nil) != tt.ok {
				t.Errorf("migrations(%v) = %v, %v", tt.files, steps, err)
			}
		})
	}
}
