package httpllm

import (
	"context"
	"io"
	"time"
)

// Timeouts holds the timeouts of a reply: until its first chunk, between bytes after it, and between chunks of it.
// If a server sends bytes before the first chunk, its timeout is extended up to aliveFactor times.
type Timeouts struct{ FirstToken, Idle, IdleText time.Duration }

// aliveFactor limits the extension of Timeouts.FirstToken for a server that sends keep-alives such as comments. A
// server that loads a model, or queues the request, sends comments for minutes.
const aliveFactor = 5

// Watchdog cancels a request whose reply does not start, or stalls. It is not safe for concurrent use. It has three
// timeouts: before the first chunk, between bytes, and between chunks while only keep-alives arrive.
type Watchdog struct {
	Body     io.Reader // set before the first Read
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	first    time.Duration
	latest   time.Time // deadline of the first chunk, including extensions
	idle     time.Duration
	idleText time.Duration
	started  bool      // a chunk of the reply arrived
	piece    time.Time // time of the last chunk
	read     time.Time // time of the last bytes
}

// Watch starts the timeout of a reply's first chunk. The request must use the returned context, and Stop must be
// called.
func Watch(ctx context.Context, p Timeouts) (context.Context, *Watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &Watchdog{cancel: cancel, first: p.FirstToken, idle: p.Idle, idleText: p.IdleText}
	w.latest = time.Now().Add(aliveFactor * p.FirstToken)
	w.timer = time.AfterFunc(p.FirstToken, func() { cancel(ErrNoFirstToken) })
	return ctx, w
}

// Read reads the body and resets the timers. Before the first chunk bytes reset the timeout, but never beyond
// latest. After it they reset the timeout for bytes, but never beyond the one for chunks. So keep-alives alone can't
// block a run.
func (w *Watchdog) Read(p []byte) (int, error) {
	n, err := w.Body.Read(p)
	// Keep-alives before the first chunk restart the timer, limited by latest.
	if !w.started && n > 0 {
		w.timer.Reset(min(w.first, time.Until(w.latest)))
	}
	if w.started && n > 0 {
		w.read = time.Now()
		w.timer.Reset(min(w.idle, w.idleText-w.read.Sub(w.piece)))
	}
	return n, err
}

// SawPiece records that the last bytes contained a chunk of the reply. The first chunk replaces the timer, since its
// cause changes from ErrNoFirstToken to ErrSilence.
func (w *Watchdog) SawPiece() {
	if w.started {
		w.piece = w.read
		return
	}
	w.started, w.read = true, time.Now()
	w.piece = w.read
	w.timer.Stop()
	w.timer = time.AfterFunc(w.idle, func() { w.cancel(ErrSilence) })
}

// LimitRest limits the rest of the stream to a duration, after the reply is complete.
func (w *Watchdog) LimitRest(d time.Duration) {
	w.started, w.idle, w.idleText = true, d, 24*time.Hour
	w.piece = time.Now() // there may have been no chunk
	w.timer.Stop()
	w.timer = time.AfterFunc(d, func() { w.cancel(ErrSilence) })
}

// Stop stops the timer and cancels the request's context. It must be called however the request ends, or both would
// leak until they fire.
func (w *Watchdog) Stop() {
	w.timer.Stop()
	w.cancel(nil)
}
