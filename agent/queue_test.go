package agent

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// queue adds a question to a session's queue.
func (h *harness) queue(session, text string) chat.Queued {
	h.Helper()
	q, err := h.runs.Enqueue(h.Context(), chat.Local, chat.RunRequest{SessionID: session, Message: text})
	if err != nil {
		h.Fatalf("Enqueue(%q): %v", text, err)
	}
	return q
}

// next waits for the run of a session with a question, and for its end.
func (h *harness) next(session, text string) transcript {
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

func TestQueuedQuestionsRunInOrder(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{})
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

// started waits until a queued question is an active run, and returns its id.
func (h *harness) started(session, text string) string {
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

// waitForQueue waits until a session's queue satisfies a condition: a question leaves the queue a moment after its run
// began.
func (h *harness) waitForQueue(session string, ok func([]chat.Queued) bool) []chat.Queued {
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

func TestSendNowCancelsRunAndGoesFirst(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{})
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
	left := h.waitForQueue("s", func(left []chat.Queued) bool {
		return len(left) == 1 && left[0].Request.Message == "one"
	})
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

func TestQuestionStartsImmediatelyWithoutActiveRun(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	h.answer(chat.RunRequest{SessionID: "s", Message: "How many days of holiday are there?"})
	h.queue("s", "What is the condition of the roof?")
	h.next("s", "What is the condition of the roof?").answer()
	if _, err := h.runs.Enqueue(t.Context(), chat.Local, chat.RunRequest{SessionID: "s", Message: " "}); err == nil ||
		chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("an empty one: %v, want %v", err, chat.CodeInvalid)
	}
}

func TestQueuedQuestionsSurviveRestart(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{})
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
	h.startAgent(offline.New(nil, nil))
	ctx, cancel = context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); h.runs.KeepLeases(ctx) }() // ends by ctx
	h.next("s", "What is the condition of the roof?").answer()
	cancel()
	<-done
}

func TestQuestionQueueIsBounded(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{}, func(c *Config) { c.MaxQuestions = 2 })
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
	h.waitForQueue("s", func(left []chat.Queued) bool { return len(left) == 1 && left[0].Problem == "" })
}

func TestQueuedQuestionWithDeletedDocumentIsDropped(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{})
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
	if err != nil || len(left) != 1 || !strings.Contains(left[0].Problem.String(), "may have been deleted") {
		t.Errorf("left = %+v, %v; want 1 and %q in it", left, err, "may have been deleted")
	}
	if runs, err := h.store.Runs(t.Context(), chat.Local, "s"); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v; want 1 run", len(runs), err)
	}
}

func TestRepeatedQueuedQuestionIgnoresDeletedDocument(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{})
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

func TestRevokedKeyEndsWork(t *testing.T) {
	t.Parallel()
	var revoked atomic.Bool
	h := newHarness(t, hanging{text: "So far "}, func(c *Config) {
		c.Revoked = func(user string) bool { return revoked.Load() && user == chat.LocalUser }
	})
	run := h.ask(chat.RunRequest{SessionID: "s", Message: "Wait"})
	h.follow(run.ID, func(p chat.Payload) bool { return p.Kind() == chat.KindRunStarted })
	h.queue("s", "one")
	h.queue("s", "two")
	h.runs.endRevoked()
	if now, err := h.store.Run(t.Context(), chat.Local, run.ID); err != nil || now.Status != chat.RunRunning {
		t.Fatalf("with a key: status = %s, %v; want running", now.Status, err)
	}
	revoked.Store(true)
	h.runs.endRevoked()
	done := h.wait(run.ID).done()
	if done.Status != chat.RunCancelled || done.Error == nil || done.Error.Code != chat.CodeUnauthorized ||
		done.Error.Message != "Your API key was revoked before the answer was done." {
		t.Errorf("ended as %+v; want Status %v, Error.Code %v, Error.Message %q",
			done, chat.RunCancelled, chat.CodeUnauthorized, "Your API key was revoked before the answer was done.")
	}
	h.waitForQueue("s", func(list []chat.Queued) bool {
		return len(list) == 2 && list[0].Problem == "Your API key was revoked before you asked this question." &&
			list[1].Problem == ""
	})
	h.runs.sendWaiting(t.Context())
	if runs, err := h.store.Runs(t.Context(), chat.Local, "s"); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v; want 1", len(runs), err)
	}
	if _, _, err := h.runs.Start(t.Context(), chat.LocalUser,
		asks("Again?")); chat.CodeOf(err) != chat.CodeUnauthorized {
		t.Errorf("Start: %v, want unauthorized", err)
	}
}

