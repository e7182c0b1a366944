package agent

import (
	"context"
	"time"

	"github.com/footnote/footnote/agent/run"
)

// leaveTime is the grace period of active calls when a server stops, so that the server that takes over has their
// results and repeats none. After it calls are cut off, and the model is informed that the effect of a call with
// side effects is unknown.
const leaveTime = 5 * time.Second

// Stop refuses new runs and returns when the active ones have ended here, or when ctx is cancelled. An exclusive
// server ends them as interrupted. Otherwise other servers take them over: the model's reply is cut off, active
// calls may finish, and the run is released. Its goroutine outlives ctx until the runs have ended.
func (r *Runs) Stop(ctx context.Context) error {
	r.mu.Lock()
	if !r.stopping {
		close(r.stopped)
	}
	r.stopping = true
	for _, c := range r.active {
		r.dismissRun(c)
	}
	r.mu.Unlock()
	ended := make(chan struct{})
	go func() { // ends with the runs, whose contexts are cancelled
		defer close(ended)
		r.wg.Wait()
	}()
	late := time.NewTimer(leaveTime)
	defer late.Stop()
	for {
		select {
		case <-ended:
			return nil
		case <-late.C:
			r.mu.Lock()
			for _, c := range r.active {
				c.HandOverNow()
			}
			r.mu.Unlock()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// dismissRun ends a run here because the server stops.
func (r *Runs) dismissRun(c *run.Control) {
	if r.cfg.Exclusive {
		c.Interrupt()
	} else {
		c.HandOver()
	}
}
