package agent

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/sql/runtest"
)

// begin starts a run of a user.
func (h *house) begin(user, session string) (chat.Run, error) {
	h.Helper()
	run, _, err := h.runs.Start(h.Context(), user, chat.RunRequest{
		SessionID: session, Message: "How many days of holiday are there?",
	})
	return run, err
}

// ended waits for the end of a user's run.
func (h *house) ended(user, runID string) chat.Run {
	h.Helper()
	scope := chat.Scope{User: user}
	wake, stop := h.feed.Watch(runID)
	defer stop()
	for {
		news := wake()
		run, err := h.store.Run(h.Context(), scope, runID)
		if err != nil {
			h.Fatal(err)
		}
		if run.Status != chat.RunRunning {
			return run
		}
		<-news
	}
}

// comes waits until something is so.
func (h *house) comes(what string, ok func() bool) {
	h.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			h.Fatalf("%s: not so after 20 s", what)
		}
	}
}

func TestOneUserLeavesPlacesToOthers(t *testing.T) {
	t.Parallel()
	shared := true
	h := newHouse(t, hanging{}, func(c *Config) { c.MaxRuns, c.Shared = 4, func() bool { return shared } })
	h.lend("anna", "handbook.md", runtest.Handbook, "holiday")
	h.lend("bert", "handbook.md", runtest.Handbook, "holiday")
	for i := range 2 {
		if _, err := h.begin("anna", ""); err != nil {
			t.Fatalf("anna's question %d: %v, want no error", i+1, err)
		}
	}
	if _, err := h.begin("anna", ""); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("anna's third question of four places: %v, want it refused", err)
	}
	if _, err := h.begin("bert", ""); err != nil {
		t.Errorf("bert's first question: %v, want no error", err)
	}
	if _, err := h.begin("bert", ""); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("bert's second question, with one place left: %v, want it refused", err)
	}
	shared = false
	if _, err := h.begin("anna", ""); err != nil {
		t.Errorf("the last place, where nobody shares: %v, want no error", err)
	}
	if _, err := h.begin("carl", ""); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("a fifth question: %v, want it refused", err)
	}
}

func TestPlacesAreGivenBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{}, func(c *Config) { c.MaxRuns, c.Shared = 2, func() bool { return true } })
	for range 3 {
		run, err := h.begin("anna", "s")
		if err != nil {
			t.Fatal(err)
		}
		if err := h.runs.Cancel(t.Context(), chat.Scope{User: "anna"}, run.ID); err != nil &&
			chat.CodeOf(err) != chat.CodeConflict {
			t.Fatal(err)
		}
		h.ended("anna", run.ID)
		h.rests(h.runs)
	}
	h.runs.mu.Lock()
	defer h.runs.mu.Unlock()
	if len(h.runs.slots) != 0 || len(h.runs.deferred) != 0 {
		t.Errorf("places %v and held %v are left, want none", h.runs.slots, h.runs.deferred)
	}
}

func TestOtherWorkGivesWayWhileARunIsAtWork(t *testing.T) {
	t.Parallel()
	var held atomic.Int64
	h := newHouse(t, hanging{}, func(c *Config) {
		c.GiveWay = func() (release func()) {
			held.Add(1)
			return func() { held.Add(-1) }
		}
	})
	h.lend("anna", "handbook.md", runtest.Handbook, "holiday")
	for i := range 2 {
		run, err := h.begin("anna", "s")
		if err != nil {
			t.Fatal(err)
		}
		h.comes("other work waits for run "+strconv.Itoa(i+1), func() bool { return held.Load() == 1 })
		if err := h.runs.Cancel(t.Context(), chat.Scope{User: "anna"}, run.ID); err != nil {
			t.Fatal(err)
		}
		h.ended("anna", run.ID)
		h.comes("other work goes on", func() bool { return held.Load() == 0 })
	}
}

