package picture

import (
	"context"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/pdf"
)

// Reader implements corpus.Extractor for pictures and renders them. It is stateless and safe for concurrent use:
// each call opens the file again.
type Reader struct{}

// Extract implements corpus.Extractor. It recognises no text: without f.Read, all pages of a file are returned as
// scans.
func (Reader) Extract(
	ctx context.Context, f corpus.File, report func(done, total int),
) (corpus.Extracted, error) {
	if len(f.Read) > 0 {
		return pdf.FromPictures(f.Read), ctx.Err()
	}
	file, frames, err := open(f)
	if err != nil {
		return corpus.Extracted{}, err
	}
	defer file.Close()
	x := corpus.Extracted{Pages: len(frames), Meta: map[string]any{}}
	for i, fr := range frames {
		w, h := pdf.PageOf(fr.upright())
		x.Sizes = append(x.Sizes, [2]float64{w, h})
		x.Scans = append(x.Scans, i+1)
	}
	if report != nil {
		report(1, 1)
	}
	return x, ctx.Err()
}
