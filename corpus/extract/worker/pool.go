// Package worker reads and draws files in processes of their own, so that a file can hurt only itself: such a process
// sees one file at a time, has 512 MiB of memory and none of our environment, and is killed when it takes too long.
// Pool is the server's side, Serve the process's.
//
// On the server's side, pool.go decides what becomes of a request and of a worker's death, lane.go bounds how many work
// and keeps those that wait, process.go starts, asks and ends one. serve.go is the other side, protocol.go what both
// say to each other, bounds.go and memory.go what is allowed. A worker gets its requests on standard input and answers
// on standard output, both in gob; what it writes to standard error is kept for the log.
//
// What must never happen: that a file takes the server's memory, its time or its secrets. The server therefore believes
// nothing that a worker announces without a bound, waits for nothing without a watchdog, and gives it no environment.
package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// NoPage is the code of the failure of a Handler that is asked to draw a page behind the last. It does not leave this
// package. notDrawn makes a chat.Error of it.
const NoPage = "no_page"

// Config wires a Pool. Command is required. The zero value of every other field is a sensible one.
type Config struct {
	Command    []string      // starts a process that runs Serve on its standard input and output
	CacheDir   string        // for PDFium's compiled code; empty: each worker compiles it again, 3 s
	IdleAfter  time.Duration // a worker without work ends; 0 means 60 s
	BatchLimit time.Duration // for 100 pages, and for 32 MiB of another format; 0 means 30 s
	DrawLimit  time.Duration // for one picture; 0 means 10 s
	Memory     int64         // bytes of this machine's memory, which bound the number of workers; 0: what it has
	Log        *slog.Logger  // nil: nothing is logged
}

// Pool implements corpus.Extractor and corpus.Renderer. Up to two files are read at once, and one page drawn beside
// them; on a machine with less than 3 GiB of memory fewer. It is safe for concurrent use. Reading and drawing have
// lanes of their own, so that somebody who turns pages does not wait for a folder that is read in.
type Pool struct {
	cfg     Config
	reading *lane
	drawing *lane         // the same as reading where there is memory for one worker only
	first   chan struct{} // holds a token: the first worker loads PDFium alone, since it may have to compile it
	loaded  atomic.Bool   // some worker has loaded PDFium, so that the others find it compiled
}

// New checks the configuration. Workers start when they are needed; Close ends them. It fails without a command.
func New(cfg Config) (*Pool, error) {
	if len(cfg.Command) == 0 {
		return nil, errors.New("worker: no command")
	}
	if cfg.CacheDir != "" {
		dir, err := filepath.Abs(cfg.CacheDir)
		if err != nil {
			return nil, fmt.Errorf("worker: %w", err)
		}
		cfg.CacheDir = dir
	}
	cfg.IdleAfter = cmp.Or(cfg.IdleAfter, time.Minute)
	cfg.BatchLimit = cmp.Or(cfg.BatchLimit, 30*time.Second)
	cfg.DrawLimit = cmp.Or(cfg.DrawLimit, 10*time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	reading, drawing := workersFor(cmp.Or(cfg.Memory, machineMemory()))
	p := &Pool{cfg: cfg, reading: newLane(reading, cfg), first: make(chan struct{}, 1)}
	if p.drawing = p.reading; drawing > 0 {
		p.drawing = newLane(drawing, cfg)
	}
	p.first <- struct{}{}
	return p, nil
}

// Close ends all workers, those at work too, and waits for them. Requests that are under way end with an error; the
// Pool must not be used afterwards.
func (p *Pool) Close() error {
	p.reading.close()
	if p.drawing != p.reading {
		p.drawing.close()
	}
	return nil
}

// Extract implements corpus.Extractor. A file whose markup takes more memory or time than it may is read again as plain
// text. Errors are a *corpus.Failure where the file is to blame, corpus.ErrReaderDied where somebody ended the worker,
// and a chat.Error of code CodeUnavailable where none can be started.
func (p *Pool) Extract(ctx context.Context, f corpus.File, report func(done, total int)) (corpus.Extracted, error) {
	req := Request{File: f}
	rep, start, err := p.do(ctx, p.reading, req, report)
	if failure, ok := errors.AsType[*corpus.Failure](err); ok && start.Markup &&
		(failure.Code == "memory" || failure.Code == "timeout") {
		p.cfg.Log.WarnContext(ctx, "a file's markup is left out", "file", f.Filename, "reason", failure.Code)
		req.Plain = true
		rep, _, err = p.do(ctx, p.reading, req, report)
	}
	if err != nil {
		return corpus.Extracted{}, err
	}
	if rep.Extracted == nil {
		return corpus.Extracted{}, errors.New("the worker answered another question")
	}
	x := *rep.Extracted
	if err := json.Unmarshal(rep.Meta, &x.Meta); err != nil {
		return corpus.Extracted{}, fmt.Errorf("decode what the file says about itself: %w", err)
	}
	return x, nil
}

// Render implements corpus.Renderer. A page so long that the picture would have more than 32 million pixels is drawn
// narrower. Once it has begun, a page is drawn to the end of its time even if ctx ends: what comes of it is worth
// knowing, and the worker need not be replaced. Errors are chat.Errors, whose sentences say that the text can be read
// all the same.
func (p *Pool) Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error) {
	if n < 1 || width < 100 || width > 4000 {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "Ask for a page from 1 and a width of 100 to 4000 pixels.",
		}
	}
	rep, _, err := p.do(ctx, p.drawing, Request{File: f, Page: n, Width: width}, nil)
	if err != nil {
		return nil, notDrawn(err)
	}
	return rep.PNG, nil
}

