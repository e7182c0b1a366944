package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// SetLimits implements chat.LimitStore; it also applies to the documents of this database.
func (c *Chats) SetLimits(l chat.Limits) { c.db.limits = l }

// SetLimits implements corpus.Documents; it also applies to the chats of this database.
func (ds *Documents) SetLimits(l chat.Limits) { ds.db.limits = l }

// userLocks are mutexes by user. Calls that would wait for each other in the database wait here without holding a
// connection. The zero value is ready.
type userLocks struct {
	mu    sync.Mutex
	users map[string]*userLock
}

// userLock is a user's mutex. It is a channel, so that a wait can be cancelled.
type userLock struct {
	turn    chan struct{} // full while locked
	holders int           // holder and waiters; under userLocks.mu
}

// lock locks a user's mutex and returns the function to unlock it. It fails when ctx is cancelled. A user's
// calls would otherwise wait in the database, each holding one of a few connections.
func (l *userLocks) lock(ctx context.Context, user string) (release func(), err error) {
	l.mu.Lock()
	lock := l.users[user]
	if lock == nil {
		if l.users == nil {
			l.users = map[string]*userLock{}
		}
		lock = &userLock{turn: make(chan struct{}, 1)}
		l.users[user] = lock
	}
	lock.holders++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if lock.holders--; lock.holders == 0 {
			delete(l.users, user)
		}
	}
	select {
	case lock.turn <- struct{}{}:
		return func() { <-lock.turn; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// spending is a call of the SQL function spend, see migrations/009_schema.sql. In one round trip it locks the user's
// spendings, sums those in each limit's window and adds a row if no limit is exceeded.
type spending struct {
	limits  chat.Limits
	windows []chat.SpendLimit
	user    string
	what    chat.Resource
	n       int64
}

// callSpend has as arguments the user, the resource, the amount, the limits as three lists, and whether to count.
const callSpend = `SELECT spend($1, $2, $3, $4, $5, $6, $7)`

// queryArgs returns the arguments of callSpend, with the limits as three lists of equal length. keep is false for a
// dry run.
func (s spending) queryArgs(keep bool) []any {
	things, spans, mosts := []string{}, []int64{}, []int64{}
	for _, w := range s.windows {
		things, spans, mosts = append(things, string(w.What)), append(
			spans, w.Span.Microseconds(),
		), append(mosts, w.Most)
	}
	return []any{s.user, string(s.what), s.n, things, spans, mosts, keep}
}

// readVerdict decodes the result of spend: the exceeded limit (from 1; 0 is none), the time of the oldest relevant
// spending, and the database's current time.
func (s spending) readVerdict(result []int64) error {
	if len(result) != 3 {
		return fmt.Errorf("spend returned %d numbers", len(result))
	}
	if result[0] == 0 {
		return nil
	}
	w, until := s.windows[result[0]-1], time.Time{}
	if result[1] > 0 {
		until = store.TimeOf(result[1]).Add(w.Span)
	}
	return s.limits.Over(w.Name, store.TimeOf(result[2]), until)
}

// countIn counts in a transaction. It locks the user's spendings until the transaction ends.
func (s spending) countIn(t store.Tx) error {
	var result []int64
	if err := t.One(callSpend, s.queryArgs(true), &result); err != nil {
		return err
	}
	return s.readVerdict(result)
}

// Spend implements chat.LimitStore. The commit is asynchronous.
func (c *Chats) Spend(ctx context.Context, user string, what chat.Resource, n int64) error {
	limits := c.db.limits.For(user)
	s := spending{limits, limits.SpendLimits(what), user, what, n}
	if len(s.windows) == 0 {
		return nil
	}
	release, err := c.db.takers.lock(ctx, user)
	if err != nil {
		return fmt.Errorf("spend: %w", err)
	}
	defer release()
	var result []int64
	if err := c.db.queryRow(
		ctx, shortTime, `SELECT s FROM (`+callSpend+` AS s) spent, set_config('synchronous_commit', 'off', true)`,
		s.queryArgs(true), &result,
	); err != nil {
		return fmt.Errorf("spend: %w", err)
	}
	return s.readVerdict(result)
}

// Charge implements chat.LimitStore. It counts without checking limits and without a lock, even beyond a limit. The
// next spend deletes old rows.
func (c *Chats) Charge(ctx context.Context, user string, what chat.Resource, n int64) error {
	if len(c.db.limits.For(user).SpendLimits(what)) == 0 {
		return nil
	}
	_, err := c.db.execStatement(ctx, longTime, `WITH spared AS (SELECT set_config('synchronous_commit', 'off', true))
		INSERT INTO spent AS s (user_id, what, at, amount) SELECT $1, $2, now_micros(), $3 FROM spared
		ON CONFLICT (user_id, what, at) DO UPDATE SET amount = s.amount + excluded.amount`, user, string(what), n)
	if err != nil {
		return fmt.Errorf("charge: %w", err)
	}
	return nil
}

// CheckQuota implements chat.LimitStore. It takes no lock: the result may be outdated at once.
func (c *Chats) CheckQuota(ctx context.Context, user string, what chat.Resource) error {
	limits := c.db.limits.For(user)
	s := spending{limits, limits.SpendLimits(what), user, what, 1}
	if len(s.windows) == 0 {
		return nil
	}
	var result []int64
	if err := c.db.queryRow(ctx, shortTime, callSpend, s.queryArgs(false), &result); err != nil {
		return fmt.Errorf("look for room: %w", err)
	}
	return s.readVerdict(result)
}

// admitRun counts a question and starts its run, unless a limit is exceeded. The lock of countIn lasts until the
// commit, so the number of running runs is exact.
func (c *Chats) admitRun(ctx context.Context, limits chat.Limits, user string, start func(*tx) error) error {
	release, err := c.db.takers.lock(ctx, user)
	if err != nil {
		return err
	}
	defer release()
	question := spending{
		limits, append(limits.SpendLimits(chat.ResourceTokens), limits.SpendLimits(chat.ResourceQuestions)...), user,
		chat.ResourceQuestions, 1,
	}
	return c.db.inTx(ctx, shortTime, func(t *tx) error {
		if err := question.countIn(t); err != nil { // the lock excludes concurrent starts of this user
			return err
		}
		if most, holds := limits.Of(chat.RunsAtOnce); holds {
			var running int64
			if err := t.One(
				`SELECT count(*) FROM runs WHERE charged = $1 AND charged <> '' AND status = 'running'`, []any{user},
				&running,
			); err != nil {
				return err
			}
			if running >= most {
				return limits.Over(chat.RunsAtOnce, time.Now(), time.Time{})
			}
		}
		return start(t)
	})
}
