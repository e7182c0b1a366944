package postings

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/bm25"
)

// memory is a Store in memory, with documents of one passage each. fail is asked before each write.
type memory struct {
	mu       sync.Mutex
	segments map[int64]*Segment // Number 0: not seen
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

// add stores a document at a row, as a segment of its own.
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

// remove takes a document away for good.
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
