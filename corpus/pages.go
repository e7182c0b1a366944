package corpus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/align"
	"github.com/footnote/footnote/corpus/fair"
	"github.com/footnote/footnote/text/locale"
)

// Boxes returns the rectangles of [start, end) on the pages of a PDF, one for each line; none for other formats.
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

// ExpectPage hints that a page of a PDF will be requested soon, so that the renderer starts now.
func (l *Library) ExpectPage() { l.cfg.Renderer.Expect() }

// expectPages warms up the renderer after a start, if any document has pages.
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

const (
	minWidth   = 100 // pixels of a page image
	maxWidth   = 4000
	imageBytes = 64 << 20 // cache of page images in memory
	maxRefused = 10_000   // cached failures of pages

	// How long a failed page is not retried: undrawable ones, and any other error.
	restUndrawable = 15 * time.Minute
	restOther      = time.Minute
)

// PageImage returns page n of a PDF, a picture or a converted Office file as PNG, width pixels wide. Images are
// cached. It returns chat.CodeUndrawable for a page that can't be rendered; the failure is cached for a while for
// widths above half of the failed one. Each user has one page rendered at a time. The cache is checked before and
// after waiting for the user's slot, so that repeated requests are cheap.
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
	} else if !slices.Contains(l.cfg.Formats.Paged(), d.MIME) { // slides have page numbers, but no page images
		pages = 0
	}
	if n < 1 || n > pages {
		return nil, &chat.Error{
			Code: chat.CodeNotFound, Message: locale.Say("“{1}” has no image of page {2}.", d.Title, n),
		}
	}
	if width < minWidth || width > maxWidth {
		return nil, invalidError(fmt.Sprintf("A page image is %d to %d pixels wide.", minWidth, maxWidth))
	}
	key := imageKey{keyOf(d, n), width}
	if png, err := l.images.getImage(key); png != nil || err != nil {
		return png, err
	}
	if err := l.images.slots.Acquire(ctx, d.User); err != nil {
		return nil, err
	}
	defer l.images.slots.Release(d.User)
	if png, err := l.images.getImage(key); png != nil || err != nil { // rendered by a concurrent request
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

// draw renders a page of a document, or of the PDF converted from it if pdf is set.
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

// Undrawable returns the cached error message if page n of a document can't be rendered at this width, or "".
func (l *Library) Undrawable(d Document, n, width int) locale.Message {
	_, err := l.images.getImage(imageKey{keyOf(d, n), width})
	if failure, ok := errors.AsType[*chat.Error](err); ok && failure.Code == chat.CodeUndrawable {
		return failure.Message
	}
	return ""
}

// pageKey identifies a page by the content hash of its file and its rotation. Documents with the same bytes share
// it.
type pageKey struct {
	sha256 string
	page   int
	turn   int
}

// keyOf returns the key of a document's page n.
func keyOf(d Document, n int) pageKey { return pageKey{d.SHA256, n, d.TurnOf(n)} }

// imageKey identifies a page image of a width in pixels.
type imageKey struct {
	pageKey
	width int
}

// refusal is a cached rendering error. Images of at most half the width are tried all the same, as they take less
// memory and time. Without the cache, a page that fails after ten seconds would be retried with each scroll.
type refusal struct {
	err   error
	width int
	until time.Time
}

// images is an LRU cache of page images, at most imageBytes, and of rendering errors. It is safe for concurrent
// use.
type images struct {
	mu      sync.Mutex
	bytes   int
	used    *simplelru.LRU[imageKey, []byte]
	refused *simplelru.LRU[pageKey, refusal]
	slots   *fair.Slots // one per user, so that the renderer never holds two requests of one user
}

// newImages returns an empty cache. It is bounded by imageBytes, not by the number of images.
func newImages() *images {
	c := &images{slots: fair.NewSlots(math.MaxInt, 1)}
	// both fail only for sizes below 1
	c.used, _ = simplelru.NewLRU(math.MaxInt32, func(_ imageKey, png []byte) { c.bytes -= len(png) })
	c.refused, _ = simplelru.NewLRU[pageKey, refusal](maxRefused, nil)
	return c
}

// getImage returns the cached image of a page and marks it as used, or the cached error. Both are nil on a cache
// miss.
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

// putImage caches a page image or an error and evicts the least recently used images. It skips images larger than a
// quarter of imageBytes.
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
	if len(png) > imageBytes/4 || c.used.Contains(key) { // another user may have rendered it concurrently
		return
	}
	c.used.Add(key, png)
	for c.bytes += len(png); c.bytes > imageBytes; {
		c.used.RemoveOldest()
	}
}

