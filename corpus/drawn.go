package corpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"footnote/chat"
)

const (
	maxDrawings = 8 // documents whose PDF is kept
	mimePDF     = "application/pdf"
)

var undrawnOffice = &chat.Error{Code: chat.CodeUndrawable,
	Message: "The pages of this file show no text, so its text is shown as it was read."}

// Drawn is a document as it is printed: the pages of a PDF with a text of their own. It never changes.
type Drawn struct {
	Text   string
	Blocks []Block
	Sizes  [][2]float64 // of each page in points

	file  string // the PDF
	boxes []WordBox
	own   []drawnWord // of the document's text
	words []drawnWord // of Text
	to    []int32     // for each word of own, which of words it is; -1: that is not sure
}

// Place returns where [start, end) of the document's text stands in the drawn one, in pieces: only words that are
// surely these. None if those are less than half of the words.
func (d *Drawn) Place(start, end int) (pieces [][2]int) {
	first := sort.Search(len(d.own), func(i int) bool { return d.own[i].end > start })
	var at []int32
	all := 0
	for _, w := range d.own[first:] {
		if w.start >= end {
			break
		}
		if j := d.to[first+all]; j >= 0 {
			at = append(at, j)
		}
		all++
	}
	if len(at) == 0 || 2*len(at) < all {
		return nil
	}
	slices.Sort(at)
	for k, j := range at {
		w := d.words[j]
		if k > 0 && at[k-1] == j-1 {
			pieces[len(pieces)-1][1] = w.end
			continue
		}
		pieces = append(pieces, [2]int{w.start, w.end})
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

// Drawn returns a document as it is printed. The first time that takes seconds; one document is drawn at a time. One
// that can't be drawn fails with chat.CodeUndrawable.
func (l *Library) Drawn(ctx context.Context, s chat.Scope, id string) (*Drawn, error) {
	d, err := l.cfg.Documents.Get(ctx, s, id)
	if err != nil {
		return nil, err
	}
	if !l.DrawsOffice(d) {
		return nil, &chat.Error{Code: chat.CodeUndrawable, Message: "The pages of this document are not drawn."}
	}
	if kept, ok, err := l.drawings.get(d.SHA256); ok {
		return kept, err
	}
	select {
	case l.drawings.slot <- struct{}{}:
		defer func() { <-l.drawings.slot }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if kept, ok, err := l.drawings.get(d.SHA256); ok { // somebody else may have had it drawn meanwhile
		return kept, err
	}
	drawn, err := l.drawOffice(ctx, s, d)
	if err == nil || chat.CodeOf(err) == chat.CodeUndrawable {
		l.drawings.put(d.SHA256, drawn, err)
	}
	return drawn, err
}

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
	x, err := l.cfg.Extractor.Extract(ctx, File{Path: to, Filename: "drawn.pdf", MIME: mimePDF, Bytes: info.Size()},
		func(int, int) {})
	if failure, ok := errors.AsType[*Failure](err); ok {
		return nil, fmt.Errorf("%w (%w)", undrawnOffice, failure)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was drawn of %s: %w", d.ID, err)
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
	drawn.own, drawn.words = drawnWords(text), drawnWords(x.Text)
	drawn.to = alignWords(drawn.own, drawn.words)
	return drawn, nil
}

// drawings keeps the documents drawn last, with their PDFs in a directory. It is safe for concurrent use.
type drawings struct {
	slot chan struct{} // holds a token while a document is drawn

	mu   sync.Mutex
	dir  string // empty: none yet
	kept *simplelru.LRU[string, drawing]
}

// drawing is a document that was drawn, or why it was not.
type drawing struct {
	drawn *Drawn
	err   error
	until time.Time // that the error holds
}

func newDrawings() *drawings {
	d := &drawings{slot: make(chan struct{}, 1)}
	// it fails only for sizes below 1
	d.kept, _ = simplelru.NewLRU(maxDrawings, func(_ string, gone drawing) {
		if gone.drawn != nil {
			_ = os.Remove(gone.drawn.file) // what stays goes with the directory
		}
	})
	return d
}

func (d *drawings) get(sha256 string) (_ *Drawn, known bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept, ok := d.kept.Get(sha256)
	if !ok || kept.err != nil && time.Now().After(kept.until) {
		return nil, false, nil
	}
	return kept.drawn, true, kept.err
}

func (d *drawings) put(sha256 string, drawn *Drawn, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.kept.Add(sha256, drawing{drawn, err, time.Now().Add(restUndrawable)})
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

// close removes all that was drawn.
func (d *drawings) close() error {
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
