// Package bm25 ranks passages by the words they hold, for stores that can say which passages hold a word: the same
// scores in every store. Directory knows how long passages are and who may see them, ScoreTerm scores one term, Sum
// adds the terms up by their rarity, Best and Hits pick the results; the formula is in formula.go. It does no I/O, and
// nothing here is shared between goroutines but what never changes.
package bm25

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// A Span is the run of rows that a document's content has in an index. A length that does not fit into two bytes is
// kept as 65,535.
type Span struct {
	First    uint32
	Lengths  []byte // terms of each passage, two bytes each, little-endian
	Content  int64  // a number of the store's, for its own use
	Document *Document
}

// Document is what a Span must know of its document to be found or not.
type Document struct{ ID, User, Namespace string }

// End returns the row behind the span.
func (s Span) End() uint32 { return s.First + uint32(len(s.Lengths)/2) }

// passageLength is the number of terms of a row, which must lie in the span.
func (s Span) passageLength(row uint32) int {
	return int(binary.LittleEndian.Uint16(s.Lengths[2*(row-s.First):]))
}

// positionOf says whether the span lies before a row (negative), holds it (0) or lies after it.
func (s Span) positionOf(row uint32) int {
	switch {
	case s.End() <= row:
		return -1
	case s.First > row:
		return 1
	}
	return 0
}

// A Directory says which rows of an index can be seen, and by whom. It never changes. The zero value is empty.
type Directory struct {
	Spans         []Span // visible ones, by First
	Passages      int
	AverageLength float64 // terms of a passage with its title's, at least 1; 0 in the zero value
}

// NewDirectory returns a directory of the spans, which may come in any order and are the directory's from now on.
func NewDirectory(spans []Span) Directory {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.First, b.First) })
	d := Directory{Spans: spans}
	total := 0
	for _, s := range spans {
		d.Passages += len(s.Lengths) / 2
		for row := s.First; row < s.End(); row++ {
			total += s.passageLength(row)
		}
	}
	d.AverageLength = max(1, float64(total)/float64(max(1, d.Passages)))
	return d
}

// InScope returns the spans that a scope may see, only those of the given documents if there are any. Internal
// namespaces (those that begin with a point) are seen only by a scope that names them. The result is sorted as the
// spans are.
func (d Directory) InScope(s chat.Scope, documents []string) []Span {
	wanted := make(map[string]bool, len(documents))
	for _, id := range documents {
		wanted[id] = true
	}
	spans := make([]Span, 0, len(d.Spans))
	for _, sp := range d.Spans {
		named := slices.Contains(s.Namespaces, sp.Document.Namespace) ||
			len(s.Namespaces) == 0 && !chat.IsInternal(sp.Document.Namespace)
		if sp.Document.User == s.User && named && (len(documents) == 0 || wanted[sp.Document.ID]) {
			spans = append(spans, sp)
		}
	}
	return spans
}

// Limits of one search. Work grows with the passages that hold the query's terms, so frequent terms don't choose
// passages as long as rarer ones can.
const (
	MaxTerms        = 192   // of one query: 64 words in three forms
	frequentShare   = 8     // a term in more than one of 8 passages is frequent …
	frequentAtLeast = 1500  // … unless that is fewer than this
	maxPostings     = 20000 // of one search, and a tenth of all passages more; rarest terms first
	maxTies         = 1000  // passages as good as the last one, of which the first by id are taken
)

// A Scored is a passage by its row in the index, with its score so far.
type Scored struct {
	Row   uint32
	Score float32
}

// Frequent returns in how many passages a term may be before it is frequent.
func (d Directory) Frequent() int { return max(frequentAtLeast, d.Passages/frequentShare) }

// A Counted is a term with the number of passages that hold it.
type Counted struct {
	Term     string
	Passages int
}

// SelectTerms returns the terms that take part in a search, rarest first, without those that nothing holds. The first
// term always takes part, however frequent, so a query of frequent words alone still finds something.
func (d Directory) SelectTerms(terms []Counted) []string {
	all := slices.DeleteFunc(slices.Clone(terms), func(c Counted) bool { return c.Passages == 0 })
	slices.SortFunc(
		all, func(a, b Counted) int {
			return cmp.Or(cmp.Compare(a.Passages, b.Passages), cmp.Compare(a.Term, b.Term))
		},
	)
	var chosen []string
	total := 0
	for _, c := range all {
		if total += c.Passages; len(chosen) > 0 && (c.Passages > d.Frequent() || total > maxPostings+d.Passages/10) {
			break
		}
		chosen = append(chosen, c.Term)
	}
	return chosen
}

