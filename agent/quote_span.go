package agent

import (
	"context"
	"fmt"
	"sync"

	"footnote/chat"
	"footnote/corpus"
)

// place is where a quote stands in a document's text, in runes.
type place struct {
	start, end int
	quote      string
	check      chat.Check
	score      float64
}

// textLibrary is what footnotes need of the documents: *corpus.Library has it.
type textLibrary interface {
	Text(ctx context.Context, s chat.Scope, id string) (string, error)
	Blocks(ctx context.Context, s chat.Scope, id string) ([]corpus.Block, error)
	Place(ctx context.Context, s chat.Scope, id string, blocks []corpus.Block, start, end int) (corpus.Place, error)
}

// texts are the stored texts that footnotes point into: those of a run's scope. It is safe for concurrent use.
type texts struct {
	library textLibrary
	scope   chat.Scope

	mu     sync.Mutex
	blocks map[string][]corpus.Block // of the documents that are cited, by id
}

func newTexts(library textLibrary, scope chat.Scope) *texts {
	return &texts{library: library, scope: scope}
}

// locate finds a quote in its passage, else anywhere in the passage's document.
func (t *texts) locate(ctx context.Context, src source, quote string) (place, error) {
	runes := []rune(src.passage.Text)
	offset := src.passage.Start
	start, end, check := corpus.FindQuote(runes, quote, 0, len(runes))
	if check == chat.CheckNotFound {
		text, err := t.library.Text(ctx, t.scope, src.document.ID)
		if err != nil {
			return place{}, fmt.Errorf("text of %s: %w", src.document.ID, err)
		}
		runes, offset = []rune(text), 0
		if start, end, check = corpus.FindQuote(runes, quote, 0, len(runes)); check == chat.CheckNotFound {
			return place{check: check}, nil
		}
	}
	score := 1.0
	if check == chat.CheckApproximate {
		score = 0.85
	}
	return place{start: offset + start, end: offset + end, quote: string(runes[start:end]), check: check, score: score}, nil
}

// place returns where words of a source stand, by the words and not by the passage that they were found in.
func (t *texts) place(ctx context.Context, src source, found place) (corpus.Place, error) {
	blocks, err := t.blocksOf(ctx, src.document.ID)
	if err != nil {
		return corpus.Place{}, fmt.Errorf("blocks of a document: %w", err)
	}
	at, err := t.library.Place(ctx, t.scope, src.document.ID, blocks, found.start, found.end)
	if err != nil {
		return corpus.Place{}, fmt.Errorf("place of a quote: %w", err)
	}
	if at.Block == "" {
		at.Block, at.Page = src.passage.BlockAt(found.start), src.passage.Page
	}
	at.Section = src.passage.SectionAt(at)
	at.Boxes = append([]chat.Box{}, at.Boxes...)
	return at, nil
}

// blocksOf reads a document's blocks once a run.
func (t *texts) blocksOf(ctx context.Context, id string) ([]corpus.Block, error) {
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
