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

// A drawing holds the words of a document and its PDF, so that few are kept; they are made again in seconds.
const (
	maxDrawings  = 1000     // documents whose drawing, or failure, is kept
	drawingBytes = 64 << 20 // of memory that the drawings take together
	drawPatience = 15 * time.Second
	maxDrawn     = 2000    // pages of a drawing
	maxAligned   = 300_000 // words of a text, which are found in a second and some 200 MiB that are free again then
)

var undrawnOffice = &chat.Error{Code: chat.CodeUndrawable,
	Message: "The pages of this file show no text, so its text is shown as it was read."}

var overdrawn = &chat.Error{Code: chat.CodeUndrawable,
	Message: "This file has too many pages to be drawn. Its text is shown, and the original can be downloaded."}

var stillDrawing = &chat.Error{Code: chat.CodeUndrawable,
	Message: "The pages of this file are still being drawn. Until then its text is shown: look again in a moment."}

// Drawn is a document as it is printed: the pages of a PDF with a text of their own. It never changes. It has another
// text than the document: the one was read from the file's own structure, this one from the PDF that was printed. A
// citation is placed by finding its words in the drawn text, see Place.
type Drawn struct {
	Text   string
	Blocks []Block
	Sizes  [][2]float64 // of each page in points

	file  string // the PDF
	boxes []WordBox
	own   []align.Word  // of the document's text
	words []align.Word  // of Text
	at    []align.Range // for each word of own, where it stands among words; none: that is not sure
}

// Place returns where [start, end) of the document's text stands in the drawn one, in pieces: only words that are
// surely these. None if those are less than half of the words. A place that is half guessed would frame words that
// nobody cited.
func (d *Drawn) Place(start, end int) (pieces [][2]int) {
	// Words are in the order of the text, so that the first that ends behind start is found by halving.
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
	// Two words of the text may stand in the same word of the PDF, which counts once.
	slices.Sort(at)
	at = slices.Compact(at)
	for k, j := range at {
		w := d.words[j]
		// Words that follow each other make one piece, as a reader would mark them.
		if k > 0 && at[k-1] == j-1 {
			pieces[len(pieces)-1][1] = w.End
			continue
		}
		pieces = append(pieces, [2]int{w.Start, w.End})
	}
	return pieces
}

// Lines returns the lines of [start, end) of the drawn text.
func (d *Drawn) Lines(start, end int) []Line {
	from := sort.Search(len(d.boxes), func(i int) bool { return d.boxes[i].End > start })
	to := sort.Search(len(d.boxes), func(i int) bool { return d.boxes[i].Start >= end })
	if from >= to {
		return nil
	}
	return joinLines(d.boxes[from:to])
}

// DrawsOffice reports whether a document can be shown as it is printed.
func (l *Library) DrawsOffice(d Document) bool {
	return l.cfg.Office != nil && d.State == StateReady && l.cfg.Office.Draws(d.MIME)
}

// Drawn returns a document as it is printed. The first time that takes seconds; one document is drawn at a time, users
// take turns, and the work goes on when the caller leaves. One that can't be drawn, or is not drawn yet after
// drawPatience, fails with chat.CodeUndrawable.
func (l *Library) Drawn(ctx context.Context, s chat.Scope, id string) (*Drawn, error) {
	d, err := l.cfg.Documents.Get(ctx, s, id)
	if err != nil {
		return nil, err
	}
	if !l.DrawsOffice(d) {
		return nil, &chat.Error{Code: chat.CodeUndrawable, Message: "The pages of this document are not drawn."}
	}
	return l.drawnOf(ctx, s, d)
}

// drawnOf is Drawn of a document that is drawn. The drawing itself is shared by all who wait for it.
func (l *Library) drawnOf(ctx context.Context, s chat.Scope, d Document) (*Drawn, error) {
	// Drawings belong to bytes, not to documents: two users with the same file share one.
	if kept, ok, err := l.drawings.get(d.SHA256); ok {
		return kept, err
	}
	// The caller's scope is checked before, by Drawn, and again at the end of drawOffice.
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

// drawOffice has the file drawn and reads the PDF as if it were a document, then aligns the words of both texts. The
// document is asked for once more at the end, so that nothing is kept of one that was deleted meanwhile.
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
	// The PDF stays until its drawing is dropped, as pages are drawn from it; after a failure it goes at once.
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
	// The reader of PDFs gives the same pages, boxes and text as for a PDF that somebody added.
	made := printedFile(to)
	made.Bytes = info.Size()
	x, err := l.cfg.Extractor.Extract(ctx, made, func(int, int) {})
	// A PDF without text can't be aligned: the file is to blame, so that the failure is kept for a while.
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
		drawn.own = nil // what is cited is shown in the text
	}
	// Without words of its own nothing is placed, and Place returns none.
	drawn.at = align.Find(formsOf(drawn.own), formsOf(drawn.words))
	if _, err := l.cfg.Documents.Get(ctx, s, d.ID); err != nil { // it may have been removed meanwhile
		return nil, err
	}
	return drawn, nil
}

