package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// SetLimits implements chat.LimitStore, for the documents of this database as well.
func (c *Chats) SetLimits(l chat.Limits) { c.db.limits = l }

// SetLimits implements corpus.Documents, for the chats of this database as well.
func (ds *Documents) SetLimits(l chat.Limits) { ds.db.limits = l }

// userLocks let the calls of one user that take turns in the database wait here, where they hold no connection that
// others need. The zero value is ready.
type userLocks struct {
	mu    sync.Mutex
	users map[string]*userLock
}

// userLock is one user's turn. It is a channel of one, so that whoever waits can give up with a context.
type userLock struct {
	turn    chan struct{} // holds one while somebody has the turn
	holders int           // those who have or wait for the turn; under userLocks.mu
}

// takeTurn waits for a user's turn, until ctx ends. The function gives it back. A user's calls would wait for each
// other in the database anyway, each holding one of a few connections.
func (l *userLocks) takeTurn(ctx context.Context, user string) (release func(), err error) {
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

// spending is a call of the function spend, see migrations/009_schema.sql. The function takes a lock on the user's
// spendings, counts what each limit's window holds and adds a row if there is room, in one round trip.
type spending struct {
	limits  chat.Limits
	windows []chat.SpendLimit
	user    string
	what    chat.Resource
	n       int64
}

// callSpend calls the function with a user, what is spent, how much, the limits as three lists, and whether to count.
const callSpend = `SELECT spend($1, $2, $3, $4, $5, $6, $7)`

// queryArgs are the arguments of callSpend: the limits as three lists of equal length, in their order. keep says
// whether to count or only to look.
func (s spending) queryArgs(keep bool) []any {
	things, spans, mosts := []string{}, []int64{}, []int64{}
	for _, w := range s.windows {
		things, spans, mosts = append(things, string(w.What)), append(
			spans, w.Span.Microseconds(),
		), append(mosts, w.Most)
	}
	return []any{s.user, string(s.what), s.n, things, spans, mosts, keep}
}

// readVerdict reads what spend returned. The three numbers: which limit has no room (from 1; 0 is none), when the
// spending that is in the way happened, and the database's present.
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

// countIn counts in a transaction. It keeps the user's other spendings waiting until that ends.
func (s spending) countIn(t store.Tx) error {
	var result []int64
	if err := t.One(callSpend, s.queryArgs(true), &result); err != nil {
		return err
	}
	return s.readVerdict(result)
}

// Spend implements chat.LimitStore. It does not wait for the disk.
func (c *Chats) Spend(ctx context.Context, user string, what chat.Resource, n int64) error {
	limits := c.db.limits.For(user)
	s := spending{limits, limits.SpendLimits(what), user, what, n}
	if len(s.windows) == 0 {
		return nil
	}
	release, err := c.db.takers.takeTurn(ctx, user)
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

// Charge implements chat.LimitStore. What was spent is counted without a look and without a lock. It never refuses:
// what was used is counted even beyond a limit. Old rows go with the next spend.
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

// Room implements chat.LimitStore. It takes no turn: it only looks, and what it finds may be gone a moment later.
func (c *Chats) Room(ctx context.Context, user string, what chat.Resource) error {
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

// admitRun counts a question and starts its run, unless the user's limits have no room for it. The lock that countIn
// takes lasts to the commit, so the number of running runs is that which the start makes one more of.
func (c *Chats) admitRun(ctx context.Context, limits chat.Limits, user string, start func(*tx) error) error {
	release, err := c.db.takers.takeTurn(ctx, user)
	if err != nil {
		return err
	}
	defer release()
	question := spending{
		limits, append(limits.SpendLimits(chat.ResourceTokens), limits.SpendLimits(chat.ResourceQuestions)...), user,
		chat.ResourceQuestions, 1,
	}
	return c.db.inTx(ctx, shortTime, func(t *tx) error {
		if err := question.countIn(t); err != nil { // from here on no other start of this user is under way
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
