package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/footnote/footnote/chat"
)

// together appends one event to each run at the same time, in as few groups as there can be, and returns what came of
// each.
func together(t *testing.T, db *DB, owner string, runIDs []string) []error {
	t.Helper()
	db.group.waitIdle(db)
	db.group.mu.Lock()
	db.group.busy = true // nothing is taken until all wait
	db.group.mu.Unlock()
	errs := make([]error, len(runIDs))
	var wg sync.WaitGroup
	for i, id := range runIDs {
		wg.Go(func() {
			_, errs[i] = db.Chats().Append(t.Context(), owner, id, chat.AnswerDelta{Text: fmt.Sprint("delta ", i)},
				chat.AnswerDelta{Text: "more"})
		})
	}
	for waiting := 0; waiting < len(runIDs); runtime.Gosched() {
		db.group.mu.Lock()
		waiting = len(db.group.waiting)
		db.group.mu.Unlock()
	}
	db.group.mu.Lock()
	db.group.busy = false
	db.group.startWork(db)
	db.group.mu.Unlock()
	wg.Wait()
	return errs
}

func startRuns(t *testing.T, db *DB, n int) (ids []string) {
	for range n {
		ids = append(ids, startRunOn(t, db).ID)
	}
	return ids
}

func lastOf(t *testing.T, db *DB, runID string) (last, stored int) {
	t.Helper()
	err := db.queryRow(
		t.Context(), longTime, `SELECT last, (SELECT count(*) FROM events WHERE run = runs.n) FROM runs WHERE id = $1`,
		[]any{runID}, &last, &stored,
	)
	if err != nil {
		t.Fatal(err)
	}
	return last, stored
}

func TestAppendsToManyRunsShareAStatement(t *testing.T) {
	t.Parallel()
	count := &tally{}
	url := server.Schema(t)
	db, err := openTraced(t.Context(), url, slog.New(slog.DiscardHandler), count)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	heard := listening(t, openURL(t, url))
	ids := startRuns(t, db, 2*maxGroup)
	for round := range 3 {
		count.n.Store(0)
		for i, err := range together(t, db, "server", ids) {
			if err != nil {
				t.Fatalf("append to run %d: %v, want no error", i, err)
			}
		}
		if n := count.n.Load(); n != 2 {
			t.Errorf("%d statements for %d appends, want 2", n, len(ids))
		}
		told := make(map[string]bool)
		for range ids {
			told[<-heard] = true
		}
		for i, id := range ids {
			events, err := db.Chats().Events(t.Context(), chat.Local, id, int64(2*round), 0)
			if err != nil || len(events) != 2 || events[0].Seq != int64(2*round+1) ||
				string(events[0].Body) != fmt.Sprintf(`{"text":"delta %d"}`, i) ||
				events[1].Seq != int64(2*round+2) || events[1].At.IsZero() || !told[id] {
				t.Fatalf("run %d has %+v, %v; told %v; want 2 events, %v, %v",
					i, events, err, told[id], int64(2*round+1), int64(2*round+2))
			}
		}
	}
}

func TestAGroupIsToldInOneMessage(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	conn, err := pgx.ConnectConfig(t.Context(), db.pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), `LISTEN `+pgx.Identifier{db.channel}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	ids := startRuns(t, db, maxGroup)
	if err := errors.Join(together(t, db, "server", ids)...); err != nil {
		t.Fatal(err)
	}
	message, err := conn.WaitForNotification(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Fields(message.Payload)
	slices.Sort(ids)
	if slices.Sort(told[1:]); told[0] != db.instance || !slices.Equal(told[1:], ids) {
		t.Errorf("the first message is %q", message.Payload)
	}
}

func TestMoreEndsThanFitIntoAMessageAreTold(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	db := openURL(t, url)
	heard := listening(t, openURL(t, url))
	want := make(map[string]bool)
	for range 1000 {
		id := chat.NewID()
		want[id] = true
		db.tellEnd(id)
	}
	if err := db.Close(); err != nil { // tells what is still to be told
		t.Fatal(err)
	}
	for len(want) > 0 {
		select {
		case id := <-heard:
			delete(want, id)
		case <-time.After(patience):
			t.Fatalf("%d ends were never heard of", len(want))
		}
	}
}

func TestSeveralAppendsToOneRunAreGroupedOneByOne(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	id := startRunOn(t, db).ID
	for i, err := range together(t, db, "server", []string{id, id, id}) {
		if err != nil {
			t.Errorf("append %d: %v, want no error", i, err)
		}
	}
	if last, stored := lastOf(t, db, id); last != 6 || stored != 6 {
		t.Errorf("the log has %d events, its last number is %d; want 6", stored, last)
	}
}

func TestAGroupWaitsForNoRunThatIsHeld(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	ids := startRuns(t, db, 3)
	held, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := db.inTx(t.Context(), longTime, func(tx *tx) error {
			_, err := tx.Exec(`SELECT FROM runs WHERE id = $1 FOR UPDATE`, ids[0])
			close(held)
			<-release
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-held
	done := make(chan []error)
	go func() { done <- together(t, db, "server", ids) }()
	for _, id := range ids[1:] { // they are stored while the first is held
		for last := 0; last != 2; last, _ = lastOf(t, db, id) {
			runtime.Gosched()
		}
	}
	close(release)
	for i, err := range <-done {
		if err != nil {
			t.Errorf("append to run %d: %v, want no error", i, err)
		}
	}
	wg.Wait()
	if last, stored := lastOf(t, db, ids[0]); last != 2 || stored != 2 {
		t.Errorf("the run that was held has %d events, its last number is %d; want 2", stored, last)
	}
}

func TestWhatIsWrongWithOneRunOfAGroupIsItsOwn(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	ids := startRuns(t, db, 4)
	if _, err := db.Chats().Append(t.Context(), "server", ids[0], chat.RunDone{Status: chat.RunCompleted}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.execStatement(t.Context(), longTime, `UPDATE runs SET owner = 'other' WHERE id = $1`,
		ids[1]); err != nil {
		t.Fatal(err)
	}
	check := func(what string, want [5]chat.Code) {
		t.Helper()
		for i, err := range together(t, db, "server", append(ids, chat.NewID())) {
			var got chat.Code
			if err != nil {
				got = chat.CodeOf(err)
			}
			if got != want[i] {
				t.Errorf("%s: append to run %d: %v, want code %q", what, i, err, want[i])
			}
		}
	}
	check("refused", [5]chat.Code{chat.CodeConflict, chat.CodeConflict, "", "", chat.CodeNotFound})
	for _, statement := range []string{
		`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no space' USING ERRCODE = ` +
			`'53100'; END $$`,
		`CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW WHEN (convert_from(NEW.body, 'UTF8') LIKE ` +
			`'%delta 2%') EXECUTE FUNCTION refuse()`,
	} {
		if _, err := db.execStatement(t.Context(), longTime, statement); err != nil {
			t.Fatal(err)
		}
	}
	check("failed", [5]chat.Code{chat.CodeConflict, chat.CodeConflict, chat.CodeDiskFull, "", chat.CodeNotFound})
	for i, want := range []int{1, 0, 2, 4} {
		if last, stored := lastOf(t, db, ids[i]); last != want || stored != want {
			t.Errorf("run %d has %d events, its last number is %d; want %d", i, stored, last, want)
		}
	}
}
