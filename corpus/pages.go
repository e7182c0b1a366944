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
	var out []chat.Box
	for _, line := range joinLines(words) {
		out = append(out, line.Box)
	}
	return out, nil
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
