package doctext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

func TestTheRowsOfASheetKeepTheirNumbersWhereATableIsCut(t *testing.T) {
	var w Writer
	w.Begin(corpus.Block{Kind: corpus.BlockTable, Grid: &corpus.Grid{Columns: []int{2, 4}}})
	for n := 3; n < 3000; n += 3 { // the rows between are empty
		w.SheetRow(n)
		w.Cell()
		w.Text(fmt.Sprintf("row %d", n))
		w.Cell()
		w.Text(strings.Repeat("x", 60))
	}
	x := w.Result()
	if err := Check(x); err != nil {
		t.Fatal(err)
	}
	if len(x.Blocks) < 2 {
		t.Fatalf("%d blocks: the table was not cut", len(x.Blocks))
	}
	runes := []rune(x.Text)
	for _, b := range x.Blocks {
		for r, row := range b.Cells {
			if got, want := string(runes[row[0][0]:row[0][1]]), fmt.Sprintf("row %d", b.Grid.Rows[r]); got != want {
				t.Fatalf("block %s, row %d holds %q, want %q", b.ID, r, got, want)
			}
		}
	}
}

func TestTheLinesOfAFileKeepTheirNumbersWhereItIsCut(t *testing.T) {
	var w Writer
	w.Begin(corpus.Block{Kind: corpus.BlockCode, Line: 1})
	w.Text("\n\n")
	for n := 3; n < 4000; n++ {
		w.Text(fmt.Sprintf("line %d of the file, which is long enough\n", n))
	}
	x := w.Result()
	if err := Check(x); err != nil {
		t.Fatal(err)
	}
	if len(x.Blocks) < 2 {
		t.Fatalf("%d blocks: the text was not cut", len(x.Blocks))
	}
	runes := []rune(x.Text)
	for _, b := range x.Blocks {
		if got, want := string(runes[b.Start:b.End]), fmt.Sprintf("line %d of", b.Line); !strings.HasPrefix(got, want) {
			t.Errorf("block %s of line %d begins with %.20q, want %q", b.ID, b.Line, got, want)
		}
	}
}

// A line that is longer than a block is one line in all of its blocks.
func TestALongLineIsOneLine(t *testing.T) {
	var w Writer
	w.Begin(corpus.Block{Kind: corpus.BlockCode, Line: 1})
	w.Text("{\n" + strings.Repeat("abc,", 1<<16) + "\nend\n")
	x := w.Result()
	last := x.Blocks[len(x.Blocks)-1]
	lines := strings.Count(x.Text[:strings.Index(x.Text, "abc,")], "\n")
	if lines == 0 || len(x.Blocks) < 4 {
		t.Fatalf("%d blocks of %d lines, want some of the long line", len(x.Blocks), lines)
	}
	for _, b := range x.Blocks[1 : len(x.Blocks)-1] {
		if b.Line != 2 {
			t.Errorf("block %s is of line %d, want 2", b.ID, b.Line)
		}
	}
	if last.Line < 2 || last.Line > 3 {
		t.Errorf("the last block is of line %d, want the second or third", last.Line)
	}
}

func TestShortBlocksOfPagesAreBounded(t *testing.T) {
	var w Writer
	for n := range MaxBlocks + 1000 {
		w.Paging(n + 1)
		w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
		w.Text("a")
	}
	if x := w.Result(); len(x.Blocks) > MaxBlocks {
		t.Errorf("%d blocks, want at most %d", len(x.Blocks), MaxBlocks)
	}
}
