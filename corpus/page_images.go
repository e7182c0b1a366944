package corpus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/fair"
)

const (
	minWidth   = 100 // pixels of a page image
	maxWidth   = 4000
	imageBytes = 64 << 20 // of page images kept in memory
	maxRefused = 10_000   // pages that could not be drawn, kept in memory

	// How long a page that could not be drawn is not tried again: one that is to blame itself, and any other.
	restUndrawable = 15 * time.Minute
	restOther      = time.Minute
)

// PageImage returns page n of a PDF, a picture, or an Office file that is drawn, as PNG of the given width in pixels,
// from a cache when it was drawn before. A page that can't be drawn fails with chat.CodeUndrawable; for a while it then
// fails at once, at widths above half of the one that was tried. Each user has one page drawn at a time. The order
// keeps repeated requests cheap: the cache is asked before and after waiting for the user's turn.
func (l *Library) PageImage(ctx context.Context, s chat.Scope, id string, n, width int) ([]byte, error) {
	d, err := l.cfg.Documents.Get(ctx, s, id)
	if err != nil {
		return nil, err
	}
	pages, pdf := d.Pages, ""
	if l.DrawsOffice(d) {
		drawn, err := l.drawnOf(ctx, s, d)
		if err != nil {
			return nil, err
		}
		pages, pdf = len(drawn.Sizes), drawn.file
	} else if !slices.Contains(l.cfg.Formats.Paged(), d.MIME) { // slides have numbers, and no pictures
		pages = 0
	}
	if n < 1 || n > pages {
		return nil, &chat.Error{
			Code: chat.CodeNotFound, Message: fmt.Sprintf("“%s” has no page %d to show.", d.Title, n),
		}
	}
	if width < minWidth || width > maxWidth {
		return nil, invalidError(fmt.Sprintf("A page image is %d to %d pixels wide.", minWidth, maxWidth))
	}
	key := imageKey{keyOf(d, n), width}
	if png, err := l.images.getImage(key); png != nil || err != nil {
		return png, err
	}
	if err := l.images.slots.Enter(ctx, d.User); err != nil {
		return nil, err
	}
	defer l.images.slots.Leave(d.User)
	if png, err := l.images.getImage(key); png != nil || err != nil { // it may have been drawn meanwhile
		return png, err
	}
	png, err := l.draw(ctx, d, pdf, n, width)
	if err != nil {
		err = fmt.Errorf("draw page %d: %w", n, err)
	}
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		l.images.putImage(key, png, err)
	}
	return png, err
}

// draw draws a page of a document, or of the PDF that was made of it, if there is one.
func (l *Library) draw(ctx context.Context, d Document, pdf string, n, width int) ([]byte, error) {
	if pdf != "" {
		return l.cfg.Renderer.Render(ctx, printedFile(pdf), n, width)
	}
	file, release, err := l.onDisk(ctx, d)
	if err != nil {
		return nil, err
	}
	defer release()
	file.Turn = d.TurnOf(n)
	return l.cfg.Renderer.Render(ctx, file, n, width)
}

// Undrawable returns why page n of a document is not drawn so wide, in a sentence, if it was tried lately; else
// nothing.
func (l *Library) Undrawable(d Document, n, width int) string {
	_, err := l.images.getImage(imageKey{keyOf(d, n), width})
	if failure, ok := errors.AsType[*chat.Error](err); ok && failure.Code == chat.CodeUndrawable {
		return failure.Message
	}
	return ""
}

// pageKey is a page of certain bytes, whichever document has them, turned by some quarters.
type pageKey struct {
	sha256 string
	page   int
	turn   int
}

// keyOf is the key of a document's page n.
func keyOf(d Document, n int) pageKey { return pageKey{d.SHA256, n, d.TurnOf(n)} }

// imageKey is a drawn page: of these bytes, at a width in pixels.
type imageKey struct {
	pageKey
	width int
}

// refusal is why a page was not drawn. Narrower pictures take less memory and time: those of at most half the width are
// tried all the same. It is remembered because a page that takes ten seconds to fail would be tried with each scroll.
type refusal struct {
	err   error
	width int
	until time.Time
}

// images keeps the page images used last, at most imageBytes of them, and the pages that could not be drawn. It is
// safe for concurrent use.
type images struct {
	mu      sync.Mutex
	bytes   int
	used    *simplelru.LRU[imageKey, []byte]
	refused *simplelru.LRU[pageKey, refusal]
	slots   *fair.Slots // one of each user, so that the workers behind it never hold two requests of one
}

// newImages is an empty cache. It is bounded by bytes (imageBytes), not by the number of images.
func newImages() *images {
	c := &images{slots: fair.NewSlots(math.MaxInt, 1)}
	// both fail only for sizes below 1
	c.used, _ = simplelru.NewLRU(math.MaxInt32, func(_ imageKey, png []byte) { c.bytes -= len(png) })
	c.refused, _ = simplelru.NewLRU[pageKey, refusal](maxRefused, nil)
	return c
}

// getImage returns a drawn page that is kept, and marks it as used; or why the page was not drawn, while that is kept.
// Both are nil for a page that nobody has asked for lately.
func (c *images) getImage(key imageKey) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if png, ok := c.used.Get(key); ok {
		return png, nil
	}
	r, ok := c.refused.Get(key.pageKey)
	if ok && key.width > r.width/2 && time.Now().Before(r.until) {
		return nil, r.err
	}
	return nil, nil
}

// putImage keeps a drawn page in the place of those used longest ago. One larger than a quarter of the room is not
// kept.
func (c *images) putImage(key imageKey, png []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		rest := restOther
		if chat.CodeOf(err) == chat.CodeUndrawable {
			rest = restUndrawable
		}
		c.refused.Add(key.pageKey, refusal{err, key.width, time.Now().Add(rest)})
		return
	}
	if len(png) > imageBytes/4 || c.used.Contains(key) { // another user may have had it drawn at once
		return
	}
	c.used.Add(key, png)
	for c.bytes += len(png); c.bytes > imageBytes; {
		c.used.RemoveOldest()
	}
}
