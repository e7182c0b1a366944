// Package fair schedules work fairly among users, so that one user's work does not block another's. Slots limits
// concurrency and selects the next user. Loop processes due work from a store within such slots.
//
// Every queue that several users share uses it: table cells, kept questions, webhooks, document jobs, reader and
// renderer processes, OCR and embedding. Each process schedules separately, so replicas need no coordination.
package fair

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Slots is a semaphore with fair scheduling by user. A free slot goes to the user with the fewest and, among
// equals, to the least recently served. It is safe for concurrent use.
type Slots struct {
	perUser int
	mu      sync.Mutex
	free    int
	held    map[string]int    // by user; no zeros
	served  map[string]uint64 // by user: sequence number of their latest slot
	count   uint64            // number of slots assigned so far
	waiting []waiter          // in order of arrival
}

// waiter is a call of Enter without a slot.
type waiter struct {
	user string
	in   chan struct{} // closed when a slot is assigned
}

// maxServed limits the users whose latest turn is stored. Beyond it the map is cleared and all are equal.
const maxServed = 10_000

// NewSlots returns n slots, of which one user gets at most perUser. The minimum of both is 1.
func NewSlots(n, perUser int) *Slots {
	return &Slots{
		perUser: max(perUser, 1), free: max(n, 1), held: make(map[string]int), served: make(map[string]uint64),
	}
}

// TryAcquire takes a slot for the next of the users. ok is false if no slot is free or all of the users are at their
// limit. The caller must call Leave.
func (s *Slots) TryAcquire(users []string) (user string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tryAcquire(users)
}

// tryAcquire is Take for callers that hold mu.
func (s *Slots) tryAcquire(users []string) (user string, ok bool) {
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

// compare orders two users by scheduling priority.
func (s *Slots) compare(a, b string) int {
	return cmp.Or(cmp.Compare(s.held[a], s.held[b]), cmp.Compare(s.served[a], s.served[b]))
}

// Release releases a slot of a user.
func (s *Slots) Release(user string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(user)
}

// release is Leave for callers that hold mu. It assigns the slot to the next waiter.
func (s *Slots) release(user string) {
	s.free++
	if s.held[user]--; s.held[user] <= 0 {
		delete(s.held, user)
	}
	users := make([]string, len(s.waiting))
	for i, w := range s.waiting {
		users[i] = w.user
	}
	if next, ok := s.tryAcquire(users); ok {
		i := slices.Index(users, next)
		close(s.waiting[i].in)
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// Request returns a channel that is closed once the user has a slot. Calls of one user are served in order. The caller
// must call Leave.
func (s *Slots) Request(user string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := make(chan struct{})
	if _, ok := s.tryAcquire([]string{user}); ok {
		close(in)
	} else {
		s.waiting = append(s.waiting, waiter{user, in})
	}
	return in
}

// Acquire waits for a slot for a user, or returns the error of ctx.
func (s *Slots) Acquire(ctx context.Context, user string) error {
	in := s.Request(user)
	select {
	case <-in:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-in: // assigned at the same moment
		s.release(user)
	default:
		s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool { return w.in == in })
	}
	return ctx.Err()
}
