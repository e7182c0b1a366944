// Package follow synchronises the library with places. It visits each place on its schedule; one visit is a sync.
//
// A sync lists the items of the place (sync_run.go), compares them with placestore, fetches new and changed ones
// (fetch.go), handles moved ones (takeover.go) and removes missing ones. dispatcher.go schedules the workers among
// users, setup.go validates settings, and secrets.go stores passwords in files.
//
// Several servers may share a store. A server works on a place under a lease, and every write names the lease's
// owner, so a server that lost its lease changes nothing. Documents are removed only after a complete list with at
// least one item; an empty or failed list removes nothing.
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

// Config configures a Follower. All fields but Gone and Log are required. Kinds are the available kinds of places.
type Config struct {
	Store   placestore.Store
	Library *corpus.Library
	Kinds   []sources.Kind
	Secrets string // directory of the files with secrets
	// Net returns the network access for a place of a kind. local is set if the local user set it up; see
	// placestore.Setup.
	Net func(kind sources.Kind, local bool) sources.Net
	// Others is set if another store keeps secrets in the same directory. Files of places unknown to this store are
	// then kept.
	Others bool
	// Alone is set if no other server has the store open.
	Alone bool
	// Gone reports whether a user's API keys were revoked, so that their places are not read; nil: never.
	Gone func(user string) bool
	Log  *slog.Logger
}

// Timeouts and intervals. A lease (1 min) is renewed each second and outlasts a pause of the process. A time slice
// of 5 min lets other places continue. A list has a timeout of 30 min, and an item one of 10 min.
const (
	workers   = 2 // concurrent syncs of this server
	leaseTime = time.Minute
	poll      = 5 * time.Second
	// sliceTime is the time for which items of one place are fetched before other places get a turn.
	sliceTime = 5 * time.Minute
	listTime  = 30 * time.Minute
	fetchTime = 10 * time.Minute
	checkTime = time.Minute
	lastWord  = 10 * time.Second // timeout for storing the result of a sync
	// firstRetry is the delay before the first retry of a failed place. Exponential backoff doubles it up to
	// lastRetry.
	firstRetry, lastRetry = time.Minute, 6 * time.Hour
	// retriesOnRequest is the number of automatic retries for a place with the schedule “on request”.
	retriesOnRequest = 3
	// patience is the number of failures of a place after which a sync ends.
	patience = 5
)

// Follower synchronises places. It is safe for concurrent use. Run owns its goroutines.
//
// wake only shortens the polling interval; the store is the queue of due places.
type Follower struct {
	Config
	wake   chan struct{} // a buffer for one signal
	turns  dispatcher
	checks *fair.Slots // checks of entered settings in progress
}

// New returns a Follower. Run starts its workers.
func New(cfg Config) *Follower {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Follower{
		Config: cfg, wake: make(chan struct{}, 1), checks: fair.NewSlots(math.MaxInt, sources.ChecksAtOnce),
	}
}

// kind looks up a kind by name.
func (f *Follower) kind(name string) (sources.Kind, bool) {
	for _, k := range f.Kinds {
		if k.Name == name {
			return k, true
		}
	}
	return sources.Kind{}, false
}

// Run runs the workers until ctx is cancelled and returns when they have stopped. With other servers (not Alone) it
// frees no leases at the start, as leases expire.
func (f *Follower) Run(ctx context.Context) {
	if f.Alone { // free the leases of an earlier process
		if err := f.Store.CountDeaths(ctx, true); err != nil && ctx.Err() == nil {
			f.Log.WarnContext(ctx, "could not resume the sources of an earlier process", "error", err)
		}
	}
	f.sweepSecrets(ctx)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() { f.workUntil(ctx) })
	}
	all.Wait()
}

// workUntil processes due places until ctx is cancelled. After an error it waits for the polling interval, as
// without a due place.
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

// wakeWorkers wakes a worker to query for due places. It never blocks, as one buffered signal is enough.
func (f *Follower) wakeWorkers() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// workOnce processes the next due place.
func (f *Follower) workOnce(ctx context.Context) (did bool, err error) {
	l, err := f.claim(ctx)
	if l == nil {
		return false, err
	}
	defer f.turns.remove(l)
	f.work(ctx, l)
	return true, nil
}

// errStop cancels the work on a place that its owner changed, or whose lease another server has.
var errStop = errors.New("the source was changed or is synced by another server")

// errGone is returned for a place whose owner's keys were revoked. A retry follows after lastRetry.
var errGone = errors.New("the API keys of the source's owner were revoked")

// work processes a leased place and releases it. The goroutine that renews the lease ends before the release. The
// release has a timeout of lastWord and also runs during a shutdown.
func (f *Follower) work(ctx context.Context, l *syncRun) {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p, lease := l.p, l.lease
	var keeper sync.WaitGroup
	keeper.Go(func() { f.renewLease(work, l, p.Revision, stop) })
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
	due := l.finish(last, err, cause)
	err = f.Store.ReleasePlace(last, p.ID, lease.Owner, p.Revision, l.p.Progress, due)
	if err != nil && !errors.Is(err, placestore.ErrLost) {
		l.log.ErrorContext(last, "end a look", "error", err)
	}
}

// renewLease renews a lease each second until ctx is cancelled. It cancels the work with errStop when the place's
// revision changed, so new settings apply within a second, or when the lease is lost. It cancels it with errTurn
// when another user's place is next.
func (f *Follower) renewLease(ctx context.Context, l *syncRun, before int64, stop context.CancelCauseFunc) {
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

// finish records the result of a sync and returns the delay until the next one; 0 means at once. Failures have an
// exponential backoff from firstRetry to lastRetry. Errors that only the owner can fix are retried every lastRetry.
func (l *syncRun) finish(ctx context.Context, err, cause error) time.Duration {
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
	case cause != nil: // shutdown or a changed place: continue soon
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
	l.log.WarnContext(ctx, "could not sync a source", "code", chat.CodeOf(err), "error", err)
	l.p.LookedAt, l.p.Failures = now, l.p.Failures+1
	l.p.Failure = failureOf(err)
	if schedule == 0 && l.p.Failures > retriesOnRequest {
		return placestore.Never
	}
	wait := firstRetry << min(l.p.Failures-1, 10)
	if c := l.p.Failure.Code; c == chat.CodeUnauthorized || c == chat.CodeForbidden || c == chat.CodeInvalid {
		wait = lastRetry // only its owner can fix it
	}
	return min(wait, lastRetry)
}

// failureOf returns the user-facing failure of an error. An error without a user-facing message gets a generic one;
// the cause is only logged.
func failureOf(err error) *placestore.Failure {
	if e, ok := errors.AsType[*chat.Error](err); ok && e.Code != chat.CodeInternal {
		return &placestore.Failure{Code: e.Code, Message: e.Message}
	}
	if over, ok := errors.AsType[*chat.OverLimit](err); ok {
		return &placestore.Failure{Code: chat.CodeOf(over), Message: chat.MessageOf(over)}
	}
	e := &chat.Error{
		Code: chat.CodeUnavailable, Message: sources.Retried("The sync failed."),
	}
	return &placestore.Failure{Code: e.Code, Message: e.Message}
}
