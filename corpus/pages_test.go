package corpus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/sqlite"
)

// paper stands for the PDF reader's process: it reads every file as two pages of one line each and draws by writing
// what it was asked.
type paper struct {
	drawn *int
	draw  func() error // fails the next drawing, or keeps it waiting; may be nil
}

func (paper) Extract(context.Context, corpus.File, func(int, int)) (corpus.Extracted, error) {
	word := func(start, end int, page, x float64) corpus.WordBox {
		return corpus.WordBox{Start: start, End: end, Box: chat.Box{page, x, 0.1, x + 0.1, 0.12}}
	}
	return corpus.Extracted{
		Text: "red door\n\nblue roof", Pages: 2, Sizes: [][2]float64{{595, 842}, {595, 842}}, Blocks: []corpus.Block{
			{ID: "b1", Kind: corpus.BlockParagraph, Page: 1, Start: 0, End: 8,
				Words: corpus.PackWords([]corpus.WordBox{word(0, 3, 1, 0.1), word(4, 8, 1, 0.21)})},
			{ID: "b2", Kind: corpus.BlockParagraph, Page: 2, Start: 10, End: 19,
				Words: corpus.PackWords([]corpus.WordBox{word(10, 14, 2, 0.1), word(15, 19, 2, 0.21)})},
		},
	}, nil
}

func (p paper) Render(_ context.Context, f corpus.File, n, width int) ([]byte, error) {
	if _, err := os.Stat(f.Path); err != nil {
		return nil, err
	}
	*p.drawn++
	if p.draw != nil {
		if err := p.draw(); err != nil {
			return nil, err
		}
	}
	return fmt.Appendf(nil, "page %d, %d wide", n, width), nil
}

func (paper) Expect() {}

func TestPagesOfAPDF(t *testing.T) {
	p := paper{drawn: new(int)}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) { c.Extractor, c.Renderer = p, p })
	sh.start(t)
	d := sh.settled(t, sh.add(t, "a.pdf", "%PDF-1.7").ID, corpus.StateReady)
	if d.Pages != 2 {
		t.Fatalf("%d pages, want 2", d.Pages)
	}
	for range 2 {
		if png, err := sh.PageImage(t.Context(), chat.Local, d.ID, 2, 800); err != nil ||
			string(png) != "page 2, 800 wide" {
			t.Errorf("page image = %q, %v; want %q", png, err, "page 2, 800 wide")
		}
	}
	if *p.drawn != 1 {
		t.Errorf("drawn %d times, want once", *p.drawn)
	}
	for _, tt := range []struct {
		n, width int
		code     chat.Code
	}{
		{0, 800, chat.CodeNotFound}, {3, 800, chat.CodeNotFound}, {1, 99, chat.CodeInvalid},
		{1, 4001, chat.CodeInvalid},
	} {
		if _, err := sh.PageImage(t.Context(), chat.Local, d.ID, tt.n, tt.width); err == nil ||
			chat.CodeOf(err) != tt.code {
			t.Errorf("page %d at %d: %v, want %s", tt.n, tt.width, err, tt.code)
		}
	}
	boxes, err := sh.Boxes(t.Context(), chat.Local, d.ID, 0, 19)
	if err != nil || len(boxes) != 2 || boxes[0][0] != 1 || boxes[1][0] != 2 || boxes[0][3] < 0.3 {
		t.Errorf("boxes = %v, %v; want one line on each page", boxes, err)
	}
	found := sh.search(t, corpus.Query{Text: "blue roof"})
	if len(found.Results) != 1 {
		t.Fatalf("%d results, want 1 result", len(found.Results))
	}
}

func TestAPageThatCannotBeDrawnIsNotTriedAgainAndAgain(t *testing.T) {
	tooComplex := &chat.Error{Code: chat.CodeUndrawable, Message: "This page is too complex."}
	p := paper{drawn: new(int), draw: func() error { return tooComplex }}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) { c.Extractor, c.Renderer = p, p })
	sh.start(t)
	d := sh.settled(t, sh.add(t, "a.pdf", "%PDF-1.7").ID, corpus.StateReady)
	for i, tt := range []struct {
		page, width int
		drawn       int
	}{
		{1, 1000, 1}, {1, 1000, 1}, {1, 501, 1}, {1, 4000, 1}, // what takes as much, or more
		{1, 500, 2}, {1, 640, 2}, {2, 1000, 3}, // what may take less
	} {
		_, err := sh.PageImage(t.Context(), chat.Local, d.ID, tt.page, tt.width)
		if !errors.Is(err, tooComplex) || *p.drawn != tt.drawn {
			t.Errorf("picture %d (page %d, %d wide): %v after %d drawings, want %v after %d", i, tt.page, tt.width,
				err, *p.drawn, tooComplex, tt.drawn)
		}
	}
	if got := sh.Undrawable(d, 1, 1000); got != tooComplex.Message {
		t.Errorf("Undrawable = %q, want %q", got, tooComplex.Message)
	}
}

func TestEachUserHasOnePageDrawnAtATime(t *testing.T) {
	at, goOn := make(chan struct{}), make(chan struct{})
	tooComplex := &chat.Error{Code: chat.CodeUndrawable, Message: "This page is too complex."}
	var drawn atomic.Int32
	p := paper{drawn: new(int), draw: func() error {
		if drawn.Add(1) == 1 {
			close(at)
			<-goOn
		}
		return tooComplex
	}}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) { c.Extractor, c.Renderer = p, p })
	sh.start(t)
	d := sh.settled(t, sh.add(t, "a.pdf", "%PDF-1.7").ID, corpus.StateReady)
	got := make(chan error)
	for width := range 5 {
		go func() {
			_, err := sh.PageImage(t.Context(), chat.Local, d.ID, 1, 1000+width)
			got <- err
		}()
	}
	<-at
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sh.PageImage(late, chat.Local, d.ID, 2, 800); !errors.Is(err, context.Canceled) {
		t.Errorf("a page whose reader left while it waited: %v, want %v", err, context.Canceled)
	}
	close(goOn)
	for range 5 {
		if err := <-got; !errors.Is(err, tooComplex) {
			t.Errorf("error = %v, want %v", err, tooComplex)
		}
	}
	if n := drawn.Load(); n != 1 {
		t.Errorf("drawn %d times, want once: the others waited and were told", n)
	}
}
