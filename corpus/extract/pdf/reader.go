// Package pdf reads and draws PDFs in processes of their own, so that a file can hurt only itself. PDFium runs there as
// WebAssembly: it sees one file, has 512 MiB of memory, and is killed when it takes too long.
package pdf

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"footnote/chat"
	"footnote/corpus"
)

// Config wires a Reader. Command is required.
type Config struct {
	Command    []string      // starts a process that runs Worker on its standard input and output
	CacheDir   string        // for PDFium's compiled code; empty: each worker compiles it again, 3 s
	IdleAfter  time.Duration // a worker without work ends; 0 means 60 s
	BatchLimit time.Duration // for 100 pages, and for one picture; 0 means 30 s
	Log        *slog.Logger  // nil: nothing is logged
}

// Reader implements corpus.Extractor and corpus.Renderer for PDFs. Up to two files are read at once, and one page drawn
// beside them. It is safe for concurrent use.
type Reader struct {
	cfg     Config
	reading *lane
	drawing *lane
	first   chan struct{} // holds a token: the first worker loads PDFium alone, since it may have to compile it
	loaded  atomic.Bool   // some worker has loaded PDFium, so that the others find it compiled
}

// New checks the configuration. Workers start when they are needed; Close ends them.
func New(cfg Config) (*Reader, error) {
	if len(cfg.Command) == 0 {
		return nil, errors.New("pdf: no command for the worker")
	}
	cfg.IdleAfter = cmp.Or(cfg.IdleAfter, time.Minute)
	cfg.BatchLimit = cmp.Or(cfg.BatchLimit, 30*time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	r := &Reader{cfg: cfg, reading: newLane(2, cfg), drawing: newLane(1, cfg), first: make(chan struct{}, 1)}
	r.first <- struct{}{}
	return r, nil
}

// Close ends all workers, those at work too, and waits for them.
func (r *Reader) Close() error {
	r.reading.close()
	r.drawing.close()
	return nil
}

// Extract implements corpus.Extractor.
func (r *Reader) Extract(ctx context.Context, f corpus.File, report func(done, total int)) (corpus.Extracted, error) {
	rep, err := r.do(ctx, r.reading, request{Path: f.Path}, report)
	if err != nil {
		return corpus.Extracted{}, err
	}
	if rep.Extracted == nil {
		return corpus.Extracted{}, errors.New("the PDF worker answered another question")
	}
	x := *rep.Extracted
	if err := json.Unmarshal(rep.Meta, &x.Meta); err != nil {
		return corpus.Extracted{}, fmt.Errorf("decode what the file says about itself: %w", err)
	}
	if x.Title == "" {
		x.Title = firstHeading(x)
	}
	return x, nil
}

// Render implements corpus.Renderer. It fails with chat.CodeInvalid for a page or a width that can't be, and with
// chat.CodeNotFound for a page behind the last. A page so long that the picture would have more than 32 million pixels is drawn
// narrower.
func (r *Reader) Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error) {
	if n < 1 || width < 100 || width > 4000 {
		return nil, &chat.Error{Code: chat.CodeInvalid, Message: "Ask for a page from 1 and a width of 100 to 4000 pixels."}
	}
	rep, err := r.do(ctx, r.drawing, request{Path: f.Path, Page: n, Width: width}, nil)
	if failure, ok := errors.AsType[*corpus.Failure](err); ok && failure.Code == noPage {
		err = &chat.Error{Code: chat.CodeNotFound, Message: failure.Detail}
	}
	return rep.PNG, err
}

// Expect implements corpus.Renderer. The worker that it starts ends like any other when there is no page to draw for IdleAfter.
func (r *Reader) Expect() {
	l := r.drawing
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.waiting); n > 0 {
		l.waiting[n-1].idle.Reset(l.cfg.IdleAfter)
		return
	}
	if l.closed || l.coming || len(l.busy) > 0 {
		return
	}
	l.coming = true
	l.ending.Go(func() {
		_, err := r.do(context.Background(), l, request{Ready: true}, nil)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.coming = false; err != nil && !l.closed {
			r.cfg.Log.Warn("the PDF worker does not start", "error", err)
		}
	})
}

// do asks a worker of the lane. A worker that had died before it saw the file is replaced once.
func (r *Reader) do(ctx context.Context, l *lane, req request, report func(done, total int)) (reply, error) {
	if err := l.enter(ctx); err != nil {
		return reply{}, err
	}
	defer l.leave()
	req.CacheDir = r.cfg.CacheDir
	for {
		p, err := l.take()
		if err != nil {
			return reply{}, err
		}
		seasoned := p.used
		rep, err := r.ask(ctx, p, req, report)
		if err == nil {
			l.put(p)
			if rep.Failure != nil {
				return reply{}, rep.Failure
			}
			if rep.Internal != "" {
				return reply{}, errors.New("the PDF worker: " + rep.Internal)
			}
			return rep, nil
		}
		l.drop(p)
		d, isDeath := errors.AsType[*died](err)
		if !isDeath || l.isClosed() {
			return reply{}, err
		}
		r.cfg.Log.WarnContext(ctx, "PDF worker died", "error", err, "started", d.started, "timeout", d.timeout)
		switch {
		case !d.started && seasoned:
			continue
		case !d.started:
			return reply{}, err
		case d.timeout:
			return reply{}, tooSlow
		case d.signalled:
			return reply{}, interrupted
		default:
			return reply{}, broken
		}
	}
}

// ask is process.ask, but that the first worker of all does its loading alone.
func (r *Reader) ask(ctx context.Context, p *process, req request, report func(done, total int)) (reply, error) {
	started := func() { r.loaded.Store(true) }
	if !r.loaded.Load() {
		select {
		case <-r.first:
			giveBack := sync.OnceFunc(func() { r.first <- struct{}{} })
			defer giveBack()
			started = func() { r.loaded.Store(true); giveBack() }
		case <-ctx.Done():
			return reply{}, ctx.Err()
		}
	}
	return p.ask(ctx, req, r.cfg.BatchLimit, started, report)
}

// lane bounds how many workers do one kind of work, and keeps those that wait.
type lane struct {
	cfg     Config
	slots   chan struct{}
	mu      sync.Mutex
	waiting []*process
	busy    map[*process]bool
	coming  bool // a worker starts before somebody asks for it
	closed  bool
	ending  sync.WaitGroup
}

func newLane(n int, cfg Config) *lane {
	return &lane{cfg: cfg, slots: make(chan struct{}, n), busy: map[*process]bool{}}
}

func (l *lane) enter(ctx context.Context) error {
	select {
	case l.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lane) leave() { <-l.slots }

func (l *lane) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// take returns the worker that was used last, or a new one.
func (l *lane) take() (*process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.New("the PDF reader is closed")
	}
	if n := len(l.waiting); n > 0 {
		p := l.waiting[n-1]
		l.waiting = l.waiting[:n-1]
		p.idle.Stop()
		l.busy[p] = true
		return p, nil
	}
	p, err := start(l.cfg.Command)
	if err == nil {
		l.busy[p] = true
	}
	return p, err
}

// put keeps a worker for the next request, until it has been idle for long.
func (l *lane) put(p *process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.busy, p)
	if l.closed {
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
	for i, w := range l.waiting {
		if w == p {
			l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
			l.end(p)
			return
		}
	}
}

func (l *lane) end(p *process) { l.ending.Go(p.stop) }

func (l *lane) drop(p *process) {
	p.kill()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.busy, p)
}

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
	for range cap(l.slots) { // nobody is at work any more
		l.slots <- struct{}{}
	}
	for range cap(l.slots) {
		<-l.slots
	}
}
