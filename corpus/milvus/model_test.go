package milvus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/corpus/milvus/milvustest"
	"github.com/footnote/footnote/sql/librarytest"
	"github.com/footnote/footnote/sql/sqlite"
)

var scope = chat.Scope{User: "alice"}

func vector(passage, document string, values ...float32) corpus.Vector {
	return corpus.Vector{
		PassageID: passage, DocumentID: document, Namespace: chat.DefaultNamespace, User: scope.User, Values: values,
	}
}

func mustDo(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v, want no error", what, err)
	}
}

// hits returns the number of passages that a search finds.
func hits(t *testing.T, s *Store, query ...float32) int {
	t.Helper()
	found, err := s.SearchVectors(t.Context(), scope, query, nil, 10)
	mustDo(t, "SearchVectors", err)
	return len(found)
}

func TestModelsHaveSeparateCollections(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			address := milvustest.Shared(t, kind)
			cfg := Config{Address: address, Collection: milvustest.Collection(t, address), Model: "old"}
			old := open(t, cfg)
			mustDo(
				t, "Upsert", old.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0), vector("b", "d", 0, 1)}),
			)
			mustDo(t, "Complete", old.Complete(t.Context()))

			cfg.Model = "new"
			fresh := open(t, cfg)
			if counts, err := fresh.CountVectors(t.Context(), []string{"d"}); err != nil || len(counts) > 0 {
				t.Fatalf("the new model counts %v, %v before anything is embedded; want no counts", counts, err)
			}
			mustDo(t, "Upsert", fresh.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0, 0)}))
			if counts, err := fresh.CountVectors(t.Context(), []string{"d", "e"}); err != nil ||
				!maps.Equal(counts, map[string]int{"d": 1}) {
				t.Errorf("counts of the new model = %v, %v", counts, err)
			}
			if n := hits(t, old, 1, 0); n != 2 {
				t.Errorf("while the new model's vectors are made the old one finds %d passages, want 2", n)
			}
			if serving, err := fresh.servingCollection(t.Context()); err != nil || serving != old.nameFor(2) {
				t.Errorf("meanwhile %q serves, %v; want %q", serving, err, old.nameFor(2))
			}
			mustDo(t, "Complete", fresh.Complete(t.Context()))
			if serving, err := fresh.servingCollection(t.Context()); err != nil || serving != fresh.nameFor(3) {
				t.Errorf("then %q serves, %v; want %q", serving, err, fresh.nameFor(3))
			}
			if there, err := fresh.hasCollection(t.Context(), old.nameFor(2)); err != nil || there {
				t.Errorf("collection of the old model exists: %v, %v", there, err)
			}
			if n := hits(t, fresh, 1, 0, 0); n != 1 {
				t.Errorf("the new model finds %d passages, want 1", n)
			}
			old.forgetCollection() // as after any failure
			err := old.Upsert(t.Context(), []corpus.Vector{vector("b", "d", 0, 1)})
			if err == nil {
				err = old.Complete(t.Context())
			}
			if chat.CodeOf(err) != chat.CodeConflict {
				t.Errorf("a Footnote that is left with the old model goes on: %v, want %v", err, chat.CodeConflict)
			}
		})
	}
}

func TestSilentServerTimesOutAfterThreeSeconds(t *testing.T) {
	t.Parallel()
	server := milvustest.ForTest(t, milvustest.Lite)
	s := open(t, Config{Address: server.Address, Model: "test"})
	mustDo(t, "Upsert", s.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0)}))
	mustDo(t, "Pause", server.Pause())
	for range 2 { // the second call fails immediately
		_, err := s.SearchVectors(t.Context(), scope, []float32{1, 0}, nil, 1)
		if chat.CodeOf(err) != chat.CodeUnavailable {
			t.Errorf("a search while it is stopped: %v, want %v", err, chat.CodeUnavailable)
		}
		if !errors.Is(err, errSlow) {
			t.Errorf("our own timer did not end it: %v, want %v", err, errSlow)
		}
	}
	mustDo(t, "Resume", server.Resume())
	await(t, "it finds the passage again", func() bool {
		found, err := s.SearchVectors(t.Context(), scope, []float32{1, 0}, nil, 1)
		return err == nil && len(found) == 1
	})
}

