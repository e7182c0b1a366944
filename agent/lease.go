package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// KeepLeases renews the leases of active runs, applies stored commands, and takes over runs with expired or released
// leases, until ctx is cancelled. At its start it takes over the runs that a previous process left: they resume from
// their last finished step, or end as interrupted. Errors of the store are logged and retried.
//
// Leases are renewed three times in their length, so one renewal may fail. Between renewals it polls for expired
// leases (pollInterval) and wakes up for notifications. Call it in one goroutine only.
func (r *Runs) KeepLeases(ctx context.Context) {
	r.takeOverAtStart(ctx)
	if r.cfg.Revoked != nil {
		var watching sync.WaitGroup
		watching.Go(func() { r.watchUsers(ctx) })
		defer watching.Wait()
	}
	r.applyCommands(ctx)
	r.sendWaiting(ctx)
	var purged time.Time
	ticker, looks := time.NewTicker(r.cfg.Lease/3), time.NewTicker(r.pollInterval())
	defer ticker.Stop()
	defer looks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.look:
			r.takeOverFree(ctx)
			r.applyCommands(ctx)
			continue
		case <-looks.C:
			r.takeOverFree(ctx)
			continue
		case <-ticker.C:
		}
		if err := r.renewLeases(ctx); err != nil {
			r.cfg.Log.ErrorContext(ctx, "could not renew leases", "error", err)
			continue
		}
		r.applyCommands(ctx)
		r.sendWaiting(ctx)
		if time.Since(purged) >= undoTime {
			purged = time.Now()
			if _, err := r.cfg.Store.Purge(ctx, purged.Add(-undoTime), r.idleSince(purged)); err != nil {
				r.cfg.Log.ErrorContext(ctx, "could not purge deleted and expired conversations", "error", err)
			}
		}
	}
}

// pollInterval returns the polling interval for expired leases: a tenth of a lease, so that the runs of a dead server
// resume after 33 s. With a lease of 30 s it is 3 s (docs/decisions/replicas.md). An exclusive server polls every
// third of a lease, since it can only find runs whose lease it lost itself.
func (r *Runs) pollInterval() time.Duration {
	if r.cfg.Exclusive {
		return r.cfg.Lease / 3
	}
	return r.cfg.Lease / 10
}

// idleSince returns the time before which an unused session is expired, zero if sessions never expire.
func (r *Runs) idleSince(now time.Time) time.Time {
	if r.cfg.KeepSessions == 0 {
		return time.Time{}
	}
	return now.Add(-r.cfg.KeepSessions)
}

// undoTime is the time in which a deleted conversation can be restored, and the interval at which deleted and idle
// conversations are purged.
const undoTime = time.Minute

// renewLeases extends the leases of active runs. A run that another server has taken over stops here. The store is
// called without the lock, so a run may have ended meanwhile; Lose ignores a run that is over.
func (r *Runs) renewLeases(ctx context.Context) error {
	r.mu.Lock()
	held := make([]string, 0, len(r.active))
	for id := range r.active {
		held = append(held, id)
	}
	r.mu.Unlock()
	if len(held) == 0 {
		return nil
	}
	lost, err := r.cfg.Store.Renew(ctx, r.newLease(), held)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range lost {
		if c, ok := r.active[id]; ok {
			c.StopWithoutEvent()
		}
	}
	return nil
}

// takeOverAtStart takes over the runs of a previous process. It blocks new runs meanwhile, since an exclusive server
// takes all unfinished runs: those whose lease ends within 100 years.
func (r *Runs) takeOverAtStart(ctx context.Context) {
	r.starting.Lock()
	defer r.starting.Unlock()
	before := time.Now()
	if r.cfg.Exclusive {
		before = before.AddDate(100, 0, 0)
	}
	r.takeOverAll(ctx, before)
}

// takeOverFree takes over runs whose lease has expired or was released.
func (r *Runs) takeOverFree(ctx context.Context) { r.takeOverAll(ctx, time.Now()) }

// takeOverAll calls takeOver and logs its error, so that the server answers other questions while the store fails.
func (r *Runs) takeOverAll(ctx context.Context, before time.Time) {
	if err := r.takeOver(ctx, before); err != nil {
		r.cfg.Log.ErrorContext(ctx, "could not take over unleased runs", "error", err)
	}
}

// takeOver acquires runs whose lease ended before the given time and resumes them. Leases ensure that one server
// works on a run. A run that is active here only lost its lease for a while: it continues and is not started again.
// The log is read before the run resumes, since it is the run's only state.
func (r *Runs) takeOver(ctx context.Context, before time.Time) error {
	r.mu.Lock()
	stopping := r.stopping
	r.mu.Unlock()
	if stopping { // released runs are for other servers
		return nil
	}
	runs, err := r.cfg.Store.TakeOver(ctx, r.newLease(), before)
	if err != nil && ctx.Err() != nil { // cancelled right after the start
		return nil
	}
	if err != nil {
		return fmt.Errorf("take over runs: %w", err)
	}
	var errs []error
	for _, taken := range runs {
		r.mu.Lock()
		_, ours := r.active[taken.ID]
		r.mu.Unlock()
		if ours {
			continue
		}
		log, err := r.engine.ReadLog(ctx, taken)
		if err != nil { // retried when its lease ends
			errs = append(errs, err)
			continue
		}
		set, err := r.engine.ToolsOf(taken.Request)
		if err != nil { // a toolset of an older version: the default is the fallback
			set = r.engine.DefaultTools()
		}
		r.cfg.Log.InfoContext(ctx, "taking over a run", "run", taken.ID, "events", len(log))
		r.launchRun(context.WithoutCancel(ctx), taken, set, log)
	}
	return errors.Join(errs...)
}
