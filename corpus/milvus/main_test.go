package milvus

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
	"github.com/footnote/footnote/corpus/milvus/milvustest"
)

func TestMain(m *testing.M) { os.Exit(milvustest.Main(m)) }

// kinds are the servers that every test of the contract runs on.
var kinds = []milvustest.Kind{milvustest.Standalone, milvustest.Lite}

// openNew opens a store with collections of its own, and closes it when the test ends.
func openNew(t testing.TB, kind milvustest.Kind, alone bool) *Store {
	t.Helper()
	address := milvustest.Shared(t, kind)
	return open(t, Config{Address: address, Collection: milvustest.Collection(t, address), Model: "test", Alone: alone})
}

func open(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v, want no error", err)
		}
	})
	return s
}

func TestVectors(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			corpustest.TestVectors(t, func(t *testing.T) corpus.Vectors { return openNew(t, kind, false) })
		})
	}
	for _, kind := range kinds {
		t.Run("models on "+string(kind), func(t *testing.T) {
			t.Parallel()
			corpustest.TestVectorModels(t, func(t *testing.T) func(string) corpus.Vectors {
				address := milvustest.Shared(t, kind)
				cfg := Config{Address: address, Collection: milvustest.Collection(t, address)}
				return func(model string) corpus.Vectors {
					cfg := cfg
					cfg.Model = model
					return open(t, cfg)
				}
			})
		})
	}
	t.Run("alone", func(t *testing.T) {
		t.Parallel()
		corpustest.TestVectors(t, func(t *testing.T) corpus.Vectors { return openNew(t, milvustest.Standalone, true) })
	})
}

func TestNothingIsLeftRunning(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, err := New(Config{Address: "127.0.0.1:1", Model: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Reach(t.Context()); err == nil {
		t.Error("nothing there, and no error")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
