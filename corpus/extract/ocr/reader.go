// Package ocr reads pages that are pictures of text. Reader stands between the library and the processes that read
// files: what those say is only a picture is drawn by them, upright, and read by a recogniser of letters, the program
// tesseract or a model that sees. So a recogniser gets pictures that we drew ourselves and never a file of others.
//
// reader.go goes through the pages of a file that are pictures; tesseract.go runs the program, hocr.go reads its answer
// and languages.go chooses what it reads in; model.go asks a model that sees. A file is then read once more with what
// was recognised (corpus.File.Read), so that paragraphs, headings and running heads are found in scans by the same code
// as in PDFs with text.
package ocr

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/fair"
	"github.com/footnote/footnote/text/english"
)

// Recognisers are trained with 300 pixels to an inch, which tesseract's documentation recommends; mostWidth is what
// worker.Pool draws at most.
const (
	maxScans    = 1000 // pages of one file that are read from pictures
	pagesAtOnce = 2    // of all users' files
	resolution  = 300  // pixels to an inch that a page is drawn with
	leastWidth  = 100  // pixels of a page, however small it is
	mostWidth   = 4000 // that a page can be drawn with
)

// Files reads and draws files; worker.Pool does. Only a picture that it draws reaches a recogniser.
type Files interface {
	corpus.Extractor
	corpus.Renderer
}

// Letters reads pictures of pages. It is safe for concurrent use.
type Letters interface {
	// Begin begins a document: what is learned from its first pages, such as its language, helps with the others. It
	// fails with a *corpus.Failure that says what is missing and what to do if no picture can be read now.
	Begin(ctx context.Context) (Document, error)
}

// Document reads the pages of one document, one after the other. It is not safe for concurrent use, as it learns from
// page to page. An error ends the document.
type Document interface {
	// Page reads one page. draw draws it, turned by so many quarters clockwise, as PNG.
	Page(ctx context.Context, draw func(turn int) ([]byte, error)) (corpus.ReadPage, error)
}

// Reader implements corpus.Extractor. It is safe for concurrent use.
type Reader struct {
	files   Files
	letters Letters
	pages   *fair.Slots
}

// New returns a Reader of what files read and draw.
func New(files Files, letters Letters) *Reader {
	return &Reader{files: files, letters: letters, pages: fair.NewSlots(pagesAtOnce, pagesAtOnce)}
}

// Extract implements corpus.Extractor. Pages that are pictures are read by the recogniser. Where there is none, a file
// without other text fails with what to do; one with other text says in its metadata which pages are unread. The first
// reading finds which pages are pictures, the second puts all pages together. report tells pages of the first and then
// of the recogniser.
func (r *Reader) Extract(
	ctx context.Context, f corpus.File, report func(done, total int),
) (corpus.Extracted, error) {
	x, err := r.files.Extract(ctx, f, report)
	if err != nil || len(x.Scans) == 0 || f.Printed {
		return x, err
	}
	if len(x.Scans) > maxScans {
		return corpus.Extracted{}, &corpus.Failure{Code: "too_many_pages", Detail: fmt.Sprintf(
			"%s pages of this file are pictures, more than the %s that can be read. Split it and add the parts.",
			english.Digits(len(x.Scans)), english.Digits(maxScans))}
	}
	document, err := r.letters.Begin(ctx)
	if _, missing := errors.AsType[*corpus.Failure](err); missing && x.Text != "" {
		x.Meta[corpus.MetaUnread] = pageList(x.Scans)
		return x, nil
	}
	if err != nil {
		return corpus.Extracted{}, err
	}
	if f.Read, err = r.readScans(ctx, document, f, x, report); err != nil {
		return corpus.Extracted{}, err
	}
	f.Room = nil // what the first reading asked for serves
	if x, err = r.files.Extract(ctx, f, nil); err != nil {
		return x, err
	}
	if x.Text == "" {
		return corpus.Extracted{}, noText
	}
	if turned := turnsOf(f.Read); turned != nil {
		x.Meta[corpus.MetaTurned] = turned
	}
	return x, nil
}

var noText = &corpus.Failure{Code: "no_text",
	Detail: "Text recognition (OCR) found no text in this file. If it shows any, add a sharper or a larger picture " +
		"of it."}

// readScans reads the pages that are pictures. Users take turns, a page at a time. Pages are drawn grey, which is all
// that recognisers look at and a quarter of the bytes.
func (r *Reader) readScans(
	ctx context.Context, document Document, f corpus.File, x corpus.Extracted, report func(done, total int),
) ([]corpus.ReadPage, error) {
	pages := make([]corpus.ReadPage, 0, len(x.Scans))
	for i, n := range x.Scans {
		if report != nil {
			report(i, len(x.Scans))
		}
		size := x.Sizes[n-1]
		if err := r.pages.Enter(ctx, f.User); err != nil {
			return nil, err
		}
		page, err := document.Page(ctx, func(turn int) ([]byte, error) {
			turned := f
			turned.Turn, turned.Grey = turn, true
			return r.files.Render(ctx, turned, n, drawnWidth(size[turn%2]))
		})
		r.pages.Leave(f.User)
		if err != nil {
			return nil, fmt.Errorf("read the picture of page %d: %w", n, err)
		}
		page.Number = n
		if page.Width == 0 { // who read it did not measure it
			page.Width, page.Height = int(size[0]/72*resolution), int(size[1]/72*resolution)
		}
		pages = append(pages, page)
	}
	return pages, nil
}

// drawnWidth is how many pixels wide a page of so many points is drawn to be read.
func drawnWidth(w float64) int {
	return int(min(max(math.Round(w/72*resolution), leastWidth), mostWidth))
}

// turnsOf says which pages were turned, as corpus.MetaTurned has it. The viewer turns these pages in the same way, so
// that boxes of words fit. nil if none was turned.
func turnsOf(pages []corpus.ReadPage) map[string]any {
	var turned map[string]any
	for _, p := range pages {
		if p.Turn != 0 {
			if turned == nil {
				turned = map[string]any{}
			}
			turned[strconv.Itoa(p.Number)] = float64(p.Turn)
		}
	}
	return turned
}

// pageList names pages: "page 3", "pages 3, 7". At most twenty are named.
func pageList(pages []int) string {
	const most = 20
	var names []string
	for _, n := range pages[:min(len(pages), most)] {
		names = append(names, strconv.Itoa(n))
	}
	if len(pages) > most {
		names = append(names, "…")
	}
	return english.Choose(len(pages) == 1, "page ", "pages ") + strings.Join(names, ", ")
}

var errNoAnswer = errors.New("the recogniser answered nothing that can be read")