// Runs of a revoked key end within five seconds: see keys.
func TestRevokedKeyEndsRunsInTime(t *testing.T) {
	if most := 2 * time.Second; usersEvery > most {
		t.Errorf("users are looked at every %v, want every %v at least", usersEvery, most)
	}
}

// named is a model with another name.
type named struct {
	llm.Model
	name string
}

func (n named) Name() string { return n.name }

func (n named) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return n.Model.Stream(ctx, req)
}

func TestRequestSelectsAllowedModel(t *testing.T) {
	t.Parallel()
	small, large := scripted.New(calls(search("holiday")), says(goodAnswer)), scripted.New()
	h := newHarness(t, named{large, "large"}, func(c *Config) {
		c.Models = []llm.Model{named{small, "small"}, named{large, "large"}}
		c.Prices = map[string]run.Price{"small": {In: 0.5, Out: 2}}
	})
	got := h.answer(chat.RunRequest{
		Message: "How many days of holiday are there?", Config: chat.RunConfig{Model: "small"},
	})
	a := got.answer()
	if all[chat.RunStarted](got)[0].Model != "small" || a.Markdown != goodAnswer || len(large.Requests()) != 0 {
		t.Errorf("answer %+v, want Markdown %v", a, goodAnswer)
	}
	want := (float64(a.Tokens.In)*0.5 + float64(a.Tokens.Out)*2) / 1e6
	if a.Cost == nil || math.Abs(*a.Cost-want) > 1e-12 || want == 0 {
		t.Errorf("cost %v, want %v", a.Cost, want)
	}
	if s := got.step("search_documents"); s.Cost == nil || *s.Cost <= 0 || *s.Cost >= *a.Cost {
		t.Errorf("cost of the step = %v, want part of the total", s.Cost)
	}
	_, _, err := h.runs.Start(t.Context(), chat.LocalUser, chat.RunRequest{
		Message: "Hi", Config: chat.RunConfig{Model: "huge"},
	})
	if chat.CodeOf(orEmpty(err)) != chat.CodeInvalid ||
		!strings.Contains(chat.MessageOf(err).String(), "Allowed: large, small.") {
		t.Errorf("err = %v", err)
	}
}

func TestSelectableModels(t *testing.T) {
	t.Parallel()
	large := scripted.New()
	h := newHarness(t, named{large, "large"}, withFallback, func(c *Config) {
		c.Models, c.Toolset = []llm.Model{named{scripted.New(), "small"}, named{large, "large"}}, "react"
	})
	if diff := cmp.Diff([]string{"large", "small", "offline"}, h.runs.Models()); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"react", "cursor", "documentation", "strategy"}, h.runs.Toolsets()); diff != "" {
		t.Errorf("toolsets (-want +got):\n%s", diff)
	}
	got := h.answer(chat.RunRequest{
		Message: "How many days of paid holiday does an employee get?", Toolset: "cursor",
		Config: chat.RunConfig{Model: "offline"},
	})
	if a := got.answer(); all[chat.RunStarted](got)[0].Model != "offline" || len(a.Citations) == 0 ||
		len(large.Requests()) != 0 {
		t.Errorf("answer %+v after %d requests to the model; want some citations and none", a, len(large.Requests()))
	}
}

