package agent

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// hanging is a model that says its text and then nothing until it is stopped.
type hanging struct{ text string }

func (hanging) Name() string { return "hanging" }

func (m hanging) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		if req.NoTools {
			_ = yield(llm.Text(goodAnswer), nil) && yield(llm.Done{Finish: llm.FinishStop}, nil)
			return
		}
		if m.text != "" && !yield(llm.Text(m.text), nil) {
			return
		}
		<-ctx.Done()
		yield(nil, &llm.Error{Kind: llm.KindCancelled, Message: "stopped", Err: ctx.Err()})
	}
}

// thenHangs searches first.
func thenHangs() llm.Model {
	searching := scripted.New(calls(search("holiday")))
	return relay{func(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
		if len(searching.Requests()) == 0 {
			return searching.Stream(ctx, req)
		}
		return hanging{}.Stream(ctx, req)
	}}
}

type relay struct {
	stream func(context.Context, llm.Request) iter.Seq2[llm.Part, error]
}

func (relay) Name() string { return "relay" }

func (r relay) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return r.stream(ctx, req)
}

func isDelta(p chat.Payload) bool { _, ok := p.(chat.AnswerDelta); return ok }

func isSearched(p chat.Payload) bool {
	s, ok := p.(chat.Step)
	return ok && s.ToolName == "search_documents" && s.Status == chat.StatusComplete
}

func TestAStoppedRunKeepsItsTextAndEndsCancelled(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{text: "There are"})
	run := h.ask(asks("How many days?"))
	h.follow(run.ID, isDelta)
	stranger := chat.Scope{User: "mallory"}
	if err := h.runs.Cancel(t.Context(), stranger, run.ID); err == nil || chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("a stranger's Cancel = %v, want %v", err, chat.CodeNotFound)
	}
	if err := h.runs.Cancel(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	got := h.wait(run.ID)
	if d := got.done(); d.Status != chat.RunCancelled || got.text() != "There are" {
		t.Errorf("done = %+v, text %q; want Status %v and %q", d, got.text(), chat.RunCancelled, "There are")
	}
	next := scripted.New(says("Welcome."))
	h.hire(next)
	again := asks("Thanks!")
	again.SessionID = run.SessionID
	h.answer(again)
	var history []string
	for _, m := range next.Requests()[0].Messages[1:] {
		history = append(history, m.Text)
	}
	if want := []string{"How many days?", "There are"}; len(history) != 3 || !slices.Equal(history[:2], want) {
		t.Errorf("history of the next question = %q, want %q first", history, want)
	}
	if err := h.runs.Cancel(t.Context(), chat.Local, run.ID); err == nil || chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("Cancel of a finished run = %v, want %v", err, chat.CodeConflict)
	}
	if err := h.runs.AnswerNow(t.Context(), chat.Local, chat.NewID()); err == nil ||
		chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("AnswerNow of no run = %v, want %v", err, chat.CodeNotFound)
	}
}

func TestAnswerNowMakesTheModelAnswerFromWhatThereIs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, thenHangs())
	run := h.ask(asks("How many days of holiday are there?"))
	h.follow(run.ID, isSearched)
	if err := h.runs.AnswerNow(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	if a := h.wait(run.ID).answer(); a.StopReason != chat.StopAnswerNow || len(a.Citations) != 1 {
		t.Errorf("answer = %+v; want StopReason %v and 1 citation", a, chat.StopAnswerNow)
	}
}

func TestStopInterruptsRunsAndLetsNoneBegin(t *testing.T) {
	t.Parallel()
	h := newHouse(t, hanging{})
	run := h.ask(asks("Wait"))
	h.follow(run.ID, func(p chat.Payload) bool { return p.Kind() == chat.KindRunStarted })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := h.runs.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if d := h.wait(run.ID).done(); d.Status != chat.RunInterrupted || !d.Error.Retryable {
		t.Errorf("done = %+v; want Status %v and Error.Retryable true", d, chat.RunInterrupted)
	}
	if _, _, err := h.runs.Start(t.Context(), chat.LocalUser, asks("More")); err == nil ||
		chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("Start = %v, want %v", err, chat.CodeUnavailable)
	}
}

// panicking is a model with a bug.
func TestAPanicEndsTheRunAsFailed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, relay{func(context.Context, llm.Request) iter.Seq2[llm.Part, error] { panic("a bug") }})
	if d := h.answer(asks("Hm?")).done(); d.Status != chat.RunFailed || d.Error.Code != chat.CodeInternal ||
		strings.Contains(d.Error.Message, "bug") {
		t.Errorf("done = %+v; want Status %v, Error.Code %v, no %q in it", d, chat.RunFailed, chat.CodeInternal, "bug")
	}
}

func TestTheSameIdempotencyKeyIsOneRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t, offline.New(nil))
	req := asks("How many days of holiday are there?")
	req.IdempotencyKey = "k"
	first := h.ask(req)
	second, fresh, err := h.runs.Start(t.Context(), chat.LocalUser, req)
	if err != nil || fresh || second.ID != first.ID {
		t.Errorf("second = %s fresh %v, %v; first %s; want %s", second.ID, fresh, err, first.ID, first.ID)
	}
	h.wait(first.ID).done()
}

