package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

// letters is a font whose glyphs stand for any characters. A glyph may stand for several.
type letters struct {
	all []string
}

// show returns an operator that shows glyphs from x on, each 0.6 of the size wide, from left to right.
func (f *letters) show(x, y, size int, glyphs ...string) string {
	var codes strings.Builder
	for _, g := range glyphs {
		at := -1
		for i, have := range f.all {
			if have == g {
				at = i
			}
		}
		if at < 0 {
			at, f.all = len(f.all), append(f.all, g)
		}
		fmt.Fprintf(&codes, "%02X", at+33)
	}
	return fmt.Sprintf("BT /U %d Tf 1 0 0 1 %d %d Tm <%s> Tj ET\n", size, x, y, &codes)
}

// leftward shows a text of letters that run to the left, its first letter at the right, from x on.
func (f *letters) leftward(x, y int, text string) string {
	var glyphs []string
	for _, c := range text {
		glyphs = append([]string{string(c)}, glyphs...)
	}
	return f.show(x, y, 10, glyphs...)
}

// rightward shows a text like any other.
func (f *letters) rightward(x, y int, text string) string {
	return f.show(x, y, 10, strings.Split(text, "")...)
}

// document returns a PDF with the font.
func (f *letters) document(content string) []byte {
	var m pdftest.Maker
	var names strings.Builder
	for i, g := range f.all {
		fmt.Fprintf(&names, "<%02X> <", i+33)
		for _, c := range g {
			fmt.Fprintf(&names, "%04X", c)
		}
		names.WriteString("> ")
	}
	unicode := m.Stream("", []byte("/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 "+
		"begincodespacerange <00> <FF> endcodespacerange "+fmt.Sprint(len(f.all))+" beginbfchar "+names.String()+
		"endbfchar endcmap end end"))
	font := m.Add("<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /FirstChar 33 /LastChar %d /Widths [%s] "+
		"/ToUnicode %d 0 R>>", 32+len(f.all), strings.Repeat("600 ", len(f.all)), unicode)
	return m.Document("", pdftest.Sheet{Content: content, Fonts: fmt.Sprintf("/U %d 0 R ", font)})
}

func TestTextThatRunsToTheLeft(t *testing.T) {
	reader := newReader(t, nil)
	for _, tt := range []struct {
		name string
		page func(f *letters) string
		want []string
	}{
		{"a ligature of two letters", func(f *letters) string {
			return f.show(400, 700, 10, "م", "لا", "س", " ", "د", "ق", "ع")
		}, []string{"paragraph: عقد سلام"}},
		{"a character that is a ligature", func(f *letters) string {
			return f.show(400, 700, 10, "م", "\ufefc", "س", " ", "د", "ق", "ع")
		}, []string{"paragraph: عقد سلام"}},
		{"Latin letters and numbers, drawn piece by piece", func(f *letters) string {
			return f.leftward(500, 700, "والرمز") + f.rightward(416, 700, "ISO-9001:2015") + f.leftward(392, 700,
				"في ") +
				f.rightward(368, 700, "2026") + f.rightward(362, 700, ".")
		}, []string{"paragraph: والرمز ISO-9001:2015 في 2026."}},
		{"brackets as they are drawn and as they are read", func(f *letters) string {
			return f.leftward(300, 700, "תקן (מהדורה שנייה) חדש") + f.leftward(300, 686, "תקן )מהדורה שנייה( חדש") +
				f.rightward(270, 686, "(B2)")
		}, []string{"paragraph: תקן (מהדורה שנייה) חדש תקן (מהדורה שנייה) חדש (B2)"}},
		{"words of a name in another script", func(f *letters) string {
			return f.leftward(500, 700, "שלום") + f.rightward(410, 700, "Ada B. Moss") + f.leftward(370, 700, "וגם") +
				f.leftward(470, 686, "בית ספר.")
		}, []string{"paragraph: שלום Ada B. Moss וגם בית ספר."}},
		{"a word in a line that runs to the right", func(f *letters) string {
			return f.rightward(50, 700, "The word ") + f.leftward(104, 700, "שלום") + f.rightward(128, 700,
				" is peace, 12 times.")
		}, []string{"paragraph: The word שלום is peace, 12 times."}},
		{"rows of a table, drawn from the right", func(f *letters) string {
			row := func(y int, cells ...string) (all string) {
				for i, c := range cells {
					if c[0] < 128 {
						all += f.rightward(500-100*i, y, c)
					} else {
						all += f.leftward(500-100*i, y, c)
					}
				}
				return all
			}
			return row(700, "צבע", "כמות", "מחיר") + row(684, "אדום", "12", "3.50") + row(668, "ירוק", "ISO 7", "B 20")
		}, []string{"table: צבע | כמות | מחיר\nאדום | 12 | 3.50\nירוק | ISO 7 | B 20"}},
		{"lines of a paragraph, aligned at the right", func(f *letters) string {
			long := strings.Repeat("בית ספר ", 9)
			return f.leftward(100, 700, long) + f.leftward(100, 686, long) + f.leftward(508, 672, "סוף.")
		}, []string{"paragraph: " + strings.Repeat("בית ספר ", 18) + "סוף."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var f letters
			content := tt.page(&f)
			x := mustExtract(t, reader, f.document(content))
			if diff := cmp.Diff(tt.want, outlineOf(x)); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
		})
	}
}

// The boxes of words that run to the left are where they are drawn.
func TestWordBoxesOfTextThatRunsToTheLeft(t *testing.T) {
	var f letters
	content := f.leftward(500, 700, "והתקן") + f.rightward(416, 700, "ISO-9001:2015") + f.leftward(380, 700, "חדש")
	words, boxes := wordsOf(t, mustExtract(t, newReader(t, nil), f.document(content)))
	if diff := cmp.Diff([]string{"והתקן", "ISO-9001:2015", "חדש"}, words); diff != "" {
		t.Fatalf("words (-want +got):\n%s", diff)
	}
	for i, at := range [][2]float64{{500, 530}, {416, 494}, {380, 398}} {
		if x0, x1 := boxes[i][1]*600, boxes[i][3]*600; x0 < at[0]-3 || x0 > at[0]+3 || x1 < at[1]-3 || x1 > at[1]+3 {
			t.Errorf("%s stands at %.0f to %.0f, want %.0f to %.0f", words[i], x0, x1, at[0], at[1])
		}
	}
}
