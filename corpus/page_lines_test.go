package corpus

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

func TestLinesJoinTheWordsOfALine(t *testing.T) {
	word := func(turn int, page, x0, y0, x1, y1 float64) WordBox {
		return WordBox{Box: chat.Box{page, x0, y0, x1, y1}, Turn: turn}
	}
	got := joinLines([]WordBox{
		word(0, 1, 0.1, 0.10, 0.2, 0.12), word(0, 1, 0.21, 0.105, 0.3, 0.125), // one line
		word(0, 1, 0.1, 0.14, 0.2, 0.16),                                         // the next
		word(0, 1, 0.6, 0.14, 0.7, 0.16),                                         // the next column
		word(0, 2, 0.71, 0.14, 0.8, 0.16),                                        // the next page
		word(3, 2, 0.30, 0.70, 0.32, 0.76), word(3, 2, 0.305, 0.67, 0.325, 0.69), // read from below
		word(3, 2, 0.34, 0.70, 0.36, 0.76),                                       // the next line of it
		word(1, 2, 0.90, 0.10, 0.92, 0.16), word(1, 2, 0.895, 0.165, 0.915, 0.2), // read from above
		word(1, 2, 0.86, 0.10, 0.88, 0.16),                                     // the next line of it
		word(2, 2, 0.60, 0.80, 0.70, 0.82), word(2, 2, 0.50, 0.80, 0.59, 0.82), // upside down
		word(2, 2, 0.60, 0.77, 0.70, 0.79), // the next line of it
		word(0, 2, 0.71, 0.77, 0.80, 0.79), // upright beside it
	})
	want := []Line{
		{Box: chat.Box{1, 0.1, 0.10, 0.3, 0.125}}, {Box: chat.Box{1, 0.1, 0.14, 0.2, 0.16}},
		{Box: chat.Box{1, 0.6, 0.14, 0.7, 0.16}}, {Box: chat.Box{2, 0.71, 0.14, 0.8, 0.16}},
		{Box: chat.Box{2, 0.30, 0.67, 0.325, 0.76}, Turn: 3}, {Box: chat.Box{2, 0.34, 0.70, 0.36, 0.76}, Turn: 3},
		{Box: chat.Box{2, 0.895, 0.10, 0.92, 0.2}, Turn: 1}, {Box: chat.Box{2, 0.86, 0.10, 0.88, 0.16}, Turn: 1},
		{Box: chat.Box{2, 0.50, 0.80, 0.70, 0.82}, Turn: 2}, {Box: chat.Box{2, 0.60, 0.77, 0.70, 0.79}, Turn: 2},
		{Box: chat.Box{2, 0.71, 0.77, 0.80, 0.79}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
}
