package corpus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
)

// ReadRunes is the size in runes of one part of a document that Read returns unless it is asked for another: some
// 2,000 words of English.
const ReadRunes = 12000

const (
	minReadRunes = 500
	maxReadRunes = 100000
	maxOutline   = 200
)

// Read returns a part of a document. It fails with chat.CodeConflict for a document that is not read in, in a sentence
// that says why, and with chat.CodeNotFound for a part behind the last.
func (l *Library) Read(ctx context.Context, s chat.Scope, r ReadRequest) (Reading, error) {
	if r.Part < 0 || r.MaxRunes < 0 {
		return Reading{}, invalidError("Reading pages are counted from 1.")
	}
	// A size out of range is taken as the nearest one, since a model may ask for anything.
	size := min(max(cmp.Or(r.MaxRunes, ReadRunes), minReadRunes), maxReadRunes)
	d, err := l.Find(ctx, s, r.Document)
	if err != nil {
		return Reading{}, err
	}
	passages, err := l.cfg.Documents.Passages(ctx, s, d.ID, 0, -1)
	if err != nil {
		return Reading{}, fmt.Errorf("read passages: %w", err)
	}
	if len(passages) == 0 {
		return Reading{Document: d}, notReady(d)
	}
	blocks, err := l.cfg.Documents.Blocks(ctx, s, d.ID)
	if err != nil {
		return Reading{}, fmt.Errorf("read blocks: %w", err)
	}
	reading := Reading{Document: d, Outline: listHeadings(blocks, passages)}
	order := passages
	if r.Focus != "" {
		// With a focus only what bears on it is read, cut into parts in the order of its worth; within a part the
		// text's order is kept.
		if order, err = l.focusPassages(ctx, s, d.ID, r.Focus, passages); err != nil {
			return Reading{}, err
		}
		if reading.Focused = len(order) > 0; !reading.Focused {
			order = passages
		}
	}
	pages := cutParts(order, size)
	reading.Part, reading.Parts = max(r.Part, 1), len(pages)
	if r.Holding != "" {
		// A passage that is not among them, as one of an older version, leads to the first part.
		reading.Part = 1 + max(0, slices.IndexFunc(pages, func(page []Passage) bool {
			return slices.ContainsFunc(page, func(p Passage) bool { return p.ID == r.Holding })
		}))
	}
	if reading.Part > reading.Parts {
		return Reading{}, &chat.Error{Code: chat.CodeNotFound,
			Message: fmt.Sprintf("“%s” has no part %d: its last one is %d.", d.Title, r.Part, reading.Parts)}
	}
	reading.Passages = slices.Clone(pages[reading.Part-1])
	// endPages writes the last page of each passage into the clone.
	if err := l.endPages(ctx, s, d.ID, blocks, reading.Passages); err != nil {
		return Reading{}, err
	}
	slices.SortFunc(reading.Passages, func(a, b Passage) int { return a.Ordinal - b.Ordinal })
	return reading, nil
}

// notReady says why a document has nothing to read.
func notReady(d Document) error {
	switch d.State {
	case StateFailed:
		detail := ""
		if d.Error != nil {
			detail = " " + d.Error.Detail
		}
		return &chat.Error{Code: chat.CodeConflict, Message: "“" + d.Title + "” could not be read in." + detail}
	case StateCancelled:
		return &chat.Error{
			Code:    chat.CodeConflict,
			Message: "“" + d.Title + "” was cancelled before it was read in. Try it again from the documents page.",
		}
	default:
		return &chat.Error{
			Code: chat.CodeConflict, Message: "“" + d.Title + "” is still being read in. Try again in a moment.",
		}
	}
}

// mostFocused is how many passages that bear on a question are read first.
const mostFocused = 50

// focusPassages returns the passages that bear on a question, best first, each followed by its neighbours. Neighbours
// are what a passage can't be understood without.
func (l *Library) focusPassages(
	ctx context.Context, s chat.Scope, id, question string, passages []Passage,
) ([]Passage, error) {
	found, err := l.Search(ctx, s, Query{Text: question, Limit: mostFocused, Documents: []string{id}})
	if err != nil {
		return nil, fmt.Errorf("focus: %w", err)
	}
	taken := make(map[int]bool)
	var out []Passage
	for _, r := range found.Results {
		at := r.Passage.Ordinal
		// The passage itself goes first, so that a part that is cut here has at least that one.
		for _, i := range []int{at, at - 1, at + 1} {
			if i >= 0 && i < len(passages) && !taken[i] {
				taken[i] = true
				out = append(out, passages[i])
			}
		}
	}
	return out, nil
}

// cutParts cuts passages into pages of at most size runes; a page has at least one passage. The order of the passages
// stays.
func cutParts(passages []Passage, size int) [][]Passage {
	var pages [][]Passage
	from, runes := 0, 0
	for i, p := range passages {
		n := p.End - p.Start
		// A passage longer than a part is a part by itself.
		if i > from && runes+n > size {
			pages = append(pages, passages[from:i])
			from, runes = i, 0
		}
		runes += n
	}
	return append(pages, passages[from:])
}

// listHeadings lists the headings, at most maxOutline: the deepest levels go first when there are more.
func listHeadings(blocks []Block, passages []Passage) []OutlineItem {
	deepest := 6
	// Level by level until they are few enough; if even those of level 1 are too many, the first maxOutline are named.
	for ; deepest > 1; deepest-- {
		n := 0
		for _, b := range blocks {
			if b.Kind == BlockHeading && b.Level <= deepest {
				n++
			}
		}
		if n <= maxOutline {
			break
		}
	}
	var out []OutlineItem
	for _, b := range blocks {
		if b.Kind == BlockHeading && b.Level <= deepest && len(out) < maxOutline {
			out = append(
				out, OutlineItem{Title: textAt(passages, b.Start, b.End), Level: b.Level, BlockID: b.ID, Page: b.Page},
			)
		}
	}
	return out
}

// textAt returns a range of a document's text from its passages, as far as one of them holds it.
func textAt(passages []Passage, start, end int) string {
	i := passageAt(passages, start)
	if i < 0 {
		return ""
	}
	p := passages[i]
	w := walker{text: p.Text}
	return w.sliceRunes(start-p.Start, min(end, p.Start+utf8.RuneCountInString(p.Text))-p.Start)
}

// passageAt returns the index of the passage that holds an offset, or -1.
func passageAt(passages []Passage, at int) int {
	i := sort.Search(len(passages), func(i int) bool { return passages[i].End > at })
	if i == len(passages) || passages[i].Start > at {
		return -1
	}
	return i
}
