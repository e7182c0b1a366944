package corpus

import (
	"context"

	"github.com/footnote/footnote/chat"
)

// Boxes returns the rectangles of [start, end) on the pages of a PDF, one for each line, none for other formats.
func (l *Library) Boxes(ctx context.Context, s chat.Scope, id string, start, end int) ([]chat.Box, error) {
	lines, err := l.Lines(ctx, s, id, start, end)
	return BoxesOf(lines), err
}

// BoxesOf returns the rectangles of lines.
func BoxesOf(lines []Line) (boxes []chat.Box) {
	for _, line := range lines {
		boxes = append(boxes, line.Box)
	}
	return boxes
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
