package sqlite

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
)

const (
	benchDocuments  = 2500
	benchPassages   = 20 // of each
	benchWords      = 250
	benchVocabulary = 100_000
	benchDimension  = 384
)

// zipf returns the rank of a word, from 1: the word of rank r is about r times rarer than the first.
func zipf(random *rand.Rand, from, to float64) int {
	return int(from * math.Exp(random.Float64()*math.Log(to/from)))
}

// syllables make words that look like words, so that trigrams are shared as in a language.
var syllables = strings.Fields(
	"ba be bi bo bu da de di do du fa fe fi fo fu ga ge gi go gu ka ke ki ko ku la le li lo lu ma me mi mo mu na ne " +
		"ni no nu ra re ri ro ru sa se si so su ta te ti to tu",
)

func benchWord(rank int) string {
	var word strings.Builder
	for n := rank + 50; n > 0; n /= len(syllables) {
		word.WriteString(syllables[n%len(syllables)])
	}
	return word.String()
}

// benchContent is a document's content of Zipf-distributed words.
func benchContent(random *rand.Rand, d corpus.Document, passages int) corpus.Content {
	c := corpus.Content{SHA256: d.SHA256}
	var text strings.Builder
	for i := range passages {
		var words []string
		for range benchWords {
			words = append(words, benchWord(zipf(random, 1, benchVocabulary)))
		}
		body, start := strings.Join(words, " "), text.Len()
		text.WriteString(body)
		c.Passages = append(c.Passages, corpus.Passage{
			ID: fmt.Sprintf("%s-%04d", d.ID, i), DocumentID: d.ID, Ordinal: i, Start: start, End: text.Len(),
			Text: body,
		})
		c.Terms = append(c.Terms, corpus.Terms{Title: strings.Join(words[:4], " "), Body: body})
		text.WriteString("\n\n")
	}
	c.Extracted.Text = text.String()
	return c
}

func benchPut(b *testing.B, ds *Documents, name string) corpus.Document {
	b.Helper()
	d, _, err := ds.Put(b.Context(), corpus.Document{User: chat.LocalUser, Path: name, SHA256: name})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// fill stores the 50,000 passages and returns how long that took without making them up.
func fill(b *testing.B, db *DB) time.Duration {
	b.Helper()
	random, ds := rand.New(rand.NewPCG(1, 2)), db.Documents()
	var took time.Duration
	for i := range benchDocuments {
		d := benchPut(b, ds, fmt.Sprint("document ", i))
		c := benchContent(random, d, benchPassages)
		start := time.Now()
		if err := ds.PutContent(b.Context(), d.ID, c); err != nil {
			b.Fatal(err)
		}
		took += time.Since(start)
	}
	return took
}

// report sorts and shows what a user waits for.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}

// BenchmarkCorpus measures the index over 50,000 passages of 250 words: go test -bench=Corpus -benchtime=1000x -run=^$
func BenchmarkCorpus(b *testing.B) {
	path := filepath.Join(b.TempDir(), "footnote.db")
	db := openAt(b, path)
	took := fill(b, db)
	lexical, random := db.Lexical(), rand.New(rand.NewPCG(3, 4))
	words := func(n int) (list []string) { // content words: from common to rare
		for range n {
			list = append(list, benchWord(zipf(random, 40, 50_000)))
		}
		return list
	}
	question := func() []string { // as above, among the words that every sentence has
		list := words(2 + random.IntN(4))
		for range 5 {
			list = append(list, benchWord(zipf(random, 1, 40)))
		}
		return list
	}
	search := func(terms func() []string, s chat.Scope, documents []string) func(*testing.B) {
		return func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				q := corpus.LexicalQuery{Words: corpustest.Words(terms()...), Documents: documents}
				start := time.Now()
				if _, err := lexical.SearchLexical(b.Context(), s, q, 50); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			report(b, took)
		}
	}
	keywords := func() []string { return words(2 + random.IntN(5)) }
	b.Run("ingest", func(b *testing.B) {
		b.ReportMetric(benchDocuments*benchPassages/took.Seconds(), "passages/s")
	})
	b.Run("lexical/first", search(keywords, chat.Local, nil))
	b.Run("lexical/keywords", search(keywords, chat.Local, nil))
	b.Run("lexical/question", search(question, chat.Local, nil))
	b.Run("lexical/namespace", search(keywords, chat.Local.In(chat.DefaultNamespace), nil))
	d, _, err := db.Documents().List(b.Context(), chat.Local, corpus.Filter{Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("lexical/document", search(keywords, chat.Local, []string{d[0].ID}))
	b.Run("lexical/cold", func(b *testing.B) { // the index changes before every search
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			d := benchPut(b, db.Documents(), fmt.Sprintf("%s %d %d", b.Name(), b.N, i))
			if err := db.Documents().PutContent(b.Context(), d.ID, benchContent(random, d, 1)); err != nil {
				b.Fatal(err)
			}
			q := corpus.LexicalQuery{Words: corpustest.Words(question()...)}
			start := time.Now()
			if _, err := lexical.SearchLexical(b.Context(), chat.Local, q, 50); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		report(b, took)
	})
	b.Run("similar", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			term := words(1)[0]
			term = term[:len(term)/2] + "x" + term[len(term)/2:]
			start := time.Now()
			if _, err := lexical.Similar(b.Context(), chat.Local, term, 3); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		report(b, took)
	})
	b.Run("open", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			start := time.Now()
			again, err := Open(b.Context(), path, slog.New(slog.DiscardHandler))
			if err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
			if err := again.Close(); err != nil {
				b.Fatal(err)
			}
		}
		report(b, took)
	})
}

