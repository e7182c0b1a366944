package extract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

func readTable(t *testing.T, src string) corpus.Extracted {
	t.Helper()
	x, err := readCSV(t.Context(), src, corpus.File{})
	if err != nil {
		t.Fatalf("readCSV: %v, want no error", err)
	}
	return x
}

func TestCSVIsATableWhateverSeparatesItsFields(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ src, want string }{
		{"Part,Price\nSlate,4.50\n\"Nail, long\",0.10\n", "Part | Price\nSlate | 4.50\nNail, long | 0.10"},
		{"Teil;Preis\nSchiefer;4,50\nNagel;0,10\n", "Teil | Preis\nSchiefer | 4,50\nNagel | 0,10"},
		{"Part\tPrice\nSlate\t4.50\n", "Part | Price\nSlate | 4.50"},
		{"a|b|c\n1|2,5|3\n", "a | b | c\n1 | 2,5 | 3"},
		{"Part,Note\nSlate,\"two\nlines\"\n", "Part | Note\nSlate | two lines"},
		{"Part,Note\nSlate,5\" wide\n", "Part | Note\nSlate | 5\" wide"},
	} {
		x := readTable(t, tt.src)
		if x.Text != tt.want || len(x.Blocks) != 1 || x.Blocks[0].Kind != corpus.BlockTable {
			t.Errorf("%q is read as %q in %d blocks, want %q in one table", tt.src, x.Text, len(x.Blocks), tt.want)
		}
	}
	for _, src := range []string{"Dear all,\n\nthe roof is sound.\n", "one\ntwo\n", "a,b\nc\nd,e,f\n", ""} {
		for _, b := range readTable(t, src).Blocks {
			if b.Kind == corpus.BlockTable {
				t.Errorf("%q is a table, want text", src)
			}
		}
	}
}

func TestEachPartOfALongTableKnowsItsColumns(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	src.WriteString("Part,Price,Supplier\n")
	for i := range 9000 {
		fmt.Fprintf(&src, "slate no. %d,%d.50,Harper & Sons\n", i, i%90)
	}
	x := readTable(t, src.String())
	if len(x.Blocks) < 3 {
		t.Fatalf("%d blocks, want some", len(x.Blocks))
	}
	for i, b := range x.Blocks {
		want := "Part | Price | Supplier"
		if i == 0 {
			want = ""
		}
		if b.Kind != corpus.BlockTable || b.Columns != want {
			t.Errorf("block %d is a %s with columns %q, want a table with %q", i, b.Kind, b.Columns, want)
		}
	}
	for i, p := range corpus.Split("d", "sha", x) {
		if i > 0 && p.Section != "Part | Price | Supplier" {
			t.Errorf("passage %d has the section %q, want the names of its columns", i, p.Section)
		}
	}
}

func TestCSVBeyondTheMostCellsIsText(t *testing.T) {
	t.Parallel()
	src := "a,b\n" + strings.Repeat("1,2\n", 200_000) + "the,end\n"
	x := readTable(t, src)
	if first, last := x.Blocks[0], x.Blocks[len(x.Blocks)-1]; first.Kind != corpus.BlockTable ||
		last.Kind == corpus.BlockTable || !strings.HasSuffix(x.Text, "the,end") {
		t.Errorf("begins with a %s, ends with a %s and %q, want a table, text and the,end", first.Kind, last.Kind,
			x.Text[len(x.Text)-20:])
	}
	if got, want := strings.Count(x.Text, "1"), 200_000; got != want {
		t.Errorf("%d rows are left, want %d", got, want)
	}
}
