package sqlite

import (
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// workload executes runs and records the events acknowledged.
type workload struct {
	chats        *Chats
	runs         []string
	acknowledged map[string]int64 // last sequence number by run
}

// whole executes one run and returns its first error.
func (w *workload) whole(t *testing.T) error {
	run, _, err := w.chats.StartRun(t.Context(), chat.LocalUser,
		chat.RunRequest{Message: strings.Repeat("why? ", 100), IdempotencyKey: chat.NewID()},
		chat.Lease{Owner: "server", Until: time.Now().Add(time.Hour)})
	if err != nil {
		return err
	}
	w.runs = append(w.runs, run.ID)
	for i := range 12 {
		payloads := []chat.Payload{
			chat.Step{
				CallID: "c", Message: strings.Repeat("m", 2000), Truncated: true,
				Full: []byte(`"` + strings.Repeat("f", 3000) + `"`),
			},
		}
		if i == 11 {
			payloads = []chat.Payload{
				chat.Answer{Markdown: strings.Repeat("a", 500)}, chat.RunDone{Status: chat.RunCompleted},
			}
		}
		events, err := w.chats.Append(t.Context(), "server", run.ID, payloads...)
		if err != nil {
			return err
		}
		w.acknowledged[run.ID] = events[len(events)-1].Seq
	}
	return nil
}

// check verifies that the database contains every acknowledged event.
func (w *workload) check(t *testing.T, db *DB) {
	t.Helper()
	checkIntegrity(t, db)
	for _, run := range w.runs {
		events, err := db.Chats().Events(t.Context(), chat.Local, run, 0, chat.MaxPage)
		if err != nil || int64(len(events)) < w.acknowledged[run] {
			t.Errorf("run %s has %d events, %v; want at least %d", run, len(events), err, w.acknowledged[run])
		}
		for i, e := range events {
			if e.Seq != int64(i)+1 {
				t.Errorf("run %s: event %d where %d belongs, want %d", run, e.Seq, i+1, int64(i)+1)
			}
		}
	}
}

// failAt makes writes fail from some point on and checks the error. It then lets writes succeed again and reopens the
// file. It reports whether any write failed.
func failAt(t *testing.T, breakIt, mendIt func(*DB)) (failed bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "footnote.db")
	db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w := workload{chats: db.Chats(), acknowledged: make(map[string]int64)}
	breakIt(db)
	err = w.whole(t)
	mendIt(db)
	if err != nil && chat.CodeOf(err) != chat.CodeDiskFull {
		t.Errorf("a write to a full disk: %v, want code %s", err, chat.CodeDiskFull)
	}
	w.check(t, db)
	if again := w.whole(t); again != nil {
		t.Errorf("with space again, but without a restart: %v, want none", again)
	}
	if err := db.Close(); err != nil {
		t.Errorf("Close: %v, want no error", err)
	}
	w.check(t, openAt(t, path))
	return err != nil
}

func TestFullDatabaseFailsCleanlyAndRecovers(t *testing.T) {
	t.Parallel()
	set := func(t *testing.T, db *DB, pages int) {
		var got int
		// The limit applies to a connection, and only the writer's connection writes.
		err := db.writeTx(t.Context(), false, func(tx *tx) error {
			if err := tx.conn.QueryRowContext(tx.ctx, `PRAGMA page_count`).Scan(&got); err != nil {
				return err
			}
			return tx.conn.QueryRowContext(tx.ctx, `PRAGMA max_page_count=`+strconv.Itoa(got+pages)).Scan(&got)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	extra := 0
	for failAt(t, func(db *DB) { set(t, db, extra) }, func(db *DB) { set(t, db, 1<<20) }) {
		extra++
	}
	if extra < 5 {
		t.Errorf("only %d sizes of the database failed, want at least 5", extra)
	}
}
