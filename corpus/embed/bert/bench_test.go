//go:build unix

package bert

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkPassages embeds passages of 200 tokens sequentially.
func BenchmarkPassages(b *testing.B) {
	e := open(b, Config{Workers: 1})
	text := strings.Repeat("The lease of the house ends in the spring, unless the tenant asks for more time. ", 11)
	m, release, err := e.useModel()
	if err != nil {
		b.Fatal(err)
	}
	defer release()
	ids := m.cutWindows("", text, e.folder.window)
	b.Logf("%d windows, %d tokens", len(ids), len(ids[0]))
	before := processorTime(b)
	for b.Loop() {
		if _, err := e.Embed(b.Context(), []string{text}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/(processorTime(b)-before).Seconds(), "passages/s/core")
}

// BenchmarkTwenty embeds twenty passages of 200 tokens with EmbedNow, on all processors. A reranker of the same
// family takes as long for twenty passages.
func BenchmarkTwenty(b *testing.B) {
	e := open(b, Config{})
	text := strings.Repeat("The lease of the house ends in the spring, unless the tenant asks for more time. ", 11)
	passages := slices.Repeat([]string{text}, 20)
	for b.Loop() {
		if _, err := e.EmbedNow(b.Context(), passages); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkQuery embeds a question of twelve words.
func BenchmarkQuery(b *testing.B) {
	e := open(b, Config{})
	if _, err := e.EmbedQuery(b.Context(), "the first one opens the model"); err != nil {
		b.Fatal(err)
	}
	before := processorTime(b)
	for b.Loop() {
		if _, err := e.EmbedQuery(
			b.Context(), "When does the lease of the house end if the tenant stays?",
		); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((processorTime(b)-before).Microseconds())/1000/float64(b.N), "ms-core/query")
}

// processorTime returns the CPU time used by this process: on a busy machine, wall time is unreliable.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
