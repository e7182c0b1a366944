package sqlite

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
)

// hold keeps the writer busy until release is called.
func hold(t *testing.T, db *DB) (release func()) {
	t.Helper()
	entered, proceed, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- db.writeTx(context.WithoutCancel(t.Context()), false,
			func(*tx) error { close(entered); <-proceed; return nil })
	}()
	<-entered
	release = sync.OnceFunc(func() {
		close(proceed)
		if err := <-done; err != nil {
			t.Errorf("the holding write: %v, want no error", err)
		}
	})
	t.Cleanup(release)
	return release
}

// queued waits until so many writes wait for the writer.
func queued(db *DB, small, bulk int) {
	for {
		db.writer.mu.Lock()
		there := len(db.writer.small) == small && len(db.writer.bulk) == bulk
		db.writer.mu.Unlock()
		if there {
			return
		}
		runtime.Gosched()
	}
}

func insertEvent(tx *tx, id int) error {
	_, err := tx.Exec(`INSERT INTO events VALUES (?, 0, 'x', x'7b7d')`, id)
	return err
}

func storedIDs(t *testing.T, db *DB) (ids []int) {
	t.Helper()
	rows, err := db.queryRows(t.Context(), `SELECT id FROM events ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestOneWriteOfABatchFailsAlone(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	release := hold(t, db)
	errs := make([]error, 6)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			errs[i] = db.writeTx(t.Context(), false, func(tx *tx) error {
				if err := insertEvent(tx, i); err != nil {
					return err
				}
				switch i {
				case 3:
					return errors.New("no")
				case 4:
					panic("no")
				}
				return nil
			})
		})
	}
	queued(db, len(errs), 0)
	release()
	wg.Wait()
	for i, err := range errs {
		if (err != nil) != (i == 3 || i == 4) {
			t.Errorf("write %d: %v", i, err)
		}
	}
	if got := storedIDs(t, db); !slices.Equal(got, []int{0, 1, 2, 5}) {
		t.Errorf("stored %v, want all but 3 and 4", got)
	}
}

func TestMoreWritesThanABatchHoldsAllGoThrough(t *testing.T) {
	t.Parallel()
	const n = 3*maxBatch + 7
	db := openNew(t)
	release := hold(t, db)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := db.writeTx(t.Context(), i%5 == 0, func(tx *tx) error { return insertEvent(tx, i) }); err != nil {
				t.Errorf("write %d: %v, want no error", i, err)
			}
		})
	}
	queued(db, n, 0)
	release()
	wg.Wait()
	if got := storedIDs(t, db); len(got) != n {
		t.Errorf("%d rows, want %d", len(got), n)
	}
}

func TestACancelledWriteThatWaitsIsDropped(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	release := hold(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- db.writeTx(ctx, false, func(tx *tx) error { return insertEvent(tx, 1) }) }()
	queued(db, 1, 0)
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("write = %v, want %v", err, context.Canceled)
	}
	release()
	if err := db.writeTx(ctx, false, func(tx *tx) error { return insertEvent(tx, 2) }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("write after the end of its context = %v, want %v", err, context.Canceled)
	}
	if got := storedIDs(t, db); len(got) != 0 {
		t.Errorf("stored %v, want nothing", got)
	}
}

func TestACancelledWriteThatBeganIsFinished(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	if err := db.writeTx(ctx, false, func(tx *tx) error {
		cancel()
		return insertEvent(tx, 1)
	}); err != nil {
		t.Errorf("write = %v, want the outcome", err)
	}
	if got := storedIDs(t, db); !slices.Equal(got, []int{1}) {
		t.Errorf("stored %v, want 1", got)
	}
}

func TestBulkWritesYieldToSmallOnesButNotForEver(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	release := hold(t, db)
	var order []string // touched by the writer alone
	var wg sync.WaitGroup
	write := func(do func(context.Context, bool, func(*tx) error) error, name string) {
		wg.Go(func() {
			if err := do(t.Context(), false, func(*tx) error { order = append(order, name); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	write(db.writeBulk, "bulk")
	queued(db, 0, 1)
	const small = (bulkEveryN + 2) * maxBatch
	for range small {
		write(db.writeTx, "small")
	}
	queued(db, small, 1)
	release()
	wg.Wait()
	if at := slices.Index(order, "bulk"); at != bulkEveryN*maxBatch {
		t.Errorf("the bulk write came after %d small ones, want %d", at, bulkEveryN*maxBatch)
	}
}

func TestOnlyDurableWritesWaitForTheDisk(t *testing.T) {
	t.Parallel()
	const normal, full = 1, 2
	db := openNew(t)
	for _, durable := range []bool{false, true, true, false} {
		want := normal
		if durable {
			want = full
		}
		if err := db.writeTx(t.Context(), durable, func(tx *tx) error {
			var got int
			if err := tx.conn.QueryRowContext(tx.ctx, `PRAGMA synchronous`).Scan(&got); err != nil || got != want {
				t.Errorf("durable %v: synchronous = %d, %v; want %d", durable, got, err, want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCloseFinishesWhatWasAccepted(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	release := hold(t, db)
	results := make(chan error, 20)
	for i := range cap(results) {
		go func() { results <- db.writeTx(t.Context(), false, func(tx *tx) error { return insertEvent(tx, i) }) }()
	}
	queued(db, cap(results), 0)
	closing := make(chan error)
	go func() { closing <- db.writer.close() }()
	for closed := false; !closed; runtime.Gosched() {
		db.writer.mu.Lock()
		closed = db.writer.closed
		db.writer.mu.Unlock()
	}
	err := db.writeTx(t.Context(), false, func(*tx) error { t.Error("a write after Close ran"); return nil })
	if err == nil || chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("a write after Close = %v, want %s", err, chat.CodeUnavailable)
	}
	release()
	for range cap(results) {
		if err := <-results; err != nil {
			t.Errorf("an accepted write: %v, want no error", err)
		}
	}
	if err := <-closing; err != nil {
		t.Errorf("close: %v, want no error", err)
	}
	if got := storedIDs(t, db); len(got) != cap(results) {
		t.Errorf("%d rows, want %d", len(got), cap(results))
	}
}
