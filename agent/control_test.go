package agent

import (
	"context"
	"encoding/json"
	"fmt"
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

// hanging is a model that streams its text and then blocks until it is cancelled.
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

func TestStoppedRunKeepsTextAndIsCancelled(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{text: "There are"})
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
	h.startAgent(next)
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

func TestAnswerNowAnswersFromAvailablePassages(t *testing.T) {
	t.Parallel()
	h := newHarness(t, thenHangs())
	run := h.ask(asks("How many days of holiday are there?"))
	h.follow(run.ID, isSearched)
	if err := h.runs.AnswerNow(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	if a := h.wait(run.ID).answer(); a.StopReason != chat.StopAnswerNow || len(a.Citations) != 1 {
		t.Errorf("answer = %+v; want StopReason %v and 1 citation", a, chat.StopAnswerNow)
	}
}

func TestStopInterruptsRunsAndBlocksNewOnes(t *testing.T) {
	t.Parallel()
	h := newHarness(t, hanging{})
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

// A model that panics ends its run as failed.
func TestPanicFailsRun(t *testing.T) {
	t.Parallel()
	h := newHarness(t, relay{func(context.Context, llm.Request) iter.Seq2[llm.Part, error] { panic("a bug") }})
	if d := h.answer(asks("Hm?")).done(); d.Status != chat.RunFailed || d.Error.Code != chat.CodeInternal ||
		strings.Contains(d.Error.Message, "bug") {
		t.Errorf("done = %+v; want Status %v, Error.Code %v, no %q in it", d, chat.RunFailed, chat.CodeInternal, "bug")
	}
}

func TestSameIdempotencyKeyReturnsSameRun(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	req := asks("How many days of holiday are there?")
	req.IdempotencyKey = "k"
	first := h.ask(req)
	second, fresh, err := h.runs.Start(t.Context(), chat.LocalUser, req)
	if err != nil || fresh || second.ID != first.ID {
		t.Errorf("second = %s fresh %v, %v; first %s; want %s", second.ID, fresh, err, first.ID, first.ID)
	}
	h.wait(first.ID).done()
}

func TestIdempotentRepeatIgnoresDeletedDocument(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
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

func TestKilledRunResumesAtLastFinishedStep(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h := newHarness(t, offline.New(nil, nil))
	// the log of a killed server: a search that ended, a read that did not, and a delta of text
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
	h.startAgent(model)
	got := h.takeOverRun(run.ID)
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

func TestOldOrCrashingRunIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h := newHarness(t, offline.New(nil, nil))
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

// thenNothing streams its replies and blocks after the last.
func thenNothing(replies ...scripted.Reply) llm.Model {
	told := scripted.New(replies...)
	return relay{func(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
		if len(told.Requests()) < len(replies) {
			return told.Stream(ctx, req)
		}
		return hanging{text: "There"}.Stream(ctx, req)
	}}
}

// A run spends the same, whether in one piece or taken over by another server after each turn.
func TestTakenOverRunKeepsSpentBudget(t *testing.T) {
	t.Parallel()
	web := call("web_search", `{"query":"slate roof"}`)
	read := call("read_document", `{"doc_id":"no such document"}`)
	deny := func(h *harness, r *Runs, runID, id string) error { return r.Deny(h.Context(), chat.Local, runID, id) }
	edit := func(h *harness, r *Runs, runID, id string) error {
		return r.Approve(h.Context(), chat.Local, runID, id, []byte(`{"query":"slate roof Wales"}`))
	}
	for _, tt := range []struct {
		name   string
		turns  []scripted.Reply
		decide func(h *harness, r *Runs, runID, id string) error
	}{
		{name: "arguments that do not fit", turns: []scripted.Reply{
			calls(call("search_documents", `{"words":"holiday"}`)), calls(search("holiday"), call("fly", `{}`)),
		}},
		{name: "refused by its tool", turns: []scripted.Reply{
			calls(read), calls(read), calls(search("holiday"), read),
		}},
		{name: "the same again and again", turns: []scripted.Reply{
			calls(search("holiday"), search("holiday"), search("holiday")), calls(search("holiday")),
			calls(search("leave")),
		}},
		{name: "more than the budget", turns: []scripted.Reply{
			calls(search("holiday"), search("leave"), search("days")), calls(search("year"), search("paid")),
		}},
		{name: "denied", turns: []scripted.Reply{calls(web, search("holiday")), calls(web), calls(web)}, decide: deny},
		{name: "edited", turns: []scripted.Reply{
			calls(search("holiday")), calls(web), calls(web), calls(web),
		}, decide: edit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := newInternet(t)
			budget := func(c *Config) { c.Budget.RetrievalCalls = 4 }
			request := onTheWeb("How many days of holiday are there?")

			// decided answers each call that waits, until done holds for an event of the log.
			seen := map[string]bool{}
			decided := func(h *harness, r *Runs, runID string, done func(chat.Payload) bool) transcript {
				t.Helper()
				for {
					var waits string
					log := h.follow(runID, func(p chat.Payload) bool {
						s, ok := p.(chat.Step)
						if ok && s.Status == chat.StatusPending && !seen[runID+s.CallID] {
							waits = s.CallID
						}
						return waits != "" || done(p)
					})
					if waits == "" {
						return transcript{h.tb, runID, log}
					}
					seen[runID+waits] = true
					if err := tt.decide(h, r, runID, waits); err != nil {
						t.Fatal(err)
					}
				}
			}

			all := append(slices.Clone(tt.turns), says(goodAnswer))
			whole := newHarness(t, scripted.New(all...), in.withWeb(true), budget)
			want := decided(whole, whole.runs, whole.ask(request).ID, isDone)

			h := newHarness(t, thenNothing(tt.turns[0]), in.withWeb(true), budget, among("0"))
			run := h.ask(request)
			server := h.runs
			for i := range tt.turns {
				left := 0
				decided(h, server, run.ID, func(p chat.Payload) bool {
					if p.Kind() == chat.KindRunStarted {
						left = 0
					}
					if isStep("takeover")(p) {
						left++
					}
					return left == i && isDelta(p)
				})
				next := thenNothing(tt.turns[min(i+1, len(tt.turns)-1)])
				if i+1 == len(tt.turns) {
					next = scripted.New(says(goodAnswer))
				}
				after := h.startServer(fmt.Sprint(i+1), next, in.withWeb(true), budget)
				h.runServers(after)
				if err := server.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				server = after
			}
			got := decided(h, server, run.ID, isDone)

			if g, w := spent(got), spent(want); !slices.Equal(g, w) {
				t.Errorf("handed over, it spent\n%q\nwant\n%q", g, w)
			}
		})
	}
}

// spent returns the status of each call of a run, and the run's budgets at its end.
func spent(t transcript) []string {
	var out []string
	for _, s := range t.ended() {
		if s.ToolName != "" {
			out = append(out, fmt.Sprintf("%s %s %s", s.ToolName, s.ToolInput, s.Status))
		}
	}
	return append(out, fmt.Sprintf("%d turns, %d retrieval calls", t.answer().StepsUsed, t.done().RetrievalCalls))
}

// rerun starts a run from a step of another and waits for it.
func (h *harness) rerun(runID, callID, input string) transcript {
	h.Helper()
	run, fresh, err := h.runs.Rerun(h.Context(), chat.Local, runID, callID, json.RawMessage(input), "")
	if err != nil || !fresh {
		h.Fatalf("Rerun = fresh %v, %v", fresh, err)
	}
	return h.wait(run.ID)
}

// validHistory fails the test unless each call is followed by its result, under the same id and no other.
func validHistory(t *testing.T, messages []llm.Message) {
	t.Helper()
	var open []string
	for i, m := range messages {
		if m.Role == llm.RoleTool {
			if len(open) == 0 || open[0] != m.CallID {
				t.Errorf("message %d answers %q, waiting are %q; want some and %v", i, m.CallID, open, m.CallID)
				return
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Errorf("message %d comes before the results of %q, want none", i, open)
		}
		for _, c := range m.Calls {
			if !json.Valid(c.Arguments) || c.ID == "" {
				t.Errorf("call %+v, want something", c)
			}
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Errorf("no results for %q, want none", open)
	}
}

func TestStepCanBeRepeatedWithEditedInput(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		scripted.Reply{
			Text: "First the roof.", Calls: []llm.Call{call("search_documents", `{"query":"roof condition"}`)},
		},
		calls(call("read_document", `{"doc_id":"Survey.md"}`), call("search_documents", `{"query":"moisture"}`)),
		says("The roof covering is in poor condition [1]."),
		says("Employees have 28 days of paid holiday a year [4]."),
		says("The roof covering is in poor condition [1]."),
	)
	h := newHarness(t, model)
	first := h.answer(asks("What is the condition of the roof?"))
	before := first.answer()
	edited := first.step("read_document")
	second := h.rerun(first.runID, edited.CallID, `{"document_id":"Handbook.md"}`)
	after := second.answer()

	if n := len(model.Requests()); n != 4 {
		t.Errorf("the model was asked %d times, want once more than 3", n)
	}
	last := model.Requests()[3]
	validHistory(t, last.Messages)
	sent, err := json.Marshal(last.Messages)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"roof condition", "Handbook.md", "28 days of paid holiday", "moisture"} {
		if !strings.Contains(string(sent), want) {
			t.Errorf("request lacks %q", want)
		}
	}
	if strings.Contains(string(sent), "interrupted") {
		t.Error("request mentions an interrupted call, want no mention")
	}
	if len(after.Citations) == 0 || !strings.Contains(after.Citations[0].Quote, "28 days") {
		t.Errorf("citations = %+v; want some citations and %q in it", after.Citations, "28 days")
	}
	old, again := first.step("search_documents"), second.step("search_documents")
	if again.CallID != old.CallID || !again.Cached || again.Tokens == nil || *again.Tokens != (chat.Tokens{}) ||
		string(again.ToolOutput) != string(old.ToolOutput) || again.Thought != old.Thought ||
		again.Details["repeated_from"] != first.runID || again.Timestamp != old.Timestamp {
		t.Errorf("repeated step = %+v\nof %+v", again, old)
	}
	read := second.step("read_document")
	if read.CallID != edited.CallID || read.Message != "Read Handbook.md" || read.Details["edited"] != true ||
		string(read.ToolInput) == string(edited.ToolInput) || read.ParentID != edited.ParentID {
		t.Errorf("edited step = %+v; want CallID %v, Message %q, true, other than %v, ParentID %v",
			read, edited.CallID, "Read Handbook.md", string(edited.ToolInput), edited.ParentID)
	}
	for _, s := range second.ended() {
		if s.Status == chat.StatusRunning {
			t.Errorf("step %s is still running, want it ended", s.CallID)
		}
	}
	// both versions are there
	run, err := h.store.Run(t.Context(), chat.Local, second.runID)
	if err != nil {
		t.Fatal(err)
	}
	if run.Request.Sibling != first.runID || run.ParentID != "" ||
		run.Request.Message != "What is the condition of the roof?" {
		t.Errorf("run = %+v; want Request.Sibling %v, ParentID nothing, Request.Message %q",
			run, first.runID, "What is the condition of the roof?")
	}
	if kept := h.wait(first.runID).answer(); kept.Markdown != before.Markdown {
		t.Errorf("the first version changed to %q, want %q", kept.Markdown, before.Markdown)
	}
	// and the new one can be gone on from
	third := h.rerun(second.runID, again.CallID, `{"query":"holiday"}`)
	if s := third.step("search_documents"); s.Details["edited"] != true ||
		!strings.Contains(string(s.ToolOutput), "Handbook") {
		t.Errorf("third run: got %s, want the edited input", dump(third.log))
	}
}

func TestPassageNumbersContinueAfterRepeatedSteps(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("search_documents", `{"query":"roof condition"}`)),
		calls(call("read_document", `{"doc_id":"Handbook.md"}`)),
		says("The roof covering is in poor condition [1]."),
		says("The roof covering is in poor condition [1]. Employees have 28 days of paid holiday [2]."),
	)
	h := newHarness(t, model, func(*Config) {})
	first := h.answer(asks("What is the condition of the roof?"))
	second := h.rerun(first.runID, first.step("read_document").CallID, `{"doc_id":"Survey.md","focus_query":"damp"}`)
	if a := second.answer(); a.Citations[0].Quote != first.answer().Citations[0].Quote {
		t.Errorf("[1] quotes %q, want %q", a.Citations[0].Quote, first.answer().Citations[0].Quote)
	}
}

func TestOfflineModelContinuesFromEditedStep(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	first := h.answer(asks("What is the condition of the roof?"))
	second := h.rerun(first.runID, first.step("search_documents").CallID, `{"query":"paid holiday days"}`)
	second.answer()
	if s := second.step("search_documents"); !strings.Contains(string(s.ToolOutput), "Handbook") ||
		strings.Contains(string(s.ToolOutput), "Survey") {
		t.Errorf("output of the search = %s, want only the handbook", s.ToolOutput)
	}
	if s := second.step("read_document"); s.Details["repeated_from"] != nil {
		t.Errorf("the step after the edited one was repeated: %+v, want none", s)
	}
}

func TestInvalidStepRepeatIsRejected(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("search_documents", `{"query":"roof condition"}`), call("calculate", `{"expression":"2+2"}`)),
		says("The roof covering is in poor condition [1]."),
	)
	h := newHarness(t, model)
	first := h.answer(asks("What is the condition of the roof?"))
	search, sum := first.step("search_documents").CallID, first.step("calculate").CallID
	for _, tt := range []struct {
		name, call, input string
		scope             chat.Scope
		want              chat.Code
		says              string
	}{
		{"an unknown argument", search, `{"query":"roof","colour":"red"}`, chat.Local, chat.CodeInvalid, "colour"},
		{"a wrong type", search, `{"query":7}`, chat.Local, chat.CodeInvalid, "query"},
		{"a missing argument", search, `{}`, chat.Local, chat.CodeInvalid, "query"},
		{"what is no JSON", search, `{`, chat.Local, chat.CodeInvalid, "JSON"},
		{"a list", search, `[]`, chat.Local, chat.CodeInvalid, "JSON"},
		{"a calculation without an end", sum, `{"expression":"9**9**9"}`, chat.Local, chat.CodeInvalid,
			"The result is too large to calculate."},
		{"100 KB of brackets", sum,
			`{"expression":"` + strings.Repeat("(", 50_000) + "1" + strings.Repeat(")", 50_000) + `"}`, chat.Local,
			chat.CodeInvalid, "of 1 to 1,000 characters"},
		{"a phase", first.step("analyse").CallID, `{}`, chat.Local, chat.CodeNotFound, ""},
		{"no step", "c99", `{}`, chat.Local, chat.CodeNotFound, ""},
		{"another user's", search, `{"query":"x"}`, chat.Scope{User: "mallory"}, chat.CodeNotFound, ""},
	} {
		_, _, err := h.runs.Rerun(t.Context(), tt.scope, first.runID, tt.call, json.RawMessage(tt.input), "")
		if err == nil || chat.CodeOf(err) != tt.want || !strings.Contains(chat.MessageOf(err).String(), tt.says) {
			t.Errorf("%s: %v, want %s with %q", tt.name, err, tt.want, tt.says)
		}
	}
	busy := newHarness(t, thenHangs())
	run := busy.ask(asks("How many days of holiday are there?"))
	log := busy.follow(run.ID, isSearched)
	searched := transcript{t, run.ID, log}.step("search_documents")
	_, _, err := busy.runs.Rerun(t.Context(), chat.Local, run.ID, searched.CallID, json.RawMessage(`{"query":"x"}`), "")
	if err == nil || chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("of a run under way: %v, want %v", err, chat.CodeConflict)
	}
}

