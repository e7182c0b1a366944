package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/llm/textcalls"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text/english"
)

// Replies besides the turns of a model: a plan of one part, and an evaluation of the passages.
var (
	onePart = says(`{"sub_queries":[{"query":"roof condition","reasoning":"it is all that is asked"}]}`)
	fits    = says(`{"evaluation":"They say it.","confidence":0.9}`)
)

func TestGatherReturnsModelSelection(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		onePart,
		calls(call("hybrid_search", `{"query":"roof condition"}`), call("hybrid_search", `{"query":"damp kitchen"}`)),
		calls(call("read_document", `{"doc_id":"Survey.md"}`)), says("DONE"), fits,
	)
	h := newHarness(t, model)
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
			t.Errorf("passage %s is listed twice", r.Passage.ID)
		}
		seen[r.Passage.ID] = true
	}
	if sessions, _, err := h.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{}); err != nil ||
		len(sessions) != 0 {
		t.Errorf("%d sessions are stored, %v; want no sessions", len(sessions), err)
	}
}

func TestGatherPlansAndSearchesForMissingParts(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		says(`{"sub_queries":[{"query":"roof condition","reasoning":"the first half"},`+
			`{"query":"who made the survey","reasoning":"the second half"}]}`), says("DONE"),
		says(`{"evaluation":"The damp is missing.","confidence":0.2}`),
		calls(call("hybrid_search", `{"query":"damp kitchen"}`)), says("DONE"),
	)
	h := newHarness(t, model, func(c *Config) { c.Prices = map[string]run.Price{"scripted": {In: 1, Out: 1}} })
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
		t.Errorf("request after the judgement ends with %q, want the missing part", told[len(told)-1].Text)
	}
	if judged := requests[2].Messages[1].Text; !strings.Contains(judged, "poor condition") {
		t.Errorf("the model judges %q, want the passages", judged)
	}
}

func TestGatherReturnsDocumentsMatchingProperties(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(onePart, fits))
	h.add("Valuation.md", "---\ndate: 2024-03-01\n---\n# Valuation\n\nThe house is worth £400,000.\n")
	h.add("Old.md", "---\ndate: 2019\n---\n# Old\n\nNothing to report.\n")
	for _, model := range []llm.Model{scripted.New(onePart, fits), offline.New(nil, nil)} {
		h.startAgent(model)
		got, err := h.runs.Gather(t.Context(), chat.LocalUser, asks("Find documents from 2024"), 5)
		if err != nil || len(got.Results) != 1 || got.Results[0].Document.Filename != "Valuation.md" ||
			!strings.Contains(got.Results[0].Passage.Text, "£400,000") || got.Results[0].Score != 1 {
			t.Errorf("%s: found %+v, %v; want the valuation with the score 1", model.Name(), got.Results, err)
		}
	}
	h.startAgent(scripted.New(onePart, calls(call("list_documents", `{}`)), says("DONE"), fits))
	if got, err := h.runs.Gather(t.Context(), chat.LocalUser, chat.RunRequest{
		Message: "Why and how is quantum entanglement?", Toolset: "cursor",
	}, 5); err != nil || len(got.Results) > 0 {
		t.Errorf("after a list of all documents: %+v, %v; want none", got.Results, err)
	}
}

func TestGatherStopsAtLimitsAndModelErrors(t *testing.T) {
	t.Parallel()
	endless := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if len(r.Tools) == 0 {
			return onePart
		}
		return calls(call("hybrid_search", `{"query":"roof `+strings.Repeat("x", r.N)+`"}`))
	})
	h := newHarness(t, endless)
	req := chat.RunRequest{Message: "Why is the roof of the house in poor condition?"}
	if _, err := h.runs.Gather(t.Context(), chat.LocalUser, req, 5); err != nil || len(endless.Requests()) != 4 {
		t.Errorf("%d requests, %v; want a plan and 3 turns", len(endless.Requests()), err)
	}
	broken := scripted.NewScript(func(scripted.Request) scripted.Reply {
		return scripted.Reply{Err: &llm.Error{Kind: llm.KindAuth, Message: "the key is wrong"}}
	})
	h.startAgent(broken, withFallback)
	if _, err := h.runs.Gather(t.Context(), chat.LocalUser, req, 5); chat.CodeOf(orEmpty(err)) != chat.CodeModelFailed {
		t.Errorf("with a model that fails: %v, want %s", err, chat.CodeModelFailed)
	}
}

