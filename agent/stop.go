package agent

import (
	"context"
	"time"

	"github.com/footnote/footnote/agent/run"
)

// leaveTime is how long calls that are under way when a server stops may take to end, so that the server which goes on
// has their results and makes none of them again. After it calls are cut off, and the server that goes on tells the
// model that nobody knows whether an acting call took effect.
const leaveTime = 5 * time.Second

// Stop lets no new run begin and returns when those under way have ended here, or when ctx ends. A server that is alone
// with its store ends them as interrupted. Else they are left to the other servers: the model's reply is cut off, calls
// that are under way may end, and the run is released. Its goroutine outlives a ctx that ends first, until the runs
// have ended.
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
	go func() { // ends with the runs, each of which ends by its cancelled context
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
				c.LeaveAtOnce()
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
		c.Leave()
	}
}
