package run

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/e2e/scripted"
)

// quantiles reports the median and the 95th percentile in milliseconds.
func quantiles(b *testing.B, took []time.Duration, of ...string) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, strings.Join(append(of, "p50-ms"), "-"))
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, strings.Join(append(of, "p95-ms"), "-"))
}

// askedToDecide are questions of all kinds.
var askedToDecide = []string{
	"Who made the building survey?", "What does Handbook.md say about paid holiday?",
	"Compare the roof and the damp in the survey", "What is 17 * 23?",
	"Why is the roof in poor condition, and what does it cost to repair the flashing around the chimney?",
	"Hello there",
}

// BenchmarkRulesDecide is what rules take from a question to the tools that it begins with.
func BenchmarkRulesDecide(b *testing.B) {
	h := newHouse(b, scripted.New())
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		q := askedToDecide[i%len(askedToDecide)]
		w := h.forgetful(chat.RunRequest{Message: q, Config: chat.RunConfig{Selection: "rules"}})
		begun := time.Now()
		w.asked = question.Analyse(q, false)
		if _, _, err := w.chooseTools(b.Context()); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	quantiles(b, took)
}

// BenchmarkRunNothingStored is the agent's own share of a run: that of BenchmarkRun, with a log that forgets.
func BenchmarkRunNothingStored(b *testing.B) {
	h := newHouse(b, answeringModel())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.forgetful(asks("How many days of paid holiday are there?")).answerQuestion(b.Context(),
			nil); err != nil {
			b.Fatal(err)
		}
	}
}

// timed is a model whose every reply is made before any of it is handed on, so that what is measured is the model's own
// time.
type timed struct {
	llm.Model
	chose, answered *[]time.Duration
}

func (m timed) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		var parts []llm.Part
		into := m.answered
		begun := time.Now()
		for part, err := range m.Model.Stream(ctx, req) {
			if err != nil {
				yield(nil, err)
				return
			}
			if _, ok := part.(llm.Call); ok {
				into = m.chose
			}
			parts = append(parts, part)
		}
		*into = append(*into, time.Since(begun))
		for _, part := range parts {
			if !yield(part, nil) {
				return
			}
		}
	}
}

// BenchmarkOfflineDecides is what the model made of rules takes for each of its turns in whole runs: those in which it
// chooses tools, and those in which it weighs what was read and writes the answer.
func BenchmarkOfflineDecides(b *testing.B) {
	var chose, answered []time.Duration
	h := newHouse(b, timed{offline.New(nil), &chose, &answered})
	for i := 0; b.Loop(); i++ {
		w := h.forgetful(chat.RunRequest{Message: askedToDecide[i%len(askedToDecide)]})
		if _, err := w.answerQuestion(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
	quantiles(b, chose, "chooses")
	quantiles(b, answered, "answers")
}

// slow is a library whose searches take a while.
type slow struct {
	tools.Library
	each time.Duration
	most *atomic.Int64 // the longest search so far, in nanoseconds
}

func (s slow) Search(ctx context.Context, scope chat.Scope, q corpus.Query) (corpus.Results, error) {
	begun := time.Now()
	time.Sleep(s.each)
	found, err := s.Library.Search(ctx, scope, q)
	for took, most := int64(time.Since(begun)), s.most.Load(); took > most &&
		!s.most.CompareAndSwap(most, took); most = s.most.Load() {
	}
	return found, err
}

// BenchmarkParallelTools is how much longer than the slowest of them six searches of one turn take.
func BenchmarkParallelTools(b *testing.B) {
	const each = 50 * time.Millisecond
	var slowest atomic.Int64
	h := newHouse(b, scripted.New(), func(c *Config) { c.Library = slow{c.Library, each, &slowest} })
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		w := h.forgetful(asks("How many days of paid holiday are there?"))
		if err := w.prepareRun(b.Context()); err != nil {
			b.Fatal(err)
		}
		var cs []llm.Call
		for i := range 6 {
			cs = append(cs, call("search_documents", fmt.Sprintf(`{"query":"paid holiday %d %d"}`, n, i)))
		}
		slowest.Store(0)
		begun := time.Now()
		if err := w.calls.runCalls(b.Context(), reply{calls: cs, finish: llm.FinishCalls}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun)-time.Duration(slowest.Load()))
	}
	quantiles(b, took)
}

// BenchmarkRecollect prepares the history of a conversation of 25 questions and 25 answers.
func BenchmarkRecollect(b *testing.B) {
	for _, kept := range []bool{true, false} {
		b.Run(map[bool]string{true: "known", false: "after a restart"}[kept], func(b *testing.B) {
			model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
				if r.Turn() == 0 && !r.NoTools {
					return calls(search("paid holiday"))
				}
				return scripted.Reply{
					Chunks: scripted.Words(goodAnswer + strings.Repeat(" So much about that for now.", 40)),
				}
			})
			h := newHouse(b, model)
			var run chat.Run
			for i := range 25 {
				run = h.execute(chat.RunRequest{
					SessionID: run.SessionID,
					Message:   fmt.Sprintf("How many days of paid holiday are there in year %d?", i),
				})
			}
			next := chat.Run{
				ID: "next", User: chat.LocalUser, SessionID: run.SessionID, ParentID: run.ID,
				Request: asks("And unused days?"),
			}
			var worst time.Duration
			for b.Loop() {
				if !kept {
					h.memories = newCache[runMemory](maxMemories)
				}
				begun := time.Now()
				w := h.runner(next)
				if err := w.prepareRun(b.Context()); err != nil {
					b.Fatal(err)
				}
				worst = max(worst, time.Since(begun))
			}
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
		})
	}
}

// execute stores a run of a question and carries it to its end.
func (h *house) execute(req chat.RunRequest) chat.Run {
	h.Helper()
	run, _, err := h.config().Store.StartRun(h.Context(), chat.LocalUser, req,
		chat.Lease{Owner: h.config().Owner, Until: time.Now().Add(time.Minute)})
	if err != nil {
		h.Fatal(err)
	}
	h.config().Feed.Begin(run)
	ctx, c := NewControl(h.Context(), run.User)
	defer c.Close()
	r := h.NewRunner(run, h.DefaultTools(), c)
	if end := r.Execute(ctx, nil, nil); !end.Over {
		h.Fatalf("the run's end = %+v, want it stored", end)
	}
	r.Wait()
	return run
}
