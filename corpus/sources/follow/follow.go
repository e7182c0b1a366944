// Package follow follows places: it looks at each on its schedule, and makes the library like what the place has.
//
// A look lists what the place has (look.go), compares that with what placestore knows, fetches what is new or changed
// (fetch.go), follows what was moved (takeover.go) and removes what is gone. turns.go shares the workers among users,
// setup.go checks what owners enter, secrets.go keeps their passwords in files. Several servers may share a store: a
// place is worked on under a lease, and every write names its owner, so that a server which lost the lease changes
// nothing. Documents are only removed when a list came to its end and named something: an empty or broken one removes
// nothing.
package follow

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/fair"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestore"
)

// Config wires a Follower. All but Gone and Log are required. Kinds are those that can be followed here.
type Config struct {
	Store   placestore.Store
	Library *corpus.Library
	Kinds   []sources.Kind
	Secrets string // the directory of the files with secrets
	// Net is the way to the network for a place of a kind. local says that the local user set it up; see
	// placestore.Setup.
	Net func(kind sources.Kind, local bool) sources.Net
	// Others says that another store has secrets in the directory too: what this one does not know may be its.
	Others bool
	// Alone says that no other server has the store open.
	Alone bool
	// Gone reports whether a user's keys were revoked, so that nothing is read for them; nil: nobody's.
	Gone func(user string) bool
	Log  *slog.Logger
}

// Their order is their reason: a lease (1 min) is renewed each second and outlives a pause of the process; a slice (5
// min) of fetching gives other places a turn; a list may take 30 min and an item 10.
const (
	workers   = 2 // places looked at by this server at once
	leaseTime = time.Minute
	poll      = 5 * time.Second
	// sliceTime is how long items of one place are fetched before others get their turn.
	sliceTime = 5 * time.Minute
	listTime  = 30 * time.Minute
	fetchTime = 10 * time.Minute
	checkTime = time.Minute
	lastWord  = 10 * time.Second // to store how a look ended
	// firstRetry is how long is waited after the first failure of a place; each further one doubles it, up to
	// lastRetry.
	firstRetry, lastRetry = time.Minute, 6 * time.Hour
	// retriesOnRequest is how often a place is tried again by itself that is looked at on request only.
	retriesOnRequest = 3
	// patience is how many failures of a place end the fetching of its items.
	patience = 5
)

// Follower follows places. It is safe for concurrent use. Its goroutines are those of Run.
//
// wake only shortens a wait: workers find places in the store.
type Follower struct {
	Config
	wake   chan struct{} // holds one signal
	turns  turns
	checks *fair.Slots // of settings that an owner entered
}

// New wires a Follower. Run does its work.
func New(cfg Config) *Follower {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Follower{
		Config: cfg, wake: make(chan struct{}, 1), checks: fair.NewSlots(math.MaxInt, sources.ChecksAtOnce),
	}
}

// kind finds a kind by its name.
func (f *Follower) kind(name string) (sources.Kind, bool) {
	for _, k := range f.Kinds {
		if k.Name == name {
			return k, true
		}
	}
	return sources.Kind{}, false
}

// Run looks at places until ctx ends, and returns when its workers have stopped. With another server beside it nothing
// is freed at the start: leases end by themselves.
func (f *Follower) Run(ctx context.Context) {
	if f.Alone { // what an earlier process held is free
		if err := f.Store.CountDeaths(ctx, true); err != nil && ctx.Err() == nil {
			f.Log.WarnContext(ctx, "places of an earlier process are looked at later", "error", err)
		}
	}
	f.sweepSecrets(ctx)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() { f.workUntil(ctx) })
	}
	all.Wait()
}

// workUntil works on one place after another until ctx ends. After an error it waits like one who found nothing.
func (f *Follower) workUntil(ctx context.Context) {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	for ctx.Err() == nil {
		did, err := f.workOnce(ctx)
		if err != nil && ctx.Err() == nil {
			f.Log.ErrorContext(ctx, "take a place", "error", err)
		}
		if did && err == nil {
			continue
		}
		timer.Reset(poll)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-f.wake:
		}
	}
}

// tellWorkers has a worker look for places that are due. It never blocks: a signal that is there already is enough.
func (f *Follower) tellWorkers() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// workOnce works on the place that is next.
func (f *Follower) workOnce(ctx context.Context) (did bool, err error) {
	l, err := f.claim(ctx)
	if l == nil {
		return false, err
	}
	defer f.turns.leave(l)
	f.work(ctx, l)
	return true, nil
}