// lines is a log buffer that is safe for concurrent use.
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

func TestVerboseLoggingCoversOnlyItsRun(t *testing.T) {
	t.Parallel()
	out := &lines{}
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return calls(search("paid holiday"))
		}
		return says(goodAnswer)
	})
	h := newHarness(t, model, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(out, nil)) })
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
		t.Errorf("log has a run without verbose logging:\n%s", log)
	}
	for _, want := range []string{
		"step=analyse", "step=search_documents status=running", "step=search_documents status=complete",
		`\"query\":\"paid holiday\"`, "run over", "retrieval_calls=1",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("log lacks %q:\n%s", want, log)
		}
	}
}

func TestRunsAreCounted(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(calls(search("paid holiday"), call("no_such_tool", `{}`)), says(goodAnswer)))
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

// stop ends all runs, so that no further event is written.
func (h *harness) stop() {
	h.Helper()
	if err := h.runs.Stop(h.Context()); err != nil {
		h.Fatal(err)
	}
}

// holidayResults are the results of a search for paid holiday.
func (h *harness) holidayResults() []corpus.Result {
	h.Helper()
	found, err := h.library.Search(h.Context(), chat.Local, corpus.Query{Text: "paid holiday", Limit: 5})
	if err != nil || len(found.Results) == 0 {
		h.Fatalf("%d results, %v; want some", len(found.Results), err)
	}
	return found.Results
}

func TestResultChecksNeedTokenQuota(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
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

// stuck is a model that never replies.
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

func TestStopCancelsResultChecks(t *testing.T) {
	t.Parallel()
	model := stuck{scripted.New(), make(chan struct{}, 8)}
	h := newHarness(t, model)
	found := h.holidayResults()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		checked, err := h.runs.CheckResults(t.Context(), chat.LocalUser, paidHoliday, found)
		if err != nil || checked.Step == nil || checked.Step.Error == nil {
			return
		}
		if checked.Step.Error.Code == chat.CodeTimeout {
			t.Errorf("check ended by its own timeout: %+v, want the end of the run", checked.Step.Error)
		}
	}()
	<-model.asked
	if err := h.runs.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func logsTo(out *lines) func(*Config) {
	return func(c *Config) { c.Log = slog.New(slog.NewTextHandler(out, nil)) }
}

// logged returns the lines of a log that contain all parts.
func logged(log string, parts ...string) []string {
	return slices.DeleteFunc(strings.Split(log, "\n"), func(line string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
	})
}

func TestSelectionsAreLoggedWithReasons(t *testing.T) {
	t.Parallel()
	out := &lines{}
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return scripted.Reply{Text: "The handbook should say it.", Calls: []llm.Call{search("paid holiday")}}
		}
		return says(goodAnswer)
	})
	h := newHarness(t, model, logsTo(out))
	byModel := h.answer(asks("How many days of paid holiday are there?")).runID
	byRules := h.answer(chat.RunRequest{
		Message: "How many days of paid holiday are there?",
		Config:  chat.RunConfig{Selection: string(tools.SelectRules)},
	}).runID
	h.stop()
	for run, want := range map[string][]string{
		byModel: {`by=model`, `reason="The handbook should say it."`},
		byRules: {`by=rules`, `reason="A simple question of the kind “factual”: search, read the best, answer."`},
	} {
		parts := append([]string{`level=INFO msg="tools selected" run=` + run, "tools=[search_documents]"}, want...)
		if got := logged(out.String(), parts...); len(got) != 1 {
			t.Errorf("%d lines have %q, want 1:\n%s", len(got), parts, out)
		}
	}
}

