package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/chat"
)

// queue lets a question wait.
func (h *house) queue(session, text string) chat.Queued {
	h.Helper()
	q, err := h.runs.Enqueue(h.Context(), chat.Local, chat.RunRequest{SessionID: session, Message: text})
	if err != nil {
		h.Fatalf("Enqueue(%q): %v", text, err)
	}
	return q
}

// next waits for the run of a session that asks a question, and for its end.
func (h *house) next(session, text string) transcript {
	h.Helper()
	limit, cancel := context.WithTimeout(h.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		runs, err := h.store.Runs(h.Context(), chat.Local, session)
		if err != nil {
			h.Fatal(err)
		}
		for _, run := range runs {
			if run.Request.Message == text {
				return h.wait(run.ID)
			}
		}
		select {
		case <-tick.C:
		case <-limit.Done():
			h.Fatalf("%q was never asked", text)
		}
	}
}

func TestWaitingQuestionsAreSentInOrderWhenTheRunEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{})
	run := h.ask(chat.RunRequest{SessionID: "s", Message: "Wait"})
	h.follow(run.ID, func(p chat.Payload) bool { return p.Kind() == chat.KindRunStarted })
	h.queue("s", "one")
	h.queue("s", "two")
	if err := h.runs.AnswerNow(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	h.wait(run.ID)
	for _, text := range []string{"one", "two"} {
		started := h.started("s", text)
		if err := h.runs.Cancel(t.Context(), chat.Local, started); err != nil {
			t.Fatal(err)
		}
		h.wait(started)
	}
	runs, err := h.store.Runs(t.Context(), chat.Local, "s")
	if err != nil || len(runs) != 3 || runs[1].ParentID != run.ID || runs[2].ParentID != runs[1].ID ||
		runs[1].Request.Message != "one" {
		t.Errorf("runs = %+v, %v; want 3 runs, %v, %v, %q", runs, err, run.ID, runs[1].ID, "one")
	}
	if left, err := h.store.Queue(t.Context(), chat.Local, "s"); err != nil || len(left) != 0 {
		t.Errorf("left = %+v, %v; want none", left, err)
	}
}

// started waits until a question is a run under way, and returns its id.
func (h *house) started(session, text string) string {
	h.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for {
		runs, err := h.store.Runs(h.Context(), chat.Local, session)
		if err != nil {
			h.Fatal(err)
		}
		for _, run := range runs {
			if run.Request.Message == text {
				h.follow(run.ID, func(p chat.Payload) bool { return p.Kind() == chat.KindRunStarted })
				return run.ID
			}
		}
		select {
		case <-tick.C:
		case <-limit:
			h.Fatalf("%q was never asked", text)
		}
	}
}

// left waits until what waits in a session is as it should be: a question goes out of the queue a moment after its run
// began.
func (h *house) left(session string, ok func([]chat.Queued) bool) []chat.Queued {
	h.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for {
		left, err := h.store.Queue(h.Context(), chat.Local, session)
		if err != nil {
			h.Fatal(err)
		}
		if ok(left) {
			return left
		}
		select {
		case <-tick.C:
		case <-limit:
			h.Fatalf("left = %+v", left)
		}
	}
}

func TestSendNowEndsTheRunAndGoesFirst(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{})
	run := h.ask(chat.RunRequest{SessionID: "s", Message: "Wait"})
	h.follow(run.ID, func(p chat.Payload) bool { return p.Kind() == chat.KindRunStarted })
	h.queue("s", "one")
	two := h.queue("s", "two")
	if err := h.runs.SendNow(t.Context(), chat.Scope{User: "mallory"}, "s", two.ID, false); err == nil ||
		chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("a stranger's SendNow = %v, want %v", err, chat.CodeNotFound)
	}
	if err := h.runs.SendNow(t.Context(), chat.Local, "s", two.ID, false); err != nil {
		t.Fatal(err)
	}
	if d := h.wait(run.ID).done(); d.Status != chat.RunCancelled {
		t.Errorf("the run ended as %v, want %v", d.Status, chat.RunCancelled)
	}
	second := h.started("s", "two")
	left := h.left("s", func(left []chat.Queued) bool { return len(left) == 1 && left[0].Request.Message == "one" })
	if err := h.runs.SendNow(t.Context(), chat.Local, "s", left[0].ID, true); err != nil {
		t.Fatal(err)
	}
	if d := h.wait(second).done(); d.Status != chat.RunCompleted {
		t.Errorf("answered now, it ended as %v, want %v", d.Status, chat.RunCompleted)
	}
	if err := h.runs.Cancel(t.Context(), chat.Local, h.started("s", "one")); err != nil {
		t.Fatal(err)
	}
}

func TestAQuestionIsSentAtOnceWhenNothingIsUnderWay(t *testing.T) {
	t.Parallel()
	h := newHouse(t, offline.New(nil))
	h.answer(chat.RunRequest{SessionID: "s", Message: "How many days of holiday are there?"})
	h.queue("s", "What is the condition of the roof?")
	h.next("s", "What is the condition of the roof?").answer()
	if _, err := h.runs.Enqueue(t.Context(), chat.Local, chat.RunRequest{SessionID: "s", Message: " "}); err == nil ||
		chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("an empty one: %v, want %v", err, chat.CodeInvalid)
	}
}

