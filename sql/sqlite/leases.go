package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// Renew implements chat.Store. It returns those that another owner has meanwhile, or that are over. It does not wait
// for the disk: a lease that is lost with the machine is a run to be taken over anyway.
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

// TakeOver implements chat.Store. One process has the file, so what it takes over are its own runs from before a
// restart. Reading and taking are one transaction, so each run is taken once.
func (c *Chats) TakeOver(ctx context.Context, lease chat.Lease, before time.Time) (runs []chat.Run, err error) {
	err = c.db.writeTx(ctx, false, func(tx *tx) error {
		// The runs are read first: afterwards nothing tells them from those that the owner held before.
		// With ORDER BY r.n SQLite would go through all runs for their order, and not find the running ones by index.
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

// Release implements chat.Store. It changes nothing of a run that another owner has.
func (c *Chats) Release(ctx context.Context, owner, runID string) error {
	_, err := engine{c.db}.Alone(ctx, 0).Exec(`UPDATE runs SET owner = '', lease_until = 0 WHERE id = $1 AND owner = $2
		AND status = 'running'`, runID, owner)
	if err != nil {
		return fmt.Errorf("release run: %w", err)
	}
	return nil
}
