package corpus

import (
	"context"

	"github.com/footnote/footnote/chat"
)

// Line is a run of words that stand side by side on a page.
type Line struct {
	Start, End int // rune offsets in the document's text
	Box        chat.Box
	Turn       int // quarter turns clockwise of its text on the page as it is drawn
}

// Lines returns the lines of [start, end), rune offsets in the text of a PDF, in the order of the text; none for
// other formats.
func (l *Library) Lines(ctx context.Context, s chat.Scope, id string, start, end int) ([]Line, error) {
	if start < 0 || end <= start {
		return nil, nil
	}
	words, err := l.cfg.Documents.Words(ctx, s, id, start, end)
	if err != nil {
		return nil, err
	}
	return joinLines(words), nil
}

// joinLines joins words that stand side by side.
func joinLines(words []WordBox) (out []Line) {
	for _, w := range words {
		if n := len(out); n > 0 && out[n-1].continuesIn(w) {
			last := &out[n-1]
			last.End, last.Box = max(last.End, w.End), enclosingBox(last.Box, w.Box)
			continue
		}
		out = append(out, Line{w.Start, w.End, w.Box, w.Turn})
	}
	return out
}

// continuesIn reports whether a word goes on with a line: turned the same way on the same page, and as one reads it at
// the same height for the most part, to its right, and not far from it, as the next column would be. "Not far" is four
// times the height of the letters.
func (l *Line) continuesIn(w WordBox) bool {
	if l.Box[0] != w.Box[0] || l.Turn != w.Turn {
		return false
	}
	line, word := uprightBox(l.Box, l.Turn), uprightBox(w.Box, w.Turn)
	height := min(line[4]-line[2], word[4]-word[2])
	overlap := min(line[4], word[4]) - max(line[2], word[2])
	if overlap < height/2 || word[1] < line[1]-0.002 {
		return false
	}
	return word[1]-line[3] < 4*max(line[4]-line[2], word[4]-word[2])
}

// uprightBox is a box of a page that is turned back by so many quarters. Coordinates are shares of the page, so that a
// quarter turn swaps them and counts one from the other end.
func uprightBox(b chat.Box, quarters int) chat.Box {
	for range quarters & 3 {
		b = chat.Box{b[0], b[2], 1 - b[3], b[4], 1 - b[1]}
	}
	return b
}

// enclosingBox is the box that holds two boxes of one page.
func enclosingBox(a, b chat.Box) chat.Box {
	return chat.Box{a[0], min(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3]), max(a[4], b[4])}
}
