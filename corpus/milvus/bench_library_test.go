package milvus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"footnote/corpus"
	"footnote/corpus/milvus/milvustest"
)

const (
	benchDocuments = 40
	benchSections  = 10
)

// BenchmarkWhoRanks compares two libraries with the same documents on the same server: one has hybrid searches ranked there, the other
// ranks here, with the words from SQLite.
func BenchmarkWhoRanks(b *testing.B) {
	for range b.N {
		whoRanks(b)
	}
}

func whoRanks(b *testing.B) {
	there, _ := openLibrary(b, b.TempDir(), openNew(b, milvustest.Lite, true), &embedder{}, true)
	here, _ := openLibrary(b, b.TempDir(), openNew(b, milvustest.Lite, true), &embedder{}, false)
	random := rand.New(rand.NewPCG(5, 6))
	word := func() string {
		return fmt.Sprintf("word%c%c", 'a'+rune(26*math.Pow(random.Float64(), 2)), 'a'+rune(26*random.Float64()))
	}
	for i := range benchDocuments {
		var text strings.Builder
		fmt.Fprintf(&text, "# Report %d\n\n", i)
		for j := range benchSections {
			fmt.Fprintf(&text, "## Part %d\n\n", j)
			for range 120 {
				text.WriteString(word() + " ")
			}
			text.WriteString("\n\n")
		}
		add(b, there, fmt.Sprintf("%d.md", i), text.String())
		add(b, here, fmt.Sprintf("%d.md", i), text.String())
	}
	mustDo(b, "Wait", here.Wait(b.Context(), scope, nil))
	await(b, "Milvus ranks", func() bool { return there.RankedApart(b.Context()) })
	var took [2][]time.Duration
	same, all := 0, 0
	for i := range benchSearches[milvustest.Lite] {
		query := corpus.Query{Text: word() + " " + word() + " " + word()}
		var one [2]time.Duration
		var places [2][]string
		inTurn(one[:], i, func(who int) {
			places[who], _ = found(b, []*corpus.Library{here, there}[who], query)
		})
		took[0], took[1] = append(took[0], one[0]), append(took[1], one[1])
		for _, place := range places[0] {
			if all++; slices.Contains(places[1], place) {
				same++
			}
		}
	}
	b.ReportMetric(float64(p95(took[0]).Microseconds())/1000, "here-p95-ms")
	b.ReportMetric(float64(p95(took[1]).Microseconds())/1000, "there-p95-ms")
	b.ReportMetric(float64(p95(took[1]))/float64(p95(took[0])), "there-to-here-p95-ratio")
	b.ReportMetric(float64(same)/float64(all), "same-of-top-5")
}
