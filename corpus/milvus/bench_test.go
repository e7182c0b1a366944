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

	"footnote/corpus"
	"footnote/corpus/milvus/milvustest"
)

const (
	benchDimension = 384
	benchSearches  = 200
	benchHits      = 60
)

// benchVectors is what each server is given: the small one answers no search for seconds while it takes in more.
var benchVectors = map[milvustest.Kind]int{milvustest.Standalone: 20000, milvustest.Lite: 5000}

// BenchmarkBesideTheClient compares the store with the bare client on the same server, in one run: rows by turns, so that a slow
// moment hits both.
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
	s, bare := openNew(b, kind), openNew(b, kind)
	ctx, random := b.Context(), rand.New(rand.NewPCG(1, 2))
	all := make([]corpus.Vector, benchVectors[kind])
	for i := range all {
		all[i] = corpus.Vector{PassageID: fmt.Sprintf("p%06d", i), DocumentID: fmt.Sprintf("d%04d", i/20), Namespace: "default", User: "alice", Values: unit(random)}
	}
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	first := []corpus.Vector{all[0]}
	must(s.Upsert(ctx, first)) // both collections are there and loaded
	must(bare.Upsert(ctx, first))
	conn, err := bare.connection(ctx)
	must(err)
	ix, err := bare.find(ctx)
	must(err)

	var ours, theirs time.Duration
	const part = 1000
	for from := 0; from < len(all); from += part {
		rows := all[from : from+part]
		begin := time.Now()
		must(s.Upsert(ctx, rows))
		middle := time.Now()
		must(insert(ctx, conn, ix, rows))
		ours, theirs = ours+middle.Sub(begin), theirs+time.Since(middle)
	}
	b.ReportMetric(float64(theirs)/float64(ours), "ingest-ratio")
	b.ReportMetric(float64(len(all))/ours.Seconds(), "vectors/s")

	var found, raw []time.Duration
	expression, _ := filter(scope, nil)
	effort, err := entity.NewIndexHNSWSearchParam(leastEffort)
	must(err)
	for i := range benchSearches {
		query := unit(random)
		begin := time.Now()
		hits, err := s.SearchVectors(ctx, scope, query, nil, benchHits)
		must(err)
		middle := time.Now()
		rows, err := conn.Search(ctx, ix.name, nil, expression, []string{fieldDocument}, []entity.Vector{entity.FloatVector(query)}, fieldMeaning,
			entity.COSINE, benchHits, effort, client.WithSearchQueryConsistencyLevel(entity.ClSession))
		must(err)
		if len(hits) < benchHits*9/10 || rows[0].ResultCount < benchHits*9/10 { // the graph misses one now and then
			b.Fatalf("%d and %d hits", len(hits), rows[0].ResultCount)
		}
		if i >= benchSearches/10 {
			found, raw = append(found, middle.Sub(begin)), append(raw, time.Since(middle))
		}
	}
	b.ReportMetric(float64(p95(found))/float64(p95(raw)), "search-p95-ratio")
	b.ReportMetric(float64(p95(found).Microseconds())/1000, "search-p95-ms")
}

// insert is the client's own way in.
func insert(ctx context.Context, conn client.Client, ix *index, rows []corpus.Vector) error {
	n := len(rows)
	ids, documents, users, namespaces, values := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([][]float32, n)
	for i, v := range rows {
		ids[i], documents[i], users[i], namespaces[i], values[i] = v.PassageID, v.DocumentID, v.User, v.Namespace, v.Values
	}
	_, err := conn.Insert(ctx, ix.name, "", entity.NewColumnVarChar(fieldID, ids), entity.NewColumnVarChar(fieldDocument, documents),
		entity.NewColumnVarChar(fieldUser, users), entity.NewColumnVarChar(fieldNamespace, namespaces), entity.NewColumnFloatVector(fieldMeaning, benchDimension, values))
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

func p95(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*95/100]
}
