package folder

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// shelf is a library that keeps each content once, gives deleted bytes their document back and replaces what has a
// path.
type shelf struct {
	documents, deleted []Document
	ids                int
}

func (s *shelf) apply(step Step, files map[string]string) {
	if step.Delete != "" {
		at := slices.IndexFunc(s.documents, func(d Document) bool { return d.ID == step.Delete })
		s.deleted = append(s.deleted, s.documents[at])
		s.documents = slices.Delete(s.documents, at, at+1)
	}
	if step.Add == "" {
		return
	}
	sha := files[step.Add]
	for _, d := range s.documents {
		if d.SHA256 == sha {
			return
		}
	}
	for i, d := range s.documents {
		if d.Path == step.Add {
			s.documents[i].SHA256 = sha
			return
		}
	}
	d := Document{ID: fmt.Sprint("d", s.ids+1), SHA256: sha, Path: step.Add, Ours: true}
	if at := slices.IndexFunc(s.deleted, func(d Document) bool { return d.SHA256 == sha }); at >= 0 {
		d.ID = s.deleted[at].ID
		s.deleted = slices.Delete(s.deleted, at, at+1)
	} else {
		s.ids++
	}
	s.documents = append(s.documents, d)
}

func never(string) bool { return false }

func TestARenamedFileKeepsItsDocument(t *testing.T) {
	before := map[string]string{"a": "A", "b": "B", "c": "C"}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  map[string]string // ids by path
	}{
		{"renamed", map[string]string{"x": "A", "b": "B", "c": "C"},
			map[string]string{"x": "d1", "b": "d2", "c": "d3"}},
		{"over another", map[string]string{"b": "A", "c": "C"}, map[string]string{"b": "d1", "c": "d3"}},
		{"changed places", map[string]string{"a": "B", "b": "C", "c": "A"},
			map[string]string{"a": "d2", "b": "d3", "c": "d1"}},
		{"changed", map[string]string{"a": "A2", "b": "B", "c": "C"},
			map[string]string{"a": "d1", "b": "d2", "c": "d3"}},
		{"copied and changed", map[string]string{"a": "A2", "x": "A", "b": "B", "c": "C"},
			map[string]string{"x": "d1", "a": "d4", "b": "d2", "c": "d3"}},
		{"made the same", map[string]string{"a": "B", "b": "B", "c": "C"}, map[string]string{"b": "d2", "c": "d3"}},
		{"gone", map[string]string{"b": "B"}, map[string]string{"b": "d2"}},
	} {
		s := &shelf{}
		for _, files := range []map[string]string{before, tt.files} {
			for _, step := range Plan(files, s.documents, never) {
				s.apply(step, files)
			}
		}
		got := map[string]string{}
		for _, d := range s.documents {
			got[d.Path] = d.ID
		}
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: documents by path = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWhatIsUnknownOrOthersStays(t *testing.T) {
	documents := []Document{
		{ID: "d1", SHA256: "A", Path: "hidden/a", Ours: true}, {ID: "d2", SHA256: "B"},
		{ID: "d3", SHA256: "C", Path: "c", Ours: true},
	}
	keep := func(path string) bool { return path == "hidden/a" }
	got := Plan(map[string]string{"b": "B", "new": "N"}, documents, keep)
	want := []Step{{Delete: "d3"}, {Add: "new"}}
	if !slices.Equal(got, want) {
		t.Errorf("Plan = %v, want %v", got, want)
	}
}

// Whatever happens to a folder, and wherever the one who follows it dies, the library has each content once in the end.
func TestPlansThatAreCutOffEndAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		s := &shelf{}
		s.documents = []Document{{ID: "other", SHA256: "c0"}}
		files := map[string]string{}
		for range 6 {
			for range rng.IntN(5) {
				delete(files, fmt.Sprint("f", rng.IntN(8)))
				files[fmt.Sprint("f", rng.IntN(8))] = fmt.Sprint("c", rng.IntN(8))
			}
			steps := Plan(files, s.documents, never)
			for _, step := range steps[:rng.IntN(len(steps)+1)] {
				s.apply(step, files)
			}
		}
		for _, step := range Plan(files, s.documents, never) {
			s.apply(step, files)
		}
		if more := Plan(files, s.documents, never); len(more) > 0 {
			t.Fatalf("round %d: a whole plan leaves %v to do, want nothing: %v, %v", round, more, files, s.documents)
		}
		want := map[string]int{"c0": 1}
		for _, sha := range files {
			want[sha] = 1
		}
		got := map[string]int{}
		for _, d := range s.documents {
			got[d.SHA256]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("round %d: documents by content = %v, want %v", round, got, want)
		}
	}
}
