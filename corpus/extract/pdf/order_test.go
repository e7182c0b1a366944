package pdf_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

func TestReadingOrderFollowsThePage(t *testing.T) {
	left := pdftest.Para(50, 700, "This is the text of the left", "column, and it goes on where")
	right := pdftest.Para(320, 700, "the right column begins, as one", "would expect of it.")
	middle := pdftest.Para(220, 700, "wide as all that is here,", "and so it goes on even")
	sentence := "paragraph: This is the text of the left column, and it goes on where the right column begins, as " +
		"one would expect of it."
	title := pdftest.At(50, 760, 24, "F", "Survey of the house")
	for _, tt := range []struct {
		name string
		page string
		want []string
	}{
		{"the right column drawn first", right + left, []string{sentence}},
		{"below a title over both columns", title + right + left, []string{"heading1: Survey of the house", sentence}},
		{"a title drawn last", left + right + title, []string{"heading1: Survey of the house", sentence}},
		{"three columns, the middle one first", middle + pdftest.Para(400, 700, "in the last of them,",
			"where it ends.") +
			pdftest.Para(50, 700, "The first column is as", "narrow as it is not"), []string{
			"paragraph: The first column is as narrow as it is not wide as all that is here, and so it goes " +
				"on even in the last of them, where it ends."}},
		{"values of a form drawn after its labels", pdftest.At(50, 700, 12, "F", "Surname:") +
			pdftest.At(50, 670, 12, "F", "Born:") + pdftest.At(50, 640, 12, "F", "Town:") +
			pdftest.At(150, 640, 12, "F", "Bath") + pdftest.At(150, 700, 12, "F", "Adebayo") +
			pdftest.At(150, 670, 12, "F", "4 March"),
			[]string{"table: Surname: | Adebayo\nBorn: | 4 March\nTown: | Bath"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := mustExtract(t, newReader(t, nil), pdftest.Document("", pdftest.Sheet{Content: tt.page}))
			if diff := cmp.Diff(tt.want, outlineOf(x)); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
		})
	}
}

// row returns the cells of a table, and the lines between and around them if it is bordered.
func row(y, size int, bordered bool, at []int, cells ...string) string {
	var b strings.Builder
	for i, c := range cells {
		b.WriteString(pdftest.At(at[i], y, size, "F", c))
	}
	for _, x := range at {
		if bordered {
			b.WriteString(rect(x-2, y-4, 1, size+4))
		}
	}
	return b.String()
}

func TestHeadersAboveTablesAreNoRows(t *testing.T) {
	reader := newReader(t, nil)
	at := []int{60, 140, 330, 450}
	stock := row(700, 10, false, at, "Part", "Name", "Stock", "Price") +
		row(682, 10, false, at, "B-201", "bearing 1", "3", "1.50") + row(664, 10, false, at, "B-202", "bearing 2",
		"6", "2.50")
	table := "table: Part | Name | Stock | Price\nB-201 | bearing 1 | 3 | 1.50\nB-202 | bearing 2 | 6 | 2.50"
	for _, tt := range []struct {
		name   string
		header string
		want   string
	}{
		{"across the gaps between columns", pdftest.At(60, 725, 8, "F", "Nordlicht Ltd - stock list - confidential") +
			pdftest.At(480, 725, 8, "F", "Page 1 of 2"), "Nordlicht Ltd - stock list - confidential Page 1 of 2"},
		{"between the columns, apart from the rows", pdftest.At(60, 740, 8, "F", "Nordlicht") +
			pdftest.At(480, 740, 8, "F", "Page 1 of 2"), "Nordlicht Page 1 of 2"},
		{"in the size of the rows", pdftest.At(60, 726, 10, "F", "Nordlicht Ltd, list of all") +
			pdftest.At(450, 726, 10, "F", "May 2026"), "Nordlicht Ltd, list of all May 2026"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := pdftest.Sheet{Content: tt.header + stock}
			got := outlineOf(mustExtract(t, reader, pdftest.Document("", page, page)))
			if diff := cmp.Diff([]string{"paragraph: " + tt.want, table, "paragraph: " + tt.want, table},
				got); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
		})
	}
	// The titles of the columns, again on each page at the top, are no header of the page.
	var pages []pdftest.Sheet
	for i := range 4 {
		pages = append(pages, pdftest.Sheet{Content: row(770, 10, false, at, "Part", "Name", "Stock", "Price") +
			row(748, 10, false, at, "B-20"+names[i][:1], names[i], "3", "1.50") +
			row(726, 10, false, at, "C-20"+names[i][:1], "no "+names[i], "6", "2.50")})
	}
	x := mustExtract(t, reader, pdftest.Document("", pages...))
	if got := strings.Count(x.Text, "Part | Name"); got != 4 {
		t.Errorf("%d of 4 tables have the titles of their columns: %q", got, x.Text)
	}
}

// rect returns a filled rectangle.
func rect(x, y, width, height int) string {
	return strings.Join([]string{strconv.Itoa(x), strconv.Itoa(y), strconv.Itoa(width), strconv.Itoa(height),
		"re f\n"}, " ")
}

func TestLinesBetweenCellsSeparateThem(t *testing.T) {
	at := []int{320, 362, 392}
	page := func(bordered bool) pdftest.Sheet {
		return pdftest.Sheet{Content: pdftest.Para(50, 740, "The left column has text that is",
			"not of the table at all.") +
			pdftest.Para(320, 740, "The right one has a table that is", "as small as it can be:") +
			row(700, 10, bordered, at, "Grade A", "Flour", "12") + row(684, 10, bordered, at, "Grade B", "Water", "7") +
			pdftest.Para(320, 660, "and then it goes on.")}
	}
	reader := newReader(t, nil)
	x := mustExtract(t, reader, pdftest.Document("", page(true)))
	if want := "table: Grade A | Flour | 12\nGrade B | Water | 7"; !strings.Contains(
		strings.Join(outlineOf(x), "\n"), want) {
		t.Errorf("blocks = %q, want %q", outlineOf(x), want)
	}
	x = mustExtract(t, reader, pdftest.Document("", page(false)))
	if strings.Contains(x.Text, "|") {
		t.Errorf("text without lines = %q, want no table", x.Text)
	}
}
