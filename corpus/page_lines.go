package corpus

import (
	"context"

	"footnote/chat"
)

// Line is a run of words that stand side by side on a page.
type Line struct {
	Start, End int // rune offsets in the document's text
	Box        chat.Box
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
	var out []Line
	for _, w := range words {
		if n := len(out); n > 0 && continuesLine(out[n-1].Box, w.Box) {
			last := &out[n-1]
			last.End = max(last.End, w.End)
			last.Box = enclosingBox(last.Box, w.Box)
			continue
		}
		out = append(out, Line{w.Start, w.End, w.Box})
	}
	return out, nil
}

// enclosingBox is the box that holds two boxes of one page.
func enclosingBox(a, b chat.Box) chat.Box {
	return chat.Box{a[0], min(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3]), max(a[4], b[4])}
}
