// Package pdf reads and renders PDFs. PDFium runs as WebAssembly, with access to one file and 256 MiB of memory. It
// is meant for a worker process, which limits time and memory of everything else: see corpus/extract/worker.
//
// A PDF stores the position of each glyph and hardly any structure, so that most of this package reconstructs the
// structure. document.go reads a document's pages, outline and properties; page.go and pages.go read a page and detect
// scans, also those with garbled text (garbled.go); chars.go assembles PDFium's characters into words and lines,
// bidi.go those that run to the left, and spaced.go letters that are set apart; turned.go and matrix.go handle turned
// text; fields.go and appearance.go add the text of form fields and annotations; running.go and repeat.go find headers
// and footers, and numbers.go the numbers of lines; order.go finds the reading order; layout.go groups lines into
// paragraphs, items and headings, and table.go and rules.go into tables; continued.go joins paragraphs across pages,
// and vocabulary.go decides about hyphens; outline.go finds the anchors of bookmarks; blocks.go writes the result, and
// leftout.go lists what it doesn't have. scan.go does the same for OCR results, render.go renders pages, and module.go
// calls PDFium, whose memory memory.go allocates.
//
// All thresholds are shares of the font size or of the page, never absolute, since a poster and a leaflet have the
// same layout at different sizes. The tests of this package hold the cases that they must distinguish.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/footnote/footnote/corpus"
)

// Reader implements corpus.Extractor for PDFs and renders their pages. The zero value is ready to use; Load makes
// the first file faster. It is not safe for concurrent use. It keeps memory between files: the last rendered
// document stays open, and a spare instance is kept.
type Reader struct {
	lib   *library
	spare *module // created ahead of the next file
	drawn drawn
}

// Load loads PDFium unless it is loaded. cacheDir is the cache for its compiled code; without one each process
// compiles it again. Several processes may share a cache.
func (r *Reader) Load(ctx context.Context, cacheDir string) (err error) {
	if r.lib != nil {
		return nil
	}
	// all memory that loading allocates stays: a garbage collection would free nothing
	percent := debug.SetGCPercent(-1)
	r.lib, err = loadLibrary(ctx, cacheDir)
	debug.SetGCPercent(percent)
	return err
}

// Ready creates a spare instance of PDFium. It does nothing while a document is open, which has an instance already.
func (r *Reader) Ready(ctx context.Context) error {
	if r.drawn.m != nil {
		return nil
	}
	return r.makeSpare(ctx)
}

// Close frees all resources. The Reader is its zero value afterwards, and may be used again.
func (r *Reader) Close(ctx context.Context) error {
	err := r.drawn.close()
	if r.spare != nil {
		err = errors.Join(err, r.spare.close())
	}
	if r.lib != nil {
		err = errors.Join(err, r.lib.close(ctx))
	}
	*r = Reader{}
	return err
}

// makeSpare creates the instance for acquireInstance, unless there is one.
func (r *Reader) makeSpare(ctx context.Context) error {
	if err := r.Load(ctx, ""); err != nil || r.spare != nil {
		return err
	}
	m, err := r.lib.newInstance(ctx)
	r.spare = m
	return err
}

// acquireInstance returns an instance, which the caller closes. An instance serves one file: after a crash, or a
// malicious file, nothing of it is reused.
func (r *Reader) acquireInstance(ctx context.Context) (m *module, err error) {
	if err := r.makeSpare(ctx); err != nil {
		return nil, err
	}
	m, r.spare = r.spare, nil
	return m, nil
}

// Extract implements corpus.Extractor. report is called with the number of finished pages and of all pages. Errors
// caused by the file are a *corpus.Failure.
func (r *Reader) Extract(
	ctx context.Context, f corpus.File, report func(done, total int),
) (x corpus.Extracted, err error) {
	if err := r.drawn.close(); err != nil {
		return x, fmt.Errorf("close the last file: %w", err)
	}
	x, drawn, err := r.extract(ctx, f, report, false)
	if drawn && isCrash(err) { // an appearance may draw itself a million times: the text is read without any
		x, _, err = r.extract(ctx, f, report, true)
	}
	if err != nil {
		return corpus.Extracted{}, explainError(err)
	}
	return x, nil
}

// extract reads a document in an instance of its own. With undrawn the appearances of annotations are not read. drawn
// reports whether one was.
func (r *Reader) extract(
	ctx context.Context, f corpus.File, report func(done, total int), undrawn bool,
) (x corpus.Extracted, drawn bool, err error) {
	m, err := r.acquireInstance(ctx)
	if err != nil {
		return x, false, err
	}
	defer func() { _ = m.close() }() // its memory is dropped in any state
	read := marks{m: m, left: maxTyped, undrawn: undrawn}
	x, err = m.extractDocument(f, &read, report)
	return x, read.drawn, err
}

// Render renders page n, from 1, at a width in pixels, as PNG. The document stays open. It is identified by path,
// size and modification time, so that a changed file is reopened.
func (r *Reader) Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error) {
	info, err := os.Stat(f.Path)
	if err != nil {
		return nil, fmt.Errorf("look at the original: %w", err)
	}
	if !r.drawn.isSame(f.Path, info) {
		if err := r.drawn.close(); err != nil {
			return nil, fmt.Errorf("close the last file: %w", err)
		}
		m, err := r.acquireInstance(ctx)
		if err != nil {
			return nil, err
		}
		r.drawn = drawn{m: m, path: f.Path, info: info}
		if r.drawn.doc, err = m.openFile(f.Path); err != nil {
			return nil, explainError(errors.Join(err, r.drawn.close()))
		}
	}
	picture, err := r.drawn.m.renderPage(r.drawn.doc, f, n, width)
	if err != nil {
		return nil, explainError(errors.Join(err, r.drawn.close()))
	}
	return picture, nil
}

// explainError returns the user-facing failure of an error, or err itself if it is internal.
func explainError(err error) error {
	if f := explainFailure(err); f != nil {
		return f
	}
	return err
}
