package bm25

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// spanOf returns a span of one document whose passages have the given lengths.
func spanOf(first uint32, document string, lengths ...uint16) Span {
	s := Span{First: first, Document: &Document{ID: document, User: "anna", Namespace: document[:1]}}
	for _, n := range lengths {
		s.Lengths = binary.LittleEndian.AppendUint16(s.Lengths, n)
	}
	return s
}

func TestScoresAreBM25(t *testing.T) {
	t.Parallel()
	lengths := []uint16{100, 50, 200, 10}
	d := NewDirectory([]Span{spanOf(20, "b", lengths[2:]...), spanOf(10, "a", lengths[:2]...)})
	weights := [][]Scored{{{10, 1}, {12, 9}, {20, 3}, {99, 1}}, {{11, 2}, {20, 1}, {21, 5}}} // 12 and 99 are in no span
	length := map[uint32]float64{10: 100, 11: 50, 20: 200, 21: 10}
	want := make(map[uint32]float64)
	for i, found := range []float64{2, 3} {
		for _, s := range weights[i] {
			if n, ok := length[s.Row]; ok {
				tf, idf := float64(s.Score), math.Log(1+(4-found+0.5)/(found+0.5))
				want[s.Row] += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*n/90))
			}
		}
	}
	got := d.Sum([][]Scored{d.ScoreTerm(slices.Clone(weights[0])), d.ScoreTerm(slices.Clone(weights[1]))})
	if len(got) != len(want) || !slices.IsSortedFunc(got, func(a, b Scored) int { return int(a.Row) - int(b.Row) }) {
		t.Fatalf("%+v, want %v", got, len(want))
	}
	for _, s := range got {
		if math.Abs(float64(s.Score)-want[s.Row]) > 1e-5 {
			t.Errorf("row %d has %v, want %v", s.Row, s.Score, want[s.Row])
		}
	}
}

func TestBestAndHitsMatchFullSort(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	spans := []Span{spanOf(100, "a", make([]uint16, 500)...), spanOf(700, "b", make([]uint16, 500)...)}
	for range 200 {
		var list []Scored
		ids := make(map[uint32]string)
		for row := uint32(random.IntN(50)); row < 1300; row += 1 + uint32(random.IntN(9)) {
			list = append(list, Scored{row, float32(random.IntN(12))})
			ids[row] = fmt.Sprintf("p%04d", (row*7919)%10007)
		}
		k := 1 + random.IntN(40)
		inside := Within(slices.Clone(list), spans)
		got := Hits(Best(inside, k), spans, ids, 2, k)
		slices.SortFunc(inside, func(a, b Scored) int {
			if a.Score != b.Score {
				return int(b.Score - a.Score)
			}
			return map[bool]int{true: -1, false: 1}[ids[a.Row] < ids[b.Row]]
		})
		var want []corpus.Hit
		for _, s := range inside[:min(k, len(inside))] {
			want = append(want, corpus.Hit{
				PassageID: ids[s.Row], DocumentID: map[bool]string{true: "a", false: "b"}[s.Row < 700],
				Share: float64(s.Score) / 2,
			})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("k = %d (-want +got):\n%s", k, diff)
		}
	}
}

func TestFrequentTermsSelectOnlyAsLastResort(t *testing.T) {
	t.Parallel()
	d := Directory{Passages: 80_000} // a term is frequent above 10,000; limit 28,000 postings
	for _, tt := range []struct {
		name  string
		terms []Counted
		want  []string
	}{
		{"nothing", nil, nil},
		{"a term that is nowhere is left out", []Counted{{"none", 0}, {"some", 5}}, []string{"some"}},
		{"rarest first, ties by name", []Counted{{"b", 5}, {"c", 3}, {"a", 5}}, []string{"c", "a", "b"}},
		{"a frequent one beside a rare one", []Counted{{"the", 70_000}, {"roof", 9}}, []string{"roof"}},
		{"frequent ones alone: the rarest", []Counted{{"the", 70_000}, {"house", 60_000}}, []string{"house"}},
		{"no more postings than allowed", []Counted{{"a", 9_000}, {"b", 9_500}, {"c", 9_900}}, []string{"a", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := d.SelectTerms(tt.terms); !slices.Equal(got, tt.want) {
				t.Errorf("SelectTerms(%v) = %v, want %v", tt.terms, got, tt.want)
			}
		})
	}
}

func TestInScope(t *testing.T) {
	t.Parallel()
	d := NewDirectory([]Span{spanOf(1, "a1", 1), spanOf(2, "a2", 1), spanOf(3, "b1", 1)})
	for _, tt := range []struct {
		name      string
		scope     chat.Scope
		documents []string
		want      []uint32
	}{
		{"all of a user's", chat.Scope{User: "anna"}, nil, []uint32{1, 2, 3}},
		{"another user", chat.Scope{User: "bert"}, nil, nil},
		{"one namespace", chat.Scope{User: "anna", Namespaces: []string{"b"}}, nil, []uint32{3}},
		{"documents", chat.Scope{User: "anna"}, []string{"a2", "b1", "c"}, []uint32{2, 3}},
		{"a document outside the namespace", chat.Scope{User: "anna", Namespaces: []string{"b"}}, []string{"a2"}, nil},
	} {
		var got []uint32
		for _, s := range d.InScope(tt.scope, tt.documents) {
			got = append(got, s.First)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
