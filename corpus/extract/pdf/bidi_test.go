package pdf_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

func TestTextThatRunsToTheLeft(t *testing.T) {
	reader := newReader(t, nil)
	for _, tt := range []struct {
		name string
		page func(f *pdftest.Letters) string
		want []string
	}{
		{"a ligature of two letters", func(f *pdftest.Letters) string {
			return f.Show(400, 700, 10, "م", "لا", "س", " ", "د", "ق", "ع")
		}, []string{"paragraph: عقد سلام"}},
		{"a character that is a ligature", func(f *pdftest.Letters) string {
			return f.Show(400, 700, 10, "م", "\ufefc", "س", " ", "د", "ق", "ع")
		}, []string{"paragraph: عقد سلام"}},
		{"Latin letters and numbers, drawn piece by piece", func(f *pdftest.Letters) string {
			return f.Leftward(500, 700, "والرمز") + f.Rightward(416, 700, "ISO-9001:2015") + f.Leftward(392, 700,
				"في ") +
				f.Rightward(368, 700, "2026") + f.Rightward(362, 700, ".")
		}, []string{"paragraph: والرمز ISO-9001:2015 في 2026."}},
		{"brackets as they are drawn and as they are read", func(f *pdftest.Letters) string {
			return f.Leftward(300, 700, "תקן (מהדורה שנייה) חדש") + f.Leftward(300, 686, "תקן )מהדורה שנייה( חדש") +
				f.Rightward(270, 686, "(B2)")
		}, []string{"paragraph: תקן (מהדורה שנייה) חדש תקן (מהדורה שנייה) חדש (B2)"}},
		{"a percentage, a telephone number and a date in brackets", func(f *pdftest.Letters) string {
			return f.Leftward(448, 700, "המחיר ") + f.Rightward(430, 700, "50%") + f.Leftward(370, 700, " טלפון - ") +
				f.Rightward(310, 700, "03-5051051") + f.Leftward(298, 700, " (") + f.Rightward(286, 700, "18") +
				f.Leftward(250, 700, " יוני ") + f.Rightward(226, 700, "2023") + f.Leftward(220, 700, ")")
		}, []string{"paragraph: המחיר 50% טלפון - 03-5051051 (18 יוני 2023)"}},
		{"mirrored letters, as invisible text over a scan", func(f *pdftest.Letters) string {
			return strings.ReplaceAll(f.Rightward(500, 700, "שלום")+f.Rightward(470, 700, "עולם")+
				f.Rightward(440, 700, "ומלואו"), "1 0 0 1", "3 Tr -1 0 0 1")
		}, []string{"paragraph: שלום עולם ומלואו"}},
		{"invisible letters in the order of reading", func(f *pdftest.Letters) string {
			return strings.ReplaceAll(f.Rightward(476, 700, "שלום")+f.Rightward(446, 700, "1995")+
				f.Rightward(416, 700, "עולם")+f.Rightward(470, 680, "ומלואו"), "1 0 0 1", "3 Tr 1 0 0 1")
		}, []string{"paragraph: שלום 1995 עולם ומלואו"}},
		{"words of a name in another script", func(f *pdftest.Letters) string {
			return f.Leftward(500, 700, "שלום") + f.Rightward(410, 700, "Ada B. Moss") + f.Leftward(370, 700, "וגם") +
				f.Leftward(470, 686, "בית ספר.")
		}, []string{"paragraph: שלום Ada B. Moss וגם בית ספר."}},
		{"a word in a line that runs to the right", func(f *pdftest.Letters) string {
			return f.Rightward(50, 700, "The word ") + f.Leftward(104, 700, "שלום") + f.Rightward(128, 700,
				" is peace, 12 times.")
		}, []string{"paragraph: The word שלום is peace, 12 times."}},
		{"rows of a table, drawn from the right", func(f *pdftest.Letters) string {
			row := func(y int, cells ...string) (all string) {
				for i, c := range cells {
					if c[0] < 128 {
						all += f.Rightward(500-100*i, y, c)
					} else {
						all += f.Leftward(500-100*i, y, c)
					}
				}
				return all
			}
			return row(700, "צבע", "כמות", "מחיר") + row(684, "אדום", "12", "3.50") + row(668, "ירוק", "ISO 7", "B 20")
		}, []string{"table: צבע | כמות | מחיר\nאדום | 12 | 3.50\nירוק | ISO 7 | B 20"}},
		{"lines of a paragraph, aligned at the right", func(f *pdftest.Letters) string {
			long := strings.Repeat("בית ספר ", 9)
			return f.Leftward(100, 700, long) + f.Leftward(100, 686, long) + f.Leftward(508, 672, "סוף.")
		}, []string{"paragraph: " + strings.Repeat("בית ספר ", 18) + "סוף."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var f pdftest.Letters
			content := tt.page(&f)
			x := mustExtract(t, reader, f.Document(content))
			if diff := cmp.Diff(tt.want, outlineOf(x)); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
		})
	}
}

// The boxes of words that run to the left are where they are drawn.
func TestWordBoxesOfTextThatRunsToTheLeft(t *testing.T) {
	var f pdftest.Letters
	content := f.Leftward(500, 700, "והתקן") + f.Rightward(416, 700, "ISO-9001:2015") + f.Leftward(380, 700, "חדש")
	words, boxes := wordsOf(t, mustExtract(t, newReader(t, nil), f.Document(content)))
	if diff := cmp.Diff([]string{"והתקן", "ISO-9001:2015", "חדש"}, words); diff != "" {
		t.Fatalf("words (-want +got):\n%s", diff)
	}
	for i, at := range [][2]float64{{500, 530}, {416, 494}, {380, 398}} {
		if x0, x1 := boxes[i][1]*600, boxes[i][3]*600; x0 < at[0]-3 || x0 > at[0]+3 || x1 < at[1]-3 || x1 > at[1]+3 {
			t.Errorf("%s stands at %.0f to %.0f, want %.0f to %.0f", words[i], x0, x1, at[0], at[1])
		}
	}
}
