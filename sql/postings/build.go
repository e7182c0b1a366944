package postings

import (
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/bm25"
)

// maxOpen bounds the memory of a Builder's terms while they are being counted, in bytes. A document with more different
// words is sorted in runs, which are merged when its pages are made (an external merge sort whose runs stay in memory,
// in the form of pages).
const maxOpen = 24 << 20

// termCost is about what a term takes in a Builder beside its own bytes. It counts the struct openTerm, the entry of
// the map and what a list takes when it begins to grow.
const termCost = 128

// A Builder makes the segment of one document. What it has counted it keeps in the form of pages, in less memory than
// the text takes. It is not safe for concurrent use.
type Builder struct {
	rows   RowRange
	places map[string]int // in open
	open   []openTerm
	size   int
	runs   [][]byte // sorted entries, each run over later rows than the one before
	firsts [][]byte // the first term of each
}

// openTerm is a term that more passages may hold. The last one's weight still grows. The last passage is kept apart
// because a term may occur in it again.
type openTerm struct {
	term   string
	list   []byte // but for the last passage
	before uint32 // the last row in list
	count  int
	last   bm25.Scored
	inBody bool
}

// NewBuilder returns a Builder for rows from first on. The rows are those that the store gave out for the document.
func NewBuilder(first uint32) *Builder {
	return &Builder{rows: RowRange{First: first}, places: make(map[string]int)}
}

// Passages returns how many passages were added.
func (b *Builder) Passages() int { return int(b.rows.Count) }

// Add counts the terms of the next passage and returns how many there are, each time it occurs. The number is the
// passage's length for BM25, with the title's terms.
func (b *Builder) Add(terms corpus.Terms) (n int) {
	row := b.rows.First + b.rows.Count
	b.rows.Count++
	for term := range strings.FieldsSeq(terms.Title) {
		b.countTerm(row, term, bm25.TitleWeight, false)
		n++
	}
	for term := range strings.FieldsSeq(terms.Body) {
		b.countTerm(row, term, 1, true)
		n++
	}
	if b.size > maxOpen {
		b.sortOpen()
	}
	return n
}

// The clone matters: the term is a slice of the passage's text, and the map would keep all of that text alive.
func (b *Builder) countTerm(row uint32, term string, weight float32, inBody bool) {
	if term = Fold(term); term == "" {
		return
	}
	place, known := b.places[term]
	if !known {
		place = len(b.open)
		term = strings.Clone(term) // not all of the passage
		b.places[term] = place
		b.open = append(b.open, openTerm{term: term, before: b.rows.First, count: 1, last: bm25.Scored{Row: row}})
		b.size += termCost + len(term)
	}
	t := &b.open[place]
	if t.last.Row != row {
		t.list = appendPosting(t.list, t.before, t.last)
		t.before = t.last.Row
		t.last = bm25.Scored{Row: row}
		t.count++
		b.size += 4
	}
	t.last.Score += weight
	t.inBody = t.inBody || inBody
}

// sortOpen turns what is open into a run. Each run covers later rows than those before it, so merging puts their lists
// one behind the other.
func (b *Builder) sortOpen() {
	if len(b.open) == 0 {
		return
	}
	slices.SortFunc(b.open, func(x, y openTerm) int { return cmp.Compare(x.term, y.term) })
	run := binary.AppendUvarint(nil, uint64(b.rows.First))
	var before, list []byte
	for i := range b.open {
		t := &b.open[i]
		if i > 0 {
			run = appendTerm(run, before, []byte(t.term))
		}
		before = append(before[:0], t.term...)
		list = appendPosting(append(list[:0], t.list...), t.before, t.last)
		run = appendFound(run, b.rows.First, t.inBody, t.count, t.last, list, false)
	}
	b.firsts = append(b.firsts, []byte(b.open[0].term))
	b.runs = append(b.runs, slices.Clip(run))
	clear(b.open)
	clear(b.places)
	b.open, b.size = b.open[:0], 0
}

// errStopped ends the merge when whoever ranges over the pages has enough. It never leaves Pages.
var errStopped = errors.New("no more pages are wanted")

// Pages yields the pages of the segment, in order. It may be ranged over again; nothing is added after that. Breaking
// off the range is no error.
func (b *Builder) Pages() iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		b.sortOpen()
		b.open, b.places = nil, nil
		w := &pageWriter{yield: func(p Page) error {
			if !yield(p, nil) {
				return errStopped
			}
			return nil
		}}
		var cursors []*cursor
		for i, run := range b.runs {
			cursors = append(cursors, newCursor(
				func(yield func(Page, error) bool) { yield(Page{Key: b.firsts[i], Body: run}, nil) },
			))
		}
		err := w.writeRows([]RowRange{b.rows})
		if err == nil {
			err = mergeTerms(cursors, nil, w)
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Page{}, err)
		}
	}
}