// Line is a run of adjacent words on a page.
type Line struct {
	Start, End int // rune offsets in the document's text
	Box        chat.Box
	Turn       int // clockwise quarter turns of its text on the rendered page
}

// Lines returns the lines of the rune offsets [start, end) in the text of a PDF, in text order; none for other
// formats.
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

// joinLines joins adjacent words to lines.
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

// continuesIn reports whether a word continues the line. It must have the same page and rotation, be mostly at the
// same height, and to the right of the line. The gap must be less than four times the letter height, which excludes
// the next column.
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

// uprightBox returns a box of a page rotated back by the given quarter turns. Coordinates are fractions of the
// page, so a quarter turn swaps the axes and mirrors one of them.
func uprightBox(b chat.Box, quarters int) chat.Box {
	for range quarters & 3 {
		b = chat.Box{b[0], b[2], 1 - b[3], b[4], 1 - b[1]}
	}
	return b
}

// enclosingBox returns the smallest box around two boxes of one page.
func enclosingBox(a, b chat.Box) chat.Box {
	return chat.Box{a[0], min(a[1], b[1]), min(a[2], b[2]), max(a[3], b[3]), max(a[4], b[4])}
}

// A drawing holds the words of a document and its PDF, so only a few are cached; rebuilding one takes seconds.
const (
	maxDrawings  = 1000     // documents with a cached drawing or failure
	drawingBytes = 64 << 20 // memory of all drawings together
	drawPatience = 15 * time.Second
	maxDrawn     = 2000    // pages of a drawing
	maxAligned   = 300_000 // words of a text; aligning them takes a second and some 200 MiB of temporary memory
)

var undrawnOffice = &chat.Error{Code: chat.CodeUndrawable,
	Message: "This file's pages contain no text, so the extracted text is shown."}

var overdrawn = &chat.Error{Code: chat.CodeUndrawable,
	Message: "This file has too many pages to render. Its text is shown, and the original can be downloaded."}

var stillDrawing = &chat.Error{Code: chat.CodeUndrawable,
	Message: "This file's pages are still being rendered. Its text is shown until then. Check again in a moment."}

// Drawn is the rendition of a document as a PDF: its pages and their text. It is immutable. Its text differs from
// the document's, which was extracted from the file's own structure. Place locates a citation by finding its words
// in the rendered text.
type Drawn struct {
	Text   string
	Blocks []Block
	Sizes  [][2]float64 // of each page in points

	file  string // path of the PDF
	boxes []WordBox
	own   []align.Word  // of the document's text
	words []align.Word  // of Text
	at    []align.Range // range in words of each word of own; empty: no certain match
}

// Place maps [start, end) of the document's text to ranges of the rendered text. It includes only words with a
// certain match, and returns none if fewer than half of the words have one: a guess would highlight words that were
// not cited.
func (d *Drawn) Place(start, end int) (pieces [][2]int) {
	// Words are sorted by offset, so a binary search finds the first that ends after start.
	first := sort.Search(len(d.own), func(i int) bool { return d.own[i].End > start })
	all, placed := 0, 0
	var at []int // among words
	for i := first; i < len(d.own) && d.own[i].Start < end; i++ {
		all++
		if d.at[i].To > d.at[i].From {
			placed++
		}
		for j := d.at[i].From; j < d.at[i].To; j++ {
			at = append(at, j)
		}
	}
	if placed == 0 || 2*placed < all {
		return nil
	}
	// Two words of the text may match the same word of the PDF, which counts once.
	slices.Sort(at)
	at = slices.Compact(at)
	for k, j := range at {
		w := d.words[j]
		// Consecutive words form one range.
		if k > 0 && at[k-1] == j-1 {
			pieces[len(pieces)-1][1] = w.End
			continue
		}
		pieces = append(pieces, [2]int{w.Start, w.End})
	}
	return pieces
}

// Lines returns the lines of [start, end) of the rendered text.
func (d *Drawn) Lines(start, end int) []Line {
	from := sort.Search(len(d.boxes), func(i int) bool { return d.boxes[i].End > start })
	to := sort.Search(len(d.boxes), func(i int) bool { return d.boxes[i].Start >= end })
	if from >= to {
		return nil
	}
	return joinLines(d.boxes[from:to])
}

// DrawsOffice reports whether a document can be converted to PDF for display.
func (l *Library) DrawsOffice(d Document) bool {
	return l.cfg.Office != nil && d.State == StateReady && l.cfg.Office.Draws(d.MIME)
}

