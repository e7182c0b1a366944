package milvus

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/milvus/milvustest"
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

// hits returns how many passages a search finds.
func hits(t *testing.T, s *Store, query ...float32) int {
	t.Helper()
	found, err := s.SearchVectors(t.Context(), scope, query, nil, 10)
	mustDo(t, "SearchVectors", err)
	return len(found)
}

func TestAnotherModelHasItsOwnCollection(t *testing.T) {
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
				t.Errorf("the new model counts %v, %v", counts, err)
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
				t.Errorf("the old model's collection is there: %v, %v", there, err)
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

func TestAServerThatSaysNothingCostsThreeSeconds(t *testing.T) {
	t.Parallel()
	server := milvustest.ForTest(t, milvustest.Lite)
	s := open(t, Config{Address: server.Address, Model: "test"})
	mustDo(t, "Upsert", s.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0)}))
	mustDo(t, "Pause", server.Pause())
	for range 2 { // the second one fails at once
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

func TestARestartedServerIsFoundAgain(t *testing.T) {
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
	for drained := false; !drained; { // what connecting told
		select {
		case <-s.Lost():
		default:
			drained = true
		}
	}
	mustDo(t, "drop", s.dropCollection(t.Context(), s.nameFor(2)))
	mustDo(t, "Reach", s.Reach(t.Context()))
	select {
	case <-s.Lost():
	default:
		t.Error("nobody was told that the collection is gone")
	}
	if n := hits(t, s, 1, 0); n != 0 {
		t.Errorf("%d hits without a collection, want 0", n)
	}
	mustDo(t, "Upsert", s.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0)}))
	if n := hits(t, s, 1, 0); n != 1 {
		t.Errorf("%d hits in the new collection, want 1", n)
	}
}

// await asks again and again until ok, for a minute at most.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	late := time.After(time.Minute)
	every := time.NewTicker(50 * time.Millisecond)
	defer every.Stop()
	for !ok() {
		select {
		case <-every.C:
		case <-late:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// createEarlier makes a collection as it was before it held of which texts its vectors are.
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

func TestACollectionWithoutTextsIsUsedAsItIs(t *testing.T) {
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
		t.Errorf("%d hits of what was stored, want 1", n)
	}
	if got, err := s.VectorsOf(t.Context(), []string{v.TextHash}); err != nil || len(got) > 0 {
		t.Errorf("VectorsOf = %v, %v; want none, since it does not know", got, err)
	}
}

// Earlier versions kept the words of passages in collections of other names. Theirs goes once every document has its
// vectors in ours.
func TestAnEarlierVersionsCollectionServesUntilOursIsComplete(t *testing.T) {
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