// printedFile is the PDF that was made of another file.
func printedFile(name string) File {
	return File{Path: name, Filename: "drawn.pdf", MIME: "application/pdf", Printed: true}
}

// bytes is about the memory that a drawing takes. A word with its box and position counts 100 bytes.
func (d *Drawn) bytes() int {
	return len(d.Text) + 100*(len(d.own)+len(d.words)+len(d.boxes)) + 500*len(d.Blocks)
}

// formsOf are the words as they are compared.
func formsOf(words []align.Word) []string {
	forms := make([]string, len(words))
	for i, w := range words {
		forms[i] = w.Form
	}
	return forms
}

// drawings keeps the documents drawn last, with their PDFs in a directory. It is safe for concurrent use. Its directory
// is temporary and goes with close.
type drawings struct {
	// slots has one slot: each drawing starts a LibreOffice that may take 2 GiB.
	slots *fair.Slots
	life  context.Context
	stop  context.CancelFunc // ends life
	work  sync.WaitGroup

	mu    sync.Mutex
	dir   string // empty: none yet
	bytes int    // of what is kept
	kept  *simplelru.LRU[string, drawing]
	begun map[string]*drawingWork
}

// drawing is a document that was drawn, or why it was not.
type drawing struct {
	drawn *Drawn
	err   error
	until time.Time // that the error holds
}

// newDrawings has no directory yet: most libraries never draw anything.
func newDrawings() *drawings {
	d := &drawings{slots: fair.NewSlots(1, 1), begun: map[string]*drawingWork{}}
	d.life, d.stop = context.WithCancel(context.Background())
	// it fails only for sizes below 1
	d.kept, _ = simplelru.NewLRU(maxDrawings, func(_ string, gone drawing) {
		if gone.drawn != nil {
			d.bytes -= gone.drawn.bytes()
			_ = os.Remove(gone.drawn.file) // what stays goes with the directory
		}
	})
	return d
}

// drawingWork is a document that is being drawn. drawn and err are set when done is closed.
type drawingWork struct {
	done  chan struct{}
	drawn *Drawn
	err   error
}

// begin has an original drawn for a user unless that is under way. draw may go on when ctx ends, but not after close.
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

// inTurn draws when it is the user's turn.
func (d *drawings) inTurn(
	ctx context.Context, user string, draw func(context.Context) (*Drawn, error),
) (*Drawn, error) {
	if err := d.slots.Enter(ctx, user); err != nil {
		return nil, err
	}
	defer d.slots.Leave(user)
	return draw(ctx)
}

// end caches the result of drawing an original: a drawing replaces the least recently used ones, a failure expires.
func (d *drawings) end(sha256 string, work *drawingWork) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.begun, sha256)
	rest := restOther
	if chat.CodeOf(work.err) == chat.CodeUndrawable {
		rest = restUndrawable
	}
	// A failure that is no drawing's must not be shown to those who look again, such as the document's removal.
	if code := chat.CodeOf(work.err); work.err == nil || code != chat.CodeNotFound && d.life.Err() == nil {
		d.kept.Add(sha256, drawing{work.drawn, work.err, time.Now().Add(rest)})
	}
	if work.drawn != nil {
		for d.bytes += work.drawn.bytes(); d.bytes > drawingBytes && d.kept.Len() > 1; {
			d.kept.RemoveOldest()
		}
	}
	// What was drawn is kept before the waiting ones go on, so that none of them begins anew.
	close(work.done)
}

// get returns what is kept of an original: the drawing, or why there is none, as long as that holds.
func (d *drawings) get(sha256 string) (_ *Drawn, known bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept, ok := d.kept.Get(sha256)
	if !ok || kept.err != nil && time.Now().After(kept.until) {
		return nil, false, nil
	}
	return kept.drawn, true, kept.err
}

// forget removes what was drawn of an original.
func (d *drawings) forget(sha256 string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept.Remove(sha256)
}

// directory returns where the PDFs are, and makes it the first time.
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

// close ends what is being drawn and removes all that was.
func (d *drawings) close() error {
	// First what is under way has to end, or it would write into the directory that is removed.
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
