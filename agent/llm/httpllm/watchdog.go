package httpllm

import (
	"context"
	"io"
	"time"
)

// Patience says how long a reply may take: until its first piece, between bytes after it, and between pieces of it. A
// server that shows a sign of life before the first piece gets up to aliveFactor times as long for it.
type Patience struct{ FirstToken, Idle, IdleText time.Duration }

// aliveFactor is how many times Patience.FirstToken a server gets that shows a sign of life, such as comments. A model
// that is being loaded, or a queue before it, sends comments for minutes; for ever is no answer either.
const aliveFactor = 5

// Watchdog ends a request whose reply does not come, or stops coming. Only the goroutine that reads uses it. It knows
// three silences: before the first piece, between bytes, and between pieces while only keep-alives come.
type Watchdog struct {
	Body     io.Reader // set before the first Read
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	first    time.Duration
	latest   time.Time // when the first piece must have come, whatever else comes
	idle     time.Duration
	idleText time.Duration
	started  bool      // a piece of the reply came
	piece    time.Time // when the last one came
	read     time.Time // when the last bytes came
}

// Watch begins the wait for the first piece of a reply. The request must use the context it returns, and Stop must
// follow.
func Watch(ctx context.Context, p Patience) (context.Context, *Watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &Watchdog{cancel: cancel, first: p.FirstToken, idle: p.Idle, idleText: p.IdleText}
	w.latest = time.Now().Add(aliveFactor * p.FirstToken)
	w.timer = time.AfterFunc(p.FirstToken, func() { cancel(ErrNoFirstToken) })
	return ctx, w
}

// Read reads the body. Bytes are a sign of life, but pieces of the reply must follow. Before the first piece bytes
// renew the wait, but never beyond latest; after it they renew the wait for bytes, but never beyond the one for pieces.
// So keep-alives alone can't hold a run.
func (w *Watchdog) Read(p []byte) (int, error) {
	n, err := w.Body.Read(p)
	// A sign of life before the first piece: the wait begins anew, within latest.
	if !w.started && n > 0 {
		w.timer.Reset(min(w.first, time.Until(w.latest)))
	}
	if w.started && n > 0 {
		w.read = time.Now()
		w.timer.Reset(min(w.idle, w.idleText-w.read.Sub(w.piece)))
	}
	return n, err
}

// SawPiece notes that a piece of the reply came with the last bytes. The first piece replaces the timer, as its
// function gives another cause: ErrSilence instead of ErrNoFirstToken.
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

// Hurry gives the rest of the stream only this long: what matters of it has come.
func (w *Watchdog) Hurry(d time.Duration) {
	w.started, w.idle, w.idleText = true, d, 24*time.Hour
	w.piece = time.Now() // there may have been none
	w.timer.Stop()
	w.timer = time.AfterFunc(d, func() { w.cancel(ErrSilence) })
}

// Stop ends the watch and the request. It has to run however the request ends: else the context and the timer stay
// until they fire.
func (w *Watchdog) Stop() {
	w.timer.Stop()
	w.cancel(nil)
}
