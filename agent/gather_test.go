package agent

import (
	"bytes"
	"context"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/e2e/scripted"
)

// Replies beside the turns of a model: a plan of one part, and a judgement of the passages.
var (
	onePart = says(`{"sub_queries":[{"query":"roof condition","reasoning":"it is all that is asked"}]}`)
	fits    = says(`{"evaluation":"They say it.","confidence":0.9}`)
)

func TestGatherReturnsWhatTheModelChoseToFind(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		onePart,
		calls(call("hybrid_search", `{"query":"roof condition"}`), call("hybrid_search", `{"query":"damp kitchen"}`)),
		calls(call("read_document", `{"doc_id":"Survey.md"}`)), says("DONE"), fits,
	)
	h := newHouse(t, model)
	got, err := h.runs.Gather(t.Context(), chat.LocalUser,
		chat.RunRequest{Message: "Why is the roof of the house in poor condition?"}, 2)
	if err != nil || len(got.Results) != 2 || !strings.Contains(got.Results[0].Passage.Text, "poor condition") ||
		got.Results[0].Score <= got.Results[1].Score {
		t.Errorf("found %+v, %v; want 2 results, %q in it, more than %v",
			got.Results, err, "poor condition", got.Results[1].Score)
	}
	var tools []string
	for _, s := range got.Steps {
		if s.ToolName != "" {
			tools = append(tools, s.ToolName)
		}
		if s.Status != chat.StatusComplete {
			t.Errorf("step %s is %s, want %s", s.Step, s.Status, chat.StatusComplete)
		}
	}
	if want := []string{"hybrid_search", "hybrid_search", "read_document"}; !slices.Equal(tools, want) ||
		len(model.Requests()) != 5 {
		t.Errorf("tools %q after %d requests, want %q after 5", tools, len(model.Requests()), want)
	}
	seen := map[string]bool{}
	for _, r := range got.Results {
		if seen[r.Passage.ID] {
			t.Errorf("the passage %s comes twice", r.Passage.ID)
		}
		seen[r.Passage.ID] = true
	}
	if sessions, _, err := h.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{}); err != nil ||
		len(sessions) != 0 {
		t.Errorf("%d sessions are stored, %v; want no sessions", len(sessions), err)
	}
}

func TestGatherPlansAndSearchesOnForWhatIsMissing(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		says(`{"sub_queries":[{"query":"roof condition","reasoning":"the first half"},`+
			`{"query":"who made the survey","reasoning":"the second half"}]}`), says("DONE"),
		says(`{"evaluation":"The damp is missing.","confidence":0.2}`),
		calls(call("hybrid_search", `{"query":"damp kitchen"}`)), says("DONE"),
	)
	h := newHouse(t, model, func(c *Config) { c.Prices = map[string]run.Price{"scripted": {In: 1, Out: 1}} })
	got, err := h.runs.Gather(t.Context(), chat.LocalUser,
		chat.RunRequest{Message: "Why is the roof poor, who made the survey, and where is damp?"}, 9)
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, s := range got.Steps {
		steps = append(steps, strings.TrimSpace(s.Step+" "+s.Thought))
		if s.Step == "plan" && (len(s.Result.Parts) != 2 || s.Cost == nil || *s.Cost <= 0) {
			t.Errorf("the plan = %+v at %v, want 2 parts and a cost", s.Result, s.Cost)
		}
	}
	want := []string{
		"analyse", "plan", "parallel By the plan: roof condition; who made the survey", "hybrid_search the first half",
		"hybrid_search the second half", "reflect", "refine", "hybrid_search",
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	requests := model.Requests()
	if told := requests[3].Messages; !strings.Contains(told[len(told)-1].Text, "The damp is missing.") {
		t.Errorf("after the judgement the model is told %q, want what is missing", told[len(told)-1].Text)
	}
	if judged := requests[2].Messages[1].Text; !strings.Contains(judged, "poor condition") {
		t.Errorf("the model judges %q, want the passages", judged)
	}
}

func TestGatherReturnsTheDocumentsThatPropertiesFind(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New(onePart, fits))
	h.add("Valuation.md", "---\ndate: 2024-03-01\n---\n# Valuation\n\nThe house is worth £400,000.\n")
	h.add("Old.md", "---\ndate: 2019\n---\n# Old\n\nNothing to report.\n")
	for _, model := range []llm.Model{scripted.New(onePart, fits), offline.New(nil)} {
		h.hire(model)
		got, err := h.runs.Gather(t.Context(), chat.LocalUser, asks("Find documents from 2024"), 5)
		if err != nil || len(got.Results) != 1 || got.Results[0].Document.Filename != "Valuation.md" ||
			!strings.Contains(got.Results[0].Passage.Text, "£400,000") || got.Results[0].Score != 1 {
			t.Errorf("%s: found %+v, %v; want the valuation with the score 1", model.Name(), got.Results, err)
		}
	}
	h.hire(scripted.New(onePart, calls(call("list_documents", `{}`)), says("DONE"), fits))
	if got, err := h.runs.Gather(t.Context(), chat.LocalUser, chat.RunRequest{
		Message: "Why and how is quantum entanglement?", Toolset: "cursor",
	}, 5); err != nil || len(got.Results) > 0 {
		t.Errorf("after a list of all documents: %+v, %v; want none", got.Results, err)
	}
}

