// Package postings is the index of words of both databases: for each term the passages that hold it, ranked by package
// bm25. A database keeps it as rows of bytes behind the port Store, and knows nothing of their contents.
//
// The index is a log-structured merge-tree (O'Neil et al., "The Log-Structured Merge-Tree", 1996). A segment is a
// sorted run of terms over some documents of one owner: each document comes in as a segment of its own, Compact merges
// segments of about one size, and what was removed stays in its segment until it is merged. A search reads one page for
// each term and segment of its own user, and never another user's.
//
// A segment is a sequence of pages, ordered by key:
//
//	key ""           the rows of the segment: pairs of numbers, how many rows are left out and how many there are
//	key term         from this term on: the segment's first row, then entries
//	key term 0 n     the n-th block of a long list, n in four bytes, big-endian: the segment's first row, then a list
//
// An entry is the term, unless it is the page's first, and what holds it. The term is written as one byte, with in its
// high half the number of bytes shared with the term before and in its low half that of the bytes that follow (15: a
// number follows that is added to it), and then the bytes that follow. What holds it begins with a number whose two
// lowest bits say what comes next:
//
//	row·4            one passage, which holds the term once, in its body
//	row·4 + 1        one passage; a number follows: weight·2, and 1 more if it is in the body
//	n·8 + b·4 + 2    n passages, b is 1 if one has the term in its body; the length of a list in bytes and the list
//	                 follow
//	n·8 + b·4 + 3    n passages, whose lists are in blocks; it is the last entry of its page
//
// A list has for each passage 2·d, d rows on from the one before, or 2·d + 1 and its weight if that is not 1. Rows are
// counted from the segment's first. All numbers are unsigned varints of encoding/binary. A term's weight in a passage
// is how often it occurs, bm25.TitleWeight for each time in the title.
//
// build.go makes the pages of one document, page_write.go and page.go write and read them, merge.go goes through
// several segments at once, compact.go decides which. The reading side begins in index.go: directory.go says which rows
// a user sees, reading.go finds a term's passages, phrase.go checks words in a row on the text, similar.go and
// complete.go find terms that look alike. rebuild.go makes the index of a database that was written before there was
// one. Pages come from a database that may be damaged: whatever is read of them is checked, and errBadPage is the only
// result of a bad one, never a panic.
package postings

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/bm25"
)

// A Page is a row of the index. It never changes. Neither key nor body may be changed by whoever reads one: caches
// share them.
type Page struct{ Key, Body []byte }

// isBlock reports whether the page is a block of a long list, not one of terms: no term holds a zero byte.
func (p Page) isBlock() bool { return bytes.IndexByte(p.Key, 0) >= 0 }

// A Segment is a part of the index that readers see as a whole or not at all. Numbers are given out by the database and
// never used again.
type Segment struct {
	Number   int64
	Owner    string
	Changed  int64 // the newest change of visible content, as State counts it, that it holds
	Passages int   // those removed since included
}

// A Place is where a term is looked for.
type Place struct {
	Segment int64
	Term    string
}

// RowRange is a run of rows. It holds First and the Count - 1 rows behind it.
type RowRange struct{ First, Count uint32 }

// Text is what a passage's terms are made from.
type Text struct {
	Row                            uint32
	Title, Language, Section, Text string
}

// Store is what a database implements. It is safe for concurrent use. What Put writes is invisible until Replace or,
// for a document, the transaction that shows it. Nothing here locks: readers that meet a segment which was merged away
// get errMoved and start over.
type Store interface {
	// Scope returns a scope with names as the database has them.
	Scope(s chat.Scope) chat.Scope
	// State returns two counters: of changes to what is visible, and of removals for good.
	State(ctx context.Context) (changes, removals int64, err error)
	// Spans returns the content that changed after the given change, each as one span under its number. A span of
	// content that is not visible has no lengths.
	Spans(ctx context.Context, after int64) ([]bm25.Span, error)
	// Contents returns the rows from first to last of all content that is not removed for good, visible or not,
	// ascending.
	Contents(ctx context.Context, first, last uint32) ([]RowRange, error)
	// PassageIDs returns the ids of passages.
	PassageIDs(ctx context.Context, rows []uint32) (map[uint32]string, error)
	// Texts returns the texts of passages, in any order; those that are gone are left out.
	Texts(ctx context.Context, rows []uint32) ([]Text, error)

	// Owners returns whom there are segments of.
	Owners(ctx context.Context) ([]string, error)
	// Segments returns the owner's segments.
	Segments(ctx context.Context, owner string) ([]Segment, error)
	// Find gives for each place, by its number, the segment's last page that does not come after the term. Every
	// segment has a page before all terms; there is none of a segment that was replaced.
	Find(ctx context.Context, places []Place, each func(place int, p Page) error) error
	// Pages returns pages of a segment in order, those with from <= key < before, at most limit.
	Pages(ctx context.Context, segment int64, from, before []byte, limit int) ([]Page, error)

	// Begin makes a segment that nobody sees.
	Begin(ctx context.Context, owner string) (segment int64, err error)
	// Put adds pages to it.
	Put(ctx context.Context, segment int64, pages []Page) error
	// Replace shows a segment and hides the old ones, all at once. ok is false, and nothing is done, unless all the
	// old ones are still there.
	Replace(ctx context.Context, s Segment, old []int64) (ok bool, err error)
	// Drop removes a segment that nobody sees, page by page: it may be repeated.
	Drop(ctx context.Context, segment int64) error
	// Unfinished returns segments that nobody sees and nobody works on: a crash left them behind.
	Unfinished(ctx context.Context) ([]int64, error)
}

// errBadPage says that bytes of the index can't be what a Builder or a merge wrote. Rebuilding the index mends it.
var errBadPage = errors.New("the index of words holds something that can't be read")

// maxTerm is the length of a term in bytes beyond which it is in no index: keys of rows must be short. Analysed terms
// are. lastKey below is one byte longer than any term.
const maxTerm = 512

// lastKey comes after all keys.
var lastKey = bytes.Repeat([]byte{0xff}, maxTerm+1)

// Fold is what the index makes of a term: it folds ASCII capitals and nothing else. A term that holds white space or
// controls, or is too long, is in no index: "". Bytes above 0x7f stay as they are; the analysers in text fold
// those of other scripts.
func Fold(term string) string {
	plain := true
	for i := range len(term) {
		switch c := term[i]; {
		case c <= ' ' || c == 0x7f:
			return ""
		case 'A' <= c && c <= 'Z':
			plain = false
		}
	}
	if len(term) > maxTerm {
		return ""
	}
	if plain {
		return term
	}
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, term)
}
