package postgres

import (
	"context"
	"sync"
	"testing"
	"time"
)

// contender tells on a channel when it becomes the one, and when it no longer is.
func contender(t *testing.T, db *DB, name string) (now, over <-chan struct{}, stop func()) {
	t.Helper()
	began, ended := make(chan struct{}, 10), make(chan struct{}, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		db.Alone(ctx, name, func(ctx context.Context) {
			began <- struct{}{}
			<-ctx.Done()
			ended <- struct{}{}
		})
	})
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	return began, ended, stop
}

func wait(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("never %s", what)
	}
}

func TestOneProcessAtATimeWorksAlone(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	one, two := openURL(t, url), openURL(t, url)
	atOne, overAtOne, _ := contender(t, one, "a folder")
	wait(t, atOne, "does the first work")
	atTwo, _, stopTwo := contender(t, two, "a folder")
	other, _, _ := contender(t, two, "another folder")
	wait(t, other, "is another name's work done")
	if len(atTwo) > 0 {
		t.Error("two work at once, want one")
	}
	if _, err := two.pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks
		JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted AND state = 'idle'
		AND query LIKE '%advisory%' AND datname = current_database() AND pid <> pg_backend_pid() AND objid = (
			hashtextextended(current_schema() || ' alone a folder', 0) & 4294967295)::oid`); err != nil {
		t.Fatal(err)
	}
	wait(t, overAtOne, "ends the first when its connection breaks")
	wait(t, atTwo, "does the second work")
	stopTwo()
	wait(t, atOne, "does the first work again")
}
