package sqlite

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPurgeVacuumsAndLogs(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "footnote.db"), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	write := func(query string) {
		t.Helper()
		if err := db.writeTx(t.Context(), false, func(tx *tx) error {
			_, err := tx.Exec(query)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	pages := func() (n int) {
		t.Helper()
		if err := db.readers.QueryRowContext(t.Context(), `PRAGMA page_count`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	purge := func() {
		t.Helper()
		if _, err := db.Chats().Purge(t.Context(), time.Now(), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	purge()
	if strings.Contains(log.String(), "vacuumed") {
		t.Errorf("vacuum of a file without free pages:\n%s", &log)
	}
	before := pages()
	write(`CREATE TABLE ballast (body BLOB)`)
	write(`INSERT INTO ballast VALUES (zeroblob(16000000))`)
	write(`DROP TABLE ballast`)
	if got := pages(); got < before+vacuumFrom {
		t.Fatalf("%d pages after %d, want %d more", got, before, vacuumFrom)
	}
	purge()
	if got := pages(); got > before+1 {
		t.Errorf("%d pages after the vacuum, want %d", got, before)
	}
	if got := log.String(); strings.Count(got, "level=INFO msg=\"database vacuumed\"") != 1 ||
		!strings.Contains(got, "freed_bytes=16") {
		t.Errorf("log = %q, want one line with freed_bytes=16…", got)
	}
}
