package agent

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// watchedStore tells what is appended before it is, and may refuse it.
type watchedStore struct {
	chat.Store
	feed   *chat.Feed
	mu     sync.Mutex
	before func(ps []chat.Payload) error
}

func (s *watchedStore) Append(ctx context.Context, owner, runID string, ps ...chat.Payload) ([]chat.Event, error) {
	s.mu.Lock()
	err := s.before(ps)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return s.Store.Append(ctx, owner, runID, ps...)
}

func (s *watchedStore) with(c *Config) {
	s.Store, s.feed = c.Store, chat.NewFeed(s)
	c.Store, c.Feed = s, s.feed
}

func hasStep(ps []chat.Payload, name string, status chat.Status) bool {
	return slices.ContainsFunc(ps, func(p chat.Payload) bool {
		s, ok := p.(chat.Step)
		return ok && s.ToolName == name && s.Status == status
	})
}

// A server that dies while a tool works must leave in the log that the call had begun, or the next one makes it again.
func TestACallThatMayActIsInTheLogBeforeItBegins(t *testing.T) {
	t.Parallel()
	s := newShop(t, true)
	store := &watchedStore{}
	store.before = func(ps []chat.Payload) error {
		if hasStep(ps, "shop__order", chat.StatusRunning) &&
			(hasStep(ps, "shop__order", chat.StatusComplete) || s.orders.Load() > 0) {
			t.Errorf("that it began is stored after %d orders", s.orders.Load())
		}
		for _, p := range ps {
			if step, ok := p.(chat.Step); ok && step.ToolName == "shop__order" && step.Status == chat.StatusRunning &&
				!step.Begins() {
				t.Error("that it began may be lost")
			}
		}
		return nil
	}
	h := newHouse(t, scripted.New(orders("slates"), says("The slates are ordered.")), s.with, store.with)
	h.feed = store.feed
	if got := h.wait(
		h.ask(chat.RunRequest{Message: "Please order slates"}).ID,
	); got.step("shop__order").Status != chat.StatusComplete || s.orders.Load() != 1 {
		t.Errorf("it ended as %+v after %d orders, want 1", got.done(), s.orders.Load())
	}
}

// A step whose end could not be stored does not run for ever.
func TestAStepWhoseEndIsLostEndsWithItsRun(t *testing.T) {
	t.Parallel()
	s := newShop(t, true)
	store := &watchedStore{}
	refused := false
	store.before = func(ps []chat.Payload) error {
		if !refused && hasStep(ps, "shop__order", chat.StatusComplete) {
			refused = true
			return &chat.Error{Code: chat.CodeUnavailable, Message: "The database does not answer."}
		}
		return nil
	}
	h := newHouse(t, scripted.New(orders("slates"), says("The slates are ordered.")), s.with, store.with)
	h.feed = store.feed
	got := h.wait(h.ask(chat.RunRequest{Message: "Please order slates"}).ID)
	if got.done().Status != chat.RunFailed || got.step("shop__order").Status != chat.StatusCancelled {
		t.Errorf("it ended as %+v, its step as %+v; want Status %v and %v",
			got.done(), got.step("shop__order"), chat.RunFailed, chat.StatusCancelled)
	}
}