// BenchmarkVectors measures exact search over 50,000 vectors of 384 dimensions.
func BenchmarkVectors(b *testing.B) {
	vs, random := openNew(b).Vectors("hashing"), rand.New(rand.NewPCG(5, 6))
	unit := func() []float32 {
		v, sum := make([]float32, benchDimension), 0.0
		for i := range v {
			v[i] = float32(random.NormFloat64())
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	for i := 0; i < benchDocuments*benchPassages; i += 1000 {
		var batch []corpus.Vector
		for j := i; j < i+1000; j++ {
			batch = append(batch, corpus.Vector{
				PassageID: fmt.Sprint("p", j), DocumentID: fmt.Sprint("d", j/benchPassages),
				User: chat.LocalUser, Namespace: chat.DefaultNamespace, Values: unit(),
			})
		}
		if err := vs.Upsert(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	start := time.Now()
	if _, err := vs.SearchVectors(b.Context(), chat.Local, unit(), nil, 10); err != nil {
		b.Fatal(err)
	}
	b.Logf("the first search, which reads the vectors, took %v", time.Since(start))
	var took []time.Duration
	for b.Loop() {
		query := unit()
		start := time.Now()
		if _, err := vs.SearchVectors(b.Context(), chat.Local.In(chat.DefaultNamespace), query, nil, 10); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	report(b, took)
}

// BenchmarkBigDocument measures how long small writes wait while a document of 20,000 passages comes in.
func BenchmarkBigDocument(b *testing.B) {
	db := openNew(b)
	ds, random := db.Documents(), rand.New(rand.NewPCG(7, 8))
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		d := benchPut(b, ds, fmt.Sprint("big ", i))
		c := benchContent(random, d, 20_000)
		done := make(chan error, 1)
		start := time.Now()
		go func() { done <- ds.PutContent(context.Background(), d.ID, c) }()
		for running := true; running; {
			select {
			case err := <-done:
				if err != nil {
					b.Fatal(err)
				}
				running = false
				b.ReportMetric(20_000/time.Since(start).Seconds(), "passages/s")
			default:
				began := time.Now()
				if err := ds.SetSemantic(b.Context(), d.ID, d.SHA256,
					corpus.Semantic(fmt.Sprint(len(took)))); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
		}
	}
	report(b, took)
}
