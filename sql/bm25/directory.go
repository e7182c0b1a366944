// Package bm25 ranks passages by their terms with BM25, with the same scores in every store. Directory has the
// passages' lengths and access rights, ScoreTerm scores one term, Sum combines the terms by IDF, Best and Hits
// select the results; the formula is in formula.go. The package does no I/O, and only immutable values are shared
// between goroutines.
package bm25

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// A Span is the range of rows of a document's content in an index. Lengths above 65,535 are capped, as they have two
// bytes.
type Span struct {
	First    uint32
	Lengths  []byte // terms of each passage, two bytes each, little-endian
	Content  int64  // an ID for the store's own use
	Document *Document
}

// Document has the fields of a document that decide who may find its Span.
type Document struct{ ID, User, Namespace string }

// End returns the row after the span.
func (s Span) End() uint32 { return s.First + uint32(len(s.Lengths)/2) }

// passageLength returns the number of terms of a row, which must be in the span.
func (s Span) passageLength(row uint32) int {
	return int(binary.LittleEndian.Uint16(s.Lengths[2*(row-s.First):]))
}

// positionOf compares the span with a row: negative before it, 0 if it contains it, positive after it.
func (s Span) positionOf(row uint32) int {
	switch {
	case s.End() <= row:
		return -1
	case s.First > row:
		return 1
	}
	return 0
}

// A Directory lists the visible rows of an index and their owners. It is immutable. The zero value is empty.
type Directory struct {
	Spans         []Span // visible ones, by First
	Passages      int
	AverageLength float64 // terms of a passage including its title, at least 1; 0 in the zero value
}

// NewDirectory returns a directory of the spans, in any order. It takes ownership of the slice.
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

// InScope returns the spans visible to a scope, optionally filtered by documents. Internal namespaces (with a
// leading dot) are only visible to a scope that lists them. The result is sorted like the spans.
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

// Limits of one search. Work grows with the passages that contain the query's terms, so frequent terms are skipped
// if rarer ones exist.
const (
	MaxTerms        = 192   // of one query: 64 words in three forms
	frequentShare   = 8     // a term in more than one of 8 passages is frequent …
	frequentAtLeast = 1500  // … unless that is fewer than this
	maxPostings     = 20000 // of one search, plus a tenth of all passages; rarest terms first
	maxTies         = 1000  // passages with the score of the last one, kept for ordering by ID
)

// A Scored is a passage's row in the index with its partial score.
type Scored struct {
	Row   uint32
	Score float32
}

// Frequent returns the number of passages above which a term is frequent.
func (d Directory) Frequent() int { return max(frequentAtLeast, d.Passages/frequentShare) }

// A Counted is a term with its document frequency, in passages.
type Counted struct {
	Term     string
	Passages int
}

// SelectTerms returns the terms that a search uses, rarest first, without those of no passage. The first term is
// always used, however frequent, so a query of frequent words only still returns results.
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

// ScoreTerm converts the weights of a term into BM25 scores without IDF. A weight is in Scored.Score: the term
// frequency, plus TitleWeight for each occurrence in the title. Rows are ascending; invisible ones are dropped. The
// result reuses list's memory. Rows and spans are merged in one pass.
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

// Sum adds the results of ScoreTerm, each multiplied by its term's IDF. Rows are ascending. The IDF counts visible
// passages, which are in the lists, instead of all passages of the index.
func (d Directory) Sum(lists [][]Scored) []Scored {
	var sum, next []Scored
	for _, list := range lists {
		sum, next = addList(next[:0], sum, list, float32(IDF(d.Passages, len(list)))), sum
	}
	return sum
}

// addList merges list, multiplied by idf, into sum. The result is appended to out.
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

// Only restricts list to rows; both are ascending. Rows without a score get 0.
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

// Within filters list by spans. The result reuses list's memory.
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

// Best returns the k best of list, and those with the same score as the last of them, in list's order. Ties are kept
// since the caller orders them by ID; otherwise the results would depend on the order of rows. maxTies limits their
// number.
func Best(list []Scored, k int) []Scored {
	if len(list) <= k {
		return list
	}
	top := make([]float32, 0, k) // a min-heap
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

// sinkRoot restores a min-heap after its root was replaced.
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

// Hits converts the result of Best into at most k hits, best first, ties by passage ID. ids maps rows to passage
// IDs. Rows without an ID, as after a concurrent removal, and rows outside the spans are dropped. each is the score
// that corresponds to a share of 1.
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