// Drawn returns a document as PDF pages. The first conversion takes seconds. One document is converted at a time,
// users take turns, and the conversion continues when the caller leaves. It returns chat.CodeUndrawable if the
// conversion fails or takes longer than drawPatience.
func (l *Library) Drawn(ctx context.Context, s chat.Scope, id string) (*Drawn, error) {
	d, err := l.cfg.Documents.Get(ctx, s, id)
	if err != nil {
		return nil, err
	}
	if !l.DrawsOffice(d) {
		return nil, &chat.Error{Code: chat.CodeUndrawable, Message: "This document can't be shown as pages."}
	}
	return l.drawnOf(ctx, s, d)
}

// drawnOf is Drawn for a document that DrawsOffice accepts. Concurrent callers share one conversion.
func (l *Library) drawnOf(ctx context.Context, s chat.Scope, d Document) (*Drawn, error) {
	// The cache key is the content hash: two users with the same file share one drawing.
	if kept, ok, err := l.drawings.get(d.SHA256); ok {
		return kept, err
	}
	// Drawn has checked the caller's scope; drawOffice checks it again at the end.
	work := l.drawings.begin(ctx, d.User, d.SHA256, func(ctx context.Context) (*Drawn, error) {
		return l.drawOffice(ctx, s, d)
	})
	patience := time.NewTimer(drawPatience)
	defer patience.Stop()
	select {
	case <-work.done:
		return work.drawn, work.err
	case <-patience.C:
		return nil, stillDrawing
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// drawOffice converts the file, extracts the PDF like a document and aligns the words of both texts. It gets the
// document again at the end, so that no drawing of a deleted document is cached.
func (l *Library) drawOffice(ctx context.Context, s chat.Scope, d Document) (drawn *Drawn, err error) {
	dir, err := l.drawings.directory()
	if err != nil {
		return nil, fmt.Errorf("draw a document: %w", err)
	}
	file, release, err := l.onDisk(ctx, d)
	if err != nil {
		return nil, err
	}
	defer release()
	// Keep the PDF until its drawing is evicted, since pages are rendered from it; remove it at once on failure.
	to := filepath.Join(dir, d.SHA256+".pdf")
	defer func() {
		if err != nil {
			l.removeTemporary(ctx, to)
		}
	}()
	if err := l.cfg.Office.PDF(ctx, file, to); err != nil {
		return nil, fmt.Errorf("draw %s: %w", d.ID, err)
	}
	info, err := os.Stat(to)
	if err != nil {
		return nil, fmt.Errorf("draw %s: %w", d.ID, err)
	}
	// The PDF reader returns the same pages, boxes and text as for an uploaded PDF.
	made := printedFile(to)
	made.Bytes = info.Size()
	x, err := l.cfg.Extractor.Extract(ctx, made, func(int, int) {})
	// A PDF without text can't be aligned. That is the file's fault, so the failure is cached.
	if failure, ok := errors.AsType[*Failure](err); ok {
		return nil, fmt.Errorf("%w (%w)", undrawnOffice, failure)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was drawn of %s: %w", d.ID, err)
	}
	words := align.Words([]rune(x.Text))
	if len(x.Sizes) > maxDrawn || len(words) > maxAligned {
		return nil, overdrawn
	}
	text, err := l.cfg.Documents.Text(ctx, s, d.ID)
	if err != nil {
		return nil, err
	}
	drawn = &Drawn{Text: x.Text, Blocks: x.Blocks, Sizes: x.Sizes, file: to}
	for _, b := range x.Blocks {
		words, err := b.Words.Unpack()
		if err != nil {
			return nil, fmt.Errorf("read what was drawn of %s: %w", d.ID, err)
		}
		drawn.boxes = append(drawn.boxes, words...)
	}
	drawn.own, drawn.words = align.Words([]rune(text)), words
	if len(drawn.own) > maxAligned {
		drawn.own = nil // citations are shown in the extracted text
	}
	// Without words of its own, Place returns none.
	drawn.at = align.Find(formsOf(drawn.own), formsOf(drawn.words))
	if _, err := l.cfg.Documents.Get(ctx, s, d.ID); err != nil { // it may have been deleted meanwhile
		return nil, err
	}
	return drawn, nil
}

// printedFile returns the File of a PDF converted from another file.
func printedFile(name string) File {
	return File{Path: name, Filename: "drawn.pdf", MIME: "application/pdf", Printed: true}
}

// bytes returns the estimated memory of a drawing. A word with its box and position counts 100 bytes.
func (d *Drawn) bytes() int {
	return len(d.Text) + 100*(len(d.own)+len(d.words)+len(d.boxes)) + 500*len(d.Blocks)
}

// formsOf returns the normalised forms of words for comparison.
func formsOf(words []align.Word) []string {
	forms := make([]string, len(words))
	for i, w := range words {
		forms[i] = w.Form
	}
	return forms
}

// drawings is an LRU cache of converted documents, with their PDFs in a temporary directory that close removes. It
// is safe for concurrent use.
type drawings struct {
	// slots has one slot: each conversion starts a LibreOffice that may take 2 GiB.
	slots *fair.Slots
	life  context.Context
	stop  context.CancelFunc // ends life
	work  sync.WaitGroup

	mu    sync.Mutex
	dir   string // empty: not created yet
	bytes int    // of the cached drawings
	kept  *simplelru.LRU[string, drawing]
	begun map[string]*drawingWork
}

// drawing is a cached drawing or conversion error.
type drawing struct {
	drawn *Drawn
	err   error
	until time.Time // expiry of the error
}

// newDrawings creates no directory yet: most libraries never convert a document.
func newDrawings() *drawings {
	d := &drawings{slots: fair.NewSlots(1, 1), begun: map[string]*drawingWork{}}
	d.life, d.stop = context.WithCancel(context.Background())
	// it fails only for sizes below 1
	d.kept, _ = simplelru.NewLRU(maxDrawings, func(_ string, gone drawing) {
		if gone.drawn != nil {
			d.bytes -= gone.drawn.bytes()
			_ = os.Remove(gone.drawn.file) // the rest is removed with the directory
		}
	})
	return d
}

// drawingWork is a conversion in progress. drawn and err are set when done is closed.
type drawingWork struct {
	done  chan struct{}
	drawn *Drawn
	err   error
}

// begin starts a conversion for a user unless one is in progress. draw may outlive ctx, but not close.
func (d *drawings) begin(
	ctx context.Context, user, sha256 string, draw func(context.Context) (*Drawn, error),
) *drawingWork {
	d.mu.Lock()
	defer d.mu.Unlock()
	if work, ok := d.begun[sha256]; ok {
		return work
	}
	work := &drawingWork{done: make(chan struct{})}
	d.begun[sha256] = work
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(d.life, cancel) //nolint:contextcheck // the library's life ends it, not the caller's
	d.work.Go(func() {
		defer cancel()
		defer stop()
		work.drawn, work.err = d.inTurn(ctx, user, draw)
		d.end(sha256, work)
	})
	return work
}

// inTurn waits for the user's slot and calls draw.
func (d *drawings) inTurn(
	ctx context.Context, user string, draw func(context.Context) (*Drawn, error),
) (*Drawn, error) {
	if err := d.slots.Acquire(ctx, user); err != nil {
		return nil, err
	}
	defer d.slots.Release(user)
	return draw(ctx)
}

// end caches the result of a conversion: a drawing evicts the least recently used ones, an error expires.
func (d *drawings) end(sha256 string, work *drawingWork) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.begun, sha256)
	rest := restOther
	if chat.CodeOf(work.err) == chat.CodeUndrawable {
		rest = restUndrawable
	}
	// Errors not about the conversion itself, such as a deleted document, are not cached.
	if code := chat.CodeOf(work.err); work.err == nil || code != chat.CodeNotFound && d.life.Err() == nil {
		d.kept.Add(sha256, drawing{work.drawn, work.err, time.Now().Add(rest)})
	}
	if work.drawn != nil {
		for d.bytes += work.drawn.bytes(); d.bytes > drawingBytes && d.kept.Len() > 1; {
			d.kept.RemoveOldest()
		}
	}
	// Cache the result before the waiting callers go on, so that none of them starts again.
	close(work.done)
}

// get returns the cached drawing or error of an original, unless the error has expired.
func (d *drawings) get(sha256 string) (_ *Drawn, known bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept, ok := d.kept.Get(sha256)
	if !ok || kept.err != nil && time.Now().After(kept.until) {
		return nil, false, nil
	}
	return kept.drawn, true, kept.err
}

// forget evicts the drawing of an original.
func (d *drawings) forget(sha256 string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept.Remove(sha256)
}

// directory returns the directory of the PDFs and creates it on the first call.
func (d *drawings) directory() (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dir != "" {
		return d.dir, nil
	}
	dir, err := os.MkdirTemp("", "footnote-drawn-")
	if err == nil {
		d.dir = dir
	}
	return dir, err
}

// close cancels running conversions and removes all drawings.
func (d *drawings) close() error {
	// Wait for running conversions, or they would write into the removed directory.
	d.stop()
	d.work.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept.Purge()
	if d.dir == "" {
		return nil
	}
	dir := d.dir
	d.dir = ""
	return os.RemoveAll(dir)
}
