package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// SetLimits implements chat.LimitStore, for the documents of this database as well.
func (c *Chats) SetLimits(l chat.Limits) { c.db.limits = l }

// SetLimits implements corpus.Documents, for the chats of this database as well.
func (ds *Documents) SetLimits(l chat.Limits) { ds.db.limits = l }

// Spend implements chat.LimitStore. Looking and counting are one transaction, so two questions at once can't both take
// the last place.
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

// Charge implements chat.LimitStore. It counts what was used already, so it never refuses; a limit may be passed by the
// last thing that was let in.
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

// Room implements chat.LimitStore. It only reads: what it finds may be gone a moment later, so it refuses early and
// Spend decides.
func (c *Chats) Room(ctx context.Context, user string, what chat.Resource) error {
	read := func(query string, args []any, dest ...any) error { return c.db.queryRow(ctx, query, args, dest...) }
	limits := c.db.limits.For(user)
	return limits.Check(limits.SpendLimits(what), 1, time.Now(), fullSince(read, user))
}

// fullSince reads for chat.Limits.Check when what fills a limit was spent. It adds spendings up from the latest back;
// the first sum above the room is at the spending that is in the way.
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

// spendLimit counts n if there is room for it.
func spendLimit(
	t store.Tx, limits chat.Limits, user string, what chat.Resource, n int64, now time.Time,
) error {
	if err := limits.Check(limits.SpendLimits(what), n, now, fullSince(t.One, user)); err != nil {
		return err
	}
	return chargeLimit(t, limits, user, what, n, now)
}

// chargeLimit counts n and forgets what no limit asks for any more. The last of the limits on a resource has the
// longest span, so what is older than that counts for none of them. Spendings of the same microsecond are added up in
// one row.
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

// admitRun counts a question, and fails if a user's limits have no room for its run. Tokens are looked at and not
// spent, as nobody knows yet how many a run takes; they are charged as it goes on. The index runs_charged holds running
// runs only.
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
