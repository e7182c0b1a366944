// Package ocr recognises the text of pages that are images. Reader wraps the worker processes that read files: they
// detect the pages that are images and render them upright. A recogniser, the program tesseract or a vision model,
// reads the rendered images. A recogniser therefore never gets an untrusted file.
//
// reader.go processes the image pages of a file; tesseract.go runs the program, hocr.go parses its output and
// languages.go chooses its languages; model.go calls a vision model. The file is then extracted again with the
// recognised text (corpus.File.Read). The same code thus detects paragraphs, headings and running heads in scans and
// in PDFs with text.
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
	"github.com/footnote/footnote/text/locale"
)

// Recognisers are trained with 300 pixels per inch, which tesseract's documentation recommends; mostWidth is the
// maximum of worker.Pool.
const (
	maxScans    = 1000 // image pages of one file
	pagesAtOnce = 2    // concurrent pages of all users
	resolution  = 300  // pixels per inch of a rendered page
	leastWidth  = 100  // minimum width in pixels
	mostWidth   = 4000 // maximum width in pixels
)

// Files reads and renders files; worker.Pool implements it. A recogniser only gets the images that it renders.
type Files interface {
	corpus.Extractor
	corpus.Renderer
}

// Recogniser is a recogniser of text in images. It is safe for concurrent use.
type Recogniser interface {
	// Begin begins a document. Information from its first pages, such as the language, is used for the others. If no
	// recogniser is available, it fails with a *corpus.Failure that contains the reason and advice.
	Begin(ctx context.Context) (Document, error)
}

// Document recognises the pages of one document in order. It is not safe for concurrent use, as it keeps state
// between pages. An error ends the document.
type Document interface {
	// Page recognises one page. draw renders it as PNG, turned clockwise by quarters.
	Page(ctx context.Context, draw func(turn int) ([]byte, error)) (corpus.ReadPage, error)
}

// Reader implements corpus.Extractor. It is safe for concurrent use.
type Reader struct {
	files   Files
	letters Recogniser
	pages   *fair.Slots
}

// New returns a Reader that extends files with OCR.
func New(files Files, letters Recogniser) *Reader {
	return &Reader{files: files, letters: letters, pages: fair.NewSlots(pagesAtOnce, pagesAtOnce)}
}

// Extract implements corpus.Extractor, with OCR for pages that are images. Without a recogniser, a file without
// other text fails with advice. A file with other text lists the unread pages in its metadata. The first extraction
// detects the image pages, and the second combines all pages. report is called for the pages of the first extraction
// and then for those of the recogniser.
func (r *Reader) Extract(
	ctx context.Context, f corpus.File, report func(done, total int),
) (corpus.Extracted, error) {
	x, err := r.files.Extract(ctx, f, report)
	if err != nil || len(x.Scans) == 0 || f.Printed {
		return x, err
	}
	if len(x.Scans) > maxScans {
		return corpus.Extracted{}, &corpus.Failure{Code: "too_many_pages", Detail: locale.Say(
			"This file's {1} scanned pages exceed the limit of {2}. Split it and add the parts.",
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
	f.Room = nil // the memory reserved for the first extraction is enough
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
	Detail: "OCR found no text in this file. If it contains text, add a sharper or larger image."}

// readScans recognises the image pages. Slots are assigned to users in turn, for a page at a time. Pages are
// rendered grey, which is sufficient for recognisers and a quarter of the bytes.
func (r *Reader) readScans(
	ctx context.Context, document Document, f corpus.File, x corpus.Extracted, report func(done, total int),
) ([]corpus.ReadPage, error) {
	pages := make([]corpus.ReadPage, 0, len(x.Scans))
	for i, n := range x.Scans {
		if report != nil {
			report(i, len(x.Scans))
		}
		size := x.Sizes[n-1]
		if err := r.pages.Acquire(ctx, f.User); err != nil {
			return nil, err
		}
		page, err := document.Page(ctx, func(turn int) ([]byte, error) {
			turned := f
			turned.Turn, turned.Grey = turn, true
			return r.files.Render(ctx, turned, n, drawnWidth(size[turn%2]))
		})
		r.pages.Release(f.User)
		if err != nil {
			return nil, fmt.Errorf("read the picture of page %d: %w", n, err)
		}
		page.Number = n
		if page.Width == 0 { // the recogniser returned no size
			page.Width, page.Height = int(size[0]/72*resolution), int(size[1]/72*resolution)
		}
		pages = append(pages, page)
	}
	return pages, nil
}

// drawnWidth returns the width in pixels at which a page is rendered for OCR. w is in points.
func drawnWidth(w float64) int {
	return int(min(max(math.Round(w/72*resolution), leastWidth), mostWidth))
}

// turnsOf returns the turned pages in the form of corpus.MetaTurned, nil if none was turned. The viewer turns these
// pages in the same way, so that word boxes match.
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

// pageList formats page numbers: "page 3", "pages 3, 7". It lists at most twenty.
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
