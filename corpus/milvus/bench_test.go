package milvus

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/milvus/milvustest"
)

const (
	benchDimension = 384
	benchHits      = 60
)

// benchVectors and benchSearches are what each server is given: the small one is slow.
var (
	benchVectors  = map[milvustest.Kind]int{milvustest.Standalone: 40000, milvustest.Lite: 1000}
	benchSearches = map[milvustest.Kind]int{milvustest.Standalone: 500, milvustest.Lite: 50}
)

// BenchmarkBesideTheClient compares the store with the bare client on the same server, in one run. They take turns in
// being first, since the server is still busy with what came before.
func BenchmarkBesideTheClient(b *testing.B) {
	for _, kind := range kinds {
		b.Run(string(kind), func(b *testing.B) {
			for range b.N {
				besideTheClient(b, kind)
			}
		})
	}
}

func besideTheClient(b *testing.B, kind milvustest.Kind) {
	alone, shared, again, bare := openNew(b, kind, true), openNew(b, kind, false), openNew(b, kind, false),
		openNew(b, kind, false)
	ctx, random := b.Context(), rand.New(rand.NewPCG(1, 2))
	all := make([]corpus.Vector, benchVectors[kind])
	for i := range all {
		all[i] = corpus.Vector{
			PassageID: fmt.Sprintf("p%06d", i), DocumentID: fmt.Sprintf("d%04d", i/20), Namespace: "default",
			User: "alice", Values: unit(random),
		}
	}
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, s := range []*Store{alone, shared, again, bare} { // all collections are there and loaded
		must(
			s.Upsert(ctx, []corpus.Vector{
				{PassageID: "first", DocumentID: "first", Namespace: "default", User: "bob", Values: unit(random)},
			}),
		)
	}
	conn, err := bare.connectClient(ctx)
	must(err)
	ix, err := bare.findCollection(ctx)
	must(err)

	part := min(1000, len(all)/5)
	// of each part: now and then one takes many times as long, whoever stores it, so medians are compared
	var stored [4][]time.Duration
	for from := 0; from < len(all); from += part {
		rows := all[from : from+part]
		var one [4]time.Duration
		inTurn(one[:], from/part, func(who int) {
			switch who {
			case 0:
				must(insert(ctx, conn, ix, rows))
			case 1:
				must(alone.Upsert(ctx, rows))
			case 2:
				must(shared.Insert(ctx, rows))
			case 3:
				must(again.Upsert(ctx, rows))
			}
		})
		for who, took := range one {
			stored[who] = append(stored[who], took)
		}
	}
	for who, what := range map[int]string{1: "ingest", 2: "shared-ingest", 3: "shared-again"} {
		b.ReportMetric(float64(median(stored[0]))/float64(median(stored[who])), what+"-ratio")
		b.ReportMetric(float64(total(stored[0]))/float64(total(stored[who])), what+"-total-ratio")
	}
	b.ReportMetric(float64(part)/median(stored[2]).Seconds(), "vectors/s")
	b.ReportMetric(float64(slices.Max(stored[0]))/float64(median(stored[0])), "slowest-insert-to-median")

	expression, _ := scopeFilter(scope, nil)
	effort, err := entity.NewIndexHNSWSearchParam(leastEffort)
	must(err)
	compare := func(what string, ours, theirs func(query []float32) int) {
		var took [2][]time.Duration
		searches := benchSearches[kind]
		for i := range searches {
			query := unit(random)
			var one [2]time.Duration
			var found [2]int
			inTurn(one[:], i, func(who int) {
				if who == 1 {
					found[1] = ours(query)
					return
				}
				found[0] = theirs(query)
			})
			if min(found[0], found[1]) < benchHits*9/10 { // the graph misses one now and then
				b.Fatalf("%s: %d and %d hits", what, found[0], found[1])
			}
			if i >= searches/10 {
				took[0], took[1] = append(took[0], one[0]), append(took[1], one[1])
			}
		}
		b.ReportMetric(float64(p95(took[1]))/float64(p95(took[0])), what+"-p95-ratio")
		b.ReportMetric(float64(p95(took[1]).Microseconds())/1000, what+"-p95-ms")
	}
	compare("search", func(query []float32) int {
		hits, err := alone.SearchVectors(ctx, scope, query, nil, benchHits)
		must(err)
		return len(hits)
	}, func(query []float32) int {
		rows, err := conn.Search(ctx, ix.name, nil, expression, []string{fieldDocument},
			[]entity.Vector{entity.FloatVector(query)}, fieldMeaning,
			entity.COSINE, benchHits, effort, client.WithSearchQueryConsistencyLevel(entity.ClSession))
		must(err)
		return rows[0].ResultCount
	})
}

// inTurn adds to took how long each takes, beginning with another one each time.
func inTurn(took []time.Duration, first int, do func(who int)) {
	for i := range took {
		who := (first + i) % len(took)
		begin := time.Now()
		do(who)
		took[who] += time.Since(begin)
	}
}

// insert is the client's own way in.
func insert(ctx context.Context, conn client.Client, ix *index, rows []corpus.Vector) error {
	n := len(rows)
	ids, documents, users, namespaces, values := make([]string, n), make([]string, n), make([]string, n),
		make([]string, n), make([][]float32, n)
	for i, v := range rows {
		ids[i], documents[i], users[i], namespaces[i], values[i] = v.PassageID, v.DocumentID, v.User,
			v.Namespace, v.Values
	}
	columns := []entity.Column{entity.NewColumnVarChar(fieldID, ids), entity.NewColumnVarChar(fieldDocument, documents),
		entity.NewColumnVarChar(fieldUser, users), entity.NewColumnVarChar(fieldNamespace, namespaces),
		entity.NewColumnFloatVector(fieldMeaning, benchDimension, values)}
	_, err := conn.Insert(ctx, ix.name, "", columns...)
	return err
}

func unit(random *rand.Rand) []float32 {
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

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func total(all []time.Duration) (sum time.Duration) {
	for _, one := range all {
		sum += one
	}
	return sum
}

func p95(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*95/100]
}
