package views

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

func TestABlockWithTooManyMarksIsShownAsItsText(t *testing.T) {
	const words = MaxBlockNodes / 4
	for _, kind := range []corpus.BlockKind{corpus.BlockParagraph, corpus.BlockList, corpus.BlockHeading} {
		b := corpus.Block{ID: "b1", Kind: kind, Level: 1, Start: 0, End: 2 * words}
		for i := range words {
			b.Marks = append(b.Marks, corpus.Mark{Kind: "strong", Start: 2 * i, End: 2*i + 1})
		}
		v := &Viewer{Text: []rune(strings.Repeat("w ", words)), Blocks: []corpus.Block{b}, Quote: Span{2, 5}}
		var out strings.Builder
		if err := documentContent(v).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if n := strings.Count(got, "<strong>"); n != 0 || !strings.Contains(got, `data-testid="too-large"`) ||
			!strings.Contains(got, `<mark class="quote" id="cited">w w</mark>`) {
			t.Errorf("%s: %d bold words, %.300s; want a notice and plain text with the quote marked", kind, n, got)
		}
		if n := BlockNodes(b); n > 10 {
			t.Errorf("%s: it counts %d nodes, want those of its notice and its text", kind, n)
		}
	}
}