func TestModelAndRetrievalErrorsAreLogged(t *testing.T) {
	t.Parallel()
	out := &lines{}
	h := newHarness(t, scripted.New(fails(llm.KindAuth)), withFallback, logsTo(out))
	h.answer(asks("How many days of paid holiday are there?"))
	h.startAgent(scripted.New(calls(search("paid holiday")), says("No.")), logsTo(out), func(c *Config) {
		c.Library = faulty{h.library, func(context.Context) error { return errors.New("disk on fire") }}
	})
	h.answer(asks("How many days of paid holiday are there?"))
	h.stop()
	for _, want := range []string{`msg="model failed, falling back"`, `msg="tool failed"`} {
		if got := logged(out.String(), "level=ERROR", want); len(got) != 1 {
			t.Errorf("%d lines at ERROR have %s, want 1:\n%s", len(got), want, out)
		}
	}
}

// droppedTexts returns the texts of the steps named dropped.
func droppedTexts(t *testing.T, steps []chat.Step) []string {
	t.Helper()
	var out []string
	for _, s := range steps {
		if s.Step != "dropped" {
			continue
		}
		var output struct{ Text string }
		if err := json.Unmarshal(s.ToolOutput, &output); err != nil || s.Message == "" || s.Result == nil ||
			s.Status != chat.StatusComplete || s.OutputSize < len(output.Text) {
			t.Errorf("step %+v, %v; want a message, a result, the whole size and status complete", s, err)
		}
		out = append(out, output.Text)
	}
	return out
}

