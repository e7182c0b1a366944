package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// SetLimits implements chat.LimitStore; it also applies to the documents of this database.
func (c *Chats) SetLimits(l chat.Limits) { c.db.limits = l }

// SetLimits implements corpus.Documents; it also applies to the chats of this database.
func (ds *Documents) SetLimits(l chat.Limits) { ds.db.limits = l }

// Spend implements chat.LimitStore. It checks and counts in one transaction, so two concurrent questions can't both
// pass.
func (c *Chats) Spend(ctx context.Context, user string, what chat.Resource, n int64) error {
	limits := c.db.limits.For(user)
	if len(limits.SpendLimits(what)) == 0 {
		return nil
	}
	err := c.db.writeTx(ctx, false, func(tx *tx) error { return spendLimit(tx, limits, user, what, n, time.Now()) })
	if err != nil {
		return fmt.Errorf("spend: %w", err)
	}
	return nil
}

// Charge implements chat.LimitStore. It counts past usage without checking limits, so a limit may be exceeded by the
// last request.
func (c *Chats) Charge(ctx context.Context, user string, what chat.Resource, n int64) error {
	limits := c.db.limits.For(user)
	if len(limits.SpendLimits(what)) == 0 {
		return nil
	}
	err := c.db.writeTx(ctx, false, func(tx *tx) error { return chargeLimit(tx, limits, user, what, n, time.Now()) })
	if err != nil {
		return fmt.Errorf("charge: %w", err)
	}
	return nil
}

// CheckQuota implements chat.LimitStore. It only reads: the result may be outdated at once, so it serves to reject
// early. Spend decides.
func (c *Chats) CheckQuota(ctx context.Context, user string, what chat.Resource) error {
	read := func(query string, args []any, dest ...any) error { return c.db.queryRow(ctx, query, args, dest...) }
	limits := c.db.limits.For(user)
	return limits.Check(limits.SpendLimits(what), 1, time.Now(), fullSince(read, user))
}

// fullSince returns a function for chat.Limits.Check that finds the time of the oldest relevant spending. It sums
// spendings from the latest backwards; the first sum above the room is at that spending.
func fullSince(read func(query string, args []any, dest ...any) error, user string) chat.FullSince {
	return func(what chat.Resource, since time.Time, room int64) (time.Time, error) {
		var at int64
		err := read(`SELECT coalesce((SELECT at FROM (SELECT at, sum(amount) OVER (ORDER BY at DESC) AS total FROM spent
			WHERE user_id = ?1 AND what = ?2 AND at > ?3)
			WHERE total > ?4 ORDER BY at DESC LIMIT 1), 0)`,
			[]any{user, string(what), store.ToMicros(since), room}, &at)
		return store.TimeOf(at), err
	}
}

// Spend implements store.Database.
func (engine) Spend(t store.Tx, limits chat.Limits, user string, what chat.Resource, n int64) error {
	return spendLimit(t, limits, user, what, n, time.Now())
}

// spendLimit counts n if no limit is exceeded.
func spendLimit(
	t store.Tx, limits chat.Limits, user string, what chat.Resource, n int64, now time.Time,
) error {
	if err := limits.Check(limits.SpendLimits(what), n, now, fullSince(t.One, user)); err != nil {
		return err
	}
	return chargeLimit(t, limits, user, what, n, now)
}

// chargeLimit counts n and deletes outdated spendings. The last of a resource's limits has the longest window, so
// older spendings count for none. Spendings of the same microsecond share one row.
func chargeLimit(
	t store.Tx, limits chat.Limits, user string, what chat.Resource, n int64, now time.Time,
) error {
	windows := limits.SpendLimits(what)
	if len(windows) == 0 {
		return nil
	}
	_, err := t.Exec(`INSERT INTO spent (user_id, what, at, amount) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
		SET amount = amount + excluded.amount`,
		user, string(what), store.ToMicros(now), n)
	if err != nil {
		return err
	}
	_, err = t.Exec(`DELETE FROM spent WHERE user_id = ? AND what = ? AND at <= ?`, user, string(what), store.ToMicros(
		now.Add(-windows[len(windows)-1].Span),
	))
	return err
}

// admitRun counts a question, and fails if a limit is exceeded. Tokens are checked but not counted, as their number
// is not known yet; they are charged during the run. The index runs_charged has only running runs.
func (t *tx) admitRun(limits chat.Limits, user string, now time.Time) error {
	if err := limits.Check(limits.SpendLimits(chat.ResourceTokens), 1, now, fullSince(t.One, user)); err != nil {
		return err
	}
	if err := spendLimit(t, limits, user, chat.ResourceQuestions, 1, now); err != nil {
		return err
	}
	if most, holds := limits.Of(chat.RunsAtOnce); holds {
		var running int64
		if err := t.One(
			`SELECT count(*) FROM runs WHERE charged = ? AND charged <> '' AND status = 'running'`, []any{user},
			&running,
		); err != nil {
			return err
		}
		if running >= most {
			return limits.Over(chat.RunsAtOnce, now, time.Time{})
		}
	}
	return nil
}
