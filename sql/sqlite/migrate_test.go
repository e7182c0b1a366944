package sqlite

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/sql/migrations"
)

func openConn(t *testing.T, path string) *sql.Conn {
	t.Helper()
	pool, err := openPool(path, 1, "journal_mode(WAL)", busyTimeout)
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
	good := migrations.Migration{Number: 1, Name: "001_good", Script: `CREATE TABLE a (x); INSERT INTO a VALUES (1)`}
	bad := migrations.Migration{
		Number: 2, Name: "002_bad",
		Script: `INSERT INTO a VALUES (2); CREATE TABLE b (x); SELECT nonsense FROM nowhere`,
	}
	if err := migrateTo(t.Context(), conn, log, []migrations.Migration{good, bad}); err == nil ||
		!strings.Contains(err.Error(), "002_bad") {
		t.Fatalf("migrateTo = %v, want an error that names 002_bad", err)
	}
	mended := migrations.Migration{Number: 2, Name: "002_mended", Script: `CREATE TABLE b (x)`}
	for range 2 { // the second time there is nothing left to do
		if err := migrateTo(t.Context(), conn, log, []migrations.Migration{good, mended}); err != nil {
			t.Fatalf("migrateTo after mending: %v, want no error", err)
		}
	}
	var rows, version int
	if err := conn.QueryRowContext(
		t.Context(), `SELECT (SELECT count(*) FROM a), max(number) FROM migrations`,
	).Scan(&rows, &version); err != nil {
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
		t.Errorf("Open %d: %v, want less than 0", i, errs[i])
	}
}
