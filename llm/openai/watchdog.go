package openai

import (
	"context"
	"io"
	"time"
)

// watchdog ends a request whose reply does not come, or stops coming. Only the goroutine that reads uses it.
type watchdog struct {
	body     io.Reader
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	idle     time.Duration
	idleText time.Duration
	started  bool      // a piece of the reply came
	piece    time.Time // when the last one came
	read     time.Time // when the last bytes came
}

func (m *Model) watch(ctx context.Context) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{cancel: cancel, idle: m.idle, idleText: m.idleText}
	w.timer = time.AfterFunc(m.firstToken, func() { cancel(errNoFirstToken) })
	return ctx, w
}

// Read reads the body. Bytes are a sign of life, but pieces of the reply must follow.
func (w *watchdog) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if w.started && n > 0 {
		w.read = time.Now()
		w.timer.Reset(min(w.idle, w.idleText-w.read.Sub(w.piece)))
	}
	return n, err
}

// sawPiece notes that a piece of the reply came with the last bytes.
func (w *watchdog) sawPiece() {
	if w.started {
		w.piece = w.read
		return
	}
	w.started, w.read = true, time.Now()
	w.piece = w.read
	w.timer.Stop()
	w.timer = time.AfterFunc(w.idle, func() { w.cancel(errSilence) })
}

// hurry gives the rest of the stream only this long: what matters of it has come.
func (w *watchdog) hurry(d time.Duration) {
	w.started, w.idle, w.idleText = true, d, 24*time.Hour
	w.timer.Stop()
	w.timer = time.AfterFunc(d, func() { w.cancel(errSilence) })
}

func (w *watchdog) stop() {
	w.timer.Stop()
	w.cancel(nil)
}
