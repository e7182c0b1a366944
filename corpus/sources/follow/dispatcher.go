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
	// turnTime is the time for which a user's only sync runs before it yields to a user without one.
	turnTime = 10 * time.Second
	// aloneTime is the time for which a sync of a place runs alone before it yields, after a process died over the
	// place.
	aloneTime = 2 * time.Minute
	aloneWait = time.Minute // delay before the next sync of such a place
	maxCuts   = 5           // interruptions of such a place until the sync fails
)

// errTurn cancels a sync that yields to another user's place.
var errTurn = errors.New("it is another user's turn")

// dispatcher schedules the workers of this process among users.
//
// The mutex claiming is held while a place is chosen and leased, so that two workers never choose from the same
// state. mu is held only briefly.
type dispatcher struct {
	claiming sync.Mutex
	mu       sync.Mutex
	running  []*syncRun           // running
	served   map[string]time.Time // by user: start of the last sync
	// long is exempt from yielding while other syncs run, so that a long list can end.
	long *syncRun
}

// claim leases the next place that is due and that this server can open; nil if none is. A user with fewer running
// syncs is first, then the one served least recently, then the place that has been due for longest. A place over
// which a process died runs alone, so that another crash identifies it as the cause.
func (f *Follower) claim(ctx context.Context) (*syncRun, error) {
	f.turns.claiming.Lock()
	defer f.turns.claiming.Unlock()
	if !f.Alone { // a sole server counts once, at its start
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
			l := &syncRun{
				f: f, p: p, lease: lease, log: f.Log.With("place", p.ID, "kind", p.Kind),
				alone: isSuspect(p), cuts: p.Cuts, began: time.Now(),
			}
			f.turns.add(l)
			return l, nil
		}
	}
	return nil, nil
}

// due returns the due places, without those whose secrets are on another server. A place that is being removed needs
// no secrets.
func (f *Follower) due(ctx context.Context) ([]placestore.Place, error) {
	due, err := f.Store.DuePlaces(ctx, placestore.MaxPlaces)
	return slices.DeleteFunc(due, func(p placestore.Place) bool {
		return !f.Alone && p.Removing == placestore.NotRemoved && !f.hasSecrets(p)
	}), err
}

// isSuspect reports whether a process died while it worked on a place, and the place has not been synchronised
// since.
func isSuspect(p placestore.Place) bool { return p.Deaths > 0 && p.Removing == placestore.NotRemoved }

// order returns the places that may start now, the next one first.
func (t *dispatcher) order(due []placestore.Place) []placestore.Place {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.running, func(l *syncRun) bool { return l.alone }) {
		return nil
	}
	if i := slices.IndexFunc(due, isSuspect); i >= 0 {
		if len(t.running) > 0 {
			return nil
		}
		return due[i : i+1]
	}
	slices.SortStableFunc(due, func(a, b placestore.Place) int {
		return cmp.Or(cmp.Compare(t.active(a.User), t.active(b.User)), t.served[a.User].Compare(t.served[b.User]))
	})
	return due
}

// active counts the running syncs of a user. The caller holds mu.
func (t *dispatcher) active(user string) (n int) {
	for _, l := range t.running {
		if l.p.User == user {
			n++
		}
	}
	return n
}

// add registers a sync that starts.
func (t *dispatcher) add(l *syncRun) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.served == nil {
		t.served = map[string]time.Time{}
	}
	t.served[l.p.User] = l.began
	t.running = append(t.running, l)
	t.long = cmp.Or(t.long, l)
}

// remove removes a sync that ended. If it was exempt from yielding, the running sync with most interruptions is
// exempt next.
func (t *dispatcher) remove(l *syncRun) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = slices.DeleteFunc(t.running, func(other *syncRun) bool { return other == l })
	if t.long != l {
		return
	}
	t.long = nil
	for _, other := range t.running {
		if t.long == nil || other.cuts > t.long.cuts {
			t.long = other
		}
	}
}

// mustYield reports whether a sync has to end for another place. If a user has several syncs, one yields at once to
// a user without one. A user's only sync yields after turnTime.
func (f *Follower) mustYield(ctx context.Context, l *syncRun) bool {
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
	case len(t.running) < workers,
		!slices.ContainsFunc(due, func(p placestore.Place) bool { return t.active(p.User) == 0 }):
		return false
	}
	var next *syncRun // the oldest sync of the user with most syncs
	for _, other := range t.running {
		if other != t.long && (next == nil || t.active(other.p.User) > t.active(next.p.User)) {
			next = other
		}
	}
	return next == l && (t.active(l.p.User) > 1 || age >= turnTime)
}
