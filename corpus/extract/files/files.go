// Package files reads and renders files of all formats in a worker process. It connects extract's formats and PDFium
// with the protocol of package worker.
package files

import (
	"context"
	"io"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/pdf"
	"github.com/footnote/footnote/corpus/extract/picture"
	"github.com/footnote/footnote/corpus/extract/worker"
)

// Serve handles the requests of a worker.Pool until in or ctx ends. It is the main function of a worker process.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	h := &handler{}
	h.files = extract.New(&h.pdf, &h.pictures)
	return worker.Serve(ctx, in, out, h)
}

// handler reads all formats. It loads PDFium for the first PDF.
type handler struct {
	pdf      pdf.Reader
	pictures picture.Reader
	files    *extract.Extractor
}

var _ worker.Handler = (*handler)(nil)

// Begin implements worker.Handler.
func (h *handler) Begin(ctx context.Context, req worker.Request) (worker.Start, error) {
	if req.NeedsPDFium() && (req.Page > 0 || req.Ready) {
		err := h.pdf.Load(ctx, req.CacheDir)
		if err == nil && req.Ready {
			err = h.pdf.Ready(ctx)
		}
		return worker.Start{PDF: true}, err
	}
	if req.Page > 0 {
		return worker.Start{}, nil
	}
	format, err := extract.FormatOf(req.File)
	if err != nil {
		return worker.Start{}, err
	}
	if format.Paged && !format.Picture {
		return worker.Start{PDF: true}, h.pdf.Load(ctx, req.CacheDir)
	}
	return worker.Start{Markup: format.HasMarkup()}, nil
}

// Extract implements worker.Handler.
func (h *handler) Extract(
	ctx context.Context, req worker.Request, report func(done, total int),
) (corpus.Extracted, error) {
	if req.Plain {
		return h.files.ExtractPlain(ctx, req.File, report)
	}
	return h.files.Extract(ctx, req.File, report)
}

// Render implements worker.Handler.
func (h *handler) Render(ctx context.Context, req worker.Request) ([]byte, error) {
	return h.files.Render(ctx, req.File, req.Page, req.Width)
}

// Close implements worker.Handler.
func (h *handler) Close(ctx context.Context) error { return h.pdf.Close(ctx) }
