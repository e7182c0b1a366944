package milvus

import (
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/milvus/milvustest"
)

// A collection that this process did not make may hold what another one stored: it must be replaced, not stored a
// second time.
func TestWhatAnotherProcessStoredIsReplaced(t *testing.T) {
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

func TestWhatWasInsertedIsFoundAndReplaced(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			address := milvustest.Shared(t, kind)
			cfg := Config{Address: address, Collection: milvustest.Collection(t, address), Model: "test"}
			s := open(t, cfg)
			mustDo(t, "Insert", s.Insert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0), vector("b", "d", 0, 1)}))
			if n := hits(t, s, 1, 0); n != 2 {
				t.Errorf("%d hits of what was inserted, want 2", n)
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

func TestWhatWasWrittenIsForgottenBeforeItIsTooMuch(t *testing.T) {
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

func TestASearchDoesNotWaitForTheFirstCollection(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Address: "127.0.0.1:1", Model: "test"})
	mustDo(t, "startMaking", s.startMaking(t.Context()))
	s.setCreating(true)
	if n := hits(t, s, 1, 0); n != 0 {
		t.Errorf("%d hits in a collection that is not there yet, want 0", n)
	}
}