func TestWaitingQuestionsSurviveARestart(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{})
	run := h.ask(chat.RunRequest{SessionID: "s", Message: "Wait"})
	h.follow(run.ID, func(p chat.Payload) bool { return p.Kind() == chat.KindRunStarted })
	h.queue("s", "What is the condition of the roof?")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := h.runs.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	h.wait(run.ID)
	if left, err := h.store.Queue(t.Context(), chat.Local, "s"); err != nil || len(left) != 1 {
		t.Fatalf("left = %+v, %v; want 1", left, err)
	}
	h.hire(offline.New(nil))
	ctx, cancel = context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); h.runs.KeepLeases(ctx) }() // ends by ctx
	h.next("s", "What is the condition of the roof?").answer()
	cancel()
	<-done
}

func TestAQuestionTooManyDoesNotWait(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{}, func(c *Config) { c.MaxQuestions = 2 })
	run := h.ask(chat.RunRequest{SessionID: "s", Message: "Wait"})
	h.follow(run.ID, func(p chat.Payload) bool { return p.Kind() == chat.KindRunStarted })
	last := chat.RunRequest{SessionID: "s", Message: "the last", IdempotencyKey: "k"}
	q, err := h.runs.Enqueue(t.Context(), chat.Local, last)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.runs.Enqueue(t.Context(), chat.Local, chat.RunRequest{
		SessionID: "s", Message: "one too many",
	}); err == nil || chat.CodeOf(err) != chat.CodeTurnLimit {
		t.Errorf("one too many = %v, want %v", err, chat.CodeTurnLimit)
	}
	if again, err := h.runs.Enqueue(t.Context(), chat.Local, last); err != nil || again.ID != q.ID {
		t.Errorf("the last one sent again = %+v, %v; want ID %v", again, err, q.ID)
	}
	h.left("s", func(left []chat.Queued) bool { return len(left) == 1 && left[0].Problem == "" })
}

func TestAWaitingQuestionWhoseDocumentWasDeletedIsNotSent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{})
	run := h.ask(chat.RunRequest{SessionID: "s", Message: "Wait"})
	h.follow(run.ID, func(p chat.Payload) bool { return p.Kind() == chat.KindRunStarted })
	doc, err := h.library.Find(t.Context(), chat.Local, "Survey.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.runs.Enqueue(t.Context(), chat.Local, chat.RunRequest{
		SessionID: "s", Message: "one", DocumentIDs: []string{doc.ID},
	}); err != nil {
		t.Fatal(err)
	}
	if err := h.library.Delete(t.Context(), chat.Local, doc.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.runs.AnswerNow(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	h.wait(run.ID)
	h.runs.Resend(t.Context(), chat.Local, "s")
	left, err := h.store.Queue(t.Context(), chat.Local, "s")
	if err != nil || len(left) != 1 || !strings.Contains(left[0].Problem, "may have been deleted") {
		t.Errorf("left = %+v, %v; want 1 and %q in it", left, err, "may have been deleted")
	}
	if runs, err := h.store.Runs(t.Context(), chat.Local, "s"); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v; want 1 run", len(runs), err)
	}
}

func TestARepeatOfAWaitingQuestionFindsItWhateverBecameOfItsDocument(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{})
	run := h.ask(chat.RunRequest{SessionID: "s", Message: "Wait"})
	h.follow(run.ID, func(p chat.Payload) bool { return p.Kind() == chat.KindRunStarted })
	doc, err := h.library.Find(t.Context(), chat.Local, "Survey.md")
	if err != nil {
		t.Fatal(err)
	}
	req := chat.RunRequest{SessionID: "s", Message: "one", DocumentIDs: []string{doc.ID}, IdempotencyKey: "k"}
	other := req
	other.Message = "two"
	first, err := h.runs.Enqueue(t.Context(), chat.Local, req)
	if err != nil {
		t.Fatal(err)
	}
	refuses := func(when string) {
		t.Helper()
		if _, err := h.runs.Enqueue(t.Context(), chat.Local, other); err == nil ||
			chat.CodeOf(err) != chat.CodeKeyReused {
			t.Errorf("%s, another question under the key = %v, want %v", when, err, chat.CodeKeyReused)
		}
		unknown := req
		unknown.IdempotencyKey = "new"
		if _, err := h.runs.Enqueue(t.Context(), chat.Local, unknown); err == nil ||
			chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("%s, another key = %v, want %v", when, err, chat.CodeNotFound)
		}
	}
	remove := func() {
		if err := h.library.Delete(t.Context(), chat.Local, doc.ID); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	if again, err := h.runs.Enqueue(t.Context(), chat.Local, req); err != nil || again.ID != first.ID {
		t.Errorf("while it waits, the repeat = %+v, %v; want %s", again, err, first.ID)
	}
	refuses("while it waits")

	if err := h.library.Restore(t.Context(), chat.Local, doc.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.runs.AnswerNow(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	sent := h.started("s", "one")
	remove()
	again, err := h.runs.Enqueue(t.Context(), chat.Local, req)
	if err != nil || again.ID != sent || again.Request.Message != "one" {
		t.Errorf("once it is sent, the repeat = %+v, %v; want %s", again, err, sent)
	}
	if left, err := h.store.Queue(t.Context(), chat.Local, "s"); err != nil || len(left) != 0 {
		t.Errorf("left = %+v, %v; want none", left, err)
	}
	refuses("once it is sent")
}
