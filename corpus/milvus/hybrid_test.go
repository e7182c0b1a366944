package milvus

import (
	"context"
	"maps"
	"math"
	"net"
	"testing"

	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v2/milvuspb"
	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"google.golang.org/grpc"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/corpustest"
	"footnote/corpus/milvus/milvustest"
)

func TestHybrid(t *testing.T) {
	t.Parallel()
	corpustest.TestHybrid(t, func(t *testing.T) corpustest.Hybrid { return openNew(t, milvustest.Lite, false) })
}

func TestAServerWithoutSparseVectorsRanksNoWords(t *testing.T) {
	t.Parallel()
	s := openNew(t, milvustest.Standalone, false)
	v := vector("a", "d", 1, 0)
	v.Words = []corpus.TermWeight{{Term: "roof", Weight: 1}}
	mustDo(t, "Upsert", s.Upsert(t.Context(), []corpus.Vector{v}))
	if s.RanksWords() {
		t.Error("it says it does")
	}
	_, err := s.SearchHybrid(t.Context(), scope, []float32{1, 0}, v.Words, nil, 5)
	if chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("SearchHybrid: %v", err)
	}
	if n := hits(t, s, 1, 0); n != 1 {
		t.Errorf("%d hits after that", n)
	}
	if about := s.About(); about != "Milvus v2.3.5-lite: dense vectors only" {
		t.Errorf("About = %q", about)
	}
}

