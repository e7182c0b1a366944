package doctext

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus"
)

// Check validates extracted text and blocks against the guarantees of corpus.Block and corpus.Extracted, and returns
// the first violation. Blocks are in order and separated by a blank line, with marks, cells and words inside their
// block. Tests and fuzz tests of all readers call it: an invalid offset here would misplace quotes later.
func Check(x corpus.Extracted) error {
	if !utf8.ValidString(x.Text) {
		return errors.New("text is not valid UTF-8")
	}
	if i := strings.IndexFunc(x.Text, Dropped); i >= 0 {
		return fmt.Errorf("text holds %q at byte %d", x.Text[i:min(len(x.Text), i+4)], i)
	}
	runes := []rune(x.Text)
	end := 0
	for i, b := range x.Blocks {
		if want := fmt.Sprintf("b%d", i+1); b.ID != want {
			return fmt.Errorf("block %d has the id %s, want %s", i, b.ID, want)
		}
		// Two line feeds separate blocks.
		gap := 2
		if i == 0 {
			gap = 0
		}
		if b.Start != end+gap || b.End <= b.Start || b.End > len(runes) {
			return fmt.Errorf("block %s covers [%d, %d) after %d, of %d runes", b.ID, b.Start, b.End, end, len(runes))
		}
		if gap > 0 && string(runes[end:b.Start]) != "\n\n" {
			return fmt.Errorf("block %s is joined by %q", b.ID, string(runes[end:b.Start]))
		}
		if strings.TrimSpace(string(runes[b.Start:b.End])) == "" {
			return fmt.Errorf("block %s is blank", b.ID)
		}
		if err := checkBlock(b, x.Pages); err != nil {
			return fmt.Errorf("block %s: %w", b.ID, err)
		}
		end = b.End
	}
	if end != len(runes) {
		return fmt.Errorf("the last block ends at %d of %d runes", end, len(runes))
	}
	// Either every page has a size or none has. Blocks with word boxes require sizes, for the viewer to draw them.
	drawn := len(x.Sizes) > 0 || slices.ContainsFunc(x.Blocks, func(b corpus.Block) bool { return len(b.Words) > 0 })
	if drawn && len(x.Sizes) != x.Pages {
		return fmt.Errorf("%d page sizes for %d pages", len(x.Sizes), x.Pages)
	}
	return nil
}

// checkBlock validates one block. Offsets are in runes of the whole text, half-open, in order and inside the block.
// Boxes are on existing pages, in page order, with coordinates from 0 to 1.
func checkBlock(b corpus.Block, pages int) error {
	for _, m := range b.Marks {
		if m.Start < b.Start || m.End > b.End || m.Start >= m.End {
			return fmt.Errorf("mark %s covers [%d, %d) outside [%d, %d)", m.Kind, m.Start, m.End, b.Start, b.End)
		}
	}
	at := b.Start
	for _, row := range b.Cells {
		for _, c := range row {
			if c[0] < at || c[1] < c[0] || c[1] > b.End {
				return fmt.Errorf("cell [%d, %d) outside [%d, %d)", c[0], c[1], at, b.End)
			}
			at = c[1]
		}
	}
	if err := checkGrid(b); err != nil {
		return err
	}
	at = b.Start
	words, err := b.Words.Unpack()
	if err != nil {
		return err
	}
	on := b.Page // a block may continue on later pages
	for _, w := range words {
		// Words must not overlap: the viewer highlights each word of a quote once.
		if w.Start < at || w.End <= w.Start || w.End > b.End {
			return fmt.Errorf("word [%d, %d) outside [%d, %d)", w.Start, w.End, at, b.End)
		}
		at = w.End
		if int(w.Box[0]) < on || int(w.Box[0]) > pages || !insidePage(w.Box[1:]) {
			return fmt.Errorf("word [%d, %d) stands at %v behind page %d of %d", w.Start, w.End, w.Box, on, pages)
		}
		on = int(w.Box[0])
	}
	if b.Page < 0 || b.Page > pages {
		return fmt.Errorf("page %d of %d", b.Page, pages)
	}
	if (b.Kind == corpus.BlockHeading) && (b.Level < 1 || b.Level > 6) {
		return fmt.Errorf("heading of level %d", b.Level)
	}
	if b.Kind == corpus.BlockList && b.Level < 1 {
		return fmt.Errorf("list item of level %d", b.Level)
	}
	return nil
}

// checkGrid validates the row and column numbers of a sheet. They start at 1 and ascend, with gaps allowed.
func checkGrid(b corpus.Block) error {
	if b.Grid == nil {
		return nil
	}
	if len(b.Grid.Rows) != len(b.Cells) {
		return fmt.Errorf("a grid of %d rows for a table of %d", len(b.Grid.Rows), len(b.Cells))
	}
	for r, row := range b.Cells {
		if len(row) > len(b.Grid.Columns) {
			return fmt.Errorf("row %d has %d cells in a grid of %d columns", r, len(row), len(b.Grid.Columns))
		}
	}
	if !isAscending(b.Grid.Rows) || !isAscending(b.Grid.Columns) {
		return fmt.Errorf("a grid of rows %v and columns %v", b.Grid.Rows, b.Grid.Columns)
	}
	return nil
}

// isAscending reports whether the numbers are positive and strictly ascending.
func isAscending(numbers []int) bool {
	last := 0
	for _, n := range numbers {
		if n <= last {
			return false
		}
		last = n
	}
	return true
}

// insidePage reports whether left, top, right and bottom are in order and within a page of side length 1.
func insidePage(c []float64) bool {
	return 0 <= c[0] && c[0] < c[2] && c[2] <= 1 && 0 <= c[1] && c[1] < c[3] && c[3] <= 1
}