// If a server dies during the edited call, another one resumes the run with that call.
func TestRepeatedStepResumesAfterRestart(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("search_documents", `{"query":"roof condition"}`)),
		says("The roof covering is in poor condition [1]."),
		says("Employees have 28 days of paid holiday a year [1]."),
	)
	h := newHarness(t, model)
	first := h.answer(asks("What is the condition of the roof?"))
	search := first.step("search_documents")
	from := &chat.From{
		RunID: first.runID, CallID: search.CallID, Tool: "search_documents",
		Input: json.RawMessage(`{"max_results":10,"query":"holiday"}`),
	}
	old, err := h.store.Run(t.Context(), chat.Local, first.runID)
	if err != nil {
		t.Fatal(err)
	}
	req := old.Request
	req.Sibling, req.From = first.runID, from
	dead := chat.Lease{Owner: "dead", Until: time.Now().Add(-time.Minute)}
	run, _, err := h.store.StartRun(t.Context(), chat.LocalUser, req, dead)
	if err != nil {
		t.Fatal(err)
	}
	begun := search
	begun.Status, begun.ToolStatus, begun.ToolInput, begun.ToolOutput = chat.StatusRunning, chat.StatusRunning,
		from.Input, nil
	if err := h.feed.Append(t.Context(), "dead", run.ID, chat.RunStarted{Question: req.Message}, first.step("analyse"),
		begun); err != nil {
		t.Fatal(err)
	}
	if err := h.runs.takeOver(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	got := h.wait(run.ID)
	got.answer()
	if s := got.step("search_documents"); s.Status != chat.StatusComplete ||
		!strings.Contains(string(s.ToolOutput), "Handbook") {
		t.Errorf("the call came to %+v, want Status %v", s, chat.StatusComplete)
	}
	validHistory(t, model.Requests()[2].Messages)
}
