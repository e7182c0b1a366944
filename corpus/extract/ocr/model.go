package ocr

import (
	"context"
	"fmt"
	"strings"

	"github.com/footnote/footnote/corpus"
)

// instruction is the prompt for a model that reads a picture.
const instruction = "Write down all text on this picture of a page, word for word, in the order in which people read " +
	"it. Keep its lines, and leave an empty line between paragraphs. Write nothing else: no comment, no translation, " +
	"no formatting. Write only the word " + nothing + " if there is no text."

const (
	nothing  = "NOTHING"
	maxLines = 5000 // of a page that a model wrote down
)

// Model reads pictures with a model that sees. It says what a page says and not where, so that words have no place. A
// page costs a call to the model, and what it writes down cannot be checked against the picture.
type Model struct {
	// See shows a picture to the model, a PNG, and returns what it says. It is safe for concurrent use.
	See func(ctx context.Context, instruction string, png []byte) (string, error)
	// Blind reports whether an error of See says that the model takes no pictures, now and later.
	Blind func(err error) bool
}

// blind is the failure of a file whose pages the model takes no pictures of.
var blind = &corpus.Failure{Code: corpus.NeedsOCR,
	Detail: "This file shows text only in pictures, and the model refuses pictures. Set OPENAI_MODEL to one that " +
		"sees, or install tesseract and leave FOOTNOTE_OCR out, and have it read again."}

// Begin implements Letters.
func (m *Model) Begin(context.Context) (Document, error) { return m, nil }

// Page implements Document. A model reads a page whichever way it lies. The error of a model that takes no pictures is
// a failure of the file with what to do, since every page would fail alike.
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

// pageOf makes a page of what a model wrote down: a line of each of its lines, one without words of an empty one. At
// most maxLines lines are taken, lest a model that repeats itself makes a page without end.
func pageOf(said string) (p corpus.ReadPage) {
	said = strings.TrimSpace(strings.ReplaceAll(said, "\r", ""))
	if inside, ok := strings.CutPrefix(said, "```"); ok { // models fence what they are to write as it is
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
