package extract

import (
	"context"
	"io"

	"footnote/corpus"
	"footnote/corpus/extract/pdf"
	"footnote/corpus/extract/worker"
)

// Serve reads and draws files for a worker.Pool until in ends or ctx does: it is the whole of a worker process.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s := &served{}
	s.files = New(&s.pdf)
	return worker.Serve(ctx, in, out, s)
}

// served are all formats in a worker. PDFium is loaded for the first PDF.
type served struct {
	pdf   pdf.Reader
	files *Extractor
}

var _ worker.Handler = (*served)(nil)

// Begin implements worker.Handler.
func (s *served) Begin(ctx context.Context, req worker.Request) (worker.Start, error) {
	if req.Page > 0 || req.Ready {
		err := s.pdf.Load(ctx, req.CacheDir)
		if err == nil && req.Ready {
			err = s.pdf.Ready(ctx)
		}
		return worker.Start{PDF: true}, err
	}
	head, err := readHead(req.File.Path)
	if err != nil {
		return worker.Start{}, err
	}
	if isPDF(head) {
		return worker.Start{PDF: true}, s.pdf.Load(ctx, req.CacheDir)
	}
	return worker.Start{Markup: s.files.choose(req.File, head).plain != nil}, nil
}

// Extract implements worker.Handler.
func (s *served) Extract(
	ctx context.Context, req worker.Request, report func(done, total int),
) (corpus.Extracted, error) {
	return s.files.extract(ctx, req.File, req.Plain, report)
}

// Render implements worker.Handler.
func (s *served) Render(ctx context.Context, req worker.Request) ([]byte, error) {
	return s.pdf.Render(ctx, req.File, req.Page, req.Width)
}

// Close implements worker.Handler.
func (s *served) Close(ctx context.Context) error { return s.pdf.Close(ctx) }
