package corpus

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"footnote/chat"
)

const (
	minWidth   = 100 // pixels of a page image
	maxWidth   = 4000
	imageBytes = 64 << 20 // of page images kept in memory
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

// PageImage returns page n of a PDF as PNG of the given width in pixels, from a cache when it was drawn before.
func (l *Library) PageImage(ctx context.Context, s chat.Scope, id string, n, width int) ([]byte, error) {
	d, err := l.cfg.Documents.Get(ctx, s, id)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > d.Pages {
		return nil, &chat.Error{
			Code: chat.CodeNotFound, Message: fmt.Sprintf("“%s” has no page %d to show.", d.Title, n),
		}
	}
	if width < minWidth || width > maxWidth {
		return nil, invalidError(fmt.Sprintf("A page image is %d to %d pixels wide.", minWidth, maxWidth))
	}
	key := imageKey{d.SHA256, n, width}
	if png, ok := l.images.getImage(key); ok {
		return png, nil
	}
	file, release, err := l.onDisk(ctx, d)
	if err != nil {
		return nil, err
	}
	defer release()
	png, err := l.cfg.Renderer.Render(ctx, file, n, width)
	if err != nil {
		return nil, fmt.Errorf("draw page %d: %w", n, err)
	}
	l.images.putImage(key, png)
	return png, nil
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

type imageKey struct {
	sha256      string
	page, width int
}

// images keeps the page images used last, at most imageBytes of them. It is safe for concurrent use.
type images struct {
	mu    sync.Mutex
	bytes int
	used  *simplelru.LRU[imageKey, []byte]
}

func newImages() *images {
	c := &images{}
	// fails only for sizes below 1
	c.used, _ = simplelru.NewLRU(math.MaxInt32, func(_ imageKey, png []byte) { c.bytes -= len(png) })
	return c
}

func (c *images) getImage(key imageKey) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used.Get(key)
}

func (c *images) putImage(key imageKey, png []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(png) > imageBytes/4 || c.used.Contains(key) { // it may have been drawn twice at once
		return
	}
	c.used.Add(key, png)
	for c.bytes += len(png); c.bytes > imageBytes; {
		c.used.RemoveOldest()
	}
}
