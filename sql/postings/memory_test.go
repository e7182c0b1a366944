package postings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
	"github.com/footnote/footnote/sql/bm25"
)

// memory is an in-memory Store whose documents have one passage each. It calls fail before each write.
type memory struct {
	mu       sync.Mutex
	segments map[int64]*Segment // Number is 0 while the segment is hidden
	pages    map[int64][]Page
	docs     map[uint32]document // by row
	next     int64
	fail     func(what string) error
}

type document struct {
	user, namespace, text string
	visible               bool
	changed               int64
}

func newMemory() *memory {
	return &memory{
		segments: make(map[int64]*Segment), pages: make(map[int64][]Page), docs: make(map[uint32]document),
		fail: func(string) error { return nil },
	}
}

// add stores a document at the given row, as a separate segment.
func (m *memory) add(row uint32, user, namespace, text string) error {
	b := NewBuilder(row)
	b.Add(corpus.Terms{Body: text})
	n, err := m.Begin(context.Background(), user)
	for p, failed := range b.Pages() {
		err = errors.Join(err, failed, m.Put(context.Background(), n, []Page{p}))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	m.docs[row] = document{user, namespace, text, true, m.next}
	m.segments[n] = &Segment{Number: n, Owner: user, Changed: m.next, Passages: 1}
	return err
}

// remove permanently deletes the document at the given row.
func (m *memory) remove(row uint32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.docs, row)
	m.next++
}

func (m *memory) Scope(s chat.Scope) chat.Scope { return s }

func (m *memory) State(context.Context) (int64, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.next, m.next, nil
}

func (m *memory) Spans(_ context.Context, after int64) (spans []bm25.Span, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for row, d := range m.docs {
		if d.changed > after {
			n := len(strings.Fields(d.text))
			spans = append(spans, bm25.Span{
				First: row, Lengths: []byte{byte(n), 0}, Content: int64(row),
				Document: &bm25.Document{ID: d.text, User: d.user, Namespace: d.namespace},
			})
		}
	}
	return spans, nil
}

func (m *memory) Contents(_ context.Context, first, last uint32) (runs []RowRange, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, row := range slices.Sorted(maps.Keys(m.docs)) {
		if first <= row && row <= last {
			runs = append(runs, RowRange{row, 1})
		}
	}
	return runs, nil
}

func (m *memory) PassageIDs(_ context.Context, rows []uint32) (map[uint32]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ids := make(map[uint32]string)
	for _, row := range rows {
		if d, ok := m.docs[row]; ok {
			ids[row] = d.text
		}
	}
	return ids, nil
}

func (m *memory) Texts(_ context.Context, rows []uint32) (texts []Text, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, row := range rows {
		if d, ok := m.docs[row]; ok {
			texts = append(texts, Text{Row: row, Text: d.text})
		}
	}
	return texts, nil
}

func (m *memory) Owners(context.Context) (owners []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.segments {
		if s.Number > 0 && !slices.Contains(owners, s.Owner) {
			owners = append(owners, s.Owner)
		}
	}
	return owners, nil
}

func (m *memory) Segments(_ context.Context, owner string) (list []Segment, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(m.segments)) {
		if s := m.segments[n]; s.Number > 0 && s.Owner == owner {
			list = append(list, *s)
		}
	}
	return list, nil
}

