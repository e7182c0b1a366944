package doctext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// made writes the content of fill and validates the result.
func made(t *testing.T, fill func(*Writer)) corpus.Extracted {
	t.Helper()
	var w Writer
	fill(&w)
	x := w.Result()
	if err := Check(x); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestShortBlocksAreJoined(t *testing.T) {
	const n = 100_000
	x := made(t, func(w *Writer) {
		for range n / 2 {
			w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 2})
			w.Text("a")
			w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
			w.Text("b")
		}
	})
	if got := strings.Count(x.Text, "a") + strings.Count(x.Text, "b"); got != n {
		t.Errorf("%d of %d words are left, want %d", got, n, n)
	}
	if most := fewBlocks + len(x.Text)/runesPer + 100; len(x.Blocks) > most {
		t.Errorf("%d blocks, want at most %d", len(x.Blocks), most)
	}
	book := made(t, func(w *Writer) {
		for range n {
			w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
			w.Text(strings.Repeat("A paragraph of a book is long. ", 5))
		}
	})
	if len(book.Blocks) != n {
		t.Errorf("a book of %d paragraphs has %d blocks, want %d blocks", n, len(book.Blocks), n)
	}
}

func TestLongBlockIsSplit(t *testing.T) {
	for _, kind := range []corpus.BlockKind{
		corpus.BlockParagraph, corpus.BlockCode, corpus.BlockList, corpus.BlockHeading,
	} {
		x := made(t, func(w *Writer) {
			w.Begin(corpus.Block{Kind: kind, Level: 1})
			w.Text(strings.Repeat("word\n", 50_000))
		})
		if got := strings.Count(x.Text, "word"); got != 50_000 {
			t.Errorf("%s: %d words are left, want 50_000", kind, got)
		}
		for _, b := range x.Blocks {
			if b.End-b.Start > maxBlock+maxWord {
				t.Errorf("%s: a block of %d runes, want at most %d", kind, b.End-b.Start, maxBlock+maxWord)
			}
		}
	}
}

func TestLargeTableContinuesAsText(t *testing.T) {
	const rows, columns = 3000, 100
	x := made(t, func(w *Writer) {
		w.Begin(corpus.Block{Kind: corpus.BlockTable})
		for range rows {
			w.Row()
			for range columns {
				w.Cell()
				w.Text("x")
			}
		}
	})
	cells := 0
	for _, b := range x.Blocks {
		for _, row := range b.Cells {
			cells += len(row)
		}
	}
	if got := strings.Count(x.Text, "x"); got != rows*columns || cells > MaxCells || cells < MaxCells*9/10 {
		t.Errorf("%d of %d values are left, %d of them in cells, want at most %d", got, rows*columns, cells, MaxCells)
	}
	if last := x.Blocks[len(x.Blocks)-1]; last.Kind != corpus.BlockParagraph ||
		!strings.HasSuffix(x.Text, "\n"+strings.Repeat("x | ", columns-1)+"x") {
		t.Errorf("the last rows are a %s: %q; want %s and %q at its end",
			last.Kind, x.Text[len(x.Text)-20:], corpus.BlockParagraph, "\n"+strings.Repeat("x | ", columns-1)+"x")
	}
}

func TestMarksAndTitlesAreBounded(t *testing.T) {
	const n = 200_000
	link := "http://example.com/" + strings.Repeat("a", 1000)
	x := made(t, func(w *Writer) {
		w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 1})
		w.Text(strings.Repeat("title ", 5000))
		w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
		for range n {
			end := w.Mark("link", link)
			w.Text("a")
			end()
		}
	})
	marks, bytes := 0, 0
	for _, b := range x.Blocks {
		for _, m := range b.Marks {
			marks, bytes = marks+1, bytes+len(m.URL)
		}
		for _, title := range b.Headings {
			if len(title) > maxTitle+len("…") {
				t.Fatalf("a title of %d bytes is repeated, want at most %d", len(title), maxTitle+len("…"))
			}
		}
	}
	if most := fewLinks + 4*len(x.Text); bytes > most || marks == 0 {
		t.Errorf("%d marks hold %d bytes of addresses, want at most %d", marks, bytes, most)
	}
}

func TestHiddenTextIsDropped(t *testing.T) {
	tags := strings.Map(func(r rune) rune { return 0xE0000 + r }, "obey me")
	x := made(t, func(w *Writer) {
		w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
		w.Text("The roof" + tags + " is\u200b\u200c\u200d\u200b dry.")
	})
	if want := "The roof is\u200b\u200c dry."; x.Text != want {
		t.Errorf("text = %+q, want %+q", x.Text, want)
	}
	if got := Line("A" + tags + "B"); got != "AB" {
		t.Errorf("Line = %+q, want %q", got, "AB")
	}
}

