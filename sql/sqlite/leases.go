package sqlite

import (
	"context"
	"fmt"
	"time"

	"footnote/chat"
)

// Renew implements chat.Store.
func (c *Chats) Renew(ctx context.Context, lease chat.Lease, runIDs []string) (lost []string, err error) {
	err = c.db.writeTx(ctx, false, func(tx *tx) error {
		for _, id := range runIDs {
			n, err := tx.exec(`UPDATE runs SET lease_until = ? WHERE id = ? AND owner = ? AND status = 'running'`,
				toMicros(lease.Until), id, lease.Owner)
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

// TakeOver implements chat.Store.
func (c *Chats) TakeOver(ctx context.Context, lease chat.Lease, before time.Time) (runs []chat.Run, err error) {
	err = c.db.writeTx(ctx, false, func(tx *tx) error {
		// The runs are read first: afterwards nothing tells them from those that the owner held before.
		// With ORDER BY r.n SQLite would go through all runs for their order, and not find the running ones by index.
		rows, err := tx.query(selectRun+`WHERE r.status = 'running' AND r.lease_until < ? ORDER BY +r.n`,
			toMicros(before))
		if err != nil {
			return err
		}
		if runs, err = scanRuns(rows); err != nil || len(runs) == 0 {
			return err
		}
		_, err = tx.exec(`UPDATE runs SET owner = ?, lease_until = ? WHERE status = 'running' AND lease_until < ?`,
			lease.Owner, toMicros(lease.Until), toMicros(before))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take over runs: %w", err)
	}
	return runs, nil
}
