package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// KeepLeases keeps the leases of the runs under way, does what other servers were told about them, and takes over those
// of servers that died or stopped, until ctx ends. At its start it takes over what was left behind: those runs go on
// from their last finished step, or end as interrupted. What its store refuses it logs and tries again. Leases are
// renewed three times in their length, so one renewal may fail. Between two renewals it looks for ended leases of
// others (lookEvery) and wakes at once when a notification comes. It is the one goroutine that does this; it ends with
// ctx.
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
	ticker, looks := time.NewTicker(r.cfg.Lease/3), time.NewTicker(r.lookEvery())
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
			r.cfg.Log.ErrorContext(ctx, "leases could not be renewed", "error", err)
			continue
		}
		r.applyCommands(ctx)
		r.sendWaiting(ctx)
		if time.Since(purged) >= undoTime {
			purged = time.Now()
			if _, err := r.cfg.Store.Purge(ctx, purged.Add(-undoTime), r.idleSince(purged)); err != nil {
				r.cfg.Log.ErrorContext(ctx, "deleted and old conversations could not be removed", "error", err)
			}
		}
	}
}

// lookEvery is how long after its end a lease may go unnoticed: a tenth of it, so that the runs of a server which dies
// go on after 33 s. A server that is alone with its store has no other's runs to look for, but for those that it lost
// itself. With a lease of 30 s that is every 3 s (docs/decisions/replicas.md).
func (r *Runs) lookEvery() time.Duration {
	if r.cfg.Exclusive {
		return r.cfg.Lease / 3
	}
	return r.cfg.Lease / 10
}

// idleSince is when a conversation was last used that is too old now; zero: none ever is.
func (r *Runs) idleSince(now time.Time) time.Time {
	if r.cfg.KeepSessions == 0 {
		return time.Time{}
	}
	return now.Add(-r.cfg.KeepSessions)
}

// undoTime is how long a deleted conversation can be brought back. It is also how often deleted and idle conversations
// are purged.
const undoTime = time.Minute

// renewLeases extends the leases of the runs under way. A run that another server has by now stops here. The store is
// asked without the lock, so a run may have ended meanwhile; Lose does nothing to one that is over.
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
			c.Lose()
		}
	}
	return nil
}

// takeOverAtStart takes over what was left behind. No run may begin meanwhile: a server that is alone takes all there
// are. “All” are those whose lease ends within 100 years.
func (r *Runs) takeOverAtStart(ctx context.Context) {
	r.starting.Lock()
	defer r.starting.Unlock()
	before := time.Now()
	if r.cfg.Exclusive {
		before = before.AddDate(100, 0, 0)
	}
	r.takeOverAll(ctx, before)
}

// takeOverFree takes over the runs of servers that died, and those that were released.
func (r *Runs) takeOverFree(ctx context.Context) { r.takeOverAll(ctx, time.Now()) }

// takeOverAll is takeOver, which fails while the store is away or damaged: then other questions are answered still.
func (r *Runs) takeOverAll(ctx context.Context, before time.Time) {
	if err := r.takeOver(ctx, before); err != nil {
		r.cfg.Log.ErrorContext(ctx, "runs that are free could not be taken over", "error", err)
	}
}

// takeOver makes runs whose lease ended before the given time ours and carries them on. Leases are what makes one
// server work on a run: a run whose lease has ended is anybody's. A run that is active here has only lost its lease for
// a while: it goes on, and is not begun a second time. The log is read before the run goes on, since what it did is
// nowhere else.
func (r *Runs) takeOver(ctx context.Context, before time.Time) error {
	r.mu.Lock()
	stopping := r.stopping
	r.mu.Unlock()
	if stopping { // what was released here is for others
		return nil
	}
	runs, err := r.cfg.Store.TakeOver(ctx, r.newLease(), before)
	if err != nil && ctx.Err() != nil { // stopped as soon as started
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
		if err != nil { // tried again when its lease ends
			errs = append(errs, err)
			continue
		}
		set, err := r.engine.ToolsOf(taken.Request)
		if err != nil { // a toolset of an older version: the default serves
			set = r.engine.DefaultTools()
		}
		r.cfg.Log.InfoContext(ctx, "taking over a run", "run", taken.ID, "events", len(log))
		r.launchRun(context.WithoutCancel(ctx), taken, set, log)
	}
	return errors.Join(errs...)
}
