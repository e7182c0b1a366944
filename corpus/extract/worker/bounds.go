package worker

import (
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text/locale"
)

// Bounds of the result of one file, in any format, in addition to those of doctext.
const (
	MaxText  = 64 << 20 // bytes of canonical text
	MaxWords = 64 << 20 // bytes of packed word boxes
)

// checkSize fails with a *corpus.Failure for a result beyond the bounds. The worker calls it before it sends
// anything, so that the owner of the file gets an error message.
func checkSize(x corpus.Extracted) error {
	cells, words := 0, 0
	for i := range x.Blocks {
		for _, row := range x.Blocks[i].Cells {
			cells += len(row)
		}
		words += len(x.Blocks[i].Words)
	}
	switch {
	case len(x.Text) > MaxText || words > MaxWords:
		return &corpus.Failure{Code: "too_large", Detail: locale.Say(
			"This file exceeds the limit of {1} MB of text. Split it and add the parts.", MaxText>>20)}
	case len(x.Blocks) > doctext.MaxBlocks:
		return &corpus.Failure{Code: "too_large", Detail: locale.Say(
			"This file exceeds the limit of {1},000 paragraphs. Split it and add the parts.", doctext.MaxBlocks/1000)}
	case cells > doctext.MaxCells:
		return &corpus.Failure{Code: "too_large", Detail: locale.Say(
			"This file's tables exceed the limit of {1},000 cells. Split it and add the parts.", doctext.MaxCells/1000)}
	}
	return nil
}

// fits validates the announced sizes against the bounds, since they decide how much memory the server allocates. A
// compromised worker may announce anything; its process is then killed.
func (c Contents) fits() bool {
	return c.Text >= 0 && c.Text <= MaxText && c.Blocks >= 0 && c.Blocks <= doctext.MaxBlocks && c.Words >= 0 &&
		c.Words <= MaxWords
}

// bytes estimates the memory of the text and the blocks. A block without its words counts as 300 bytes: its fields,
// its id and its share of headings.
func (c Contents) bytes() int64 { return int64(c.Text) + 300*int64(c.Blocks) + int64(c.Words) }
