// Package worker reads and renders files in separate processes, so that a malicious file can harm no other. Such a
// process handles one file at a time, has 512 MiB of memory and no environment of the server, and is killed after a
// timeout. Pool is the server's side, Serve the process's.
//
// On the server's side, pool.go handles requests and the deaths of workers. lane.go limits concurrency and keeps
// idle workers, process.go starts, calls and ends one. serve.go is the worker's side, protocol.go the messages,
// bounds.go and memory.go the limits. A worker decodes requests from standard input and encodes replies to standard
// output, both in gob. Its standard error is kept for the log.
//
// A file must never exhaust the server's memory or time, or read its secrets. The server therefore validates every
// size that a worker announces, has a timeout for every reply, and passes no environment.
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
	"github.com/footnote/footnote/text/locale"
)

// NoPage is the failure code of a Handler that is asked to render a page after the last. It is internal to this
// package; notDrawn converts it to a chat.Error.
const NoPage = "no_page"

// Config configures a Pool. Command is required. All other fields have defaults.
type Config struct {
	Command    []string      // starts a process that runs Serve on its standard input and output
	CacheDir   string        // cache for PDFium's compiled code; empty: each worker compiles it again, 3 s
	IdleAfter  time.Duration // idle timeout of a worker; 0 means 60 s
	BatchLimit time.Duration // timeout for a batch of 100 pages, and for 32 MiB of another format; 0 means 30 s
	DrawLimit  time.Duration // timeout for rendering one page; 0 means 10 s
	Memory     int64         // bytes of memory that bound the number of workers; 0: this machine's
	Log        *slog.Logger  // nil: no logging
}

// Pool implements corpus.Extractor and corpus.Renderer. It reads up to two files and renders one page concurrently,
// fewer on a machine with less than 3 GiB of memory. It is safe for concurrent use. Reading and rendering have
// separate lanes, so that the viewer does not wait for the ingest of a folder.
type Pool struct {
	cfg     Config
	reading *lane
	drawing *lane         // the same as reading if memory is for one worker only
	first   chan struct{} // holds a token: the first worker loads PDFium alone, since it may have to compile it
	loaded  atomic.Bool   // a worker has loaded PDFium, so that its compiled code is cached
}

// New validates the configuration. Workers start on demand, and Close ends them. It fails without a command.
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

// Close ends all workers, including busy ones, and waits for them. Running requests fail. The Pool must not be used
// afterwards.
func (p *Pool) Close() error {
	p.reading.close()
	if p.drawing != p.reading {
		p.drawing.close()
	}
	return nil
}

// Extract implements corpus.Extractor. If parsing a file's markup exceeds the memory limit or the timeout, it
// retries the file as plain text. Errors caused by the file are a *corpus.Failure. The error is corpus.ErrReaderDied
// if the worker was killed from outside, and a chat.Error of code CodeUnavailable if none can start.
func (p *Pool) Extract(ctx context.Context, f corpus.File, report func(done, total int)) (corpus.Extracted, error) {
	req := Request{File: f}
	rep, start, err := p.do(ctx, p.reading, req, report)
	if failure, ok := errors.AsType[*corpus.Failure](err); ok && start.Markup &&
		(failure.Code == "memory" || failure.Code == "timeout") {
		p.cfg.Log.WarnContext(ctx, "the markup of a file was dropped", "file", f.Filename, "reason", failure.Code)
		req.Plain = true
		rep, _, err = p.do(ctx, p.reading, req, report)
	}
	if err != nil {
		return corpus.Extracted{}, err
	}
	if rep.Extracted == nil {
		return corpus.Extracted{}, errors.New("the worker answered a different request")
	}
	x := *rep.Extracted
	if err := json.Unmarshal(rep.Meta, &x.Meta); err != nil {
		return corpus.Extracted{}, fmt.Errorf("decode what the file says about itself: %w", err)
	}
	return x, nil
}

// Render implements corpus.Renderer. A page whose image would exceed 32 million pixels is rendered narrower. A
// started request ignores the cancellation of ctx and runs until its timeout: its outcome is useful, and the worker
// need not be replaced. Errors are chat.Errors with a message that the text is still available.
func (p *Pool) Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error) {
	if n < 1 || width < 100 || width > 4000 {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "The page must be at least 1 and the width 100 to 4000 pixels.",
		}
	}
	rep, _, err := p.do(ctx, p.drawing, Request{File: f, Page: n, Width: width}, nil)
	if err != nil {
		return nil, notDrawn(err)
	}
	return rep.PNG, nil
}

