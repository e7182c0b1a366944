// Package postings is the inverted index of both databases, ranked by package bm25: for each term the passages that
// contain it. A database stores it as opaque rows of bytes behind the port Store.
//
// The index is a log-structured merge-tree (O'Neil et al., "The Log-Structured Merge-Tree", 1996). A segment is a
// sorted run of terms over some documents of one owner. Each document starts as a separate segment, Compact merges
// segments of similar size, and removed passages stay in their segment until it is merged. A search reads one page
// for each term and segment of its own user only.
//
// A segment is a sequence of pages, ordered by key:
//
//	key ""           the rows of the segment: pairs of numbers, how many rows are left out and how many there are
//	key term         from this term on: the segment's first row, then entries
//	key term 0 n     the n-th block of a long list, n in four bytes, big-endian: the segment's first row, then a list
//
// An entry is the term, unless it is the page's first, and its postings. The term is encoded as one byte and its
// suffix. The byte's high half is the length of the prefix shared with the previous term, and its low half the
// length of the suffix. 15 means that a number follows that is added to it. The postings begin with a number whose
// two lowest bits define the format:
//
//	row·4            one passage, which holds the term once, in its body
//	row·4 + 1        one passage; a number follows: weight·2, and 1 more if it is in the body
//	n·8 + b·4 + 2    n passages, b is 1 if one has the term in its body; the length of a list in bytes and the list
//	                 follow
//	n·8 + b·4 + 3    n passages, whose lists are in blocks; it is the last entry of its page
//
// A list has for each passage 2·d, d rows after the previous one, or 2·d + 1 and its weight if that is not 1. Rows
// are relative to the segment's first. All numbers are unsigned varints of encoding/binary. A term's weight in a
// passage is its frequency, with bm25.TitleWeight for each occurrence in the title.
//
// build.go builds the segment of one document, page_write.go and page.go encode and decode pages, merge.go merges
// segments, compact.go schedules merges. Searches start in index.go: directory.go caches a user's visible rows,
// reading.go reads a term's passages, phrase.go checks phrases on the text, similar.go and complete.go find similar
// terms. rebuild.go builds the index of a database from before it existed. Pages may be corrupt, so all decoded
// values are validated: an invalid page returns errBadPage and never panics.
package postings

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/bm25"
)

// A Page is a row of the index. It is immutable, as caches share it.
type Page struct{ Key, Body []byte }

// isBlock reports whether the page is a block of a long list: terms contain no zero byte.
func (p Page) isBlock() bool { return bytes.IndexByte(p.Key, 0) >= 0 }

// A Segment is a part of the index that is visible as a whole or not at all. The database never reuses its number.
type Segment struct {
	Number   int64
	Owner    string
	Changed  int64 // the newest change of visible content in it, as counted by State
	Passages int   // including removed ones
}

// A Place is a lookup of a term in a segment.
type Place struct {
	Segment int64
	Term    string
}

// RowRange is a range of Count rows starting at First.
type RowRange struct{ First, Count uint32 }

// Text is the text of a passage that is analysed into terms.
type Text struct {
	Row                            uint32
	Title, Language, Section, Text string
}

// Store is the port that a database implements. It is safe for concurrent use. Pages of Put are invisible until
// Replace or, for a document, the transaction that publishes it. There are no locks: readers of a segment that was
// merged meanwhile get errMoved and retry.
type Store interface {
	// Scope returns a scope with names as the database stores them.
	Scope(s chat.Scope) chat.Scope
	// State returns two counters: of changes to visible content, and of permanent removals.
	State(ctx context.Context) (changes, removals int64, err error)
	// Spans returns the content changed after the given change, each as one span with its number. A span of
	// invisible content has no lengths.
	Spans(ctx context.Context, after int64) ([]bm25.Span, error)
	// Contents returns the rows from first to last of all existing content, visible or not, in ascending order.
	Contents(ctx context.Context, first, last uint32) ([]RowRange, error)
	// PassageIDs returns the IDs of passages by row.
	PassageIDs(ctx context.Context, rows []uint32) (map[uint32]string, error)
	// Texts returns the texts of passages, in any order, without deleted ones.
	Texts(ctx context.Context, rows []uint32) ([]Text, error)

	// Owners returns the owners of segments.
	Owners(ctx context.Context) ([]string, error)
	// Segments returns the owner's visible segments.
	Segments(ctx context.Context, owner string) ([]Segment, error)
	// Find returns for each place, by its index, the segment's last page with a key up to the term. Every segment
	// has a page before all terms; a replaced segment has no result.
	Find(ctx context.Context, places []Place, each func(place int, p Page) error) error
	// Pages returns pages of a segment in order, those with from <= key < before, at most limit.
	Pages(ctx context.Context, segment int64, from, before []byte, limit int) ([]Page, error)

	// Begin creates an invisible segment.
	Begin(ctx context.Context, owner string) (segment int64, err error)
	// Put adds pages to it.
	Put(ctx context.Context, segment int64, pages []Page) error
	// Replace makes a segment visible and the old ones invisible, in one transaction. ok is false without changes
	// unless all the old ones still exist.
	Replace(ctx context.Context, s Segment, old []int64) (ok bool, err error)
	// Drop deletes an invisible segment in batches of pages. It is repeatable.
	Drop(ctx context.Context, segment int64) error
	// Unfinished returns invisible segments that a crashed process left behind.
	Unfinished(ctx context.Context) ([]int64, error)
}

// errBadPage is returned for a page that no Builder or merge encoded. Rebuilding the index repairs it.
var errBadPage = errors.New("the keyword index is corrupt")

// maxTerm is the maximum length of an indexed term in bytes, as keys of rows must be short. lastKey below is one
// byte longer than any term.
const maxTerm = 512

// lastKey is greater than all keys.
var lastKey = bytes.Repeat([]byte{0xff}, maxTerm+1)

// Fold normalises a term for the index: it lowercases ASCII letters only. The analysers in text fold other scripts.
// It returns "" for a term that is not indexed: one with white space or control characters, or one that is too long.
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