func TestRestartedServerIsReconnected(t *testing.T) {
	t.Parallel()
	server := milvustest.ForTest(t, milvustest.Standalone)
	s := open(t, Config{Address: server.Address, Model: "test"})
	mustDo(t, "Upsert", s.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0)}))
	mustDo(t, "Kill", server.Kill())
	if _, err := s.SearchVectors(t.Context(), scope, []float32{1, 0}, nil,
		1); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("a search while it is down: %v, want %v", err, chat.CodeUnavailable)
	}
	mustDo(t, "Run", server.Run(t.Context()))
	await(t, "it finds what it had", func() bool {
		found, err := s.SearchVectors(t.Context(), scope, []float32{1, 0}, nil, 1)
		return err == nil && len(found) == 1
	})
	for drained := false; !drained; { // discard the signal from connecting
		select {
		case <-s.Lost():
		default:
			drained = true
		}
	}
	mustDo(t, "drop", s.dropCollection(t.Context(), s.nameFor(2)))
	mustDo(t, "Ping", s.Ping(t.Context()))
	select {
	case <-s.Lost():
	default:
		t.Error("got no notification of the dropped collection")
	}
	if n := hits(t, s, 1, 0); n != 0 {
		t.Errorf("%d hits without a collection, want 0", n)
	}
	mustDo(t, "Upsert", s.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0)}))
	if n := hits(t, s, 1, 0); n != 1 {
		t.Errorf("%d hits in the new collection, want 1", n)
	}
}

// await polls until ok is true, with a timeout of a minute.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	late := time.After(time.Minute)
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for !ok() {
		select {
		case <-every.C:
		case <-late:
			t.Fatalf("timeout while waiting: %s", what)
		}
	}
}

// createEarlier creates a collection of an earlier version, without text hashes.
func createEarlier(t *testing.T, s *Store, conn client.Client, name string) {
	t.Helper()
	mustDo(t, "create", s.createCollection(t.Context(), 3)) // only for its schema
	description, err := conn.DescribeCollection(t.Context(), s.nameFor(3))
	mustDo(t, "DescribeCollection", err)
	mustDo(t, "drop", s.dropCollection(t.Context(), s.nameFor(3)))
	schema := description.Schema.WithName(name)
	schema.Fields = slices.DeleteFunc(schema.Fields, func(f *entity.Field) bool { return f.Name == fieldText })
	mustDo(t, "CreateCollection", conn.CreateCollection(t.Context(), schema, 1))
	graph, err := entity.NewIndexHNSW(entity.COSINE, graphEdges, graphBuild)
	mustDo(t, "NewIndexHNSW", err)
	mustDo(t, "CreateIndex", conn.CreateIndex(t.Context(), name, fieldMeaning, graph, false))
	mustDo(t, "LoadCollection", conn.LoadCollection(t.Context(), name, false))
}

func TestCollectionWithoutTextsIsUsed(t *testing.T) {
	t.Parallel()
	address := milvustest.Shared(t, milvustest.Standalone)
	s := open(t, Config{Address: address, Collection: milvustest.Collection(t, address), Model: "test"})
	conn, err := s.connectClient(t.Context())
	mustDo(t, "connect", err)
	createEarlier(t, s, conn, s.nameFor(3))
	v := vector("a", "d", 1, 0, 0)
	v.TextHash = "of a text"
	mustDo(t, "Upsert", s.Upsert(t.Context(), []corpus.Vector{v}))
	if n := hits(t, s, 1, 0, 0); n != 1 {
		t.Errorf("stored vectors: got %d hits, want 1", n)
	}
	if got, err := s.VectorsOf(t.Context(), []string{v.TextHash}); err != nil || len(got) > 0 {
		t.Errorf("VectorsOf = %v, %v; want none, since it does not know", got, err)
	}
}

// Earlier versions stored words in collections of other names. Such a collection is dropped once every document has
// its vectors in the new one.
func TestOldCollectionServesUntilReplacementIsComplete(t *testing.T) {
	t.Parallel()
	address := milvustest.Shared(t, milvustest.Lite)
	s := open(t, Config{Address: address, Collection: milvustest.Collection(t, address), Model: "test"})
	conn, err := s.connectClient(t.Context())
	mustDo(t, "connect", err)
	old := s.nameFor(3) + withWords
	createEarlier(t, s, conn, old)
	mustDo(
		t, "insert", s.writeVectors(t.Context(), &index{name: old, dimension: 3},
			[]corpus.Vector{vector("a", "d", 1, 0, 0)}, true),
	)
	mustDo(t, "CreateAlias", conn.CreateAlias(t.Context(), old, s.cfg.Collection))

	if counts, err := s.CountVectors(t.Context(), []string{"d"}); err != nil || len(counts) > 0 {
		t.Errorf("CountVectors = %v, %v; want none of the earlier version's", counts, err)
	}
	mustDo(t, "Upsert", s.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0, 0)}))
	if serving, err := s.servingCollection(t.Context()); err != nil || serving != old {
		t.Errorf("half way %q serves, %v; want %q", serving, err, old)
	}
	mustDo(t, "Complete", s.Complete(t.Context()))
	if serving, err := s.servingCollection(t.Context()); err != nil || serving != s.nameFor(3) {
		t.Errorf("when complete %q serves, %v; want %q", serving, err, s.nameFor(3))
	}
	if there, err := s.hasCollection(t.Context(), old); err != nil || there {
		t.Errorf("the earlier version's collection is there: %v, %v; want it dropped", there, err)
	}
}

