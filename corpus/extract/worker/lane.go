package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/footnote/footnote/corpus/fair"
)

// lane is a pool of workers for one kind of work, with a limit on concurrent requests. A request holds a slot while
// it runs, and slots are assigned to users in turn. Idle processes hold no slot, and end after IdleAfter. busy holds
// the working processes, for close to kill. ending counts goroutines that end processes, for close to wait for.
type lane struct {
	cfg     Config
	size    int
	slots   *fair.Slots
	mu      sync.Mutex
	waiting []*process // idle workers, the most recently used last
	busy    map[*process]bool
	coming  bool // Expect is starting a worker ahead of a request
	closed  bool
	ending  sync.WaitGroup
}

// newLane returns a lane of n slots without processes.
func newLane(n int, cfg Config) *lane {
	return &lane{cfg: cfg, size: n, slots: fair.NewSlots(n, n), busy: map[*process]bool{}}
}

// isClosed reports whether the lane was closed, in which case the death of a worker is expected.
func (l *lane) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// ready returns an idle worker with PDFium loaded, nil without one. The caller holds mu.
func (l *lane) ready() *process {
	for _, p := range slices.Backward(l.waiting) {
		if p.pdf {
			return p
		}
	}
	return nil
}

// take returns an idle worker, preferably with PDFium if the request needs it, or starts a new one. It prefers the
// most recently used one, which is warm, so that the others become idle and end. It starts a process under the lock,
// which takes milliseconds.
func (l *lane) take(ctx context.Context, req Request) (*process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("the workers were stopped")
	}
	if n := len(l.waiting); n > 0 {
		p := l.waiting[n-1]
		if pdf := l.ready(); pdf != nil && req.NeedsPDFium() {
			p = pdf
		}
		l.waiting = slices.DeleteFunc(l.waiting, func(w *process) bool { return w == p })
		p.idle.Stop()
		l.busy[p] = true
		return p, nil
	}
	if err := refused(); err != nil {
		warnRefused.Do(func() {
			l.cfg.Log.WarnContext(ctx, "programs that parse files are not sandboxed", "error", err)
		})
	}
	p, err := start(ctx, l.cfg.Command, l.cfg.CacheDir)
	if err == nil {
		l.busy[p] = true
	}
	return p, err
}

// put returns a worker to the idle ones until its idle timeout. A worker that is about to exit is waited for and
// dropped.
func (l *lane) put(p *process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.busy, p)
	if l.closed || p.last {
		l.end(p)
		return
	}
	l.waiting = append(l.waiting, p)
	p.idle = time.AfterFunc(l.cfg.IdleAfter, func() { l.retire(p) })
}

// retire ends a worker that is still idle.
func (l *lane) retire(p *process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, p); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		l.end(p)
	}
}

// end stops a process in a goroutine that close waits for.
func (l *lane) end(p *process) { l.ending.Go(p.stop) }

// drop kills and removes a process whose request failed.
func (l *lane) drop(p *process) {
	p.kill()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.busy, p)
}

// close ends all processes and waits for them. Finally it acquires every slot once, which blocks until all requests
// have returned.
func (l *lane) close() {
	l.mu.Lock()
	l.closed = true
	for _, p := range l.waiting {
		p.idle.Stop()
		l.end(p)
	}
	l.waiting = nil
	for p := range l.busy {
		p.cmd.Process.Kill() // its request fails and waits for the process
	}
	l.mu.Unlock()
	l.ending.Wait()
	for range l.size { // afterwards no request is running
		<-l.slots.Request("")
	}
	for range l.size {
		l.slots.Release("")
	}
}