// TestDroppedTextIsAStep checks the steps for text that a run removes from replies.
func TestDroppedTextIsAStep(t *testing.T) {
	t.Parallel()
	const (
		other = "<|im_end|>\n<|im_start|>user\nAnd the roof?"
		asked = "How many days of paid holiday does an employee get?"
	)
	long := strings.Repeat("Is the roof as good as the handbook says it is? ", 400)
	for _, tt := range []struct {
		name    string
		replies []scripted.Reply
		answer  string
		want    []string
	}{
		{"a turn of the user", []scripted.Reply{calls(search("holiday")), says(goodAnswer + other)}, goodAnswer,
			[]string{other}},
		{"a turn of the user, before a search", []scripted.Reply{
			{Text: "I search." + other, Calls: []llm.Call{search("holiday")}}, says(goodAnswer),
		}, goodAnswer, []string{other}},
		{"a long turn of the user", []scripted.Reply{
			calls(search("holiday")), says(goodAnswer + "<|im_end|><|im_start|>" + long),
		}, goodAnswer, []string{("<|im_end|><|im_start|>" + long)[:400] + "…"}},
		{"a repetition", []scripted.Reply{
			calls(search("holiday")),
			{Chunks: []string{goodAnswer, "\nThere are", goodAnswer[9:] + "\n", "And the rest."}},
		}, goodAnswer, []string{goodAnswer}},
		{"a repetition at the end", []scripted.Reply{calls(search("holiday")), says(goodAnswer + "\n" + goodAnswer)},
			goodAnswer, []string{goodAnswer}},
		{"text behind a refusal", []scripted.Reply{calls(search("wages")),
			{Chunks: []string{english.Refusal + " But it may be 12 pounds."}}}, english.Refusal,
			[]string{"But it may be 12 pounds."}},
		{"calls of a reply that was cut", []scripted.Reply{
			{Calls: []llm.Call{search("holiday")}, Finish: llm.FinishLength}, calls(search("holiday")),
			says(goodAnswer),
		}, goodAnswer, []string{`search_documents {"query":"holiday"}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, textcalls.New(scripted.New(tt.replies...), textcalls.Auto))
			got := h.answer(asks(asked))
			if a := got.answer(); strings.TrimSpace(a.Markdown) != tt.answer &&
				(tt.answer != english.Refusal || !cite.IsRefusal(a.Markdown)) {
				t.Errorf("answer %q, want %q", a.Markdown, tt.answer)
			}
			if dropped := droppedTexts(t, got.ended()); !slices.Equal(dropped, tt.want) {
				t.Errorf("dropped %q, want %q", dropped, tt.want)
			}
		})
	}
}

// TestDroppedAnswerIsAStepOfGather checks the steps for an answer that was not requested.
func TestDroppedAnswerIsAStepOfGather(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][]string{"DONE.": nil, "The roof is poor.": {"The roof is poor."}} {
		find := calls(call("hybrid_search", `{"query":"roof condition"}`))
		h := newHarness(t, scripted.New(onePart, find, says(said), fits))
		got, err := h.runs.Gather(t.Context(), chat.LocalUser,
			chat.RunRequest{Message: "Why is the roof of the house in poor condition?"}, 2)
		if dropped := droppedTexts(t, got.Steps); err != nil || !slices.Equal(dropped, want) {
			t.Errorf("%q: dropped %q, %v; want %q", said, dropped, err, want)
		}
	}
}

// TestLateThoughtIsAStep checks the steps for a thought between two paragraphs of an answer.
func TestLateThoughtIsAStep(t *testing.T) {
	t.Parallel()
	h := newHarness(t, textcalls.New(scripted.New(calls(search("holiday")),
		says("<think>First.</think>"+goodAnswer+"\n<think>Is that all?</think>\nIt is.")), textcalls.Auto))
	var thoughts []string
	for _, s := range h.answer(asks("How many days of paid holiday does an employee get?")).ended() {
		if s.Step == "thinking" {
			thoughts = append(thoughts, s.Thought)
		}
	}
	if want := []string{"First.", "Is that all?"}; !slices.Equal(thoughts, want) {
		t.Errorf("thoughts %q, want %q", thoughts, want)
	}
}

const paidHoliday = "How many days of paid holiday does an employee get?"

func checks(c *Config) { c.Features.Checks = run.CheckQuotes }

// refuses returns a small model that refuses every question.
func refuses() *scripted.Model { return scripted.New(says(english.Refusal)) }

// judgeBy returns a judge that accepts texts with some words.
func judgeBy(words string) scripted.Judge {
	return func(prompt string) float64 {
		text, _, _ := strings.Cut(prompt, "\n\nQuestion: ")
		if strings.Contains(text, words) {
			return 4
		}
		return -4
	}
}

func TestQuotesAreCheckedBeforeFoundIsReported(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		judge   scripted.Judge
		finding chat.Finding
		answers int
	}{
		{"one answers", judgeBy("28 days"), chat.FindingFound, 1},
		{"none answers", judgeBy("no such words"), "", 0},
		{"none is sure", func(string) float64 { return -0.3 }, chat.FindingClosest, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := refuses().JudgeBy(tt.judge)
			got := newHarness(t, model, small, withFallback, checks).answer(asks(paidHoliday))
			a, step := got.answer(), got.step("check_passages")
			if a.Finding != tt.finding {
				t.Errorf("finding = %q, want %q: %+v", a.Finding, tt.finding, a)
			}
			if refused := a.StopReason == chat.StopRefused; refused != (tt.finding == "") {
				t.Errorf("the answer stopped as %s, want refused: %t", a.StopReason, tt.finding == "")
			}
			if tt.answers > 0 &&
				(len(a.Citations) != tt.answers || !strings.Contains(a.Citations[0].Quote, "28 days")) {
				t.Errorf("citations %+v, want only the quote that answers", a.Citations)
			}
			var out struct{ Checked, Answer int }
			err := json.Unmarshal(step.ToolOutput, &out)
			if err != nil || out.Checked == 0 || out.Answer != tt.answers {
				t.Errorf("output %s, %v; want %d that answer", step.ToolOutput, err, tt.answers)
			}
			if want := fmt.Sprintf("%d answer", tt.answers); !strings.HasPrefix(step.Summary, want) {
				t.Errorf("summary %q, want %q", step.Summary, want)
			}
			if n := len(model.Checks()); a.Tokens.In < 100*n || n == 0 || step.Tokens == nil {
				t.Errorf("%d checks, tokens %+v of the answer and %+v of the step; want all counted",
					n, a.Tokens, step.Tokens)
			}
		})
	}
}

func TestSmallModelJudgesAndRulesQuote(t *testing.T) {
	t.Parallel()
	model := scripted.New().JudgeBy(judgeBy("28 days"))
	a := newHarness(t, model, small, withFallback, checks).answer(asks(paidHoliday)).answer()
	if n := len(model.Requests()); n != 0 || a.Finding != chat.FindingFound || len(a.Citations) != 1 {
		t.Errorf("%d requests, answer %+v; want the quote that answers after none", n, a)
	}
}

func TestSmallModelSkipsUnansweredQuestions(t *testing.T) {
	t.Parallel()
	model := scripted.New().JudgeBy(func(string) float64 { return -0.3 })
	got := newHarness(t, model, small, withFallback, checks).answer(asks(paidHoliday))
	if n := len(model.Requests()); n != 0 || got.answer().Finding != chat.FindingClosest {
		t.Errorf("%d requests, answer %+v; want the closest quotes after none", n, got.answer())
	}
}

func TestChecksAreCached(t *testing.T) {
	t.Parallel()
	model := scripted.New().JudgeBy(func(string) float64 { return -0.3 })
	h := newHarness(t, model, small, withFallback, checks)
	first := h.answer(asks(paidHoliday)).answer()
	n := len(model.Checks())
	again := h.answer(asks(paidHoliday)).answer()
	if len(model.Checks()) != n || n == 0 || again.Tokens.In != 0 || first.Markdown != again.Markdown {
		t.Errorf("%d checks after %d, tokens %+v; want no further ones", len(model.Checks()), n, again.Tokens)
	}
}

// noJudge is a model whose checks fail.
type noJudge struct{ *scripted.Model }

func (m noJudge) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	if req.TopLogprobs > 0 {
		return func(yield func(llm.Part, error) bool) {
			yield(nil, &llm.Error{Kind: llm.KindServer, Message: "out of memory"})
		}
	}
	return m.Model.Stream(ctx, req)
}

// sameWord is a model that replies with the same word to all checks.
type sameWord struct {
	*scripted.Model
	word string
}

func (m sameWord) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	if req.TopLogprobs > 0 {
		return func(yield func(llm.Part, error) bool) { _ = yield(llm.Text(m.word), nil) && yield(llm.Done{}, nil) }
	}
	return m.Model.Stream(ctx, req)
}

func TestFailedCheckFallsBackToRules(t *testing.T) {
	t.Parallel()
	want := newHarness(t, refuses(), small, withFallback).answer(asks(paidHoliday)).answer()
	for name, model := range map[string]llm.Model{
		"the server fails": noJudge{refuses()}, "it always says no": sameWord{refuses(), "no"},
		"it always says yes": sameWord{refuses(), "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newHarness(t, model, small, withFallback, checks).answer(asks(paidHoliday))
			a := got.answer()
			if a.Markdown != want.Markdown || a.Finding != want.Finding {
				t.Errorf("answer %q (%s), want that of the rules: %q (%s)",
					a.Markdown, a.Finding, want.Markdown, want.Finding)
			}
			if !strings.Contains(strings.Join(a.Notes, " "), "could not check") {
				t.Errorf("notes %q, want one that the passages were not checked", a.Notes)
			}
			s := got.step("check_passages")
			if s.Status != chat.StatusError || strings.Contains(string(s.ToolOutput), "memory") {
				t.Errorf("step %+v; want it failed, without the server's words", s)
			}
		})
	}
}

func TestChecksRunOnlyWhereUseful(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		question string
		replies  []scripted.Reply
		change   func(*Config)
		checks   bool
	}{
		{"a calculation", "12 * 1450", []scripted.Reply{says("17400")}, small, false},
		{"a list of documents", "Which documents are there?", []scripted.Reply{says("Two.")}, small, false},
		{"a large model", paidHoliday, []scripted.Reply{calls(search("paid holiday")), says(goodAnswer)}, nil, false},
		{"switched off", paidHoliday, []scripted.Reply{says(goodAnswer)}, func(c *Config) {
			small(c)
			c.Features.Checks = run.CheckOff
		}, false},
		{"a large model that fails", paidHoliday, []scripted.Reply{
			fails(llm.KindEmpty), fails(llm.KindEmpty),
		}, nil, true},
		{"its own call", paidHoliday, []scripted.Reply{
			calls(search("paid holiday")),
			calls(call("check_passages", `{"question":"How many days?","quotes":[{"n":1}]}`)),
			says(goodAnswer),
		}, func(c *Config) { c.Features.Checks = run.CheckAlways }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			change := tt.change
			if change == nil {
				change = func(*Config) {}
			}
			model := scripted.New(tt.replies...)
			newHarness(t, model, withFallback, checks, change).answer(asks(tt.question)).answer()
			if n := len(model.Checks()); (n > 0) != tt.checks {
				t.Errorf("%d checks, want any: %t", n, tt.checks)
			}
		})
	}
}