func TestGatherStopsAtItsBoundsAndFailsWithItsModel(t *testing.T) {
	t.Parallel()
	endless := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if len(r.Tools) == 0 {
			return onePart
		}
		return calls(call("hybrid_search", `{"query":"roof `+strings.Repeat("x", r.N)+`"}`))
	})
	h := newHouse(t, endless)
	req := chat.RunRequest{Message: "Why is the roof of the house in poor condition?"}
	if _, err := h.runs.Gather(t.Context(), chat.LocalUser, req, 5); err != nil || len(endless.Requests()) != 4 {
		t.Errorf("%d requests, %v; want a plan and 3 turns", len(endless.Requests()), err)
	}
	broken := scripted.NewScript(func(scripted.Request) scripted.Reply {
		return scripted.Reply{Err: &llm.Error{Kind: llm.KindAuth, Message: "the key is wrong"}}
	})
	h.hire(broken, withFallback)
	if _, err := h.runs.Gather(t.Context(), chat.LocalUser, req, 5); chat.CodeOf(orEmpty(err)) != chat.CodeModelFailed {
		t.Errorf("with a model that fails: %v, want %s", err, chat.CodeModelFailed)
	}
}

// lines is a log that can be read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestVerboseLoggingWritesTheStepsOfItsRunAlone(t *testing.T) {
	t.Parallel()
	out := &lines{}
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return calls(search("paid holiday"))
		}
		return says(goodAnswer)
	})
	h := newHouse(t, model, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(out, nil)) })
	quiet := h.ask(asks("How many days of paid holiday are there?"))
	h.wait(quiet.ID)
	yes := true
	loud := h.ask(chat.RunRequest{
		Message: "How many days of paid holiday are there?", Config: chat.RunConfig{VerboseLogging: &yes},
	})
	h.wait(loud.ID)
	h.stop()
	log := out.String()
	if strings.Contains(log, "msg=step run="+quiet.ID) || strings.Contains(log, `msg="run over" run=`+quiet.ID) {
		t.Errorf("a run that did not ask for it is logged:\n%s", log)
	}
	for _, want := range []string{
		"step=analyse", "step=search_documents status=running", "step=search_documents status=complete",
		`\"query\":\"paid holiday\"`, "run over", "retrieval_calls=1",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in the log:\n%s", want, log)
		}
	}
}

func TestRunsAreCounted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New(calls(search("paid holiday"), call("no_such_tool", `{}`)), says(goodAnswer)))
	h.answer(asks("How many days of paid holiday are there?")).answer()
	h.answer(asks("And once more?")).done()
	h.stop()
	got := h.runs.Stats()
	if got.Running != 0 || got.Ended[chat.RunCompleted].Times != 1 || got.Ended[chat.RunFailed].Times != 1 ||
		got.Tokens.In != 200 {
		t.Errorf("counted %+v; want Running 0, Ended[chat.RunCompleted].Times 1, Ended[chat.RunFailed].Times 1, "+
			"Tokens.In 200",
			got)
	}
	if got.Tools[chat.ToolEnd{Tool: "search_documents", Status: chat.StatusComplete}].Times != 1 ||
		got.Tools[chat.ToolEnd{Tool: "unknown", Status: chat.StatusError}].Times != 1 {
		t.Errorf("tools %+v; want 1 and 1", got.Tools)
	}
}

// stop ends all runs, so that nothing is written any more.
func (h *house) stop() {
	h.Helper()
	if err := h.runs.Stop(h.Context()); err != nil {
		h.Fatal(err)
	}
}

// holidayResults are the results of a search for paid holiday.
func (h *house) holidayResults() []corpus.Result {
	h.Helper()
	found, err := h.library.Search(h.Context(), chat.Local, corpus.Query{Text: "paid holiday", Limit: 5})
	if err != nil || len(found.Results) == 0 {
		h.Fatalf("%d results, %v; want some", len(found.Results), err)
	}
	return found.Results
}

func TestResultsAreNotCheckedForAUserWithoutTokens(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	h.store.SetLimits(chat.Limits{chat.TokensPerDay: 10})
	found := h.holidayResults()
	checked, err := h.runs.CheckResults(t.Context(), "anna", paidHoliday, found)
	if err != nil || len(checked.Hits) != len(found) || checked.Spent.Tokens.In == 0 {
		t.Fatalf("verdicts %v, spent %+v, %v; want one for each of %d results",
			checked.Hits, checked.Spent, err, len(found))
	}
	_, err = h.runs.CheckResults(t.Context(), "anna", paidHoliday, found)
	if chat.CodeOf(orEmpty(err)) != chat.CodeTooMany {
		t.Errorf("over the limit: %v, want %s", err, chat.CodeTooMany)
	}
}

// stuck is a model whose replies never come.
type stuck struct {
	*scripted.Model
	asked chan struct{} // gets one for each request
}

func (m stuck) Stream(ctx context.Context, _ llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		m.asked <- struct{}{}
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}

func TestStopEndsChecksOfResults(t *testing.T) {
	t.Parallel()
	model := stuck{scripted.New(), make(chan struct{}, 8)}
	h := newHouse(t, model)
	found := h.holidayResults()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		checked, err := h.runs.CheckResults(t.Context(), chat.LocalUser, paidHoliday, found)
		if err != nil || checked.Step == nil || checked.Step.Error == nil {
			return
		}
		if checked.Step.Error.Code == chat.CodeTimeout {
			t.Errorf("the check ended by its own time limit: %+v", checked.Step.Error)
		}
	}()
	<-model.asked
	if err := h.runs.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-ended
}