// newLibrary returns a library on a database in dir.
func newLibrary(t testing.TB, dir string, vectors corpus.Vectors) *librarytest.Library {
	t.Helper()
	return librarytest.Open(t, dir, func(c *corpus.Config, _ *sqlite.DB) {
		c.Vectors, c.Embedder = vectors, embedtest.Hashing{}
	})
}

// openLibrary returns a running library on a database in dir.
func openLibrary(t testing.TB, dir string, vectors corpus.Vectors) (library *corpus.Library, stop func()) {
	t.Helper()
	l := newLibrary(t, dir, vectors)
	ended := l.Start(t)
	return l.Library, sync.OnceFunc(func() {
		ended()
		if err := l.DB.Close(); err != nil {
			t.Error(err)
		}
	})
}

func add(t testing.TB, library *corpus.Library, name, body string) {
	t.Helper()
	_, _, err := library.Add(t.Context(), corpus.Upload{
		User: scope.User, Filename: name, Body: strings.NewReader(body),
	})
	mustDo(t, "Add "+name, err)
}

// topics returns documents of several sections each.
func topics() map[string]string {
	files := make(map[string]string)
	things := []string{"roof", "cellar", "garden", "kitchen", "window", "chimney", "gutter", "fence"}
	states := []string{
		"is sound and dry", "leaks after heavy rain", "was renewed in spring by a craftsman from the village",
		"needs paint",
	}
	for i, thing := range things {
		var b strings.Builder
		fmt.Fprintf(&b, "# Report on the %s\n\n", thing)
		for j, state := range states {
			other := things[(i+j+1)%len(things)]
			fmt.Fprintf(&b, "## Part %d\n\n%s\n\n", j,
				strings.Repeat(
					fmt.Sprintf("The %s %s. Beside it the %s counts little. Number %d%d. ", thing, state, other, i,
						j), 1+(i+j)%3,
				))
		}
		files[thing+".md"] = b.String()
	}
	return files
}

func found(t testing.TB, library *corpus.Library, q corpus.Query) (places []string, results corpus.Results) {
	t.Helper()
	results, err := library.Search(t.Context(), scope, q)
	mustDo(t, "Search "+q.Text, err)
	for _, r := range results.Results {
		places = append(places, fmt.Sprintf("%s:%d", r.Document.Filename, r.Passage.Start))
	}
	return places, results
}

// A library falls back to lexical search while Milvus is down, and returns to hybrid search once it is back.
func TestLibraryFallsBackToLexicalSearchWithoutMilvus(t *testing.T) {
	t.Parallel()
	server := milvustest.ForTest(t, milvustest.Lite)
	library, _ := openLibrary(t, t.TempDir(), open(t, Config{Address: server.Address, Model: "test"}))
	for name, body := range topics() {
		add(t, library, name, body)
	}
	mustDo(t, "Wait", library.Wait(t.Context(), scope, nil))
	query := corpus.Query{Text: "Is the roof sound?"}
	await(t, "everything has its vectors", func() bool {
		docs, _, err := library.List(t.Context(), scope, corpus.Filter{})
		return err == nil &&
			!slices.ContainsFunc(docs, func(d corpus.Document) bool { return d.Semantic != corpus.SemanticReady })
	})
	if got, results := found(t, library, query); len(got) == 0 || !strings.HasPrefix(got[0], "roof.md") ||
		len(results.Notes) != 0 {
		t.Errorf("found %q with notes %q, want roof.md first and no notes", got, results.Notes)
	}
	mustDo(t, "Pause", server.Pause())
	if got, results := found(t, library, query); len(got) == 0 || !strings.HasPrefix(got[0], "roof.md") ||
		len(results.Notes) != 1 {
		t.Errorf("while Milvus is away: found %q with notes %q, want roof.md first and one note", got, results.Notes)
	}
	mustDo(t, "Resume", server.Resume())
	await(t, "Milvus takes part again", func() bool {
		_, results := found(t, library, query)
		return len(results.Notes) == 0
	})
}

