package worker

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/footnote/footnote/corpus/fair"
)

// lane bounds how many workers do one kind of work, and keeps those that wait. A slot is held during a request, and
// users take turns for it.
// Processes that wait hold none, and end by themselves after a while; busy ones are known so that close can kill them.
// ending counts goroutines that end processes, for close to wait for.
type lane struct {
	cfg     Config
	size    int
	slots   *fair.Slots
	mu      sync.Mutex
	waiting []*process // the one used last stands last
	busy    map[*process]bool
	coming  bool // a worker starts before somebody asks for it
	closed  bool
	ending  sync.WaitGroup
}

// newLane makes a lane of n slots without processes.
func newLane(n int, cfg Config) *lane {
	return &lane{cfg: cfg, size: n, slots: fair.NewSlots(n, n), busy: map[*process]bool{}}
}

// isClosed reports whether the lane was closed, so that a death needs no explanation.
func (l *lane) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// ready returns a waiting worker that has PDFium loaded, nil if there is none. The caller holds mu.
func (l *lane) ready() *process {
	for _, p := range slices.Backward(l.waiting) {
		if p.pdf {
			return p
		}
	}
	return nil
}

// take returns a worker that waits, rather one that has what the request takes, or a new one. The one used last is
// taken: it is warm, and the others may go. A process is started under the lock, which takes milliseconds; nobody else
// gets the same one meanwhile.
func (l *lane) take(ctx context.Context, req Request) (*process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("the workers have been ended")
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
			l.cfg.Log.WarnContext(ctx, "programs that read files are not confined", "error", err)
		})
	}
	p, err := start(ctx, l.cfg.Command, l.cfg.CacheDir)
	if err == nil {
		l.busy[p] = true
	}
	return p, err
}

// put keeps a worker for the next request, until it has been idle for long. One that has said that it ends by itself is
// waited for and forgotten.
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

// retire ends a worker that still waits.
func (l *lane) retire(p *process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, p); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		l.end(p)
	}
}

// end lets a process end, in a goroutine that close waits for.
func (l *lane) end(p *process) { l.ending.Go(p.stop) }

// drop kills a process whose request failed and forgets it.
func (l *lane) drop(p *process) {
	p.kill()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.busy, p)
}

// close ends all processes and waits for them. At the end it takes every slot once, which is free only when nobody is
// at work any more.
func (l *lane) close() {
	l.mu.Lock()
	l.closed = true
	for _, p := range l.waiting {
		p.idle.Stop()
		l.end(p)
	}
	l.waiting = nil
	for p := range l.busy {
		p.cmd.Process.Kill() // its request ends with an error and waits for it
	}
	l.mu.Unlock()
	l.ending.Wait()
	for range l.size { // afterwards no request is under way
		<-l.slots.Ask("")
	}
	for range l.size {
		l.slots.Leave("")
	}
}
