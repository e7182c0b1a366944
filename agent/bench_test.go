package agent

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/e2e/scripted"
)

// BenchmarkRun measures a whole run with a model without latency: two tool calls, then 200 tokens, every event
// stored.
func BenchmarkRun(b *testing.B) {
	h := benchHarness(b)
	b.ReportAllocs()
	for b.Loop() {
		h.one(b)
	}
}

// BenchmarkRunsAtOnce is the same with eight clients.
func BenchmarkRunsAtOnce(b *testing.B) {
	h := benchHarness(b)
	b.SetParallelism(4)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			h.one(b)
		}
	})
}

// BenchmarkStepOverhead measures a run without its model's time, per turn, with every event stored.
func BenchmarkStepOverhead(b *testing.B) {
	h := benchHarness(b)
	var took []time.Duration
	for b.Loop() {
		begun := time.Now()
		h.one(b)
		took = append(took, time.Since(begun)/3)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}

type benched struct{ *harness }

func benchHarness(b *testing.B) benched {
	answer := scripted.Words("Every employee is entitled to 28 days of paid holiday a year [1]. Unused days may be " +
		"carried over until 31 March of the following year [1]. " +
		"A doctor's certificate is needed from the fourth day [2]. " +
		strings.Repeat("So much about that for now. ", 40))[:200]
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		switch r.Turn() {
		case 0:
			return calls(search("paid holiday"))
		case 1:
			return calls(call("read_document", `{"doc_id":"Handbook.md"}`))
		default:
			return scripted.Reply{Chunks: answer}
		}
	})
	h := &harness{tb: b, path: filepath.Join(b.TempDir(), "footnote.db")}
	h.openPrepared()
	h.startAgent(model)
	return benched{h}
}

func (h benched) one(b *testing.B) {
	run, _, err := h.runs.Start(b.Context(), chat.LocalUser, asks("How many days of paid holiday are there?"))
	if err != nil {
		b.Fatal(err)
	}
	wake, stop := h.feed.Watch(run.ID)
	defer stop()
	for after := int64(0); ; {
		news := wake()
		page, err := h.feed.Read(b.Context(), chat.Local, run.ID, after)
		if err != nil {
			b.Fatal(err)
		}
		if n := len(page.Entries); n > 0 {
			after = page.Entries[n-1].Seq
		}
		if page.Over {
			return
		}
		<-news
	}
}

var _ tools.Library = (*corpus.Library)(nil)
