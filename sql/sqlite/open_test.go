package sqlite

import (
	"errors"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"footnote/chat"
)

func openAt(t testing.TB, path string) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("Open(%q): %v", path, err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
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
		if found, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.db")); err != nil || len(found) != 1 || found[0] != path {
			t.Errorf("Open(%q) made %q, %v", path, found, err)
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
	if err := db.write(t.Context(), false, func(tx *tx) error {
		_, err := tx.exec(`INSERT INTO migrations VALUES (4711, 'from the future', 0)`)
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

func TestOneWriteOfABatchFailsAlone(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	entered, proceed := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // holds the writer, so that the others gather
		_ = db.write(t.Context(), false, func(*tx) error { close(entered); <-proceed; return nil })
	})
	<-entered
	insert := func(id int) func(*tx) error {
		return func(tx *tx) error {
			if _, err := tx.exec(`INSERT INTO events VALUES (?, 0, 'x', x'7b7d')`, id); err != nil {
				return err
			}
			switch id {
			case 3:
				return errors.New("no")
			case 4:
				panic("no")
			}
			return nil
		}
	}
	errs := make([]error, 6)
	jobs := make([]*job, len(errs))
	for i := range errs {
		jobs[i] = &job{fn: insert(i), answer: make(chan error, 1)}
		wg.Go(func() { errs[i] = db.writer.submit(t.Context(), jobs[i], false) })
	}
	for queued := 0; queued < len(jobs); {
		db.writer.mu.Lock()
		queued = len(db.writer.small)
		db.writer.mu.Unlock()
		runtime.Gosched()
	}
	close(proceed)
	wg.Wait()
	for i, err := range errs {
		if (err != nil) != (i == 3 || i == 4) {
			t.Errorf("write %d: %v", i, err)
		}
	}
	var n, sum int
	if err := db.queryRow(t.Context(), `SELECT count(*), sum(id) FROM events`, nil, &n, &sum); err != nil || n != 4 || sum != 0+1+2+5 {
		t.Errorf("stored %d rows with sum %d, %v; want all but 3 and 4", n, sum, err)
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
	writeErr := db.write(t.Context(), false, func(*tx) error { return nil })
	for _, err := range []error{readErr, writeErr} {
		if err == nil || chat.CodeOf(err) != chat.CodeUnavailable {
			t.Errorf("after Close: %v, want %s", err, chat.CodeUnavailable)
		}
	}
}
