// Package pdf reads and draws PDFs. PDFium runs as WebAssembly: it sees one file and has 256 MiB of memory. It belongs
// into a worker process, which bounds time and memory of all the rest: see corpus/extract/worker.
//
// A PDF says where each glyph stands and not what belongs together, so that most of this package finds out the latter:
// document.go reads a document's pages, outline and properties; page.go and pages.go read a page and tell whether it is
// a picture; chars.go makes words and lines of PDFium's characters; turned.go and matrix.go treat text that is turned;
// running.go and repeat.go take out headers and footers; layout.go groups lines into paragraphs, items and headings,
// and table.go into tables; continued.go joins paragraphs over pages; outline.go finds where bookmarks lead; blocks.go
// writes the result. scan.go does the same for text that was recognised in pictures, render.go draws pages, and
// module.go calls PDFium, whose memory is memory.go's.
//
// Sizes and distances that decide all this are shares of the font's size or of the page, never absolute, since a poster
// and a leaflet are set alike. The tests of this package hold what they must tell apart.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/footnote/footnote/corpus"
)

// Reader implements corpus.Extractor for PDFs and draws their pages. The zero value is ready; Load makes the first file
// wait less. It is not safe for concurrent use. Its memory stays with it between files: a document that was drawn last
// stays open, and an instance is kept ready.
type Reader struct {
	lib   *library
	spare *module // made ahead, for whatever comes next
	drawn drawn
}

// Load loads PDFium, if it is not there yet. cacheDir is for its compiled code; empty: it is compiled each time. A
// cache saves compiling in each process; it is safe that several processes share one.
func (r *Reader) Load(ctx context.Context, cacheDir string) (err error) {
	if r.lib != nil {
		return nil
	}
	percent := debug.SetGCPercent(-1) // all that loading brings in stays: collecting meanwhile finds nothing
	r.lib, err = loadLibrary(ctx, cacheDir)
	debug.SetGCPercent(percent)
	return err
}

// Ready makes an instance of PDFium ahead. It does nothing while a document is open, which has an instance already.
func (r *Reader) Ready(ctx context.Context) error {
	if r.drawn.m != nil {
		return nil
	}
	return r.makeSpare(ctx)
}

// Close gives back what the reader holds. The Reader is its zero value afterwards, and may be used again.
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

// makeSpare makes the instance that takeInstance hands out, if there is none.
func (r *Reader) makeSpare(ctx context.Context) error {
	if err := r.Load(ctx, ""); err != nil || r.spare != nil {
		return err
	}
	m, err := r.lib.newInstance(ctx)
	r.spare = m
	return err
}

// takeInstance hands an instance over; who takes it closes it. An instance serves one file: after a crash, or a file
// that was made to break it, nothing of it is used again.
func (r *Reader) takeInstance(ctx context.Context) (m *module, err error) {
	if err := r.makeSpare(ctx); err != nil {
		return nil, err
	}
	m, r.spare = r.spare, nil
	return m, nil
}

// Extract implements corpus.Extractor. report is called with pages done and in all. Errors are a *corpus.Failure where
// the file is to blame.
func (r *Reader) Extract(
	ctx context.Context, f corpus.File, report func(done, total int),
) (x corpus.Extracted, err error) {
	if err := r.drawn.close(); err != nil {
		return x, fmt.Errorf("close the last file: %w", err)
	}
	m, err := r.takeInstance(ctx)
	if err != nil {
		return x, err
	}
	defer func() { _ = m.close() }() // its memory is dropped whatever state it is in
	if x, err = m.extractDocument(f, report); err != nil {
		return corpus.Extracted{}, explainError(err)
	}
	return x, nil
}

// Render draws page n, from 1, width pixels wide. The picture is a PNG. The file is recognised by its path, size and
// time of change, so that a changed one is opened anew.
func (r *Reader) Render(ctx context.Context, f corpus.File, n, width int) ([]byte, error) {
	info, err := os.Stat(f.Path)
	if err != nil {
		return nil, fmt.Errorf("look at the original: %w", err)
	}
	if !r.drawn.isSame(f.Path, info) {
		if err := r.drawn.close(); err != nil {
			return nil, fmt.Errorf("close the last file: %w", err)
		}
		m, err := r.takeInstance(ctx)
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

// explainError returns the failure that people read, or err if it is our own mistake.
func explainError(err error) error {
	if f := explainFailure(err); f != nil {
		return f
	}
	return err
}
