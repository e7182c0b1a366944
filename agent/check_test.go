package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

const paidHoliday = "How many days of paid holiday does an employee get?"

func checks(c *Config) { c.Features.Checks = run.CheckQuotes }

// refuses is a small model that finds no answer in what it is shown.
func refuses() *scripted.Model { return scripted.New(says(ground.RefusalSentence)) }

// judgeBy says yes to texts that hold some words.
func judgeBy(words string) scripted.Judge {
	return func(prompt string) float64 {
		text, _, _ := strings.Cut(prompt, "\n\nQuestion: ")
		if strings.Contains(text, words) {
			return 4
		}
		return -4
	}
}

func TestQuotesAreCheckedBeforeTheyAreCalledFound(t *testing.T) {
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
			got := newHouse(t, model, small, withFallback, checks).answer(asks(paidHoliday))
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
	a := newHouse(t, model, small, withFallback, checks).answer(asks(paidHoliday)).answer()
	if n := len(model.Requests()); n != 0 || a.Finding != chat.FindingFound || len(a.Citations) != 1 {
		t.Errorf("%d requests, answer %+v; want the quote that answers after none", n, a)
	}
}

func TestSmallModelIsNotAskedWhereNothingAnswers(t *testing.T) {
	t.Parallel()
	model := scripted.New().JudgeBy(func(string) float64 { return -0.3 })
	got := newHouse(t, model, small, withFallback, checks).answer(asks(paidHoliday))
	if n := len(model.Requests()); n != 0 || got.answer().Finding != chat.FindingClosest {
		t.Errorf("%d requests, answer %+v; want the closest quotes after none", n, got.answer())
	}
}

func TestChecksAreCached(t *testing.T) {
	t.Parallel()
	model := scripted.New().JudgeBy(func(string) float64 { return -0.3 })
	h := newHouse(t, model, small, withFallback, checks)
	first := h.answer(asks(paidHoliday)).answer()
	n := len(model.Checks())
	again := h.answer(asks(paidHoliday)).answer()
	if len(model.Checks()) != n || n == 0 || again.Tokens.In != 0 || first.Markdown != again.Markdown {
		t.Errorf("%d checks after %d, tokens %+v; want no further ones", len(model.Checks()), n, again.Tokens)
	}
}

// noJudge answers, and fails at checks.
type noJudge struct{ *scripted.Model }

func (m noJudge) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	if req.TopLogprobs > 0 {
		return func(yield func(llm.Part, error) bool) {
			yield(nil, &llm.Error{Kind: llm.KindServer, Message: "out of memory"})
		}
	}
	return m.Model.Stream(ctx, req)
}

// sameWord answers, and says the same word to all checks.
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

func TestFailedCheckLeavesTheRulesToDecide(t *testing.T) {
	t.Parallel()
	want := newHouse(t, refuses(), small, withFallback).answer(asks(paidHoliday)).answer()
	for name, model := range map[string]llm.Model{
		"the server fails": noJudge{refuses()}, "it always says no": sameWord{refuses(), "no"},
		"it always says yes": sameWord{refuses(), "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := newHouse(t, model, small, withFallback, checks).answer(asks(paidHoliday))
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

func TestChecksAreMadeOnlyWhereTheyHelp(t *testing.T) {
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
			newHouse(t, model, withFallback, checks, change).answer(asks(tt.question)).answer()
			if n := len(model.Checks()); (n > 0) != tt.checks {
				t.Errorf("%d checks, want any: %t", n, tt.checks)
			}
		})
	}
}
