// Package fair shares work among users, so that the work of one never keeps another waiting for long. Slots bounds how
// much is under way and decides who is next. Loop does work that is due in a store by such slots.
//
// Every queue of the program that several users share takes its turns here: table cells, kept questions, webhooks, jobs
// on documents, the processes that read and draw files, text recognition and embedding. Turns are counted by each
// process for itself, so replicas need not agree on them.
package fair

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Slots are a fixed number of places at work, shared by users. A free slot goes to the user who holds the fewest and,
// among equals, to the one served least recently. It is safe for concurrent use.
type Slots struct {
	perUser int
	mu      sync.Mutex
	free    int
	held    map[string]int    // by user; no zeros
	served  map[string]uint64 // by user: the number of the slot that they got last
	count   uint64            // slots given so far
	waiting []waiter          // in the order they came
}

// waiter is a call of Enter that has no slot yet.
type waiter struct {
	user string
	in   chan struct{} // closed when it has one
}

// maxServed bounds the users whose last turn is remembered. Beyond it all of them start anew as equals.
const maxServed = 10_000

// NewSlots returns n slots. One user gets at most perUser of them. Both are at least 1.
func NewSlots(n, perUser int) *Slots {
	return &Slots{
		perUser: max(perUser, 1), free: max(n, 1), held: make(map[string]int), served: make(map[string]uint64),
	}
}

// Take takes a slot for the one of some users who is next. It takes none, and ok is false, while no slot is free or
// each of the users has as many as one may. Leave gives the slot back.
func (s *Slots) Take(users []string) (user string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.take(users)
}

// take is Take by a caller that holds mu.
func (s *Slots) take(users []string) (user string, ok bool) {
	if s.free == 0 {
		return "", false
	}
	for _, u := range users {
		if s.held[u] < s.perUser && (!ok || s.compare(u, user) < 0) {
			user, ok = u, true
		}
	}
	if !ok {
		return "", false
	}
	if len(s.served) >= maxServed {
		clear(s.served)
	}
	s.count++
	s.free, s.held[user], s.served[user] = s.free-1, s.held[user]+1, s.count
	return user, true
}

// compare orders two users by whose turn comes first.
func (s *Slots) compare(a, b string) int {
	return cmp.Or(cmp.Compare(s.held[a], s.held[b]), cmp.Compare(s.served[a], s.served[b]))
}

// Leave gives back a slot of a user.
func (s *Slots) Leave(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(user)
}

// leave is Leave by a caller that holds mu. The slot goes to the next call of Enter that waits.
func (s *Slots) leave(user string) {
	s.free++
	if s.held[user]--; s.held[user] <= 0 {
		delete(s.held, user)
	}
	users := make([]string, len(s.waiting))
	for i, w := range s.waiting {
		users[i] = w.user
	}
	if next, ok := s.take(users); ok {
		i := slices.Index(users, next)
		close(s.waiting[i].in)
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// Ask returns a channel that is closed once a user has a slot. Calls of one user are served in the order they came.
// Leave gives the slot back.
func (s *Slots) Ask(user string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := make(chan struct{})
	if _, ok := s.take([]string{user}); ok {
		close(in)
	} else {
		s.waiting = append(s.waiting, waiter{user, in})
	}
	return in
}

// Enter waits for a slot for a user as Ask does, or fails with the error of ctx.
func (s *Slots) Enter(ctx context.Context, user string) error {
	in := s.Ask(user)
	select {
	case <-in:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-in: // it came at the same moment
		s.leave(user)
	default:
		s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool { return w.in == in })
	}
	return ctx.Err()
}
