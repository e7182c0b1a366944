package corpus

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"footnote/chat"
)

func TestLinesJoinTheWordsOfALine(t *testing.T) {
	word := func(page, x0, y0, x1, y1 float64) WordBox { return WordBox{Box: chat.Box{page, x0, y0, x1, y1}} }
	got := lineBoxes([]WordBox{
		word(1, 0.1, 0.10, 0.2, 0.12), word(1, 0.21, 0.105, 0.3, 0.125), // one line
		word(1, 0.1, 0.14, 0.2, 0.16),  // the next
		word(1, 0.6, 0.14, 0.7, 0.16),  // the next column
		word(2, 0.71, 0.14, 0.8, 0.16), // the next page
	})
	want := []chat.Box{
		{1, 0.1, 0.10, 0.3, 0.125}, {1, 0.1, 0.14, 0.2, 0.16}, {1, 0.6, 0.14, 0.7, 0.16}, {2, 0.71, 0.14, 0.8, 0.16},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
}