// errStop ends work on a place whose owner changed it, or that another server has now.
var errStop = errors.New("the place was changed or is another server's now")

// errGone says that the owner of a place may use the server no more. It is asked for again after a while.
var errGone = errors.New("the keys of the place's owner were revoked")

// work works on a leased place, and gives it back. The lease's goroutine has ended before the place is given back.
// Giving back goes on for lastWord after the server began to stop.
func (f *Follower) work(ctx context.Context, l *look) {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p, lease := l.p, l.lease
	var keeper sync.WaitGroup
	keeper.Go(func() { f.keepLease(work, l, p.Revision, stop) })
	var err error
	if p.Removing != placestore.NotRemoved {
		err = l.remove(work)
	} else {
		err = l.run(work)
	}
	cause := context.Cause(work)
	stop(nil)
	keeper.Wait()
	if p.Removing != placestore.NotRemoved && err == nil {
		f.forgetSecrets(p.ID, "")
		return
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
	defer cancel()
	due := l.conclude(last, err, cause)
	err = f.Store.ReleasePlace(last, p.ID, lease.Owner, p.Revision, l.p.Progress, due)
	if err != nil && !errors.Is(err, placestore.ErrLost) {
		l.log.ErrorContext(last, "end a look", "error", err)
	}
}

// keepLease prolongs a lease until ctx ends. A place that its owner changed is stopped. A changed revision ends the
// work within a second, so an owner's new settings hold at once. Within a second it also ends for another's turn.
func (f *Follower) keepLease(ctx context.Context, l *look, before int64, stop context.CancelCauseFunc) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for held := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		revision, err := f.Store.RenewPlace(ctx, l.p.ID, l.lease, nil)
		switch {
		case err == nil && revision == before:
			held = now
		case err == nil, errors.Is(err, placestore.ErrLost), time.Since(held) > leaseTime:
			stop(errStop)
			return
		}
		if f.mustYield(ctx, l) {
			stop(errTurn)
			return
		}
	}
}

// conclude notes how a look ended, and returns when the next one is due. A duration of 0 means at once. Failures double
// the pause from firstRetry to lastRetry; what only the owner can mend is tried every lastRetry.
func (l *look) conclude(ctx context.Context, err, cause error) time.Duration {
	if counts, err := l.f.Store.CountItems(ctx, l.p.ID); err == nil {
		l.p.Counts = counts
	}
	now, schedule := time.Now().UTC().Truncate(time.Microsecond), l.p.Schedule.Every()
	switch {
	case errors.Is(cause, errTurn):
		l.p.Cuts++
		switch {
		case !l.alone:
			return 0
		case l.p.Cuts < maxCuts:
			return aloneWait
		}
		err = errSlow
	case cause != nil: // the server stops, or the place was changed: it goes on soon
		return 0
	case errors.Is(err, errMore):
		l.p.Cuts = 0
		return 0
	case errors.Is(err, errGone):
		return lastRetry
	}
	l.p.Going, l.p.Cuts = false, 0
	if err == nil {
		l.p.LookedAt, l.p.SuccessAt, l.p.Failure, l.p.Failures = now, now, nil, 0
		if schedule == 0 {
			return placestore.Never
		}
		return schedule
	}
	l.log.WarnContext(ctx, "a place can't be followed now", "code", chat.CodeOf(err), "error", err)
	l.p.LookedAt, l.p.Failures = now, l.p.Failures+1
	l.p.Failure = failureOf(err)
	if schedule == 0 && l.p.Failures > retriesOnRequest {
		return placestore.Never
	}
	wait := firstRetry << min(l.p.Failures-1, 10)
	if c := l.p.Failure.Code; c == chat.CodeUnauthorized || c == chat.CodeForbidden || c == chat.CodeInvalid {
		wait = lastRetry // only its owner can mend it
	}
	return min(wait, lastRetry)
}

// failureOf is what people read of a failure. Errors without a sentence for people become a general one; the log has
// the cause.
func failureOf(err error) *placestore.Failure {
	if e, ok := errors.AsType[*chat.Error](err); ok && e.Code != chat.CodeInternal {
		return &placestore.Failure{Code: e.Code, Message: e.Message}
	}
	if over, ok := errors.AsType[*chat.OverLimit](err); ok {
		return &placestore.Failure{Code: chat.CodeOf(over), Message: chat.MessageOf(over)}
	}
	e := &chat.Error{
		Code: chat.CodeUnavailable, Message: "The place could not be read to its end. It is tried again by itself.",
	}
	return &placestore.Failure{Code: e.Code, Message: e.Message}
}