// notDrawn returns the error that people read about a page that was not drawn.
func notDrawn(err error) error {
	failure, failed := errors.AsType[*corpus.Failure](err)
	switch {
	case errors.Is(err, corpus.ErrReaderDied):
		return &chat.Error{Code: chat.CodeUnavailable, Message: "This page can't be drawn at the moment: the process " +
			"that drew it was ended. Read its text, or try again in a few minutes.", Err: err}
	case !failed:
		return err
	case failure.Code == NoPage:
		return &chat.Error{Code: chat.CodeNotFound, Message: failure.Detail}
	case failure.Code == "timeout" || failure.Code == "memory":
		return &chat.Error{
			Code: chat.CodeUndrawable, Message: "This page is too complex to draw. Its text can be read.", Err: err,
		}
	default:
		return &chat.Error{
			Code: chat.CodeUndrawable, Message: "This page is damaged and can't be drawn. Its text can be read.",
			Err: err,
		}
	}
}

// Expect implements corpus.Renderer. The worker that it starts ends like any other when there is no page to draw for
// IdleAfter. Whoever opens a document would otherwise wait until PDFium is loaded.
func (p *Pool) Expect() {
	l := p.drawing
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.ready(); w != nil {
		w.idle.Reset(l.cfg.IdleAfter)
		return
	}
	if l.closed || l.coming || len(l.busy) > 0 {
		return
	}
	l.coming = true
	l.ending.Go(func() {
		_, _, err := p.do(context.Background(), l, Request{Ready: true}, nil)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.coming = false; err != nil && !l.closed {
			p.cfg.Log.Warn("a worker does not start", "error", err)
		}
	})
}

