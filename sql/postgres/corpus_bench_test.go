//go:build linux || darwin

package postgres

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
)

// These queries are the same as those of the benchmark for SQLite.
const (
	benchDocuments = 2500
	benchPassages  = 20 // per document
)

func benchPut(b *testing.B, ds *Documents, name string) corpus.Document {
	b.Helper()
	d, _, err := ds.Put(b.Context(), corpus.Document{User: chat.LocalUser, Path: name, SHA256: name})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// fill stores the 50,000 passages. It returns the time taken, excluding the time needed to generate them.
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

// report sorts the latencies and reports their percentiles.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}

// BenchmarkCorpus measures the index with 50,000 passages of 250 words each. Run it with
//
//	go test -bench=Corpus -benchtime=1000x -run=^$
func BenchmarkCorpus(b *testing.B) {
	db := openNew(b)
	took := fill(b, db)
	lexical, random := db.Lexical(), rand.New(rand.NewPCG(3, 4))
	words := func(n int) (list []string) { // content words, from common to rare
		for range n {
			list = append(list, benchWord(zipf(random, 40, 50_000)))
		}
		return list
	}
	question := func() []string { // content words mixed with function words
		list := words(2 + random.IntN(4))
		for range 5 {
			list = append(list, benchWord(zipf(random, 1, 40)))
		}
		return list
	}
	keywords := func() []string { return words(2 + random.IntN(5)) }
	timed := func(b *testing.B, each func() time.Duration) {
		var took []time.Duration
		before := cpu(b) + serverCPU(b, db)
		for b.Loop() {
			took = append(took, each())
		}
		b.ReportMetric(float64((cpu(b)+serverCPU(b, db)-before).Microseconds())/1000/float64(len(took)), "cpu-ms/op")
		report(b, took)
	}
	ask := func(b *testing.B, l corpus.Lexical, s chat.Scope, q corpus.LexicalQuery) time.Duration {
		start := time.Now()
		if _, err := l.SearchLexical(b.Context(), s, q, 50); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	search := func(terms func() []string, s chat.Scope, documents []string) func(*testing.B) {
		return func(b *testing.B) {
			timed(b, func() time.Duration {
				return ask(b, lexical, s, corpus.LexicalQuery{
					Words: corpustest.Words(terms()...), Documents: documents,
				})
			})
		}
	}
	b.Run("ingest", func(b *testing.B) {
		b.ReportMetric(benchDocuments*benchPassages/took.Seconds(), "passages/s")
		var index, all int64
		if err := db.queryRow(b.Context(), longTime, `SELECT pg_total_relation_size('segment_pages'),
			(SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE relkind = 'r' AND relnamespace = `+
			`current_schema()::regnamespace)`,
			nil, &index, &all); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(index>>20), "index-MiB")
		b.ReportMetric(float64(all>>20), "all-MiB")
	})
	start := time.Now()
	ask(b, lexical, chat.Local, corpus.LexicalQuery{Words: corpustest.Words("nothing")})
	b.Logf("the first search, which reads the directory, took %v", time.Since(start))
	b.Run("lexical/keywords", search(keywords, chat.Local, nil))
	b.Run("lexical/question", search(question, chat.Local, nil))
	b.Run("lexical/namespace", search(keywords, chat.Local.In(chat.DefaultNamespace), nil))
	d, _, err := db.Documents().List(b.Context(), chat.Local, corpus.Filter{Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("lexical/document", search(keywords, chat.Local, []string{d[0].ID}))
	b.Run("lexical/cold", func(b *testing.B) { // the index changes before every search
		i := 0
		timed(b, func() time.Duration {
			i++
			d := benchPut(b, db.Documents(), fmt.Sprintf("%s %d %d", b.Name(), b.N, i))
			if err := db.Documents().PutContent(b.Context(), d.ID, benchContent(random, d, 1)); err != nil {
				b.Fatal(err)
			}
			return ask(b, lexical, chat.Local, corpus.LexicalQuery{Words: corpustest.Words(question()...)})
		})
	})
	b.Run("lexical/phrase", func(b *testing.B) {
		timed(b, func() time.Duration {
			return ask(b, lexical, chat.Local, corpus.LexicalQuery{Phrases: [][]string{words(2)}})
		})
	})
	b.Run("similar", func(b *testing.B) {
		timed(b, func() time.Duration {
			term := words(1)[0]
			term = term[:len(term)/2] + "x" + term[len(term)/2:]
			start := time.Now()
			if _, err := lexical.Similar(b.Context(), chat.Local, term, 3); err != nil {
				b.Fatal(err)
			}
			return time.Since(start)
		})
	})
}