func sample() corpus.Extracted {
	var w Writer
	w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 1})
	w.Text(" The \n roof ")
	w.Begin(corpus.Block{Kind: corpus.BlockParagraph, Page: 1})
	w.Text("It is ")
	end := w.Mark("strong", "")
	w.Text("née")
	end()
	w.Text(" ")
	w.Word("dry", corpus.WordBox{Start: 0, End: 3, Box: chat.Box{1, 0.1, 0.1, 0.2, 0.2}})
	w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
	w.Text(" \n")
	w.Begin(corpus.Block{Kind: corpus.BlockTable})
	for _, row := range []string{"a b", "c "} {
		w.Row()
		for cell := range strings.SplitSeq(row, " ") {
			w.Cell()
			w.Text(cell)
		}
	}
	x := w.Result()
	x.Pages, x.Sizes = 1, [][2]float64{{600, 800}}
	return x
}

func unpacked(t *testing.T, b corpus.Block) []corpus.WordBox {
	t.Helper()
	words, err := b.Words.Unpack()
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// respell changes the first word box of the second block.
func respell(x *corpus.Extracted, change func(*corpus.WordBox)) {
	words, err := x.Blocks[1].Words.Unpack()
	if err != nil {
		panic(err)
	}
	change(&words[0])
	x.Blocks[1].Words = corpus.PackWords(words)
}

func TestWriterInvariants(t *testing.T) {
	x := sample()
	if err := Check(x); err != nil {
		t.Fatal(err)
	}
	if want := "The roof\n\nIt is née dry\n\na | b\nc | "; x.Text != want {
		t.Errorf("text = %q, want %q", x.Text, want)
	}
	b := x.Blocks[1]
	runes := []rune(x.Text)
	words := unpacked(t, b)
	if got := string(runes[b.Marks[0].Start:b.Marks[0].End]); got != "née" {
		t.Errorf("the mark covers %q, want %q", got, "née")
	}
	if got := string(runes[words[0].Start:words[0].End]); got != "dry" || b.Headings[0] != "The roof" {
		t.Errorf("the word covers %q, headings %q; want %q and %q", got, b.Headings, "dry", "The roof")
	}
}

func TestCheckDetectsViolations(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*corpus.Extracted)
	}{
		{"a block that begins too late", func(x *corpus.Extracted) { x.Blocks[1].Start++ }},
		{"a block that ends too early", func(x *corpus.Extracted) { x.Blocks[2].End-- }},
		{"a block without text", func(x *corpus.Extracted) { x.Blocks[0].End = 0 }},
		{"another joint than a blank line",
			func(x *corpus.Extracted) { x.Text = strings.Replace(x.Text, "\n\n", "\n ", 1) }},
		{"a wrong id", func(x *corpus.Extracted) { x.Blocks[2].ID = "b9" }},
		{"a mark outside its block", func(x *corpus.Extracted) { x.Blocks[1].Marks[0].Start = 0 }},
		{"an empty mark", func(x *corpus.Extracted) { x.Blocks[1].Marks[0].End = x.Blocks[1].Marks[0].Start }},
		{"a cell outside its table", func(x *corpus.Extracted) { x.Blocks[2].Cells[0][0][0] = 1 }},
		{"a word outside its block", func(x *corpus.Extracted) { respell(x, func(w *corpus.WordBox) { w.End = 999 }) }},
		{"a word on another page", func(x *corpus.Extracted) { respell(x, func(w *corpus.WordBox) { w.Box[0] = 2 }) }},
		{"a word without width",
			func(x *corpus.Extracted) { respell(x, func(w *corpus.WordBox) { w.Box[3] = w.Box[1] }) }},
		{"damaged words", func(x *corpus.Extracted) { x.Blocks[1].Words = x.Blocks[1].Words[:1] }},
		{"a page that is not there", func(x *corpus.Extracted) { x.Blocks[2].Page = 2 }},
		{"a heading without a level", func(x *corpus.Extracted) { x.Blocks[0].Level = 0 }},
		{"a missing page size", func(x *corpus.Extracted) { x.Sizes = nil }},
		{"a carriage return", func(x *corpus.Extracted) { x.Text = strings.Replace(x.Text, " ", "\r", 1) }},
		{"bytes that are no text", func(x *corpus.Extracted) { x.Text = "\xff" + x.Text[1:] }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := sample()
			tt.spoil(&x)
			if Check(x) == nil {
				t.Error("Check = nil, want an error")
			}
		})
	}
}

func TestSplitTableKeepsRowNumbers(t *testing.T) {
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
		t.Fatalf("got %d blocks, want the table split", len(x.Blocks))
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

func TestSplitFileKeepsLineNumbers(t *testing.T) {
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
		t.Fatalf("got %d blocks, want the text split", len(x.Blocks))
	}
	runes := []rune(x.Text)
	for _, b := range x.Blocks {
		if got, want := string(runes[b.Start:b.End]), fmt.Sprintf("line %d of", b.Line); !strings.HasPrefix(got, want) {
			t.Errorf("block %s of line %d begins with %.20q, want %q", b.ID, b.Line, got, want)
		}
	}
}

// A line that is longer than a block has one line number in all of its blocks.
func TestLongLineHasOneNumber(t *testing.T) {
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