func (m *memory) Find(_ context.Context, places []Place, each func(int, Page) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, at := range places {
		if s := m.segments[at.Segment]; s == nil || s.Number == 0 {
			continue
		}
		pages := m.pages[at.Segment]
		last := len(pages) - 1
		for bytes.Compare(pages[last].Key, []byte(at.Term)) > 0 {
			last--
		}
		if err := each(i, pages[last]); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Pages(_ context.Context, segment int64, from, before []byte, limit int) (pages []Page, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.pages[segment] {
		if bytes.Compare(p.Key, from) >= 0 && bytes.Compare(p.Key, before) < 0 && len(pages) < limit {
			pages = append(pages, p)
		}
	}
	return pages, nil
}

func (m *memory) Begin(_ context.Context, owner string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	m.segments[m.next] = &Segment{Owner: owner}
	return m.next, m.fail("begin")
}

func (m *memory) Put(_ context.Context, segment int64, pages []Page) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pages[segment] = append(m.pages[segment], pages...)
	return m.fail("put")
}

func (m *memory) Replace(_ context.Context, s Segment, old []int64) (bool, error) {
	if err := m.fail("replace"); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range old {
		if m.segments[n] == nil || m.segments[n].Number == 0 {
			return false, nil
		}
	}
	for _, n := range old {
		m.segments[n].Number = 0
	}
	if s.Number > 0 {
		m.segments[s.Number] = &s
	}
	return true, nil
}

func (m *memory) Drop(_ context.Context, segment int64) error {
	if err := m.fail("drop"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.pages, segment)
	delete(m.segments, segment)
	return nil
}

func (m *memory) Unfinished(context.Context) (left []int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n, s := range m.segments {
		if s.Number == 0 {
			left = append(left, n)
		}
	}
	return left, nil
}

var anna = chat.Scope{User: "anna"}

// search returns the sorted texts that the index finds for words.
func search(t *testing.T, x *Index, s chat.Scope, words ...string) (texts []string) {
	t.Helper()
	hits, err := x.SearchLexical(t.Context(), s, corpus.LexicalQuery{Words: corpustest.Words(words...)}, 1000)
	if err != nil {
		t.Fatalf("SearchLexical(%q): %v, want no error", words, err)
	}
	for _, h := range hits {
		texts = append(texts, h.PassageID)
	}
	slices.Sort(texts)
	return texts
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMergeDropsRemovedDocuments(t *testing.T) {
	t.Parallel()
	m := newMemory()
	x := NewIndex(m)
	var want []string
	for i := range uint32(300) {
		text := fmt.Sprintf("roof word%d", i)
		want = append(want, text)
		must(t, m.add(1+3*i, "anna", "docs", text))
		must(t, m.add(2+3*i, "bert", "docs", "roof of bert"))
		must(t, Compact(t.Context(), m, "anna", false))
		if i%50 == 7 {
			if got := search(t, x, anna, "roof"); len(got) != len(want) {
				t.Fatalf("after %d documents %d are found, want all", i+1, len(got))
			}
		}
	}
	segments, err := m.Segments(t.Context(), "anna")
	if err != nil || len(segments) > 3*5 {
		t.Errorf("%d segments of 300 documents, %v; want at most three of each of five sizes", len(segments), err)
	}
	if theirs, err := m.Segments(t.Context(), "bert"); err != nil || len(theirs) != 300 {
		t.Errorf("%d segments of another user, %v; want his 300 as they were", len(theirs), err)
	}
	slices.Sort(want)
	if got := search(t, x, anna, "roof"); !slices.Equal(got, want) {
		t.Errorf("found %d documents, want %d", len(got), len(want))
	}
	for i := range uint32(290) {
		m.remove(1 + 3*i)
	}
	must(t, Sweep(t.Context(), m))
	pages := 0
	segments, err = m.Segments(t.Context(), "anna")
	must(t, err)
	for _, s := range segments {
		for _, p := range m.pages[s.Number] {
			pages++
			if strings.Contains(string(p.Key)+string(p.Body), "word11") {
				t.Error("got a word of a document that is gone, want none")
			}
		}
	}
	if got := search(t, x, anna, "roof"); len(got) != 10 || pages > 10 {
		t.Errorf("%d documents are found in %d pages, want 10 in few", len(got), pages)
	}
}

func TestInterruptedMergeLosesNothing(t *testing.T) {
	t.Parallel()
	broken := errors.New("the power is cut")
	for _, what := range []string{"begin", "put", "replace", "drop"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			m := newMemory()
			x := NewIndex(m)
			for i := range uint32(8) {
				must(t, m.add(i+1, "anna", "docs", fmt.Sprintf("roof word%d", i)))
			}
			m.fail = func(now string) error {
				if now == what || now == "drop" { // no cleanup after the failure
					return broken
				}
				return nil
			}
			if err := Compact(t.Context(), m, "anna", false); !errors.Is(err, broken) {
				t.Fatalf("Compact = %v, want %v", err, broken)
			}
			if got := search(t, x, anna, "roof"); len(got) != 8 {
				t.Errorf("%d documents are found after the cut, want 8", len(got))
			}
			m.fail = func(string) error { return nil }
			must(t, Sweep(t.Context(), m))
			if got := search(t, NewIndex(m), anna, "roof"); len(got) != 8 {
				t.Errorf("%d documents are found afterwards, want 8", len(got))
			}
			if len(m.segments) != 1 || len(m.pages) != 1 {
				t.Errorf("%d segments with pages of %d are left, want one", len(m.segments), len(m.pages))
			}
		})
	}
}

