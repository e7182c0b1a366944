package corpus

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/chat"
)

// Cut is a part of a passage as a passage of its own: [start, end), rune offsets in the document's text, as far as the
// passage holds them. It keeps the id. section names what stands there. A citation of one sentence is one. The id is
// that of the whole passage, which is what stores know.
func (p Passage) Cut(start, end int, section string) Passage {
	start, end = max(start, p.Start), min(end, p.End)
	block := p.BlockAt(start)
	runes := []rune(p.Text)
	from := min(start-p.Start, len(runes))
	p.Text = string(runes[from:min(max(end-p.Start, from), len(runes))])
	p.Start, p.End, p.Part, p.Section = start, end, true, section
	p.FirstBlock, p.LastBlock = block, block
	return p
}

// PassagesAt returns, for each of some rune offsets in a document's text, the passage that holds it; one without an id
// where none does.
func (l *Library) PassagesAt(ctx context.Context, s chat.Scope, id string, offsets []int) ([]Passage, error) {
	passages, err := l.cfg.Documents.Passages(ctx, s, id, 0, -1)
	if err != nil {
		return nil, fmt.Errorf("read passages: %w", err)
	}
	out := make([]Passage, len(offsets))
	for i, at := range offsets {
		if p := passageAt(passages, at); p >= 0 {
			out[i] = passages[p]
		}
	}
	return out, nil
}
