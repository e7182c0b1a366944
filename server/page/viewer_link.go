package page

import (
	"math"
	"slices"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// readLink reads what chat.Link writes. The pages must be known.
//
// It fails with chat.CodeInvalid for numbers out of their range and for ranges that can't be read.
func (p *viewing) readLink(c httpio.Context) (err error) {
	p.link = chat.Link{
		Document: p.v.Document.ID, Citation: c.QueryParam("c"), Passage: c.QueryParam("p"), Block: c.QueryParam("b"),
		At: c.QueryParam("at"),
	}
	if p.drawn != nil {
		p.link.View = chat.ViewPages
	}
	// A page is checked against the last one that is shown; offsets are checked when they are marked.
	for _, number := range []struct {
		name      string
		low, high int
		to        *int
	}{
		{"page", 1, p.lastPage(), &p.link.Page},
		{"start", 0, math.MaxInt32, &p.link.Start},
		{"end", 1, math.MaxInt32, &p.link.End},
	} {
		if *number.to, err = httpio.QueryInt(c, number.name, 0, number.low, number.high); err != nil {
			return err
		}
	}
	var ok bool
	if p.link.Also, ok = chat.ReadRanges(c.QueryParam("also")); !ok {
		return chat.Invalid("also must hold ranges like 120-140,150-170, in order, at most %d.", chat.MaxRanges)
	}
	return nil
}

// markLink finds what the link names in the document as it is now. What is not there is never marked, and a notice says
// so.
func (p *viewing) markLink() (err error) {
	if p.link.Citation != "" {
		return p.markCitation(p.link.Citation)
	}
	found := true
	if p.link.Passage != "" {
		if found, err = p.markPassage(p.link.Passage); err != nil {
			return err
		}
	} else if p.link.Block != "" {
		found = p.markBlock(p.link.Block)
	}
	if found && p.link.End > 0 {
		found = p.markWords(p.link.Start, p.link.End)
	}
	if !found {
		p.v.Notice = views.PassageGone.In(p.ctx)
	}
	return nil
}

// markPassage marks a passage. One of another document, or of an older version, is not found.
func (p *viewing) markPassage(id string) (found bool, err error) {
	passages, err := p.Library.Passages(p.ctx, p.scope, []string{id})
	if err != nil {
		return false, err
	}
	if len(passages) == 0 || passages[0].DocumentID != p.v.Document.ID {
		return false, nil
	}
	p.v.Passage = views.Span{Start: passages[0].Start, End: passages[0].End}
	return true, nil
}

// markBlock marks a block by its id.
func (p *viewing) markBlock(id string) (found bool) {
	at := p.blockNamed(id)
	if at < 0 {
		return false
	}
	p.v.Passage = views.Span{Start: p.blocks[at].Start, End: p.blocks[at].End}
	return true
}

// markWords marks [start, end), rune offsets in the document's text.
func (p *viewing) markWords(start, end int) (found bool) {
	if start >= end || len(p.blocks) == 0 || end > p.blocks[len(p.blocks)-1].End {
		return false
	}
	p.v.Quote = views.Span{Start: start, End: end}
	for _, r := range p.link.Also {
		p.v.Also = append(p.v.Also, views.Span{Start: r[0], End: r[1]})
	}
	return true
}

// atBlock is the address of the part of this document around a block, with the same mark.
func (p *viewing) atBlock(id, fragment string) string {
	link := p.link
	link.At, link.Page, link.Fragment = id, 0, fragment
	return link.String()
}

// atPage is the address of the part of this document around a page, with the same mark.
func (p *viewing) atPage(page int) string {
	link := p.link
	link.At, link.Page, link.Fragment = "", page, "p"+strconv.Itoa(page)
	return link.String()
}

// blockNamed is the index of a block, -1 if there is none of that id.
func (p *viewing) blockNamed(id string) int {
	return slices.IndexFunc(p.blocks, func(b corpus.Block) bool { return b.ID == id })
}
