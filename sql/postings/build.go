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

// maxOpen limits the memory in bytes of a Builder's terms while they are counted. A document with more distinct
// terms is sorted in runs, which are merged when its pages are encoded (an external merge sort, with runs encoded in
// memory).
const maxOpen = 24 << 20

// termCost is the estimated memory of a term in a Builder beside its own bytes: the struct openTerm, the map entry
// and an initial list.
const termCost = 128

// A Builder builds the segment of one document. It stores counted terms as encoded pages, in less memory than the
// text. It is not safe for concurrent use.
type Builder struct {
	rows   RowRange
	places map[string]int // indexes into open
	open   []openTerm
	size   int
	runs   [][]byte // sorted entries, each run over later rows than the previous one
	firsts [][]byte // the first term of each
}

// openTerm is a term that is still being counted. Its last passage is separate, because the term may occur in it
// again.
type openTerm struct {
	term   string
	list   []byte // without the last passage
	before uint32 // the last row in list
	count  int
	last   bm25.Scored
	inBody bool
}

// NewBuilder returns a Builder for rows starting at first, which the store allocated for the document.
func NewBuilder(first uint32) *Builder {
	return &Builder{rows: RowRange{First: first}, places: make(map[string]int)}
}

// Passages returns the number of added passages.
func (b *Builder) Passages() int { return int(b.rows.Count) }

// Add counts the terms of the next passage and returns their number, including repetitions and the title. That is
// the passage's length for BM25.
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

// countTerm counts one occurrence of a term. The term is cloned, since it is a slice of the passage's text and would
// keep that text in memory.
func (b *Builder) countTerm(row uint32, term string, weight float32, inBody bool) {
	if term = Fold(term); term == "" {
		return
	}
	place, known := b.places[term]
	if !known {
		place = len(b.open)
		term = strings.Clone(term) // do not keep the passage in memory
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

// sortOpen encodes the open terms as a sorted run. Each run covers later rows than earlier ones, so a merge
// concatenates their lists.
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

// errStopped ends the merge when the consumer of the pages stops. Pages never returns it.
var errStopped = errors.New("no more pages are wanted")

// Pages yields the pages of the segment, in order. It may be iterated again; nothing may be added after it. Stopping
// the iteration is no error.
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
