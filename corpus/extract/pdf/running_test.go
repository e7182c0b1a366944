package pdf_test

import (
	"fmt"
	"testing"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/google/go-cmp/cmp"
)

// Heads that change from section to section and page numbers in turning corners are no text; titles of slides, which
// stand at one height too, are.
func TestRunningHeadsAreNoText(t *testing.T) {
	sections := []string{"The roof", "The cellar", "The garden", "The road", "The well", "The barn"}
	text := func(i int) string { return fmt.Sprintf("What is to be said about the %s part of the house.", names[i]) }
	for _, tt := range []struct {
		name string
		page func(i int) string
		want func(i int) string
	}{
		{"a head with the section and a foot with the page number", func(i int) string {
			x := 50 + 480*(i%2)
			return pdftest.At(200, 770, 9, "F", sections[i/2]) + pdftest.Para(50, 700, text(i)) +
				pdftest.At(x, 30, 9, "F", fmt.Sprint(i+3))
		}, func(i int) string { return "paragraph: " + text(i) }},
		{"a head with a number that grows and the section's own title", func(i int) string {
			return pdftest.At(50, 770, 9, "F", fmt.Sprintf("%d   About the %s part", i+9, names[i])) +
				pdftest.Para(50, 700, text(i))
		}, func(i int) string { return "paragraph: " + text(i) }},
		{"a head of two lines", func(i int) string {
			return pdftest.At(50, 775, 9, "F", sections[i/3]) + pdftest.At(500, 775, 9, "F", names[i]) +
				pdftest.At(50, 750, 9, "F", sections[i/2]) + pdftest.Para(50, 700, text(i))
		}, func(i int) string { return "paragraph: " + text(i) }},
		{"the heads of a small book on large paper, over paragraphs that go on", func(i int) string {
			return pdftest.At(100, 680, 9, "F", fmt.Sprintf("%d   %s", i+9, sections[i/3])) +
				pdftest.Para(100, 650, text(i))
		}, func(i int) string { return "paragraph: " + text(i) }},
		{"titles of slides", func(i int) string {
			return pdftest.At(50, 750, 12, "F", "On the "+names[i]+" part") + pdftest.Para(50, 700, text(i))
		}, func(i int) string { return "paragraph: On the " + names[i] + " part\nparagraph: " + text(i) }},
		{"text that begins at the margin", func(i int) string {
			return pdftest.Para(50, 770, text(i), "It goes on with the "+names[i]+" part.")
		}, func(i int) string { return "paragraph: " + text(i) + " It goes on with the " + names[i] + " part." }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var pages []pdftest.Sheet
			for i := range names {
				pages = append(pages, pdftest.Sheet{Content: tt.page(i)})
			}
			x := mustExtract(t, newReader(t, nil), pdftest.Document("", pages...))
			got := make([]string, len(names))
			for i, line := range outlineOf(x) {
				if at := x.Blocks[i].Page - 1; got[at] == "" {
					got[at] = line
				} else {
					got[at] += "\n" + line
				}
			}
			for i := range names {
				if diff := cmp.Diff(tt.want(i), got[i]); diff != "" {
					t.Errorf("page %d (-want +got):\n%s", i+1, diff)
				}
			}
		})
	}
}

var names = []string{
	"oldest", "newest", "largest", "smallest", "wettest", "driest", "darkest", "lightest", "northern", "southern",
	"eastern", "western",
}
