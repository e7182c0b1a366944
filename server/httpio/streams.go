package httpio

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
)

// RetryAfterDrain is the reconnection delay for readers of a restarting server, in milliseconds.
const RetryAfterDrain = 1000

// Streams counts the open event streams, in all and per user, and ends them when the server shuts down. It is safe
// for concurrent use.
type Streams struct {
	most       int // maximum of open streams
	userLimits chat.Limits
	Heartbeat  time.Duration // between comments on a silent stream

	mu     sync.Mutex
	open   int
	openOf map[string]int64 // of users with limits

	Draining chan struct{} // closed when Drain is called
	once     sync.Once
}

// NewStreams returns a counter without open streams.
func NewStreams(limits Limits, userLimits chat.Limits) *Streams {
	return &Streams{
		most: limits.Streams, userLimits: userLimits, Heartbeat: limits.Heartbeat, openOf: map[string]int64{},
		Draining: make(chan struct{}),
	}
}

// Drain ends the streams with a hint to reconnect.
func (s *Streams) Drain() { s.once.Do(func() { close(s.Draining) }) }

// IsDraining reports whether the server is shutting down.
func (s *Streams) IsDraining() bool {
	select {
	case <-s.Draining:
		return true
	default:
		return false
	}
}

// Acquire counts a stream of a user as open, or fails over the limits; Release must follow.
func (s *Streams) Acquire(user string) error {
	limits := s.userLimits.For(user)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkQuota(limits, user); err != nil {
		return err
	}
	s.open++
	if limits != nil {
		s.openOf[user]++
	}
	return nil
}

// checkQuota fails over the limits of streams. The caller holds mu.
func (s *Streams) checkQuota(limits chat.Limits, user string) error {
	if s.open >= s.most {
		return &chat.Error{
			Code:    chat.CodeTooMany,
			Message: "Too many live views are open. Close some and try again in a moment.",
		}
	}
	if most, holds := limits.Of(chat.StreamsAtOnce); holds && s.openOf[user] >= most {
		return limits.Over(chat.StreamsAtOnce, time.Now(), time.Time{})
	}
	return nil
}

// Check fails over the limits of streams: for a question that should only be asked if its answer can be streamed.
func (s *Streams) Check(user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkQuota(s.userLimits.For(user), user)
}

// Release counts a stream of a user as closed.
func (s *Streams) Release(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.openOf[user]--; s.openOf[user] <= 0 {
		delete(s.openOf, user)
	}
}

// Count returns the number of open streams.
func (s *Streams) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Open opens a stream of server-sent events for a request and counts it; leave ends it. Without an error out is nil
// if there is nothing to send: for a HEAD request, or after the reader has disconnected.
func (s *Streams) Open(c Context) (out *EventStream, leave func(), err error) {
	if IsHead(c.Request()) {
		SetStreamHeaders(c.Response().Header())
		return nil, nil, c.NoContent(http.StatusOK)
	}
	user := Scope(c).User
	if err := s.Acquire(user); err != nil {
		return nil, nil, err
	}
	if out, err = NewEventStream(c.Response()); err != nil {
		s.Release(user)
		return nil, nil, nil
	}
	return out, func() { s.Release(user) }, nil
}

// Await waits for a signal and keeps a stream alive by heartbeats. It returns false if the stream must end.
func Await[T any](s *Streams, c Context, out *EventStream, signal <-chan T) bool {
	heartbeat := time.NewTicker(s.Heartbeat)
	defer heartbeat.Stop()
	for {
		select {
		case <-signal:
			return true
		case <-heartbeat.C:
			if err := out.Comment("still here"); err != nil {
				return false
			}
		case <-c.Request().Context().Done():
			return false
		case <-s.Draining:
			_ = out.Retry(RetryAfterDrain) // best effort: a reader without it reconnects by default
			return false
		}
	}
}

// EventStream writes server-sent events: all available frames, then one flush. An idle stream holds no buffer. A
// failed write ends the stream: the reader has disconnected, or did not read for Limits.WriteTimeout.
type EventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// NewEventStream sends the headers and a first comment, so that the reader and every proxy know that the stream is
// open.
func NewEventStream(w http.ResponseWriter) (*EventStream, error) {
	SetStreamHeaders(w.Header())
	w.WriteHeader(http.StatusOK)
	out := &EventStream{w: w, control: http.NewResponseController(w)}
	return out, out.Comment("open")
}

// SetStreamHeaders sets the headers of an event stream, so that no proxy caches, compresses or buffers it.
//
// no-transform prevents compression by proxies (RFC 9111, section 5.2.2.6), and X-Accel-Buffering is nginx's own
// header.
func SetStreamHeaders(h http.Header) {
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store, no-transform")
	h.Set("X-Accel-Buffering", "no")
}

// Send writes events made by sse.Append and flushes.
func (out *EventStream) Send(frames []byte) error {
	if _, err := out.w.Write(frames); err != nil {
		return err
	}
	return out.control.Flush()
}

// Comment sends a line that readers ignore, to keep the connection alive and to detect a disconnected reader.
func (out *EventStream) Comment(text string) error {
	return out.Send([]byte(": " + text + "\n\n"))
}

// Retry sends the reconnection delay in milliseconds.
func (out *EventStream) Retry(milliseconds int) error {
	return out.Send([]byte("retry: " + strconv.Itoa(milliseconds) + "\n\n"))
}

// FrameFlush is the number of bytes of frames that are buffered before a write. A stream holds no buffer while it
// waits.
const FrameFlush = 32 << 10

// frameBuffer is a pooled buffer for encoding frames. Big ones are not returned to the pool, so that one large event
// does not stay in memory.
type frameBuffer struct{ B []byte }

// FramePool is a pool of frame buffers. It is safe for concurrent use.
type FramePool struct{ pool sync.Pool }

// Get returns an empty buffer.
func (p *FramePool) Get() *frameBuffer {
	if f, ok := p.pool.Get().(*frameBuffer); ok {
		f.B = f.B[:0]
		return f
	}
	return &frameBuffer{B: make([]byte, 0, 4<<10)}
}

// Put returns a buffer to the pool, unless it is too large.
func (p *FramePool) Put(f *frameBuffer) {
	if cap(f.B) <= 2*FrameFlush {
		p.pool.Put(f)
	}
}
