package corpus_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// bookshelf fills a library with n passages of made-up prose whose words are as unevenly frequent as those of real
// prose.
func bookshelf(b *testing.B, sh *shelf, n int) {
	b.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rnd, 1.07, 8, 60000)
	const perDocument = 100
	for doc := range n / perDocument {
		var s strings.Builder
		fmt.Fprintf(&s, "# Volume %d\n\n", doc)
		for section := range perDocument {
			fmt.Fprintf(&s, "## Part %d\n\n", section)
			for word := range 200 {
				s.WriteString(spelled(zipf.Uint64()))
				if word%12 == 11 {
					s.WriteString(". The ")
				} else {
					s.WriteByte(' ')
				}
			}
			s.WriteString("\n\n")
		}
		if _, _, err := sh.Add(b.Context(), corpus.Upload{User: chat.LocalUser, Filename: fmt.Sprintf("v%d.md", doc),
			Body: strings.NewReader(s.String())}); err != nil {
			b.Fatal(err)
		}
	}
	sh.wait(b)
}

// spelled makes a word of a number.
func spelled(n uint64) string {
	var s strings.Builder
	for ; n > 0 || s.Len() < 4; n /= 20 {
		s.WriteString(
			[]string{
				"ba", "ke", "li", "mo", "nu", "pra", "ste", "to", "rin", "sul", "dar", "fen", "gol", "hup", "jav",
				"vex", "wim", "yod", "zan", "cra",
			}[n%20],
		)
	}
	return s.String()
}

func passages() int {
	n, _ := strconv.Atoi(os.Getenv("FOOTNOTE_BENCH_PASSAGES"))
	return cmp.Or(n, 5000)
}

func BenchmarkIngest(b *testing.B) {
	for b.Loop() {
		sh := openShelf(b, b.TempDir(), nil)
		stop := sh.start(b)
		bookshelf(b, sh, passages())
		stop()
	}
	b.ReportMetric(float64(passages()*b.N)/b.Elapsed().Seconds(), "passages/s")
}

func BenchmarkSearch(b *testing.B) {
	sh := openSemantic(b)
	bookshelf(b, sh, passages())
	rnd := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(rnd, 1.07, 30, 60000)
	var queries []string
	for i := range 200 {
		var words []string
		for range 2 + i%5 {
			words = append(words, spelled(zipf.Uint64()))
		}
		q := strings.Join(words, " ")
		if i%2 == 0 {
			q = "What is the " + q + " of the house?"
		}
		queries = append(queries, q)
	}
	for _, way := range []struct {
		name string
		corpus.Query
	}{
		{"lexical", corpus.Query{Mode: corpus.ModeLexical}},
		{"hybrid", corpus.Query{Mode: corpus.ModeHybrid}},
		{"typing", corpus.Query{Mode: corpus.ModeLexical, Typing: true}},
	} {
		b.Run(way.name, func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				q := way.Query
				q.Text = queries[i%len(queries)]
				if q.Typing { // the last word misses some letters
					q.Text = strings.TrimSuffix(q.Text, " of the house?")
					q.Text = q.Text[:len(q.Text)-i%4]
				}
				begun := time.Now()
				sh.search(b, q)
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
