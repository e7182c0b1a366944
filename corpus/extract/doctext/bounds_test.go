package doctext

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// made writes what fill does and checks every promise of the result.
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

func TestManyShortBlocksAreJoined(t *testing.T) {
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

func TestALongBlockIsCut(t *testing.T) {
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

func TestALargeTableGoesOnAsText(t *testing.T) {
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