func TestVersionsThatHaveSparseVectors(t *testing.T) {
	for version, want := range map[string]bool{
		"v2.3.5-lite": false, "v2.2.16": false, "2.3.21": false, "v2.4.0": true, "2.4.1-gpu": true, "v2.6.4": true, "v2.10.0": true, "3.0": true, "1.1.0": false,
		"milvus_lite-3.2.2": true, "cloud": true, "": true,
	} {
		if got := hasSparse(version); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
}

// A collection that was made without words is filled over: all it has is found meanwhile, and nothing is embedded again.
func TestWordsAreAddedWhileEverythingIsFound(t *testing.T) {
	t.Parallel()
	address := milvustest.Shared(t, milvustest.Lite)
	cfg := Config{Address: address, Collection: milvustest.Collection(t, address), Model: "test"}
	old := open(t, cfg)
	old.refused = true // as if the server were older
	both := []corpus.Vector{vector("a", "d", 0.6, 0.8), vector("b", "d", 0.8, 0.6)}
	mustDo(t, "Upsert", old.Upsert(t.Context(), append(both, vector("z", "gone", 1, 0))))
	mustDo(t, "Complete", old.Complete(t.Context()))

	s := open(t, cfg)
	found := func(when string, want ...string) {
		t.Helper()
		all, err := s.SearchVectors(t.Context(), scope, []float32{1, 0}, nil, 10)
		mustDo(t, when, err)
		var got []string
		for _, hit := range all {
			got = append(got, hit.PassageID)
		}
		if len(got) != len(want) {
			t.Errorf("%s it finds %v, want %v", when, got, want)
			return
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s it finds %v, want %v", when, got, want)
			}
		}
	}
	found("before anything is stored", "z", "b", "a")
	if counts, err := s.CountVectors(t.Context(), []string{"d", "gone"}); err != nil || len(counts) > 0 {
		t.Errorf("vectors without words count: %v, %v", counts, err)
	}
	kept, err := s.Kept(t.Context(), []string{"a", "b", "c"})
	mustDo(t, "Kept", err)
	if len(kept) != 2 || len(kept["a"]) != 2 || math.Abs(float64(kept["a"][1]-0.8)) > 1e-6 {
		t.Errorf("Kept = %v", kept)
	}
	both[0].Words, both[1].Words = []corpus.TermWeight{{Term: "roof", Weight: 1}}, []corpus.TermWeight{{Term: "door", Weight: 1}}
	mustDo(t, "Upsert", s.Upsert(t.Context(), both[:1]))
	found("half way", "z", "b", "a")
	if s.RanksWords() {
		t.Error("half way it ranks by words")
	}
	if serving, err := s.serving(t.Context()); err != nil || serving != s.nameFor(2, false) {
		t.Errorf("half way %q serves, %v", serving, err)
	}
	mustDo(t, "DeleteVectors", s.DeleteVectors(t.Context(), "gone", nil))
	found("after a delete", "b", "a")
	mustDo(t, "Upsert", s.Upsert(t.Context(), both[1:]))
	if counts, err := s.CountVectors(t.Context(), []string{"d"}); err != nil || !maps.Equal(counts, map[string]int{"d": 2}) {
		t.Errorf("CountVectors = %v, %v", counts, err)
	}
	other := open(t, cfg) // another replica, which looked at both
	if _, err := other.find(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustDo(t, "Complete", s.Complete(t.Context()))
	found("when it is complete", "b", "a")
	if there, err := s.has(t.Context(), s.nameFor(2, false)); err != nil || there {
		t.Errorf("the collection without words is there: %v, %v", there, err)
	}
	if !s.RanksWords() {
		t.Error("it does not rank by words")
	}
	ranked, err := s.SearchHybrid(t.Context(), scope, []float32{1, 0}, both[0].Words, nil, 5)
	if err != nil || len(ranked) != 2 || ranked[0].PassageID != "a" {
		t.Errorf("SearchHybrid = %+v, %v", ranked, err)
	}
	if n := hits(t, other, 1, 0); n != 2 {
		t.Errorf("the other replica finds %d", n)
	}
}

// recorder is a Milvus that answers writes and notes what searches ask for.
type recorder struct {
	milvuspb.UnimplementedMilvusServiceServer
	asked chan uint64
}

func (*recorder) GetVersion(context.Context, *milvuspb.GetVersionRequest) (*milvuspb.GetVersionResponse, error) {
	return &milvuspb.GetVersionResponse{Status: &commonpb.Status{}, Version: "v2.4.9"}, nil
}

func (*recorder) Insert(_ context.Context, r *milvuspb.InsertRequest) (*milvuspb.MutationResult, error) {
	return &milvuspb.MutationResult{Timestamp: uint64(r.GetNumRows())}, nil
}

func (r *recorder) HybridSearch(_ context.Context, search *milvuspb.HybridSearchRequest) (*milvuspb.SearchResults, error) {
	r.asked <- search.GetGuaranteeTimestamp()
	return &milvuspb.SearchResults{}, nil
}

func TestAHybridSearchWaitsForOurLastWrite(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{asked: make(chan uint64, 1)}
	server := grpc.NewServer()
	milvuspb.RegisterMilvusServiceServer(server, r)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() { server.Stop(); <-done })
	s := open(t, Config{Address: listener.Addr().String(), Model: "test"})
	conn, err := s.connection(t.Context())
	mustDo(t, "connect", err)
	raw := conn.(*client.GrpcClient).Service
	search := func(collection string, want uint64) {
		t.Helper()
		if _, err := raw.HybridSearch(t.Context(), &milvuspb.HybridSearchRequest{CollectionName: collection}); err != nil {
			t.Fatal(err)
		}
		if got := <-r.asked; got != want {
			t.Errorf("a search of %s waits for the writes until %d, want %d", collection, got, want)
		}
	}
	search("a", 0)
	for _, time := range []uint32{7, 9, 8} { // answers may come out of order
		if _, err := raw.Insert(t.Context(), &milvuspb.InsertRequest{CollectionName: "a", NumRows: time}); err != nil {
			t.Fatal(err)
		}
	}
	search("a", 9)
	search("b", 0)
}

func TestWordsMakeAVector(t *testing.T) {
	v, err := sparseOf([]corpus.TermWeight{{Term: "roof", Weight: 1.5}, {Term: "slate", Weight: 2}, {Term: "roof", Weight: 0.5}, {Term: "none", Weight: 0}})
	mustDo(t, "sparseOf", err)
	got := make(map[uint32]float32)
	for i := range v.Len() {
		place, weight, _ := v.Get(i)
		got[place] = weight
	}
	// FNV-1a: what is stored must be found by later releases.
	if want := map[uint32]float32{0x2efd244f: 2, 0xf07adeee: 2}; !maps.Equal(got, want) {
		t.Errorf("%#v, want %#v", got, want)
	}
	if empty, err := sparseOf(nil); err != nil || empty.Len() != 1 || empty.Dim() != 1<<32-1 {
		t.Errorf("without words: %+v, %v", empty, err)
	}
}