// notDrawn converts an error of rendering to a user-facing chat.Error.
func notDrawn(err error) error {
	failure, failed := errors.AsType[*corpus.Failure](err)
	switch {
	case errors.Is(err, corpus.ErrReaderDied):
		return &chat.Error{Code: chat.CodeUnavailable, Message: "This page can't be rendered because the rendering " +
			"process was terminated. Read its text, or try again in a few minutes.", Err: err}
	case !failed:
		return err
	case failure.Code == NoPage:
		return &chat.Error{Code: chat.CodeNotFound, Message: failure.Detail}
	case failure.Code == "timeout" || failure.Code == "memory":
		return &chat.Error{
			Code: chat.CodeUndrawable, Message: "This page is too complex to render. Its text is available.", Err: err,
		}
	default:
		return &chat.Error{
			Code: chat.CodeUndrawable, Message: "This page is damaged and can't be rendered. Its text is available.",
			Err: err,
		}
	}
}

// Expect implements corpus.Renderer. It starts a worker and loads PDFium ahead of the first page, so that the viewer
// does not wait for it. The worker ends after IdleAfter without a page to render.
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
			p.cfg.Log.Warn("could not start a worker", "error", err)
		}
	})
}

// do sends a request to a worker of the lane and returns its last reply. It waits for a free slot, takes a worker,
// asks it, and puts it back or drops it. A used worker that died before it began with the file is replaced, and the
// request retried. The Start is that of a worker that died, with its information about the file. A worker that only
// compiled PDFium is asked again.
func (p *Pool) do(ctx context.Context, l *lane, req Request, report func(done, total int)) (reply, Start, error) {
	user := req.File.User
	if err := l.slots.Acquire(ctx, user); err != nil {
		return reply{}, Start{}, err
	}
	defer l.slots.Release(user)
	req.File.User = "" // the worker doesn't need the user's name
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

// failure returns the error for a file whose worker died while reading it. A signal from outside may have nothing to
// do with the file, which is then retried, at most three times in all. Any other exit is caused by the file, which
// fails without a retry.
func (d *died) failure() error {
	what := "file"
	if d.start.PDF {
		what = "PDF"
	}
	switch {
	case d.timeout:
		return &corpus.Failure{Code: "timeout", Detail: locale.Say(
			"Reading this {1} timed out. Save it again in another program, or split it, and add the result.", what,
		)}
	case d.memory:
		return &corpus.Failure{Code: "memory",
			Detail: locale.Say(
				"This {1} exceeds the memory limit of 512 MB. Split it, or save it in a simpler form, and add the "+
					"result.", what,
			)}
	case d.signalled:
		return fmt.Errorf("%w: %w", corpus.ErrReaderDied, d)
	default:
		return &corpus.Failure{
			Code: "broken",
			Detail: locale.Say(
				"This {1} is damaged. Open it, save it again and add the new file.", what,
			),
		}
	}
}

// beforeStart returns the error for a worker that died before it began with the file. At most the file's first bytes
// were read by then. The exit distinguishes a killed worker from one that can't start. It was killed if a typical
// signal ended it that is not ours, and if the kernel's out-of-memory killer was not active. That counts like any
// death of a reader, since the cause may recur with this file. A worker that can't start exits by itself (a missing
// library, too little address space) or by a fault (the wrong processor). Or the kernel (no memory) or the timeout
// ends it. That would happen with any file, so that no file fails for it.
func (d *died) beforeStart() error {
	if d.killed {
		return fmt.Errorf("%w: %w", corpus.ErrReaderDied, d)
	}
	return cannotStart(d)
}

// ask is process.ask, except that the first worker that needs PDFium loads it alone, and does only that. Compiling
// leaves a process too little memory for a file.
func (p *Pool) ask(ctx context.Context, w *process, req Request, report func(done, total int)) (reply, error) {
	h := replyOptions{limit: p.cfg.BatchLimit, onStart: func() {}, report: report, room: req.File.Room}
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
				// without a cache, the compiled code is lost with the process
				if !p.loaded.Load() && req.CacheDir != "" {
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
