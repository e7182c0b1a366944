package pdf_test

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

// The columns of vertical text are the lines of a paragraph, from the right. A blank column or an indented one ends it.
func TestColumnsOfVerticalTextAreLines(t *testing.T) {
	var f pdftest.Letters
	column := func(x, y int, text string) (all string) {
		for i, c := range []rune(text) {
			all += f.Show(x, y-14*i, 14, string(c))
		}
		return all
	}
	x := mustExtract(t, newReader(t, nil), f.Document(column(500, 700, "灯台は一八五一年に建てられ、番人")+
		column(480, 700, "は四十年間そこで暮らした。")+column(440, 700, "資料は港の博物館にあり、誰でも見")+
		column(420, 700, "ることができる。")))
	want := "灯台は一八五一年に建てられ、番人は四十年間そこで暮らした。\n\n資料は港の博物館にあり、誰でも見ることができる。"
	if x.Text != want {
		t.Errorf("text = %q, want %q", x.Text, want)
	}
	words, boxes := wordsOf(t, x)
	if strings.Join(words, "") != strings.ReplaceAll(want, "\n", "") {
		t.Fatalf("words = %q, want those of the text", words)
	}
	for i, at := range []float64{500, 480, 440, 420} {
		n := []int{0, 16, 29, 45}[i]
		if x0, x1 := boxes[n][1]*600, boxes[n][3]*600; x0 < at-8 || x1 > at+22 || boxes[n][2]*800 > 120 {
			t.Errorf("%s stands at %.0f to %.0f, %.0f from the top, want it on top of the column at %.0f", words[n],
				x0, x1,
				boxes[n][2]*800, at)
		}
	}
}