const (
	benchDimension = 384
	benchHits      = 60
)

// benchVectors and benchSearches are the load for each server: Lite is slow.
var (
	benchVectors  = map[milvustest.Kind]int{milvustest.Standalone: 40000, milvustest.Lite: 1000}
	benchSearches = map[milvustest.Kind]int{milvustest.Standalone: 500, milvustest.Lite: 50}
)

// BenchmarkStoreAndClient compares the store with the bare client on the same server, in one run. Their order
// alternates, since the server is still busy with earlier work.
func BenchmarkStoreAndClient(b *testing.B) {
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
	for _, s := range []*Store{alone, shared, again, bare} { // all collections exist and are loaded
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
	// of each part: outliers occur with any client, so compare medians
	var stored [4][]time.Duration
	for from := 0; from < len(all); from += part {
		rows := all[from : from+part]
		var one [4]time.Duration
		timeRotating(one[:], from/part, func(who int) {
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
			timeRotating(one[:], i, func(who int) {
				if who == 1 {
					found[1] = ours(query)
					return
				}
				found[0] = theirs(query)
			})
			if min(found[0], found[1]) < benchHits*9/10 { // HNSW misses one occasionally
				b.Fatalf("%s: got %d and %d hits", what, found[0], found[1])
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

// timeRotating adds the duration of each to took, with a rotating start.
func timeRotating(took []time.Duration, first int, do func(who int)) {
	for i := range took {
		who := (first + i) % len(took)
		begin := time.Now()
		do(who)
		took[who] += time.Since(begin)
	}
}

// insert inserts with the bare client.
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

// A collection that this process did not create may have vectors of another one, which must be replaced, not
// duplicated.
func TestVectorsOfOtherProcessAreReplaced(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			address := milvustest.Shared(t, kind)
			cfg := Config{Address: address, Collection: milvustest.Collection(t, address), Model: "test", Alone: true}
			one := []corpus.Vector{vector("a", "d", 1, 0)}
			for range 2 {
				s := open(t, cfg)
				for range 2 {
					mustDo(t, "Upsert", s.Upsert(t.Context(), one))
				}
				ix, err := s.findCollection(t.Context())
				mustDo(t, "find", err)
				if n, err := s.countVectors(t.Context(), ix, everything); err != nil || n != 1 {
					t.Errorf("%d vectors, want 1; %v", n, err)
				}
				mustDo(t, "Close", s.Close())
			}
		})
	}
}

func TestInsertedVectorsAreFoundAndReplaced(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			address := milvustest.Shared(t, kind)
			cfg := Config{Address: address, Collection: milvustest.Collection(t, address), Model: "test"}
			s := open(t, cfg)
			mustDo(t, "Insert", s.Insert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0), vector("b", "d", 0, 1)}))
			if n := hits(t, s, 1, 0); n != 2 {
				t.Errorf("inserted vectors: got %d hits, want 2", n)
			}
			other := open(t, cfg)
			mustDo(t, "Upsert", other.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 0, 1)}))
			ix, err := other.findCollection(t.Context())
			mustDo(t, "find", err)
			if n, err := other.countVectors(t.Context(), ix, everything); err != nil || n != 2 {
				t.Errorf("%d vectors after one was replaced, want 2; %v", n, err)
			}
		})
	}
}

func TestWrittenIDsAreForgottenAtLimit(t *testing.T) {
	w := newWritten()
	vs := []corpus.Vector{vector("a", "d"), vector("b", "d")}
	if known := w.addVectors(vs); len(known) > 0 {
		t.Errorf("new ids count as known: %v, want none", known)
	}
	if known := w.addVectors(vs[1:]); len(known) != 1 || known[0] != "b" {
		t.Errorf("known = %v, want b", known)
	}
	for i := range uint64(mostWritten) {
		w.ids[i] = struct{}{}
	}
	w.addVectors([]corpus.Vector{vector("c", "d")})
	if known := w.addVectors([]corpus.Vector{vector("new", "d")}); len(known) != 1 || w.ids != nil {
		t.Errorf("after too many ids any may be there: %v, want 1", known)
	}
}

func TestSearchDoesNotWaitForCollectionCreation(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Address: "127.0.0.1:1", Model: "test"})
	mustDo(t, "startMaking", s.startMaking(t.Context()))
	s.setCreating(true)
	if n := hits(t, s, 1, 0); n != 0 {
		t.Errorf("%d hits in a collection that is not there yet, want 0", n)
	}
}
