package page

import (
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/views"
)

// cutPart fills in the part of the document around a place.
func (p *viewing) cutPart(at place) error {
	if len(p.sizes) > 0 {
		if err := p.showSheets(at.page); err != nil {
			return err
		}
	} else {
		p.showPart(at.block)
	}
	p.listHeadings(at)
	return nil
}

// showPart shows the blocks around one.
//
// A third of the part comes before the block, which a reader came for, and two thirds after it. The links to the parts
// before and after lead to places from which nothing is left out.
func (p *viewing) showPart(block int) {
	size := blocksShown
	if p.v.Panel {
		size = blocksAside
	}
	if len(p.blocks) == 0 {
		return
	}
	from, to := p.blockWindow(block, size)
	p.v.Blocks, p.v.Offset = p.blocks[from:to], p.blocks[from].Start
	end := p.blocks[to-1].End
	if to < len(p.blocks) {
		p.v.Next = p.blocks[to].Start
		// The text up to the next block comes along, for a quote that goes on over the gap.
		end = p.v.Next
		at := min(to+size/3, len(p.blocks)-1)
		if first, _ := p.blockWindow(at, size); first > to {
			at = to // the window around the farther block would leave blocks out
		}
		p.v.Later = p.atBlock(p.blocks[at].ID, p.blocks[to].ID)
	}
	if from > 0 {
		at := max(from-2*size/3, 0)
		if _, end := p.blockWindow(at, size); end < from {
			at = from - 1
		}
		p.v.Earlier = p.atBlock(p.blocks[at].ID, p.blocks[from-1].ID)
	}
	p.v.Text = runeSlice(p.text, p.v.Offset, end)
}

// blockWindow returns the range of blocks to draw around one: at most size of them, and fewer if they have more than
// MaxBlockNodes nodes or more than maxShownText. It always holds the block itself.
func (p *viewing) blockWindow(block, size int) (from, to int) {
	from = max(min(block-size/3, len(p.blocks)-size), 0)
	to = min(from+size, len(p.blocks)) - 1
	// Two bounds hold one after the other: a part may have few words in many nodes, or the other way round.
	from, to = itemsAround(block, from, to, maxShownText, func(i int) int {
		return p.blocks[i].End - p.blocks[i].Start
	})
	from, to = itemsAround(block, from, to, views.MaxBlockNodes,
		func(i int) int { return views.BlockNodes(p.blocks[i]) })
	return from, to + 1
}

// itemsAround narrows the range [from, to] to the items next to one whose costs sum to at most most. The items before
// it may take a third of what its own cost leaves, and those after it the rest. The range always holds the one itself.
func itemsAround(one, from, to, most int, cost func(int) int) (int, int) {
	sum := 0
	for n := from; n <= to; n++ {
		sum += cost(n)
	}
	if sum <= most {
		return from, to
	}
	left := most - cost(one)
	before := left / 3
	first, last := from, to
	for from = one; from > first && cost(from-1) <= before; from-- {
		before, left = before-cost(from-1), left-cost(from-1)
	}
	for to = one; to < last && cost(to+1) <= left; to++ {
		left -= cost(to + 1)
	}
	return from, to
}

// markSheets puts the boxes of passage and quote on the pages shown.
func (p *viewing) markSheets(from, to int) error {
	passage, err := p.boxes(p.v.Passage)
	if err != nil {
		return err
	}
	quote, err := p.boxes(p.v.Quote)
	if err != nil {
		return err
	}
	if p.drawn != nil {
		for _, piece := range p.v.Also {
			boxes, err := p.boxes(piece)
			if err != nil {
				return err
			}
			quote = append(quote, boxes...)
		}
	}
	put := func(list []chat.Box, on func(*views.Sheet) *[]chat.Box) {
		for _, box := range list {
			if n := int(box[0]); n >= from && n <= to {
				marked := on(&p.v.Sheets[n-from])
				*marked = append(*marked, box)
			}
		}
	}
	put(passage, func(s *views.Sheet) *[]chat.Box { return &s.Passage })
	put(quote, func(s *views.Sheet) *[]chat.Box { return &s.Quote })
	// A link leads to the quote, or to the passage where there is none.
	first := quote
	if len(first) == 0 {
		first = passage
	}
	if len(first) > 0 {
		if n := int(first[0][0]); n >= from && n <= to {
			p.v.Sheets[n-from].Anchor = true
		}
	}
	return nil
}

// listHeadings lists the headings, the deepest left out when there are too many.
//
// At most maxOutline are listed; Current is the last one before what is marked.
func (p *viewing) listHeadings(at place) {
	if p.v.Panel {
		return
	}
	// Three levels are a choice: deeper headings make a list that nobody reads.
	deepest := 3
	for ; deepest > 1 && p.countHeadings(deepest) > maxOutline; deepest-- {
	}
	shown := map[string]bool{}
	for _, b := range p.v.Blocks {
		shown[b.ID] = true
	}
	mark := p.markedSpan()
	for _, b := range p.blocks {
		if b.Kind != corpus.BlockHeading || b.Level > deepest || len(p.v.Outline) == maxOutline {
			continue
		}
		title := string(runeSlice(p.text, b.Start, b.End))
		p.v.Outline = append(
			p.v.Outline, views.OutlineEntry{ID: b.ID, Title: title, Level: b.Level, URL: p.headingURL(b, shown[b.ID])},
		)
		if mark.End > 0 && b.Start <= mark.Start {
			p.v.Current = b.ID
		}
	}
}

// countHeadings counts the headings down to a level.
func (p *viewing) countHeadings(deepest int) int {
	n := 0
	for _, b := range p.blocks {
		if b.Kind == corpus.BlockHeading && b.Level <= deepest {
			n++
		}
	}
	return n
}

// headingURL leads to a heading on this page, or to the part that it is in.
func (p *viewing) headingURL(b corpus.Block, shown bool) string {
	if len(p.sizes) > 0 {
		if b.Page >= p.v.Pages.From && b.Page <= p.v.Pages.To {
			return "#p" + strconv.Itoa(b.Page)
		}
		return p.atPage(b.Page)
	}
	if shown {
		return "#" + b.ID
	}
	return p.atBlock(b.ID, b.ID)
}
