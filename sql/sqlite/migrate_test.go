package sqlite

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

func TestMigrationsAreNumberedWithoutGaps(t *testing.T) {
	t.Parallel()
	file := func() *fstest.MapFile { return &fstest.MapFile{Data: []byte("SELECT 1")} }
	for _, tt := range []struct {
		name  string
		files []string
		fault string // empty: none
	}{
		{"in order of number, not of name", []string{"001_a.sql", "002_b.sql", "010_j.sql", "003_c.sql", "4_d.sql", "05_e.sql", "006_f.sql", "007_g.sql", "008_h.sql", "009_i.sql"}, ""},
		{"a gap", []string{"001_a.sql", "003_c.sql"}, "003_c should have the number 2"},
		{"one number twice", []string{"001_a.sql", "001_b.sql"}, "should have the number 2"},
		{"no number", []string{"first.sql"}, "does not begin with a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			for _, name := range tt.files {
				files["m/"+name] = file()
			}
			steps, err := migrations(files, "m")
			switch {
			case tt.fault == "" && (err != nil || len(steps) != len(tt.files)):
				t.Errorf("migrations = %v, %v", steps, err)
			case tt.fault != "" && (err == nil || !strings.Contains(err.Error(), tt.fault)):
				t.Errorf("migrations = %v, %v; want an error with %q", steps, err, tt.fault)
			}
		})
	}
}

func openConn(t *testing.T, path string) *sql.Conn {
	t.Helper()
	pool, err := openPool(path, 1, "journal_mode(WAL)", "busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func TestAFailedMigrationLeavesTheVersionBefore(t *testing.T) {
	t.Parallel()
	conn, log := openConn(t, filepath.Join(t.TempDir(), "x.db")), slog.New(slog.DiscardHandler)
	good := migration{1, "001_good", `CREATE TABLE a (x); INSERT INTO a VALUES (1)`}
	bad := migration{2, "002_bad", `INSERT INTO a VALUES (2); CREATE TABLE b (x); SELECT nonsense FROM nowhere`}
	if err := migrateTo(t.Context(), conn, log, []migration{good, bad}); err == nil || !strings.Contains(err.Error(), "002_bad") {
		t.Fatalf("migrateTo = %v, want an error that names 002_bad", err)
	}
	mended := migration{2, "002_mended", `CREATE TABLE b (x)`}
	for range 2 { // the second time there is nothing left to do
		if err := migrateTo(t.Context(), conn, log, []migration{good, mended}); err != nil {
			t.Fatalf("migrateTo after mending: %v", err)
		}
	}
	var rows, version int
	if err := conn.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM a), max(number) FROM migrations`).Scan(&rows, &version); err != nil {
		t.Fatal(err)
	}
	if rows != 1 || version != 2 {
		t.Errorf("%d rows in version %d, want 1 in version 2", rows, version)
	}
}

func TestProcessesThatOpenOneNewFileMigrateItOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "footnote.db")
	errs := make([]error, 6)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
			if err == nil {
				err = db.Close()
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		t.Errorf("Open %d: %v", i, errs[i])
	}
}
