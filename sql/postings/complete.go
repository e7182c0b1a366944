package postings

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/footnote/footnote/chat"
)

// maxCompleted is the maximum number of pages of a segment that are read for the terms with a prefix. A page has
// some hundred terms; later ones are ignored.
const maxCompleted = 64

// Completions returns terms with a prefix; see corpus.Lexical. The counts are those of the segments: they include
// hidden and removed passages, and the terms those of the user's other namespaces. They are only suggestions; the
// search for them is exact.
func (x *Index) Completions(ctx context.Context, s chat.Scope, prefix string, k int) (terms []string, err error) {
	if prefix = Fold(prefix); prefix == "" || k <= 0 {
		return nil, nil
	}
	s = x.store.Scope(s)
	err = x.readConsistently(ctx, s.User, func(r *reading) error {
		counts := make(map[string]int)
		for _, segment := range r.segments {
			if err := r.countCompletions(ctx, segment.Number, []byte(prefix), counts); err != nil {
				return err
			}
		}
		terms = mostFrequent(counts, k)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("completions of a term: %w", err)
	}
	return terms, nil
}

// countCompletions adds to counts the document frequency of a segment's terms with a prefix. It starts with the page
// that would contain the prefix, as the first such terms may be in the middle of a page. It stops at a key without
// the prefix, or after maxCompleted pages.
func (r *reading) countCompletions(ctx context.Context, segment int64, prefix []byte, counts map[string]int) error {
	last := append(bytes.Clone(prefix), 0xff) // no term contains this byte
	var first []Page
	err := r.index.store.Find(ctx, []Place{{segment, string(prefix)}}, func(_ int, p Page) error {
		first = []Page{p}
		return nil
	})
	if err != nil {
		return err
	}
	if len(first) == 0 {
		return errMoved
	}
	from := append(bytes.Clone(prefix), 0) // a page whose key is the prefix is the first one
	pages := first
	for read := 0; len(pages) > 0 && read < maxCompleted; read += len(pages) {
		for _, p := range pages {
			if err := countPage(p, prefix, counts); err != nil {
				return err
			}
			if bytes.Compare(p.Key, from) >= 0 {
				from = nextTermKey(p)
			}
		}
		if pages, err = r.index.store.Pages(ctx, segment, from, last, maxCompleted/8); err != nil {
			return err
		}
	}
	return nil
}

// nextTermKey returns the smallest key after a page, and after all blocks of its list if it is one. So one query
// skips the blocks of a frequent term, which may be hundreds.
func nextTermKey(p Page) []byte {
	if end := bytes.IndexByte(p.Key, 0); end >= 0 {
		return append(bytes.Clone(p.Key[:end]), 1)
	}
	return append(bytes.Clone(p.Key), 0)
}

// countPage counts the terms of one page with a prefix.
func countPage(p Page, prefix []byte, counts map[string]int) error {
	if len(p.Key) == 0 || p.isBlock() {
		return nil
	}
	page, err := readEntries(p)
	if err != nil {
		return err
	}
	var e entry
	for {
		ok, err := page.nextEntry(&e)
		if !ok || err != nil {
			return err
		}
		if bytes.HasPrefix(e.term, prefix) {
			counts[string(e.term)] += e.count
		}
	}
}

// mostFrequent returns the k terms with the highest counts, ties in alphabetical order.
func mostFrequent(counts map[string]int, k int) []string {
	terms := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return terms[:min(k, len(terms))]
}
