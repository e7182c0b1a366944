package fair

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSchedulerPrefersLeastRecentlyServedUser(t *testing.T) {
	s := NewSlots(1, 1)
	var order []string
	waiting := []string{"a", "a", "a", "b", "c", "b"}
	for len(waiting) > 0 {
		user, ok := s.TryAcquire(waiting)
		if !ok {
			t.Fatalf("TryAcquire(%q) = false, want true", waiting)
		}
		if _, ok := s.TryAcquire(waiting); ok {
			t.Fatal("TryAcquire = true without a free slot, want false")
		}
		order = append(order, user)
		i := slices.Index(waiting, user)
		waiting = slices.Delete(waiting, i, i+1)
		s.Release(user)
	}
	if got, want := strings.Join(order, ""), "abcaba"; got != want {
		t.Errorf("order = %s, want %s", got, want)
	}
}

func TestSchedulerLimitsSlotsPerUser(t *testing.T) {
	s := NewSlots(4, 2)
	for _, want := range []struct {
		user string
		ok   bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"c", true}, {"d", false}} {
		if _, ok := s.TryAcquire([]string{want.user}); ok != want.ok {
			t.Errorf("TryAcquire(%s) = %v, want %v", want.user, ok, want.ok)
		}
	}
	s.Release("b")
	if user, ok := s.TryAcquire([]string{"c", "d"}); user != "d" || !ok {
		t.Errorf("TryAcquire = %s, %v; want d, who holds none", user, ok)
	}
}

func TestEnterAlternatesBetweenUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(1, 1)
		if err := s.Acquire(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var order []string
		for _, user := range []string{"a", "a", "a", "b", "a", "c", "b"} {
			go func() {
				if err := s.Acquire(t.Context(), user); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, user)
				mu.Unlock()
				s.Release(user)
			}()
			synctest.Wait() // keeps the order of arrival
		}
		s.Release("a")
		synctest.Wait()
		if got, want := strings.Join(order, ""), "bcabaaa"; len(order) != len(want) || got[:2] != want[:2] {
			t.Errorf("order = %s, want b and c before a, and all of them", got)
		}
	})
}

func TestCancelledEnterReleasesSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewSlots(1, 1)
		if err := s.Acquire(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		given := make(chan error)
		go func() { given <- s.Acquire(ctx, "b") }()
		synctest.Wait()
		cancel()
		if err := <-given; !errors.Is(err, context.Canceled) {
			t.Errorf("Acquire = %v, want it cancelled", err)
		}
		s.Release("a")
		if _, ok := s.TryAcquire([]string{"c"}); !ok {
			t.Error("TryAcquire got nothing, want the slot that was given back")
		}
	})
}

// memoryQueue is a store of due work in memory.
type memoryQueue struct {
	mu   sync.Mutex
	left map[string]int // by user
}

func (p *memoryQueue) due(context.Context) (users []string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for user, n := range p.left {
		if n > 0 {
			users = append(users, user)
		}
	}
	return users, nil
}

func (p *memoryQueue) claim(_ context.Context, user string) (string, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left[user]--
	return user, p.left[user] >= 0, nil
}

func TestWorkDoesNotWaitForOtherUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, hang := &memoryQueue{left: map[string]int{"many": 100}}, make(chan struct{})
		done := make(chan struct{}, 1)
		l := Loop[string]{
			Slots: NewSlots(8, 4), Every: time.Hour, Due: p.due, Claim: p.claim,
			Failed: func(_ context.Context, err error) { t.Error(err) },
			Do: func(_ context.Context, user string) error {
				if user == "many" {
					<-hang
				} else {
					done <- struct{}{}
				}
				return nil
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); l.Run(ctx) }()
		synctest.Wait()
		if got := p.left["many"]; got != 96 {
			t.Errorf("%d wait, want 4 under way", got)
		}
		p.mu.Lock()
		p.left["one"] = 1
		p.mu.Unlock()
		l.Wake()
		<-done
		close(hang)
		synctest.Wait()
		if got := p.left["many"]; got != 0 {
			t.Errorf("%d wait, want each slot given away as it became free", got)
		}
		cancel()
		<-ended
	})
}
