package views

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// drawnViewer is a part of the viewer's page.
func drawnViewer(t *testing.T, v *Viewer) string {
	t.Helper()
	var b strings.Builder
	if err := documentContent(v).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestASheetIsAGridWithItsOwnLettersAndNumbers(t *testing.T) {
	t.Parallel()
	text := "Number | Amount\n7 | 20.00"
	page := drawnViewer(t, &Viewer{
		Text: []rune(text), Quote: Span{Start: 20, End: 25},
		Blocks: []corpus.Block{
			{
				ID:    "b2",
				Kind:  corpus.BlockTable,
				End:   len(text),
				Cells: [][][2]int{{{0, 6}, {9, 15}}, {{16, 17}, {20, 25}}},
				Grid:  &corpus.Grid{Rows: []int{4, 12}, Columns: []int{2, 28, 30}},
			},
		},
	})
	for _, want := range []string{
		`<th scope="col">B</th><th scope="col">AB</th></tr>`, `<th scope="row" class="num">12</th>`,
		`<mark class="quote" id="cited">20.00</mark>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
}

func TestEachSlideIsACard(t *testing.T) {
	t.Parallel()
	text := "One\n\nitem\n\nitem"
	page := drawnViewer(t, &Viewer{
		Document: corpus.Document{Filename: "talk.pptx", Pages: 2}, Text: []rune(text),
		Blocks: []corpus.Block{
			{ID: "b1", Kind: corpus.BlockHeading, Level: 1, Page: 1, End: 3},
			{ID: "b2", Kind: corpus.BlockList, Level: 1, Page: 1, Start: 5, End: 9},
			{ID: "b3", Kind: corpus.BlockList, Level: 1, Page: 2, Start: 11, End: 15},
		},
	})
	if n := strings.Count(page, `<section class="slide"`); n != 2 {
		t.Errorf("%d slides, want 2 in %s", n, page)
	}
	if !strings.Contains(page, "Slide 2 of 2") || strings.Count(page, "<ul") != 2 {
		t.Errorf("want the slides' numbers and a list on each in %s", page)
	}
}

func TestACitationSaysItsPlaceOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cite       chat.Citation
		loc, label string
	}{
		{chat.Citation{Number: 1, Title: "a", Page: 4, Section: "Roof"}, "p. 4 · Roof", "Source 1: a, page 4"},
		{chat.Citation{Number: 1, Title: "a", Page: 4, Place: "p. 4", Section: "Roof"}, "p. 4 · Roof", "Source 1: " +
			"a, page 4"},
		{chat.Citation{Number: 1, Title: "a", Page: 4, Place: "slide 4", Section: "Roof"}, "slide 4 · " +
			"Roof", "Source 1: a, slide 4"},
		{chat.Citation{Number: 1, Title: "a", Place: "Invoices, cell B7", Section: "Invoices"}, "Invoices, cell B7",
			"Source 1: a, Invoices, cell B7"},
		{chat.Citation{Number: 1, Title: "a", Place: "Rents, row 4", Section: "Rents › Flat | Rent"},
			"Rents, row 4 · Flat | Rent", "Source 1: a, Rents, row 4"},
		{chat.Citation{Number: 1, Title: "a", Section: "Roof"}, "Roof", "Source 1: a, Roof"},
	} {
		tt.cite.Check = chat.CheckVerified
		if got := sourcePlace(tt.cite.Title, tt.cite.PlaceWords(), tt.cite.Section); got != tt.loc {
			t.Errorf("the place of %+v = %q, want %q", tt.cite, got, tt.loc)
		}
		if got := citeLabel(t.Context(), tt.cite); got != tt.label {
			t.Errorf("the label of %+v = %q, want %q", tt.cite, got, tt.label)
		}
	}
}