func TestStepRepeatReplacesRemovedModel(t *testing.T) {
	t.Parallel()
	small, large := scripted.New(calls(search("holiday")), says(goodAnswer)), scripted.New(says(goodAnswer))
	h := newHarness(t, named{large, "large"}, func(c *Config) { c.Models = []llm.Model{named{small, "small"}} })
	first := h.answer(chat.RunRequest{
		Message: "How many days of holiday are there?", Config: chat.RunConfig{Model: "small"},
	})
	h.startAgent(named{large, "large"})
	run, _, err := h.runs.Rerun(t.Context(), chat.Local, first.runID, first.step("search_documents").CallID,
		[]byte(`{"query":"paid holiday"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	got := transcript{t, run.ID, h.follow(run.ID, isDone)}
	if started := all[chat.RunStarted](got)[0]; started.Model != "large" || got.answer().Markdown != goodAnswer {
		t.Errorf("started %+v, want Model %q", started, "large")
	}
}

func TestModelBelowMinimumGetsFixedPipeline(t *testing.T) {
	t.Parallel()
	small, large := scripted.New(says(goodAnswer)), scripted.New(calls(search("holiday")), says(goodAnswer))
	h := newHarness(t, named{large, "large"}, func(c *Config) {
		c.Models, c.LeastModel = []llm.Model{named{small, "small"}, named{large, "large"}}, "large"
	})
	got := h.answer(chat.RunRequest{
		Message: "How many days of paid holiday does an employee get?", Config: chat.RunConfig{Model: "small"},
	})
	if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
		t.Errorf("answer %+v; want Markdown %v and 1 citation", a, goodAnswer)
	}
	if s := got.step("choose"); s.Details["by"] != "pipeline" {
		t.Errorf("choice %+v, want %q", s, "pipeline")
	}
	if s := got.step("search_documents"); !strings.Contains(s.Thought, "fixed pipeline") ||
		s.Status != chat.StatusComplete {
		t.Errorf("step %+v; want %q in it and Status %v", s, "fixed pipeline", chat.StatusComplete)
	}
	if seen := small.Requests(); len(seen) != 1 || !seen[0].NoTools {
		t.Errorf("the small model was asked %d times, want 1", len(seen))
	}
	h.answer(asks("How many days of holiday are there?")).answer()
	if seen := large.Requests(); len(seen) != 2 || seen[0].NoTools {
		t.Errorf("the large model was asked %d times, want 2", len(seen))
	}
}

func TestCostOfModelWithoutPriceIsUnknown(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(calls(search("holiday")), says(goodAnswer)))
	if a := h.answer(asks("How many days of holiday are there?")).answer(); a.Cost != nil {
		t.Errorf("cost %v", *a.Cost)
	}
}

func TestCheaperModelPlans(t *testing.T) {
	t.Parallel()
	cheap := scripted.New(says(`["days of holiday", "the notice period"]`), says("That is enough."))
	main := scripted.New(says(goodAnswer))
	h := newHarness(t, main, func(c *Config) { c.Select = named{cheap, "cheap"} })
	h.answer(chat.RunRequest{
		Message: "How many days of holiday are there, and how long is the notice?",
		Config:  chat.RunConfig{EnableQueryDecomposition: new(true), EnableSelfEvaluation: new(false)},
	}).answer()
	if asked := cheap.Requests(); len(asked) != 2 || !asked[0].NoTools || asked[1].NoTools {
		t.Errorf("the cheaper model was asked %d times, want 2", len(asked))
	}
	if asked := main.Requests(); len(asked) != 1 || !asked[0].NoTools {
		t.Errorf("the main model was asked %d times, want 1", len(asked))
	}
}

func TestCostCoversAllModelsOrIsOmitted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		prices map[string]run.Price
		given  bool
	}{
		{map[string]run.Price{"large": {In: 2, Out: 8}}, false},
		{map[string]run.Price{"cheap": {In: 1, Out: 4}}, false},
		{map[string]run.Price{"large": {In: 2, Out: 8}, "cheap": {In: 1, Out: 4}}, true},
	} {
		cheap, main := scripted.New(calls(search("holiday")), says("That is enough.")), scripted.New(says(goodAnswer))
		h := newHarness(t, named{main, "large"}, func(c *Config) {
			c.Select, c.Prices, c.Features = named{cheap, "cheap"}, tt.prices, run.Features{
				Selection: tools.SelectModel,
			}
		})
		got := h.answer(asks("How many days of holiday are there?"))
		if len(cheap.Requests()) == 0 || len(main.Requests()) == 0 {
			t.Fatalf("asked %d and %d times; want some and some", len(cheap.Requests()), len(main.Requests()))
		}
		if a := got.answer(); (a.Cost != nil) != tt.given {
			t.Errorf("prices %v: cost = %v", tt.prices, a.Cost)
		}
	}
}

func cheaper(m llm.Model) func(*Config) {
	return func(c *Config) {
		c.Select = named{m, "small"}
		c.Prices = map[string]run.Price{"small": {In: 1, Out: 1}, "large": {In: 100, Out: 100}}
	}
}

func TestCheaperModelSelectsToolsAndRunModelAnswers(t *testing.T) {
	t.Parallel()
	small := scripted.New(calls(search("holiday")), says("I have seen enough."))
	large := scripted.New(says(goodAnswer))
	h := newHarness(t, named{large, "large"}, cheaper(small))
	got := h.answer(asks("How many days of holiday are there?"))
	a := got.answer()
	if a.Markdown != goodAnswer || len(a.Citations) != 1 || !slices.Contains(got.tools(), "search_documents") ||
		a.StepsUsed != 2 {
		t.Errorf("answer %+v after %v; want Markdown %v, 1 citation, %q in it, StepsUsed 2",
			a, got.tools(), goodAnswer, "search_documents")
	}
	if asked := small.Requests(); len(asked) != 2 || asked[0].NoTools || len(asked[0].Tools) == 0 {
		t.Errorf("the cheaper model was asked %d times, want 2", len(asked))
	}
	asked := large.Requests()
	if len(asked) != 1 || !asked[0].NoTools {
		t.Fatalf("the run's model was asked %d times, want 1", len(asked))
	}
	if last := asked[0].Messages[len(asked[0].Messages)-1]; last.Role != llm.RoleTool {
		t.Errorf("the last it sees is %+v, not what was found, want Role %v", last, llm.RoleTool)
	}
	if dropped, want := droppedTexts(t, got.ended()), []string{"I have seen enough."}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
	if s := got.step("search_documents"); s.Cost == nil || *s.Cost*50 > *a.Cost {
		t.Errorf("cost of the step = %v of %v, want the cheaper price", s.Cost, *a.Cost)
	}
}

func TestToolSelectionFallsBackToRunModel(t *testing.T) {
	t.Parallel()
	small := scripted.New(fails(llm.KindServer))
	large := scripted.New(calls(search("holiday")), says(goodAnswer))
	h := newHarness(t, named{large, "large"}, cheaper(small))
	got := h.answer(asks("How many days of holiday are there?"))
	if a := got.answer(); a.Markdown != goodAnswer {
		t.Errorf("answer %+v, want Markdown %v", a, goodAnswer)
	}
	if s := got.step("choose"); s.Status != chat.StatusError || s.Error == nil ||
		!strings.Contains(s.Message, "large chooses itself") {
		t.Errorf("step %+v; want Status %v and %q in it", s, chat.StatusError, "large chooses itself")
	}
	if n := len(small.Requests()); n != 1 {
		t.Errorf("the cheaper model was asked %d times, want 1", n)
	}
}

func TestCheaperModelIsAskedOnceToSearch(t *testing.T) {
	t.Parallel()
	small := scripted.New(says("No."), calls(search("holiday")), says("Done.")).JudgeBy(no)
	large := scripted.New(says("There are twenty."), says(goodAnswer))
	h := newHarness(t, named{large, "large"}, cheaper(small))
	got := h.answer(asks("How many days of holiday are there?"))
	if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
		t.Errorf("answer %+v; want Markdown %v and 1 citation", a, goodAnswer)
	}
	if asked := small.Requests(); len(asked) != 3 ||
		asked[1].Messages[len(
			asked[1].Messages,
		)-1].Text != "You have not searched the documents. Search them before you answer; if they do not hold the "+
			"answer, say so with the agreed sentence." {
		t.Errorf("the cheaper model was asked %d times, want 3", len(asked))
	}
}

func TestRunWorksWithoutAnalysis(t *testing.T) {
	t.Parallel()
	for _, selection := range []tools.Selection{tools.SelectModel, tools.SelectRules, tools.SelectAuto} {
		t.Run(string(selection), func(t *testing.T) {
			t.Parallel()
			model := scripted.New(calls(search("holiday")), says(goodAnswer))
			if selection == tools.SelectRules {
				model = scripted.New(says(goodAnswer))
			}
			h := newHarness(t, model, thinking(run.Features{Selection: selection, Without: []string{"analyse"}}))
			got := h.answer(asks("How many days of paid holiday does an employee get?"))
			if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
				t.Errorf("answer %+v; want Markdown %v and 1 citation", a, goodAnswer)
			}
			for _, s := range got.ended() {
				if s.Step == "analyse" {
					t.Errorf("there is a step of the analysis: %+v, want other than %q", s, "analyse")
				}
			}
			if system := model.Requests()[0].Messages[0].Text; strings.Contains(system, "suggested_tools") ||
				strings.Contains(system, "simple rules") {
				t.Errorf("prompt has the analysis: %s; want no %q in it and no %q in it",
					system, "suggested_tools", "simple rules")
			}
		})
	}
	h := newHarness(t, scripted.New(says("Hello! Ask me about your documents.")),
		thinking(run.Features{Without: []string{"analyse", "short_paths"}}))
	if a := h.answer(asks("Hello!")).answer(); a.StopReason != chat.StopAnswered || len(a.Citations) != 0 {
		t.Errorf("talk: %+v; want StopReason %v and no citations", a, chat.StopAnswered)
	}
}
