package sqlite

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

func openAt(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("Open(%q): %v, want no error", path, err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v, want no error", err)
		}
	})
	return db
}

func openNew(t testing.TB) *DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "footnote.db"))
}

func TestOpenTakesEveryPath(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain.db", "with space.db", "what?.db", "50%.db", "a#b.db", "ü&x=1.db"} {
		path := filepath.Join(t.TempDir(), name)
		openAt(t, path)
		if found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.db")); err != nil || len(found) != 1 ||
			found[0] != path {
			t.Errorf("Open(%q) made %q, %v; want 1 and %v", path, found, err, path)
		}
	}
}

func TestReadersCannotWrite(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	if _, err := db.readers.ExecContext(t.Context(), `DELETE FROM sessions`); err == nil {
		t.Error("a reader's connection took a write")
	}
}

func TestANewerFileIsRefusedWithASentence(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "footnote.db")
	db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.writeTx(t.Context(), false, func(tx *tx) error {
		_, err := tx.Exec(`INSERT INTO migrations VALUES (4711, 'from the future', 0)`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(chat.MessageOf(err), "newer Footnote (version 4711)") {
		t.Errorf("Open of a newer file = %v, want a sentence that names version 4711", err)
	}
}

func TestAClosedDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "footnote.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var n int
	readErr := db.queryRow(t.Context(), `SELECT count(*) FROM events`, nil, &n)
	writeErr := db.writeTx(t.Context(), false, func(*tx) error { return nil })
	for _, err := range []error{readErr, writeErr} {
		if err == nil || chat.CodeOf(err) != chat.CodeUnavailable {
			t.Errorf("after Close: %v, want %s", err, chat.CodeUnavailable)
		}
	}
}
