package server

import (
	"sync"
	"time"

	"footnote/chat"
)

// streams are the live event streams that are open, all of them and each user's, and the word to end them when the server shuts down. It is safe
// for concurrent use.
type streams struct {
	most      int // open at once
	users     chat.Limits
	heartbeat time.Duration // between comments on a silent stream

	mu     sync.Mutex
	open   int
	openOf map[string]int64 // those of users with limits

	draining chan struct{} // closed when drain begins
	once     sync.Once
}

func newStreams(limits Limits, users chat.Limits) *streams {
	return &streams{most: limits.Streams, users: users, heartbeat: limits.Heartbeat, openOf: map[string]int64{}, draining: make(chan struct{})}
}

// drain ends the streams with a hint to come back.
func (s *streams) drain() { s.once.Do(func() { close(s.draining) }) }

// isDraining reports whether the server shuts down.
func (s *streams) isDraining() bool {
	select {
	case <-s.draining:
		return true
	default:
		return false
	}
}

// enter takes one of the places for streams, and one of the user's; leave gives both back.
func (s *streams) enter(user string) error {
	limits := s.users.For(user)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.room(limits, user); err != nil {
		return err
	}
	s.open++
	if limits != nil {
		s.openOf[user]++
	}
	return nil
}

// room fails if there is no place for another stream. The caller holds mu.
func (s *streams) room(limits chat.Limits, user string) error {
	if s.open >= s.most {
		return &chat.Error{Code: chat.CodeTooMany, Message: "Too many live views are open at once. Close some and try again in a moment."}
	}
	if most, holds := limits.Of(chat.StreamsAtOnce); holds && s.openOf[user] >= most {
		return limits.Over(chat.StreamsAtOnce, time.Now(), time.Time{})
	}
	return nil
}

// check fails if there is no place for a stream: for a question that is to be asked only if its answer can be followed.
func (s *streams) check(user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room(s.users.For(user), user)
}

func (s *streams) leave(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open--
	if s.openOf[user]--; s.openOf[user] <= 0 {
		delete(s.openOf, user)
	}
}

// count is how many streams there are.
func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}
