package httpio

import (
	"net/http"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
)

// RetryAfterDrain is when a reader should come back to a server that restarts, in milliseconds.
const RetryAfterDrain = 1000

// Streams are the live event streams that are open, all of them and each user's, and the word to end them when the
// server shuts down. It is safe for concurrent use.
type Streams struct {
	most       int // open at once
	userLimits chat.Limits
	Heartbeat  time.Duration // between comments on a silent stream

	mu     sync.Mutex
	open   int
	openOf map[string]int64 // those of users with limits

	Draining chan struct{} // closed when Drain is called
	once     sync.Once
}

// NewStreams makes the count of open streams, in all and of each user.
func NewStreams(limits Limits, userLimits chat.Limits) *Streams {
	return &Streams{
		most: limits.Streams, userLimits: userLimits, Heartbeat: limits.Heartbeat, openOf: map[string]int64{},
		Draining: make(chan struct{}),
	}
}

// Drain ends the streams with a hint to come back.
func (s *Streams) Drain() { s.once.Do(func() { close(s.Draining) }) }

// IsDraining reports whether the server shuts down.
func (s *Streams) IsDraining() bool {
	select {
	case <-s.Draining:
		return true
	default:
		return false
	}
}

// Enter takes one of the places for streams, and one of the user's; Leave gives both back.
func (s *Streams) Enter(user string) error {
	limits := s.userLimits.For(user)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkRoom(limits, user); err != nil {
		return err
	}
	s.open++
	if limits != nil {
		s.openOf[user]++
	}
	return nil
}

// checkRoom fails if there is no place for another stream. The caller holds mu.
func (s *Streams) checkRoom(limits chat.Limits, user string) error {
	if s.open >= s.most {
		return &chat.Error{
			Code:    chat.CodeTooMany,
			Message: "Too many live views are open at once. Close some and try again in a moment.",
		}
	}
	if most, holds := limits.Of(chat.StreamsAtOnce); holds && s.openOf[user] >= most {
		return limits.Over(chat.StreamsAtOnce, time.Now(), time.Time{})
	}
	return nil
}

// Check fails if there is no place for a stream: for a question that is to be asked only if its answer can be followed.
func (s *Streams) Check(user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checkRoom(s.userLimits.For(user), user)
}

// Leave counts a stream of a user as closed.
func (s *Streams) Leave(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.openOf[user]--; s.openOf[user] <= 0 {
		delete(s.openOf, user)
	}
}

// Count is how many streams there are.
func (s *Streams) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Open opens a stream of server-sent events for a request, in one of the places for streams; leave gives the place
// back. Without an error out is nil when there is nothing to send: the headers alone were asked for, or the reader has
// left.
func (s *Streams) Open(c Context) (out *EventStream, leave func(), err error) {
	if IsHead(c.Request()) {
		SetStreamHeaders(c.Response().Header())
		return nil, nil, c.NoContent(http.StatusOK)
	}
	user := Scope(c).User
	if err := s.Enter(user); err != nil {
		return nil, nil, err
	}
	if out, err = NewEventStream(c.Response()); err != nil {
		s.Leave(user)
		return nil, nil, nil
	}
	return out, func() { s.Leave(user) }, nil
}

// Await waits for a signal and keeps a stream alive meanwhile. It returns false when the stream is to end.
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
			_ = out.Retry(RetryAfterDrain) // best effort: a reader without it comes back on its own
			return false
		}
	}
}