// TestSearchSurvivesMerge checks that a search which has read the list of segments survives a merge of them.
func TestSearchSurvivesMerge(t *testing.T) {
	t.Parallel()
	m := newMemory()
	x := NewIndex(m)
	for i := range uint32(8) {
		must(t, m.add(i+1, "anna", "docs", fmt.Sprintf("roof word%d", i)))
	}
	if got := search(t, x, anna, "word1"); len(got) != 1 {
		t.Fatalf("found %q, want one", got)
	}
	must(t, Compact(t.Context(), m, "anna", false))
	if got := search(t, x, anna, "roof"); len(got) != 8 {
		t.Errorf("%d documents are found after a merge, want 8", len(got))
	}
}

func TestSimilarTermsAreUserSpecific(t *testing.T) {
	t.Parallel()
	m := newMemory()
	x := NewIndex(m)
	similar := func(s chat.Scope, term string, want ...string) {
		t.Helper()
		got, err := x.Similar(t.Context(), s, term, 3)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Similar(%q) of %s = %q, %v; want %q", term, s.User, got, err, want)
		}
	}
	must(t, m.add(1, "anna", "docs", "insurance"))
	must(t, m.add(2, "bert", "docs", "insurances"))
	similar(anna, "insurence", "insurance")
	similar(chat.Scope{User: "bert"}, "insurence", "insurances")
	for i := range uint32(4) {
		must(t, m.add(3+i, "anna", "docs", "insured"))
	}
	must(t, Compact(t.Context(), m, "anna", false))
	similar(anna, "insurence", "insurance", "insured")
	m.remove(1)
	similar(anna, "insurence", "insured")
}

// TestPhrasesAreVerifiedInText checks that phrases are searched for beyond the first batch of candidates.
// Passages with equal scores must be ordered by their identifiers.
func TestPhrasesAreVerifiedInText(t *testing.T) {
	t.Parallel()
	m := newMemory()
	x := NewIndex(m)
	for i := range uint32(3 * textsAtOnce) {
		text := fmt.Sprintf("roof red number%03d", i)
		if i%100 == 99 {
			text = fmt.Sprintf("red roof number%03d", 999-i)
		}
		must(t, m.add(i+1, "anna", "docs", text))
	}
	q := corpus.LexicalQuery{Phrases: [][]string{{"red", "roof"}}}
	for k, want := range map[int][]string{
		1: {"red roof number700"}, 10: {"red roof number700", "red roof number800", "red roof number900"},
	} {
		hits, err := x.SearchLexical(t.Context(), anna, q, k)
		var got []string
		for _, h := range hits {
			got = append(got, h.PassageID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("k = %d: found %q, %v; want %q", k, got, err, want)
		}
	}
}

// TestBlockBytesAreNotParsedAsTerms checks that the bytes of blocks are not parsed as terms. The
// search is for a word that would follow the blocks of a frequent term.
func TestBlockBytesAreNotParsedAsTerms(t *testing.T) {
	t.Parallel()
	for _, weight := range []int{1, 2, 3} { // each weight encodes differently
		m := newMemory()
		x := NewIndex(m)
		for i := range uint32(1100) {
			must(t, m.add(i+1, "anna", "docs", "able"+strings.Repeat(" roof", weight)))
		}
		must(t, Compact(t.Context(), m, "anna", false))
		blocks := 0
		for _, pages := range m.pages {
			for _, p := range pages {
				if slices.Contains(p.Key, 0) {
					blocks++
				}
			}
		}
		if blocks == 0 {
			t.Fatal("got no list in blocks, want some")
		}
		for word, want := range map[string]int{
			"aardvark": 0, "able": 1000, "ably": 0, "boiler": 0, "roof": 1000, "roofs": 0, "zebra": 0,
		} {
			if got := search(t, x, anna, word); len(got) != want {
				t.Errorf("weight %d: %q is found in %d passages, want %d", weight, word, len(got), want)
			}
		}
	}
}
