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
