package views

import "context"

// slide is what stands on one page of a document whose pages are not drawn, such as a presentation's.
type slide struct {
	page   int // 0 in a document without pages
	groups []group
}

// slides are the blocks shown, page by page.
//
// Blocks come in the order of pages, so a page is one slide.
func (v *Viewer) slides() (all []slide) {
	for _, g := range v.groups() {
		page := g.blocks[0].Page
		if n := len(all); n == 0 || all[n-1].page != page {
			all = append(all, slide{page: page})
		}
		last := &all[len(all)-1]
		last.groups = append(last.groups, g)
	}
	return all
}

// slideWord names a page of a document: "Slide 3 of 12".
func (v *Viewer) slideWord(ctx context.Context, page int) string {
	return pageNames[pageWord(v.Document)].of.Say(ctx, page, v.Document.Pages)
}

// gridColumns are the columns of a table in its sheet, as many as its longest row has cells.
func (b numberedBlock) gridColumns() []int {
	n := 0
	for _, row := range b.Cells {
		n = max(n, len(row))
	}
	return b.Grid.Columns[:min(n, len(b.Grid.Columns))]
}
