package page

import "github.com/footnote/footnote/views"

// showSheets shows the pages around one: fewer than there is room for when they have more text, or more nodes, than can
// be drawn.
//
// Texts are counted first, since lines are read only for pages that are shown, and nodes after that, since they are
// counted by the lines. The page that was asked for is always among those shown.
func (p *viewing) showSheets(page int) error {
	all := len(p.sizes)
	size := sheetsWhole
	switch {
	case p.v.Panel:
		size = sheetsAside
	case all <= wholePages:
		size = all
	}
	from := min(max(page-size/3, 1), max(all-size+1, 1))
	to := min(from+size-1, all)
	texts := p.textsOf(from, to)
	first := from // page of texts[0]
	from, to = itemsAround(
		page, from, to, maxShownText, func(n int) int { return texts[n-first].End - texts[n-first].Start },
	)
	sheets, err := p.linesOf(from, to, texts[from-first:])
	if err != nil {
		return err
	}
	first = from
	from, to = itemsAround(page, from, to, views.MaxBlockNodes, func(n int) int { return sheets[n-first].Nodes() })
	sheets, texts = sheets[from-first:to-first+1], p.textsOf(from, to)
	for i := range sheets {
		// The picture that the reader came for is loaded at once, the others as they come into view.
		sheets[i].Eager, sheets[i].Text = sheets[i].Page == page, texts[i]
		sheets[i].Undrawn = p.Library.Undrawable(p.v.Document, sheets[i].Page, views.ImageWidth)
	}
	span := p.withCarried(from, spanOf(texts))
	p.v.Sheets, p.v.Pages = sheets, views.PageRange{From: from, To: to, All: all}
	p.v.Offset, p.v.Text = span.Start, runeSlice(p.text, span.Start, span.End)
	if from > 1 {
		p.v.Earlier = p.atPage(from - 1)
	}
	if to < all {
		p.v.Later = p.atPage(to + 1)
	}
	return p.markSheets(from, to)
}

// textsOf returns which part of the text each of some pages has; an empty one of a page without text.
func (p *viewing) textsOf(from, to int) []views.Span {
	texts := make([]views.Span, to-from+1)
	for _, b := range p.blocks {
		if b.Page < from || b.Page > to {
			continue
		}
		text := &texts[b.Page-from]
		if text.End == 0 {
			text.Start = b.Start
		}
		text.End = b.End
	}
	return texts
}

// spanOf is from the first text to the last one.
func spanOf(texts []views.Span) (all views.Span) {
	for _, text := range texts {
		if text.End == 0 {
			continue
		}
		if all.End == 0 {
			all.Start = text.Start
		}
		all.End = text.End
	}
	return all
}

// withCarried widens the text of pages from one on to the block before, which may end on that page.
func (p *viewing) withCarried(from int, span views.Span) views.Span {
	last := views.Span{}
	for _, b := range p.blocks {
		if b.Page >= from {
			break
		}
		last = views.Span{Start: b.Start, End: b.End}
	}
	switch {
	case last.End == 0:
		return span
	case span.End == 0:
		return last
	}
	return views.Span{Start: last.Start, End: span.End}
}

// linesOf returns pages with their lines.
func (p *viewing) linesOf(from, to int, texts []views.Span) ([]views.Sheet, error) {
	span := p.withCarried(from, spanOf(texts[:to-from+1]))
	lines, err := p.lines(span)
	if err != nil {
		return nil, err
	}
	var sheets []views.Sheet
	for n := from; n <= to; n++ {
		sheets = append(sheets, views.Sheet{Page: n, Width: p.sizes[n-1][0], Height: p.sizes[n-1][1]})
	}
	for i, line := range lines {
		until := span.End
		if i+1 < len(lines) {
			until = max(lines[i+1].Start, line.End)
		}
		if n := int(line.Box[0]); n >= from && n <= to {
			s := &sheets[n-from]
			s.Lines = append(s.Lines, views.SheetLine{Line: line, Until: until})
		}
	}
	return sheets, nil
}
