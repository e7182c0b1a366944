package ocr

import (
	"context"
	"fmt"
	"strings"

	"github.com/footnote/footnote/corpus"
)

// instruction is the OCR prompt for a vision model.
const instruction = "Write down all text on this picture of a page, word for word, in the order in which people read " +
	"it. Keep its lines, and leave an empty line between paragraphs. Write nothing else: no comment, no translation, " +
	"no formatting. Write only the word " + nothing + " if there is no text."

const (
	nothing  = "NOTHING"
	maxLines = 5000 // per page of a model's answer
)

// Model recognises text with a vision model. It returns text without boxes. Each page costs a call to the model, and
// the text cannot be validated against the image.
type Model struct {
	// See sends an image, a PNG, to the model with an instruction and returns its answer. It is safe for concurrent
	// use.
	See func(ctx context.Context, instruction string, png []byte) (string, error)
	// Blind reports whether an error of See means that the model never accepts images.
	Blind func(err error) bool
}

// blind is the failure of a file when the model accepts no images.
var blind = &corpus.Failure{Code: corpus.NeedsOCR,
	Detail: "This file contains text only as images, which the model doesn't support. Set OPENAI_MODEL to a vision " +
		"model, or install tesseract and unset FOOTNOTE_OCR. Then try again."}

// Begin implements Letters.
func (m *Model) Begin(context.Context) (Document, error) { return m, nil }

// Page implements Document. A model reads a page in any orientation, so that it is not turned. If the model accepts
// no images, the error is a failure of the file with advice, since every page would fail.
func (m *Model) Page(ctx context.Context, draw func(turn int) ([]byte, error)) (corpus.ReadPage, error) {
	picture, err := draw(0)
	if err != nil {
		return corpus.ReadPage{}, err
	}
	said, err := m.See(ctx, instruction, picture)
	switch {
	case err != nil && ctx.Err() == nil && m.Blind(err):
		return corpus.ReadPage{}, blind
	case err != nil:
		return corpus.ReadPage{}, fmt.Errorf("show a page to the model: %w", err)
	}
	return pageOf(said), nil
}

// pageOf converts a model's answer to a page, line by line. An empty line becomes one without words. At most
// maxLines lines are used, because a model may repeat itself endlessly.
func pageOf(said string) (p corpus.ReadPage) {
	said = strings.TrimSpace(strings.ReplaceAll(said, "\r", ""))
	if inside, ok := strings.CutPrefix(said, "```"); ok { // models put verbatim text into a code fence
		_, inside, _ = strings.Cut(inside, "\n")
		said = strings.TrimSuffix(inside, "```")
	}
	if strings.Trim(said, "\"'. ") == nothing {
		return p
	}
	for line := range strings.Lines(said) {
		if len(p.Lines) >= maxLines {
			break
		}
		var read corpus.ReadLine
		for word := range strings.FieldsSeq(line) {
			read.Words = append(read.Words, corpus.ReadWord{Text: word})
		}
		p.Lines = append(p.Lines, read)
	}
	return p
}
