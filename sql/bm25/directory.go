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
