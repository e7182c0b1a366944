package pdf_test

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

func TestHyphensOfCompoundsStay(t *testing.T) {
	reader := newReader(t, nil)
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"of two words of the document", []string{"The price is set, and what is determining it is the price-",
			"determining method of the first survey."}, "the price-determining method"},
		{"as elsewhere in the document", []string{"It is of the twenty-first century, and this twenty-",
			"first century is not over."}, "this twenty-first century"},
		{"of a word that is cut", []string{"He is very thorough in the ex-", "amination of the roof."},
			"the examination of"},
		{"of a word that is whole elsewhere, though its parts are words",
			[]string{"The car has a pet on the carpet, and the car-", "pet is red."}, "and the carpet is red"},
		{"of a part that is only cut elsewhere", []string{"A thorough exam, and then another exam-",
			"ination of the exam-",
			"ination room."}, "another examination of the examination room"},
		{"for the second part of a word, as elsewhere in a line", []string{"Prices exclude vracht- en " +
			"verzendkosten, and the onderhouds-", "en installatiewerkzaamheden too."},
			"the onderhouds- en installatiewerkzaamheden"},
		{"for the second part of a word, before a compound", []string{"There are goals and plans, and some are " +
			"short-", "and medium-term."}, "some are short- and medium-term"},
		{"for the second part of a number", []string{"The hall and the barn have a 24-", "and 36-month lease."},
			"a 24- and 36-month"},
		{"of a number and a word", []string{"The roof has a 12-", "month warranty from 1990-", "1995 on."},
			"a 12-month warranty from 1990-1995 on"},
		{"of a compound of several words", []string{"The art of the state is state-of-the-", "art, with long-term-",
			"oriented plans, oriented well."}, "is state-of-the-art, with long-term-oriented plans"},
		{"of an address", []string{"Write to anna-", "maria@example.org or see example.org/long-",
			"term/plan.html now."}, "to anna-maria@example.org or see example.org/long-term/plan.html now"},
		{"of a word with a capital", []string{"We met Mr Smith-", "Jones there."}, "Smith-Jones there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := mustExtract(t, reader, pdftest.Document("", pdftest.Sheet{Content: pdftest.Para(50, 700,
				tt.lines...)}))
			if !strings.Contains(x.Text, tt.want) {
				t.Errorf("text = %q, want %q in it", x.Text, tt.want)
			}
		})
	}
}

// Unicode has a hyphen of its own, and a grade or an amount may end with one.
func TestOtherHyphensAtLineEnds(t *testing.T) {
	reader := newReader(t, nil)
	var f pdftest.Letters
	x := mustExtract(t, reader, f.Document(f.Rightward(50, 700, "It has many powerful capabili‐")+
		f.Rightward(50, 686, "ties, from 1990–")+f.Rightward(50, 672, "1995 on.")))
	if want := "It has many powerful capabilities, from 1990–1995 on."; x.Text != want {
		t.Errorf("text = %q, want %q", x.Text, want)
	}
	at := []int{60, 200, 330}
	x = mustExtract(t, reader, pdftest.Document("", pdftest.Sheet{Content: row(700, 10, false, at, "Name", "Term",
		"Grade") + row(684, 10, false, at, "Ada", "A-", "B-") + row(668, 10, false, at, "Ben", "C", "A-")}))
	if want := "Name | Term | Grade\nAda | A- | B-\nBen | C | A-"; x.Text != want {
		t.Errorf("text = %q, want %q", x.Text, want)
	}
}
