package follow

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/footnote/footnote/corpus/sources/placestore"
)

const (
	// turnTime is how long a user's only look is worked on before it yields to a user who has none.
	turnTime = 10 * time.Second
	// aloneTime is how long a place that a process died over is worked on before it yields. No other place is worked on
	// meanwhile.
	aloneTime = 2 * time.Minute
	aloneWait = time.Minute // that such a place leaves to others then
	maxCuts   = 5           // of such a place: then the look fails
)

// errTurn ends a look that has to yield to another user's place.
var errTurn = errors.New("it is another user's turn")

// turns shares the workers of this process among users.
//
// claiming is held while a place is chosen and leased, so that two workers never choose by the same state. mu is held
// for moments only.
type turns struct {
	claiming sync.Mutex
	mu       sync.Mutex
	looks    []*look              // at work
	served   map[string]time.Time // by user: when a look was begun last
	// long is the look that no user's turn ends while other looks do. Otherwise a long list would never end.
	long *look
}

// claim leases the place that is next of those that are due and that this server can open; nil: none. A user with
// fewer looks at work comes first, then the one served least recently, then the place that is due for longest. A place
// that a process died over is worked on while no other is, so that the next death shows which place causes it.
func (f *Follower) claim(ctx context.Context) (*look, error) {
	f.turns.claiming.Lock()
	defer f.turns.claiming.Unlock()
	if !f.Alone { // a server of its own counts once, at its start
		if err := f.Store.CountDeaths(ctx, false); err != nil {
			return nil, err
		}
	}
	due, err := f.due(ctx)
	if err != nil {
		return nil, err
	}
	lease := placestore.Lease{Owner: rand.Text(), For: leaseTime}
	for _, p := range f.turns.order(due) {
		p, ok, err := f.Store.LeasePlace(ctx, p.ID, lease)
		if err != nil {
			return nil, err
		}
		if ok {
			l := &look{
				f: f, p: p, lease: lease, log: f.Log.With("place", p.ID, "kind", p.Kind),
				alone: isSuspect(p), cuts: p.Cuts, began: time.Now(),
			}
			f.turns.enter(l)
			return l, nil
		}
	}
	return nil, nil
}

// due returns the places that are due, but for those whose secrets are with another server. A place that is removed
// needs none.
func (f *Follower) due(ctx context.Context) ([]placestore.Place, error) {
	due, err := f.Store.DuePlaces(ctx, placestore.MaxPlaces)
	return slices.DeleteFunc(due, func(p placestore.Place) bool {
		return !f.Alone && p.Removing == placestore.NotRemoved && !f.hasSecrets(p)
	}), err
}

// isSuspect reports whether a process died while it worked on a place, and the place has not been synchronized since.
func isSuspect(p placestore.Place) bool { return p.Deaths > 0 && p.Removing == placestore.NotRemoved }

// order returns those of some places that may be begun now, the next one first.
func (t *turns) order(due []placestore.Place) []placestore.Place {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.looks, func(l *look) bool { return l.alone }) {
		return nil
	}
	if i := slices.IndexFunc(due, isSuspect); i >= 0 {
		if len(t.looks) > 0 {
			return nil
		}
		return due[i : i+1]
	}
	slices.SortStableFunc(due, func(a, b placestore.Place) int {
		return cmp.Or(cmp.Compare(t.held(a.User), t.held(b.User)), t.served[a.User].Compare(t.served[b.User]))
	})
	return due
}

// held counts the looks at work for a user. The caller holds mu.
func (t *turns) held(user string) (n int) {
	for _, l := range t.looks {
		if l.p.User == user {
			n++
		}
	}
	return n
}

// enter notes a look that begins.
func (t *turns) enter(l *look) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.served == nil {
		t.served = map[string]time.Time{}
	}
	t.served[l.p.User] = l.began
	t.looks = append(t.looks, l)
	t.long = cmp.Or(t.long, l)
}

// leave notes a look that ended. Of those that go on, the one that was cut most often is not cut again.
func (t *turns) leave(l *look) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.looks = slices.DeleteFunc(t.looks, func(other *look) bool { return other == l })
	if t.long != l {
		return
	}
	t.long = nil
	for _, other := range t.looks {
		if t.long == nil || other.cuts > t.long.cuts {
			t.long = other
		}
	}
}

// mustYield reports whether a look has to end for another place. A user with several looks yields one at once to a user
// who has none; a user's only look yields after turnTime.
func (f *Follower) mustYield(ctx context.Context, l *look) bool {
	due, err := f.due(ctx)
	if err != nil || len(due) == 0 {
		return false
	}
	t := &f.turns
	t.mu.Lock()
	defer t.mu.Unlock()
	age := time.Since(l.began)
	switch {
	case l.alone:
		return age >= aloneTime
	case slices.ContainsFunc(due, isSuspect):
		return age >= turnTime
	case len(t.looks) < workers,
		!slices.ContainsFunc(due, func(p placestore.Place) bool { return t.held(p.User) == 0 }):
		return false
	}
	var next *look // of the user with most looks, the one that began first
	for _, other := range t.looks {
		if other != t.long && (next == nil || t.held(other.p.User) > t.held(next.p.User)) {
			next = other
		}
	}
	return next == l && (t.held(l.p.User) > 1 || age >= turnTime)
}
