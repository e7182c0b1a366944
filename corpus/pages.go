package corpus

import (
	"context"

	"footnote/chat"
)

// Boxes returns the rectangles of [start, end) on the pages of a PDF, one for each line, none for other formats.
func (l *Library) Boxes(ctx context.Context, s chat.Scope, id string, start, end int) ([]chat.Box, error) {
	if start < 0 || end <= start {
		return nil, nil
	}
	words, err := l.cfg.Documents.Words(ctx, s, id, start, end)
	if err != nil {
		return nil, err
	}
	return lineBoxes(words), nil
}

// lineBoxes joins the boxes of words that stand side by side.
func lineBoxes(words []WordBox) []chat.Box {
	var out []chat.Box
	for _, w := range words {
		if n := len(out); n > 0 && continuesLine(out[n-1], w.Box) {
			b := &out[n-1]
			b[1], b[2] = min(b[1], w.Box[1]), min(b[2], w.Box[2])
			b[3], b[4] = max(b[3], w.Box[3]), max(b[4], w.Box[4])
			continue
		}
		out = append(out, w.Box)
	}
	return out
}

// continuesLine reports whether a word goes on with a line: on the same page, at the same height for the most part, to
// its right, and not far from it, as the next column would be.
func continuesLine(line, word chat.Box) bool {
	if line[0] != word[0] {
		return false
	}
	height := min(line[4]-line[2], word[4]-word[2])
	overlap := min(line[4], word[4]) - max(line[2], word[2])
	if overlap < height/2 || word[1] < line[1]-0.002 {
		return false
	}
	return word[1]-line[3] < 4*max(line[4]-line[2], word[4]-word[2])
}

// ExpectPage says that somebody will probably look at a page of a PDF soon: its image then comes without the start of
// what draws it.
func (l *Library) ExpectPage() { l.cfg.Renderer.Expect() }

// expectPages gets ready for the first page after a start, if there is a document with pages at all.
func (l *Library) expectPages(ctx context.Context) error {
	for _, mime := range l.cfg.Formats.Paged() {
		found, _, err := l.cfg.Documents.List(ctx, chat.Scope{}, Filter{Everyone: true, MIME: mime, Limit: 1})
		if err != nil {
			return err
		}
		if len(found) > 0 {
			l.ExpectPage()
			break
		}
	}
	return nil
}