func TestARepeatAfterItsDocumentWasDeletedIsTheEarlierRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t, offline.New(nil))
	doc, err := h.library.Find(t.Context(), chat.Local, "Survey.md")
	if err != nil {
		t.Fatal(err)
	}
	req := asks("Is the roof sound?")
	req.DocumentIDs, req.IdempotencyKey = []string{doc.ID}, "k"
	first := h.ask(req)
	h.wait(first.ID).done()
	if err := h.library.Delete(t.Context(), chat.Local, doc.ID); err != nil {
		t.Fatal(err)
	}
	again, fresh, err := h.runs.Start(t.Context(), chat.LocalUser, req)
	if err != nil || fresh || again.ID != first.ID {
		t.Errorf("the repeat = %s fresh %v, %v; want %s", again.ID, fresh, err, first.ID)
	}
	other := req
	other.Message = "Is the roof old?"
	if _, _, err := h.runs.Start(t.Context(), chat.LocalUser, other); err == nil ||
		chat.CodeOf(err) != chat.CodeKeyReused {
		t.Errorf("another question under the key = %v, want %v", err, chat.CodeKeyReused)
	}
	other.IdempotencyKey = "new"
	if _, _, err := h.runs.Start(t.Context(), chat.LocalUser, other); err == nil ||
		chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("a new question about the deleted document = %v, want %v", err, chat.CodeNotFound)
	}
}

func TestAKilledRunGoesOnFromItsLastFinishedStep(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h := newHouse(t, offline.New(nil))
	// what a killed server leaves behind: a search that ended, a reading that did not, and a piece of text
	dead := chat.Lease{Owner: "dead", Until: time.Now().Add(time.Hour)}
	run, _, err := h.store.StartRun(ctx, chat.LocalUser, asks("How many days of paid holiday are there?"), dead)
	if err != nil {
		t.Fatal(err)
	}
	found, err := h.library.Search(ctx, chat.Local, queryFor("paid holiday"))
	if err != nil {
		t.Fatal(err)
	}
	p := found.Results[0].Passage
	done := chat.Step{
		CallID: "c2", Step: "search_documents", ToolName: "search_documents", Thought: "I search.",
		Status: chat.StatusComplete, ToolStatus: chat.StatusComplete,
		ToolInput: []byte(`{"max_results":10,"query":"paid holiday"}`),
		ToolOutput: []byte(
			`{"documents":[{"doc_id":"` + p.DocumentID +
				`","passages":[{"n":4,"block_id":"b1","text":"x","chunk_id":"` + p.ID + `"}]}],"total_found":1}`,
		),
		Details: map[string]any{},
	}
	cut := chat.Step{
		CallID: "c3", Step: "read_document", ToolName: "read_document", Status: chat.StatusRunning,
		ToolStatus: chat.StatusRunning, ToolInput: []byte(`{"doc_id":"` + p.DocumentID + `","page":1}`),
		Details: map[string]any{},
	}
	if err := h.feed.Append(ctx, "dead", run.ID, chat.RunStarted{Question: run.Request.Message}, done,
		chat.AnswerDelta{Text: "There"}, cut); err != nil {
		t.Fatal(err)
	}
	model := scripted.New(says("There are 28 days of paid holiday a year [4]."))
	h.hire(model)
	got := h.carriedOn(run.ID)
	a := got.answer()
	if a.Markdown != "There are 28 days of paid holiday a year [1]." || got.text() != a.Markdown ||
		len(a.Citations) != 1 || a.Citations[0].ChunkID != p.ID {
		t.Errorf("answer = %+v, shown %q; want Markdown %q, %q, 1 citation, Citations[0].ChunkID %v",
			a, got.text(), "There are 28 days of paid holiday a year [1].", a.Markdown, p.ID)
	}
	if s := got.step("read_document"); s.Status != chat.StatusComplete || s.CallID != "c3" {
		t.Errorf("the cut call is %+v; want Status %v and CallID %q", s, chat.StatusComplete, "c3")
	}
	if n := len(all[chat.RunStarted](got)); n != 1 {
		t.Errorf("%d run_started, want 1", n)
	}
	msgs := model.Requests()[0].Messages
	if len(msgs) != 6 || msgs[2].Calls[0].Name != "search_documents" || msgs[3].CallID != msgs[2].Calls[0].ID ||
		msgs[5].CallID != msgs[4].Calls[0].ID {
		t.Fatalf("history = %+v", msgs[1:])
	}
	if !strings.Contains(msgs[3].Text, `"n":4`) || strings.Contains(msgs[3].Text, "chunk_id") ||
		!strings.Contains(msgs[5].Text, "paid holiday") {
		t.Errorf("results = %s, %s; want %q in it, no %q in it, %q in it",
			msgs[3].Text, msgs[5].Text, `"n":4`, "chunk_id", "paid holiday")
	}
}

func TestARunThatIsOldOrKeepsDyingIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h := newHouse(t, offline.New(nil))
	run, _, err := h.store.StartRun(ctx, chat.LocalUser, asks("How many days?"),
		chat.Lease{Owner: "dead", Until: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	again := chat.Step{
		Step: "restart", Status: chat.StatusComplete, ToolStatus: chat.StatusComplete, Details: map[string]any{},
	}
	first, second := again, again
	first.CallID, second.CallID = "c1", "c2"
	if err := h.feed.Append(ctx, "dead", run.ID, chat.RunStarted{}, first, second); err != nil {
		t.Fatal(err)
	}
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan struct{})
	go func() { defer close(ended); h.runs.KeepLeases(runCtx) }()
	if d := h.wait(run.ID).done(); d.Status != chat.RunInterrupted {
		t.Errorf("done = %+v, want Status %v", d, chat.RunInterrupted)
	}
	stop()
	<-ended
}
