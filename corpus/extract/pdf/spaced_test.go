package pdf_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

func TestSpacedLettersAreWords(t *testing.T) {
	reader := newReader(t, nil)
	for _, tt := range []struct{ name, content, want string }{
		{"by the file's spaces", pdftest.At(50, 700, 12, "F", "S U R V E Y   O F   T H E   R O O F"),
			"SURVEY OF THE ROOF"},
		{"by their positions",
			"BT /F 12 Tf 50 700 Td [(S) -400 (U) -400 (R) -400 (V) -400 (E) -400 (Y) -1000 (O) -400 (F) " +
				"-1000 (i) -400 (t)] TJ ET\n", "SURVEY OF it"},
		{"by the spacing of the text", "BT /F 12 Tf 5 Tc 50 700 Td (SURVEY OF THE ROOF) Tj ET\n", "SURVEY OF THE ROOF"},
		{"one word, wider than spaces", "BT /F 12 Tf 50 700 Td [(R) -500 (O) -500 (O) -500 (F) -500 (S)] TJ ET\n",
			"ROOFS"},
		{"marks", pdftest.At(50, 700, 12, "F", "The roof . . . . .   . . . 7"), "The roof . . . . . . . . 7"},
		{"names with ordinary spaces", pdftest.At(50, 700, 12, "F", "The rooms A B C D E F are dry"),
			"The rooms A B C D E F are dry"},
	} {
		x := mustExtract(t, reader, pdftest.Document("", pdftest.Sheet{Content: tt.content}))
		if x.Text != tt.want {
			t.Errorf("%s: text = %q, want %q", tt.name, x.Text, tt.want)
		}
	}
}

func TestDropCapsBelongToTheirWord(t *testing.T) {
	reader := newReader(t, nil)
	rest := []string{
		"warden of the mill keeps the water low in winter and", "lets it rise in the spring when snow melts on a hill,",
		"so that a wheel can turn while the fields are sown and all of the", "carts are mended by the warden.",
	}
	page := func(initial, first string, last bool) string {
		cap := pdftest.At(50, 668, 40, "F", initial)
		text := pdftest.At(80, 690, 12, "F", first+rest[0]) + pdftest.At(80, 676, 12, "F", rest[1]) +
			pdftest.Para(50, 662, rest[2:]...)
		if last {
			return text + cap
		}
		return cap + text
	}
	for _, tt := range []struct{ initial, first, want string }{
		{"T", "he ", "The "}, {"A", "", "A "}, {"N", "o ", "No "}, {"O", "NLY the ", "ONLY the "},
	} {
		for _, last := range []bool{false, true} {
			x := mustExtract(t, reader, pdftest.Document("", pdftest.Sheet{Content: page(tt.initial, tt.first, last)}))
			want := []string{fmt.Sprintf("paragraph: %s%s %s %s %s", tt.want, rest[0], rest[1], rest[2], rest[3])}
			if diff := cmp.Diff(want, outlineOf(x)); diff != "" {
				t.Errorf("%s drawn last %v: blocks (-want +got):\n%s", tt.initial, last, diff)
			}
		}
	}
}
