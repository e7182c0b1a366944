package agent

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"footnote/agent/question"
	"footnote/agent/tools"
	"footnote/chat"
	"footnote/corpus"
	"footnote/e2e/scripted"
	"footnote/llm"
	"footnote/llm/offline"
)

// quantiles reports the median and the 95th percentile in milliseconds.
func quantiles(b *testing.B, took []time.Duration, of ...string) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, strings.Join(append(of, "p50-ms"), "-"))
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, strings.Join(append(of, "p95-ms"), "-"))
}

// askedToDecide are questions of all kinds.
var askedToDecide = []string{
	"Who made the building survey?", "What does Handbook.md say about paid holiday?", "Compare the roof and the damp in the survey", "What is 17 * 23?",
	"Why is the roof in poor condition, and what does it cost to repair the flashing around the chimney?", "Hello there",
}

// BenchmarkRulesDecide is what rules take from a question to the tools that it begins with.
func BenchmarkRulesDecide(b *testing.B) {
	h := &house{tb: b, path: filepath.Join(b.TempDir(), "footnote.db")}
	h.furnish()
	h.hire(scripted.New())
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		q := askedToDecide[i%len(askedToDecide)]
		w := newRunner(b, h.runs.engine, chat.Run{ID: "r", User: chat.LocalUser, Request: chat.RunRequest{Message: q, Config: chat.RunConfig{Selection: "rules"}}}, h.runs.engine.registry.Toolsets[tools.DefaultToolset])
		begun := time.Now()
		w.asked = question.Analyse(q, false)
		if _, _, err := w.choose(b.Context()); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
	quantiles(b, took)
}

// timed is a model whose every reply is made before any of it is handed on, so that what is measured is the model's own time.
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

// BenchmarkOfflineDecides is what the model made of rules takes for each of its turns in whole runs: those in which it chooses tools,
// and those in which it weighs what was read and writes the answer.
func BenchmarkOfflineDecides(b *testing.B) {
	h := &house{tb: b, path: filepath.Join(b.TempDir(), "footnote.db")}
	h.furnish()
	var chose, answered []time.Duration
	h.hire(timed{offline.New(), &chose, &answered})
	for i := 0; b.Loop(); i++ {
		w := newRunner(b, h.runs.engine, chat.Run{ID: "r", User: chat.LocalUser, Request: chat.RunRequest{Message: askedToDecide[i%len(askedToDecide)]}}, h.runs.engine.registry.Toolsets[tools.DefaultToolset])
		w.store = func(context.Context, ...chat.Payload) error { return nil }
		if _, err := w.do(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
	quantiles(b, chose, "chooses")
	quantiles(b, answered, "answers")
}

// BenchmarkStepOverhead is a run without its model's time, for each of its turns, everything stored.
func BenchmarkStepOverhead(b *testing.B) {
	h := benchHouse(b)
	var took []time.Duration
	for b.Loop() {
		begun := time.Now()
		h.one(b)
		took = append(took, time.Since(begun)/3)
	}
	quantiles(b, took)
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
	for took, most := int64(time.Since(begun)), s.most.Load(); took > most && !s.most.CompareAndSwap(most, took); most = s.most.Load() {
	}
	return found, err
}

// BenchmarkParallelTools is how much longer than the slowest of them six searches of one turn take.
func BenchmarkParallelTools(b *testing.B) {
	const each = 50 * time.Millisecond
	h := &house{tb: b, path: filepath.Join(b.TempDir(), "footnote.db")}
	h.furnish()
	var slowest atomic.Int64
	h.hire(scripted.New(), func(c *Config) { c.Library = slow{c.Library, each, &slowest} })
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		w := newRunner(b, h.runs.engine, chat.Run{ID: "r", User: chat.LocalUser, Request: asks("How many days of paid holiday are there?")}, h.runs.engine.registry.Toolsets[tools.DefaultToolset])
		w.store = func(context.Context, ...chat.Payload) error { return nil }
		if err := w.prepare(b.Context()); err != nil {
			b.Fatal(err)
		}
		var cs []llm.Call
		for i := range 6 {
			cs = append(cs, call("search_documents", fmt.Sprintf(`{"query":"paid holiday %d %d"}`, n, i)))
		}
		slowest.Store(0)
		begun := time.Now()
		if err := w.act(b.Context(), reply{calls: cs, finish: llm.FinishCalls}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun)-time.Duration(slowest.Load()))
	}
	quantiles(b, took)
}
