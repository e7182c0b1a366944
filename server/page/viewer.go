package page

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// All are choices about how much a browser draws without being slow; who wants more follows the links to the parts
// before and after.
const (
	blocksShown = 1200 // of a document without pages, on its own page
	blocksAside = 60   // in the panel
	sheetsWhole = 24   // pages of a document on its own page; a document of up to wholePages is shown whole
	wholePages  = 30
	sheetsAside = 4
	maxOutline  = 200
	insideShown = 20 // files inside a document that lead to their documents

	// maxShownText is how many runes of text are shown at once, but for a block or a page that has more alone. Each
	// word of a page has a box in memory.
	maxShownText = 400_000
)

// Document answers GET /d/{id}: a document drawn from its blocks or pages. chat.Link describes the query: what to mark,
// and which part of a long document to show. The page's script gets the source panel.
//
// 404 for a document that the user does not have, 400 for a link with numbers that can't be read. What a link names and
// is not there any more is no failure: the document is shown with a notice. The order of the steps counts: pages decide
// what a link may name, what is marked decides whether pages are shown, and both decide which part is cut out.
func (h *Handlers) Document(c httpio.Context) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	d, err := h.Library.Document(ctx, scope, c.Param("id"))
	if err != nil {
		return err
	}
	if extract.Formats.IsPaged(d.MIME) {
		h.Library.ExpectPage() // the browser asks for its image next
	}
	p := viewing{Handlers: h, ctx: ctx, scope: scope, v: &views.Viewer{Document: d, Panel: isAside(c)}}
	if err := p.loadContent(); err != nil {
		return err
	}
	if err := p.drawPages(c.QueryParam("view")); err != nil {
		return err
	}
	if err := p.readLink(c); err != nil {
		return err
	}
	if err := p.markLink(); err != nil {
		return err
	}
	p.showDrawn()
	at, err := p.findPlace()
	if err != nil {
		return err
	}
	if err := p.cutPart(at); err != nil {
		return err
	}
	if p.v.Panel {
		return httpio.Show(c, http.StatusOK, views.SourcePanel(p.v))
	}
	page, err := h.pageFrame(c, d.DisplayTitle())
	if err != nil {
		return err
	}
	page.Place = "documents"
	return h.showPage(c, http.StatusOK, page, views.DocumentPage(p.v), nil)
}

// isAside reports whether a request is for the panel beside an answer.
func isAside(c httpio.Context) bool {
	return httpio.ByHTMX(c) || c.QueryParam("panel") == "1"
}

// viewing makes a Viewer for one request.
//
// It lives as long as the request. All places in the text are offsets in runes.
type viewing struct {
	*Handlers
	ctx    context.Context
	scope  chat.Scope
	v      *views.Viewer
	text   string
	blocks []corpus.Block
	sizes  [][2]float64
	drawn  *corpus.Drawn // the document as it is printed, if that is to be shown; nil: its text or its own pages
	link   chat.Link     // what was asked for
}

// loadContent reads the document's content.
//
// All of the text and the blocks are read, of which a part is drawn: marks and headings may be anywhere.
func (p *viewing) loadContent() (err error) {
	id := p.v.Document.ID
	if p.text, err = p.Library.Text(p.ctx, p.scope, id); err != nil {
		return err
	}
	if p.blocks, err = p.Library.Blocks(p.ctx, p.scope, id); err != nil {
		return err
	}
	if extract.Formats.IsPaged(p.v.Document.MIME) {
		if p.sizes, err = p.Library.PageSizes(p.ctx, p.scope, id); err != nil {
			return err
		}
	}
	count := 0
	p.v.Parent, p.v.Inside, count, err = p.Library.Family(p.ctx, p.scope, p.v.Document, insideShown)
	if err != nil {
		return err
	}
	slices.Reverse(p.v.Inside) // in the order of the file
	p.v.MoreInside = count - len(p.v.Inside)
	// markLink and drawPages may put a notice about the link in its place, which matters more to a reader who followed
	// one.
	p.v.Notice = stateNotice(p.ctx, p.v.Document, len(p.blocks) == 0)
	return nil
}

// stateNotice says why a document shows nothing, or something old.
//
// It is empty when there is nothing to say.
func stateNotice(ctx context.Context, d corpus.Document, empty bool) string {
	switch d.State {
	case corpus.StateReady:
		if empty {
			return views.NoContent.In(ctx)
		}
		return ""
	case corpus.StateFailed:
		if d.Error != nil {
			return d.Error.Detail
		}
		return views.NoContent.In(ctx)
	case corpus.StateCancelled:
		return views.CancelledNow.In(ctx)
	case corpus.StateQueued, corpus.StateParsing, corpus.StateIndexing:
		if !empty {
			return views.Replacing.In(ctx)
		}
		if d.State == corpus.StateQueued {
			return views.QueuedNow.In(ctx)
		}
	}
	return views.ReadingNow.In(ctx)
}

// place is where in a document a request points: the index of a block, and a page from 1.
type place struct {
	block, page int
}

// findPlace returns the place that the request names, else that of the marked words. A page that is named goes before
// the page of a block.
func (p *viewing) findPlace() (at place, err error) {
	last := p.lastPage()
	if p.link.At != "" {
		at.block = max(p.blockNamed(p.link.At), 0)
	} else if marked := p.markedSpan(); marked.End > 0 {
		at.block = p.blockAtOrBefore(marked.Start)
		if len(p.sizes) > 0 { // the words may stand on the page after the one that their block begins on
			boxes, err := p.boxes(marked)
			if err != nil {
				return at, err
			}
			if len(boxes) > 0 {
				at.page = int(boxes[0][0])
			}
		}
	}
	if at.page == 0 && at.block < len(p.blocks) {
		at.page = p.blocks[at.block].Page
	}
	if p.link.Page > 0 {
		at.page = p.link.Page
	}
	at.page = min(max(at.page, 1), last)
	return at, nil
}

// lastPage is the number of the document's last page as it is shown.
func (p *viewing) lastPage() int {
	if p.drawn != nil {
		return max(len(p.drawn.Sizes), 1)
	}
	return max(len(p.sizes), 1)
}

// markedSpan is the marked quote, else the marked passage; empty without any.
func (p *viewing) markedSpan() views.Span {
	if p.v.Quote.End > p.v.Quote.Start {
		return p.v.Quote
	}
	return p.v.Passage
}

// blockAtOrBefore is the index of the last block that starts at or before a place.
func (p *viewing) blockAtOrBefore(at int) int {
	low, high := 0, len(p.blocks)
	for low < high {
		if mid := (low + high) / 2; p.blocks[mid].Start <= at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return max(low-1, 0)
}

// runeSlice returns [start, end), rune offsets, of a text.
//
// The copy keeps the whole text from staying in memory with a part of it. Offsets beyond the end are those of the end.
func runeSlice(text string, start, end int) []rune {
	n, from, to := 0, len(text), len(text)
	for i := range text {
		if n == start {
			from = i
		}
		if n == end {
			to = i
			break
		}
		n++
	}
	return []rune(strings.Clone(text[min(from, to):to]))
}