func TestARepeatedQuestionIsAnsweredWhenAllPlacesAreTaken(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{}, func(c *Config) { c.MaxRuns = 1 })
	req := chat.RunRequest{Message: "How many days of holiday are there?", IdempotencyKey: "key"}
	first := h.ask(req)
	again, fresh, err := h.runs.Start(t.Context(), chat.LocalUser, req)
	if err != nil || fresh || again.ID != first.ID {
		t.Errorf("the same again = %s, fresh %v, %v; want %s", again.ID, fresh, err, first.ID)
	}
}

func TestAWaitingQuestionWaitsWhileItsUserHasAllRunsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{})
	h.store.SetLimits(chat.Limits{chat.RunsAtOnce: 1})
	h.lend("anna", "handbook.md", runtest.Handbook, "holiday")
	anna := chat.Scope{User: "anna"}
	cancel := func(run chat.Run) {
		t.Helper()
		if err := h.runs.Cancel(t.Context(), anna, run.ID); err != nil {
			t.Fatal(err)
		}
		h.ended("anna", run.ID)
	}
	run, err := h.begin("anna", "b")
	if err != nil {
		t.Fatal(err)
	}
	cancel(run)
	h.rests(h.runs) // after the second one the question that waited is worked on
	if run, err = h.begin("anna", "a"); err != nil {
		t.Fatal(err)
	}
	q, err := h.runs.Enqueue(t.Context(), anna, chat.RunRequest{SessionID: "b", Message: "And how many unused ones?"})
	if err != nil {
		t.Fatal(err)
	}
	list, err := h.store.Queue(t.Context(), anna, "b")
	if err != nil || len(list) != 1 || list[0].Problem != "" {
		t.Fatalf("waiting = %+v, %v; want one question without a problem", list, err)
	}
	if err := h.store.EditQueued(t.Context(), anna, "b", q.ID, "And how many are unused?"); err != nil {
		t.Errorf("it can't be changed while it waits: %v, want no error", err)
	}
	cancel(run)
	var runs []chat.Run
	h.comes("the question that waited is asked", func() bool {
		runs, err = h.store.Runs(t.Context(), anna, "b")
		return err != nil || len(runs) == 2
	})
	if err != nil || runs[1].Request.Message != "And how many are unused?" {
		t.Fatalf("runs of the conversation = %+v, %v; want the question that waited", runs, err)
	}
}

func TestAWaitingQuestionBeyondTheDaysSaysSo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{})
	h.store.SetLimits(chat.Limits{chat.QuestionsPerDay: 1})
	h.lend("anna", "handbook.md", runtest.Handbook, "holiday")
	anna := chat.Scope{User: "anna"}
	run, err := h.begin("anna", "s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.runs.Enqueue(t.Context(), anna, chat.RunRequest{SessionID: "s", Message: "And then?"}); err != nil {
		t.Fatal(err)
	}
	if err := h.runs.Cancel(t.Context(), anna, run.ID); err != nil {
		t.Fatal(err)
	}
	h.comes("the waiting question says why it waits", func() bool {
		list, err := h.store.Queue(t.Context(), anna, "s")
		return err != nil || len(list) == 1 && strings.Contains(list[0].Problem, "1 question in 24 hours")
	})
}

func TestTheTokensOfAnAnswerCountAgainstItsUser(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.NewScript(func(scripted.Request) scripted.Reply {
		return scripted.Reply{Text: ground.RefusalSentence, Usage: &llm.Usage{In: 60, Out: 50}}
	}))
	h.store.SetLimits(chat.Limits{chat.TokensPerDay: 100})
	run, err := h.begin("anna", "")
	if err != nil {
		t.Fatal(err)
	}
	h.ended("anna", run.ID)
	h.rests(h.runs)
	if err := h.store.Room(context.WithoutCancel(t.Context()), "anna", chat.ResourceTokens); err == nil {
		t.Error("there is room for more tokens, want none")
	}
	if _, err := h.begin("anna", ""); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("another question: %v, want it refused", err)
	}
	if _, err := h.begin("bert", ""); err != nil {
		t.Errorf("another user's: %v, want no error", err)
	}
}
