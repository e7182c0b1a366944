package page

import (
	"errors"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/views"
)

// drawPages has an Office file drawn as it is printed, if that view is asked for. One that can't be drawn is shown as
// its text, with a notice.
//
// Drawing takes seconds the first time, within ctx. Any other failure than chat.CodeUndrawable is returned.
func (p *viewing) drawPages(view string) error {
	if !p.Library.DrawsOffice(p.v.Document) {
		return nil
	}
	p.v.HasPages = true
	if view != chat.ViewPages {
		return nil
	}
	drawn, err := p.Library.Drawn(p.ctx, p.scope, p.v.Document.ID)
	if failure, ok := errors.AsType[*chat.Error](err); ok && failure.Code == chat.CodeUndrawable {
		p.v.Notice = failure.Message
		return nil
	}
	p.drawn = drawn
	return err
}

// showDrawn puts the drawn pages in the place of the document's text, and what is marked there in its place. Marked
// words that can't be found on the pages are shown in the text instead.
func (p *viewing) showDrawn() {
	if !p.v.HasPages {
		return
	}
	p.v.TextURL, p.v.PagesURL = p.viewURL(""), p.viewURL(chat.ViewPages)
	if p.drawn == nil {
		return
	}
	marked := p.markedSpan()
	var pieces []views.Span
	for _, span := range append([]views.Span{marked}, p.v.Also...) {
		for _, piece := range p.drawn.Place(span.Start, span.End) {
			pieces = append(pieces, views.Span{Start: piece[0], End: piece[1]})
		}
	}
	if marked.End > marked.Start && len(pieces) == 0 {
		p.drawn, p.link.View = nil, ""
		p.v.Notice = views.NotOnPages.In(p.ctx)
		return
	}
	// Offsets in the document's text mean nothing in the text of the pages.
	p.v.Passage, p.v.Quote, p.v.Also = views.Span{}, views.Span{}, nil
	if len(pieces) > 0 {
		p.v.Quote, p.v.Also = pieces[0], pieces[1:]
	}
	p.text, p.blocks, p.sizes = p.drawn.Text, p.drawn.Blocks, p.drawn.Sizes
	p.link.At, p.v.Drawn = "", true
}

// viewURL is the address of another view of this document, with the same mark.
func (p *viewing) viewURL(view string) string {
	link := p.link
	link.View, link.Page, link.At, link.Fragment = view, 0, "", ""
	if p.markedSpan().End > 0 {
		link.Fragment = chat.FragmentCited
	}
	return link.String()
}

// boxes are the rectangles of a part of the text on the pages that are shown, one for each line.
func (p *viewing) boxes(s views.Span) ([]chat.Box, error) {
	lines, err := p.lines(s)
	return corpus.BoxesOf(lines), err
}

// lines are those of a part of the text on the pages that are shown.
func (p *viewing) lines(s views.Span) ([]corpus.Line, error) {
	if p.drawn != nil {
		return p.drawn.Lines(s.Start, s.End), nil
	}
	return p.Library.Lines(p.ctx, p.scope, p.v.Document.ID, s.Start, s.End)
}
