package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// clock moves the database's clock away from this process's.
func clock(t *testing.T, db *DB, by time.Duration) {
	t.Helper()
	exec(t, db, fmt.Sprintf(`CREATE OR REPLACE FUNCTION now_micros() RETURNS bigint LANGUAGE sql VOLATILE AS
		'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + %d'`, by.Microseconds()))
}

// However far a replica's clock is off, a lease lasts as long as was asked for, by the clock that all share.
func TestLeasesAreKeptByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-time.Hour, 0, time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			db := openNew(t)
			ctx := t.Context()
			clock(t, db, off)
			lease := func(owner string) chat.Lease {
				return chat.Lease{Owner: owner, Until: time.Now().Add(30 * time.Second)}
			}
			run, _, err := db.Chats().StartRun(ctx, chat.LocalUser, chat.RunRequest{Message: "q"}, lease("one"))
			if err != nil {
				t.Fatal(err)
			}
			takes := func(who string, want int) {
				t.Helper()
				runs, err := db.Chats().TakeOver(ctx, lease(who), time.Now())
				if err != nil || len(runs) != want {
					t.Errorf("%s takes %d runs, %v; want %d", who, len(runs), err, want)
				}
			}
			takes("two", 0)
			clock(t, db, off+20*time.Second)
			if lost, err := db.Chats().Renew(ctx, lease("one"), []string{run.ID}); err != nil || len(lost) != 0 {
				t.Errorf("Renew = %v, %v; want none", lost, err)
			}
			clock(t, db, off+40*time.Second)
			takes("two", 0)
			clock(t, db, off+60*time.Second)
			takes("two", 1)
			takes("three", 0)
			clock(t, db, off+100*time.Second)
			takes("three", 1)
		})
	}
}
