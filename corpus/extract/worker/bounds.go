package worker

import (
	"fmt"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

// Bounds of what is made of one file, in any format, beside those of doctext.
const (
	MaxText  = 64 << 20 // bytes of canonical text
	MaxWords = 64 << 20 // bytes of packed word boxes
)

// checkSize fails with a *corpus.Failure for a result beyond the bounds. The worker asks it before it sends anything,
// so that the owner of the file gets a sentence.
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
		return &corpus.Failure{Code: "too_large", Detail: fmt.Sprintf(
			"This file holds more than %d MB of text. Split it and add the parts.", MaxText>>20)}
	case len(x.Blocks) > doctext.MaxBlocks:
		return &corpus.Failure{Code: "too_large", Detail: fmt.Sprintf(
			"This file holds more than %d,000 paragraphs. Split it and add the parts.", doctext.MaxBlocks/1000)}
	case cells > doctext.MaxCells:
		return &corpus.Failure{Code: "too_large", Detail: fmt.Sprintf(
			"The tables of this file have more than %d,000 cells. Split it and add the parts.", doctext.MaxCells/1000)}
	}
	return nil
}

// fits reports whether a worker keeps to the bounds: what it announces is taken into the server's memory. A worker in
// which a file has run code may announce anything; then the whole process is given up.
func (c Contents) fits() bool {
	return c.Text >= 0 && c.Text <= MaxText && c.Blocks >= 0 && c.Blocks <= doctext.MaxBlocks && c.Words >= 0 &&
		c.Words <= MaxWords
}

// bytes is about what the text and the blocks take in memory. 300 bytes stand for a block without its words: its
// fields, its id and its share of headings.
func (c Contents) bytes() int64 { return int64(c.Text) + 300*int64(c.Blocks) + int64(c.Words) }