// do asks a worker of the lane. A worker that had died before it saw the file is replaced once. It waits for a free
// slot, takes a worker, asks it, and puts it back or drops it. The Start that comes back is that of a worker which
// died, for what it said of the file. A worker that was asked only to compile PDFium is asked again.
func (p *Pool) do(ctx context.Context, l *lane, req Request, report func(done, total int)) (reply, Start, error) {
	user := req.File.User
	if err := l.slots.Enter(ctx, user); err != nil {
		return reply{}, Start{}, err
	}
	defer l.slots.Leave(user)
	req.File.User = "" // a worker needs no names
	if req.Page > 0 {
		ctx = context.WithoutCancel(ctx)
	}
	req.CacheDir = p.cfg.CacheDir
	for {
		w, err := l.take(ctx, req)
		if err != nil {
			return reply{}, Start{}, err
		}
		seasoned := w.used
		rep, err := p.ask(ctx, w, req, report)
		if err == nil {
			l.put(w)
			if rep.Ready && !req.Ready { // PDFium is compiled
				continue
			}
			if rep.Failure != nil {
				return reply{}, Start{}, rep.Failure
			}
			if rep.Internal != "" {
				err = errors.New("the worker: " + rep.Internal)
				if !rep.began {
					err = cannotStart(err)
				}
				return reply{}, Start{}, err
			}
			return rep, Start{}, nil
		}
		l.drop(w)
		d, isDeath := errors.AsType[*died](err)
		if !isDeath || l.isClosed() {
			return reply{}, Start{}, err
		}
		p.cfg.Log.WarnContext(
			ctx, "a worker died", "file", req.File.Filename, "error", err, "started", d.start != nil, "timeout",
			d.timeout, "memory", d.memory,
		)
		switch {
		case d.start != nil:
			return reply{}, *d.start, d.failure()
		case !seasoned:
			return reply{}, Start{}, d.beforeStart()
		}
	}
}

// failure returns the error for a file whose worker died while reading it. A signal from outside may have nothing to do
// with the file: the file is tried again, three times in all. Any other exit comes from the file, which fails at the
// first.
func (d *died) failure() error {
	what := "file"
	if d.start.PDF {
		what = "PDF"
	}
	switch {
	case d.timeout:
		return &corpus.Failure{Code: "timeout", Detail: "Reading this " + what +
			" takes too long. Save it again from another program, or split it, and add that."}
	case d.memory:
		return &corpus.Failure{Code: "memory",
			Detail: "Reading this " + what +
				" takes more than 512 MB of memory. Split it, or save it in a simpler form, and add that."}
	case d.signalled:
		return fmt.Errorf("%w: %w", corpus.ErrReaderDied, d)
	default:
		return &corpus.Failure{
			Code:   "broken",
			Detail: "This " + what + " is damaged and can't be read. Open it, save it again and add the new file.",
		}
	}
}

// beforeStart returns the error for a file whose worker died before it began with the file, when it had seen at most
// the file's first bytes. What tells a worker that was killed from one that can't start is how it ended. Somebody
// killed it if a signal did that others send and that is not ours, while the kernel has killed nothing for want of
// memory: that counts like any death of a reader, since whoever kills all that read this file may do so for ever. A
// worker that can't start ends by itself (a missing library, too little address space), by a fault (the wrong
// processor), by the kernel (no memory), or not at all (a deadline of ours): it would do so with any file, and none is
// to blame.
func (d *died) beforeStart() error {
	if d.killed {
		return fmt.Errorf("%w: %w", corpus.ErrReaderDied, d)
	}
	return cannotStart(d)
}

// ask is process.ask, but that the first worker that loads PDFium does so alone, and only that: compiling leaves a
// process too little memory for a file.
func (p *Pool) ask(ctx context.Context, w *process, req Request, report func(done, total int)) (reply, error) {
	h := hearing{limit: p.cfg.BatchLimit, onStart: func() {}, report: report, room: req.File.Room}
	if req.Page > 0 {
		h.limit = p.cfg.DrawLimit
	}
	if req.NeedsPDFium() {
		h.onStart = func() { p.loaded.Store(true) }
		if !p.loaded.Load() {
			select {
			case <-p.first:
				giveBack := sync.OnceFunc(func() { p.first <- struct{}{} })
				defer giveBack()
				h.onStart = func() { p.loaded.Store(true); giveBack() }
				if !p.loaded.Load() && req.CacheDir != "" { // else what is compiled goes with the process
					req = Request{Ready: true, CacheDir: req.CacheDir}
				}
			case <-ctx.Done():
				return reply{}, ctx.Err()
			}
		}
	} else {
		h.limit += h.limit * time.Duration(req.File.Bytes>>20) / 32
	}
	return w.ask(ctx, req, h)
}