// ScoreTerm turns the weights of a term in rows, which Scored.Score holds until then (how often it occurs, TitleWeight
// for each time in the title) into scores that are still to be multiplied by the term's IDF. Rows come ascending; those
// that are not visible are left out. The result uses list's memory. Rows and spans are both ascending, so one pass
// through both does.
func (d Directory) ScoreTerm(list []Scored) []Scored {
	out, spans := list[:0], d.Spans
	for _, found := range list {
		for len(spans) > 0 && found.Row >= spans[0].End() {
			spans = spans[1:]
		}
		if len(spans) == 0 {
			break
		}
		if found.Row >= spans[0].First {
			length := float64(spans[0].passageLength(found.Row))
			out = append(
				out, Scored{found.Row, float32(TermFrequencyScore(float64(found.Score), length, d.AverageLength))},
			)
		}
	}
	return out
}

// Sum adds up what ScoreTerm returned for each term, times the term's IDF. Rows come ascending. The IDF is made of the
// passages that are visible, which list has, and not of those the index holds.
func (d Directory) Sum(lists [][]Scored) []Scored {
	var sum, next []Scored
	for _, list := range lists {
		sum, next = addList(next[:0], sum, list, float32(IDF(d.Passages, len(list)))), sum
	}
	return sum
}

// addList merges list, times idf, into sum; the result is appended to out.
func addList(out, sum, list []Scored, idf float32) []Scored {
	for len(sum) > 0 && len(list) > 0 {
		switch a, b := sum[0], list[0]; {
		case a.Row < b.Row:
			out, sum = append(out, a), sum[1:]
		case a.Row > b.Row:
			out, list = append(out, Scored{b.Row, b.Score * idf}), list[1:]
		default:
			out, sum, list = append(out, Scored{a.Row, a.Score + b.Score*idf}), sum[1:], list[1:]
		}
	}
	out = append(out, sum...)
	for _, b := range list {
		out = append(out, Scored{b.Row, b.Score * idf})
	}
	return out
}

// Only keeps to rows, which come ascending as list does; those without a score have 0.
func Only(list []Scored, rows []uint32) []Scored {
	out := make([]Scored, 0, len(rows))
	for _, row := range rows {
		for len(list) > 0 && list[0].Row < row {
			list = list[1:]
		}
		if len(list) > 0 && list[0].Row == row {
			out = append(out, list[0])
		} else {
			out = append(out, Scored{Row: row})
		}
	}
	return out
}

// Within keeps what lies in the spans. The result lies in list.
func Within(list []Scored, spans []Span) []Scored {
	out := list[:0]
	for _, found := range list {
		for len(spans) > 0 && found.Row >= spans[0].End() {
			spans = spans[1:]
		}
		if len(spans) == 0 {
			break
		}
		if found.Row >= spans[0].First {
			out = append(out, found)
		}
	}
	return out
}

// Best returns the k best of list, and those as good as the last of them, in list's order. Those that are as good as
// the last are kept, since the caller orders them by id: else which of them are found would depend on the order of
// rows. maxTies bounds how many.
func Best(list []Scored, k int) []Scored {
	if len(list) <= k {
		return list
	}
	top := make([]float32, 0, k) // a heap, the least on top
	for _, found := range list {
		if len(top) < k {
			top = append(top, found.Score)
			for i := len(top) - 1; i > 0 && top[i] < top[(i-1)/2]; i = (i - 1) / 2 {
				top[i], top[(i-1)/2] = top[(i-1)/2], top[i]
			}
		} else if found.Score > top[0] {
			top[0] = found.Score
			sinkRoot(top)
		}
	}
	var out []Scored
	ties := 0
	for _, found := range list {
		if found.Score == top[0] {
			ties++
		}
		if found.Score > top[0] || found.Score == top[0] && ties <= k+maxTies {
			out = append(out, found)
		}
	}
	return out
}

// sinkRoot moves a heap's new first number down to where it belongs, past the lesser of its two children.
func sinkRoot(heap []float32) {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if heap[child] < heap[least] {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}

// Hits names what Best returned, best first, ties by passage id, at most k. ids gives a row's passage; rows without one
// and rows outside the spans are left out. each is the score that is a share of 1. A search that outruns a removal has
// rows without an id.
func Hits(list []Scored, spans []Span, ids map[uint32]string, each float64, k int) []corpus.Hit {
	type named struct {
		corpus.Hit
		score float32
	}
	var all []named
	for _, found := range list {
		i, inside := slices.BinarySearchFunc(spans, found.Row, Span.positionOf)
		id, known := ids[found.Row]
		if inside && known {
			hit := corpus.Hit{PassageID: id, DocumentID: spans[i].Document.ID}
			if each > 0 {
				hit.Share = float64(found.Score) / each
			}
			all = append(all, named{hit, found.Score})
		}
	}
	slices.SortFunc(all, func(a, b named) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.PassageID, b.PassageID))
	})
	hits := make([]corpus.Hit, 0, min(k, len(all)))
	for _, hit := range all[:min(k, len(all))] {
		hits = append(hits, hit.Hit)
	}
	return hits
}
