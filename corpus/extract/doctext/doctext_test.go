package doctext

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

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

// respell changes the first word of the second block.
func respell(x *corpus.Extracted, change func(*corpus.WordBox)) {
	words, err := x.Blocks[1].Words.Unpack()
	if err != nil {
		panic(err)
	}
	change(&words[0])
	x.Blocks[1].Words = corpus.PackWords(words)
}

func TestTheWriterKeepsItsPromises(t *testing.T) {
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

func TestCheckFindsEachBrokenPromise(t *testing.T) {
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
				t.Error("Check found nothing wrong")
			}
		})
	}
}
