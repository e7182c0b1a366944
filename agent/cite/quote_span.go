package cite

import (
	"context"
	"fmt"
	"sync"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/quote"
)

// QuoteSpan is the location of a quote in a document's text, in runes.
type QuoteSpan struct {
	Start, End int
	Quote      string
	Check      chat.Check
	score      float64
}

// textLibrary is the part of *corpus.Library that footnotes need.
type textLibrary interface {
	Text(ctx context.Context, s chat.Scope, id string) (string, error)
	Blocks(ctx context.Context, s chat.Scope, id string) ([]corpus.Block, error)
	Place(
		ctx context.Context, s chat.Scope, d corpus.Document, blocks []corpus.Block, start, end int,
	) (corpus.Place, error)
}

// Texts reads the stored texts that footnotes point into, within a run's scope. It is safe for concurrent use. It
// caches the blocks of cited documents for the run, but not their texts.
type Texts struct {
	library textLibrary
	scope   chat.Scope

	mu     sync.Mutex
	blocks map[string][]corpus.Block // of cited documents, by id
}

// NewTexts returns the texts in a scope.
func NewTexts(library textLibrary, scope chat.Scope) *Texts {
	return &Texts{library: library, scope: scope}
}

// Locate finds a quote in its passage, else anywhere in the passage's document. An error is one of the store; for a
// missing quote the check is CheckNotFound without an error. corpus/quote classifies a match as verified,
// approximate or not found.
func (t *Texts) Locate(ctx context.Context, src Source, quoted string) (QuoteSpan, error) {
	runes := []rune(src.Passage.Text)
	offset := src.Passage.Start
	start, end, check := quote.Find(runes, quoted, 0, len(runes))
	if check == chat.CheckNotFound {
		text, err := t.library.Text(ctx, t.scope, src.Document.ID)
		if err != nil {
			return QuoteSpan{}, fmt.Errorf("text of %s: %w", src.Document.ID, err)
		}
		runes, offset = []rune(text), 0
		if start, end, check = quote.Find(runes, quoted, 0, len(runes)); check == chat.CheckNotFound {
			return QuoteSpan{Check: check}, nil
		}
	}
	score := 1.0
	if check == chat.CheckApproximate {
		score = 0.85
	}
	return QuoteSpan{
		Start: offset + start, End: offset + end, Quote: string(runes[start:end]), Check: check, score: score,
	}, nil
}

// Place returns the location of a source's words by their range, not by their passage. The document's blocks, with
// pages and boxes, are read once per run and cached.
func (t *Texts) Place(ctx context.Context, src Source, found QuoteSpan) (corpus.Place, error) {
	blocks, err := t.blocksOf(ctx, src.Document.ID)
	if err != nil {
		return corpus.Place{}, fmt.Errorf("blocks of a document: %w", err)
	}
	at, err := t.library.Place(ctx, t.scope, src.Document, blocks, found.Start, found.End)
	if err != nil {
		return corpus.Place{}, fmt.Errorf("place of a quote: %w", err)
	}
	if at.Block == "" {
		at.Block, at.Page = src.Passage.BlockAt(found.Start), src.Passage.Page
	}
	at.Section = src.Passage.SectionAt(at)
	at.Boxes = append([]chat.Box{}, at.Boxes...)
	return at, nil
}

// blocksOf returns a document's blocks, cached for the run. It holds the lock while reading, so that two footnotes
// of one document share one read.
func (t *Texts) blocksOf(ctx context.Context, id string) ([]corpus.Block, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.blocks[id]; ok {
		return known, nil
	}
	blocks, err := t.library.Blocks(ctx, t.scope, id)
	if err != nil {
		return nil, err
	}
	if t.blocks == nil {
		t.blocks = map[string][]corpus.Block{}
	}
	t.blocks[id] = blocks
	return blocks, nil
}
