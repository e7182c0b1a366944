package agent

import (
	"context"
	"time"

	"footnote/chat"
)

// leaveTime is how long calls that are under way when a server stops may take to end, so that the server which goes on has their results
// and makes none of them again.
const leaveTime = 5 * time.Second

// Steps of a run that is left to another server: the last one here and the first one there.
const (
	handedOver = "handover"
	takenOver  = "takeover"
)

// Stop lets no new run begin and returns when those under way have ended here, or when ctx ends. A server that is alone with its store
// ends them as interrupted. Else they are left to the other servers: the model's reply is cut off, calls that are under way may end, and
// the run is released.
func (r *Runs) Stop(ctx context.Context) error {
	r.mu.Lock()
	r.stopping = true
	for _, h := range r.active {
		r.dismiss(h)
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
			for _, h := range r.active {
				h.cancel(errLeaving)
			}
			r.mu.Unlock()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// dismiss ends a run here because the server stops.
func (r *Runs) dismiss(h *handle) {
	if r.cfg.Exclusive {
		h.cancel(errStopping)
	} else {
		h.leave()
	}
}

// left returns why the run is not carried on here, nil as long as it is.
func (w *work) left(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return context.Cause(w.leaving)
}

// handOver leaves the run to another server. If that fails, they find it when its lease ends.
func (w *work) handOver(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if !w.fresh { // a log does not begin with this
		step := w.phase(handedOver, chat.ActionThinking, chat.StatusComplete, "The server is being stopped: another one goes on from here")
		if err := w.takeBack(ctx, step); err != nil {
			w.cfg.Log.WarnContext(ctx, "run is left as it is", "run", w.run.ID, "error", err)
			return
		}
	}
	if err := w.cfg.Store.Release(ctx, w.cfg.Owner, w.run.ID); err != nil {
		w.cfg.Log.WarnContext(ctx, "run could not be released", "run", w.run.ID, "error", err)
		return
	}
	w.cfg.Log.InfoContext(ctx, "a run is left to another server", "run", w.run.ID)
}
