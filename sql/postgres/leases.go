package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// Leases follow the database's clock, since those of replicas differ. A caller's time is passed as an offset from
// its own clock.

// Renew implements chat.Store. The commit is asynchronous: a renewal lost in a crash is repeated soon, or the run is
// taken over.
func (c *Chats) Renew(ctx context.Context, lease chat.Lease, runIDs []string) (lost []string, err error) {
	held, err := queryList(ctx, c.db, longTime, scanValue[string], `
		WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
		UPDATE runs SET lease_until = now_micros() + $1 FROM quick WHERE id = ANY($2) AND owner = $3
		AND status = 'running' RETURNING id`,
		time.Until(lease.Until).Microseconds(), runIDs, lease.Owner)
	if err != nil {
		return nil, fmt.Errorf("renew leases: %w", err)
	}
	ours := make(map[string]bool, len(held))
	for _, id := range held {
		ours[id] = true
	}
	for _, id := range runIDs {
		if !ours[id] {
			c.db.tails.Delete(id)
			lost = append(lost, id)
		}
	}
	return lost, nil
}

// TakeOver implements chat.Store. A run that another statement has locked waits for the next call. SKIP LOCKED gives
// each run to only one of several concurrent replicas.
func (c *Chats) TakeOver(ctx context.Context, lease chat.Lease, before time.Time) ([]chat.Run, error) {
	runs, err := queryList(ctx, c.db, longTime, store.ScanRun, `
		WITH left_behind AS (SELECT n FROM runs WHERE status = 'running' AND lease_until < (SELECT now_micros()) + $1
			ORDER BY n FOR UPDATE SKIP LOCKED),
		r AS (UPDATE runs SET owner = $2, lease_until = now_micros() + $3 FROM left_behind WHERE runs.n = left_behind.n
			RETURNING runs.*)
		SELECT`+runColumns+`FROM r JOIN sessions s ON s.n = r.session LEFT JOIN run_texts t ON t.run = r.n
			ORDER BY r.n`,
		time.Until(before).Microseconds(), lease.Owner, time.Until(lease.Until).Microseconds())
	if err != nil {
		return nil, fmt.Errorf("take over runs: %w", err)
	}
	for _, run := range runs { // from now on the stored log is authoritative
		c.db.tails.Delete(run.ID)
	}
	return runs, nil
}

// Release implements chat.Store. The commit is asynchronous: a run whose release is lost is taken over when its
// lease expires.
func (c *Chats) Release(ctx context.Context, owner, runID string) error {
	_, err := c.db.execStatement(ctx, longTime, `
		WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
		free AS (UPDATE runs SET owner = '', lease_until = 0 FROM quick WHERE id = $1 AND owner = $2
			AND status = 'running' RETURNING n)
		SELECT pg_notify($3, $4) FROM free`, runID, owner, c.db.channel, c.db.writeNotice(store.ToLook))
	if err != nil {
		return fmt.Errorf("release run: %w", err)
	}
	return nil
}
