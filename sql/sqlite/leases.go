package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// Renew implements chat.Store. It returns runs that another owner has meanwhile, or that have ended. The write is
// not durable: after a crash the run is taken over anyway.
func (c *Chats) Renew(ctx context.Context, lease chat.Lease, runIDs []string) (lost []string, err error) {
	err = c.db.writeTx(ctx, false, func(tx *tx) error {
		for _, id := range runIDs {
			n, err := tx.Exec(`UPDATE runs SET lease_until = ? WHERE id = ? AND owner = ? AND status = 'running'`,
				store.ToMicros(lease.Until), id, lease.Owner)
			if err != nil {
				return err
			}
			if n == 0 {
				lost = append(lost, id)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("renew leases: %w", err)
	}
	return lost, nil
}

// TakeOver implements chat.Store. A single process has the file, so it takes over its own runs from before a
// restart. One transaction reads and updates, so each run is taken once.
func (c *Chats) TakeOver(ctx context.Context, lease chat.Lease, before time.Time) (runs []chat.Run, err error) {
	err = c.db.writeTx(ctx, false, func(tx *tx) error {
		// The runs are read first: afterwards they could not be distinguished from runs that the owner already had.
		// With ORDER BY r.n SQLite would scan all runs in order instead of using the index of running ones.
		runs, err = store.ReadRuns(tx, dialect.SelectRun+`WHERE r.status = 'running' AND r.lease_until < $1
			ORDER BY +r.n`, store.ToMicros(before))
		if err != nil || len(runs) == 0 {
			return err
		}
		_, err = tx.Exec(`UPDATE runs SET owner = ?, lease_until = ? WHERE status = 'running' AND lease_until < ?`,
			lease.Owner, store.ToMicros(lease.Until), store.ToMicros(before))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take over runs: %w", err)
	}
	return runs, nil
}

// Release implements chat.Store. It does not change a run of another owner.
func (c *Chats) Release(ctx context.Context, owner, runID string) error {
	_, err := engine{c.db}.Autocommit(ctx, 0).Exec(
		`UPDATE runs SET owner = '', lease_until = 0 WHERE id = $1 AND owner = $2
		AND status = 'running'`, runID, owner)
	if err != nil {
		return fmt.Errorf("release run: %w", err)
	}
	return nil
}
