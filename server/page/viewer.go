package page

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// Limits of the size that a browser renders without delay; links lead to the parts before and after.
const (
	blocksShown = 1200 // of a document without pages, on its own page
	blocksAside = 60   // in the panel
	sheetsWhole = 24   // pages of a document on its own page; a document of up to wholePages is shown whole
	wholePages  = 30
	sheetsAside = 4
	maxOutline  = 200
	insideShown = 20 // files inside a document with links to their documents

	// maxShownText is the maximum number of runes shown at once; a single block or page may exceed it. Each word of
	// a page has a box in memory.
	maxShownText = 400_000
)

// Document handles GET /d/{id}: a document rendered from its blocks or pages. chat.Link describes the query: the
// marks, and the part of a long document to show. The page's script gets the source panel.
//
// It fails with 404 for a document that the user does not have, and 400 for invalid numbers in a link. A stale link
// is no error: the document is shown with a notice. The order of the steps matters: pages limit the link's targets,
// the marks decide whether pages are shown, and both select the part.
func (h *Handlers) Document(c httpio.Context) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	d, err := h.Library.Document(ctx, scope, c.Param("id"))
	if err != nil {
		return err
	}
	if extract.Formats.IsPaged(d.MIME) {
		h.Library.ExpectPage() // the browser requests its image next
	}
	p := viewing{Handlers: h, ctx: ctx, scope: scope, v: &views.Viewer{Document: d, Panel: isPanelRequest(c)}}
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
	return h.show(c, http.StatusOK, views.Page{Title: d.DisplayTitle(), Place: "documents"}, views.DocumentPage(p.v))
}

// isPanelRequest reports whether a request is for the panel beside an answer.
func isPanelRequest(c httpio.Context) bool {
	return httpio.ByHTMX(c) || c.QueryParam("panel") == "1"
}

// viewing builds a Viewer for one request.
//
// All positions in the text are offsets in runes.
type viewing struct {
	*Handlers
	ctx    context.Context
	scope  chat.Scope
	v      *views.Viewer
	text   string
	blocks []corpus.Block
	sizes  [][2]float64
	drawn  *corpus.Drawn // the document as printed pages, if requested; nil: its text or its own pages
	link   chat.Link     // the requested link
}

// loadContent reads the document's content.
//
// It reads all text and blocks, although a part is rendered: marks and headings may be anywhere.
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
	// markLink and drawPages may replace it by a notice about the link, which is more relevant to a reader who
	// followed one.
	p.v.Notice = stateNotice(p.ctx, p.v.Document, len(p.blocks) == 0)
	return nil
}

// stateNotice returns the notice for a document that is empty or outdated, or "".
func stateNotice(ctx context.Context, d corpus.Document, empty bool) string {
	switch d.State {
	case corpus.StateReady:
		if empty {
			return views.NoContent.In(ctx)
		}
		return ""
	case corpus.StateFailed:
		if d.Error != nil {
			return d.Error.Detail.In(ctx)
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

// place is a position in a document: the index of a block, and a page from 1.
type place struct {
	block, page int
}

// findPlace returns the requested place, else that of the marked words. A requested page takes precedence over a
// block's.
func (p *viewing) findPlace() (at place, err error) {
	last := p.lastPage()
	if p.link.At != "" {
		at.block = max(p.blockNamed(p.link.At), 0)
	} else if marked := p.markedSpan(); marked.End > 0 {
		at.block = p.blockAtOrBefore(marked.Start)
		if len(p.sizes) > 0 { // the words may be on the page after the start of their block
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

// lastPage returns the number of the last shown page.
func (p *viewing) lastPage() int {
	if p.drawn != nil {
		return max(len(p.drawn.Sizes), 1)
	}
	return max(len(p.sizes), 1)
}

// markedSpan returns the marked quote, else the marked passage; empty without a mark.
func (p *viewing) markedSpan() views.Span {
	if p.v.Quote.End > p.v.Quote.Start {
		return p.v.Quote
	}
	return p.v.Passage
}

// blockAtOrBefore returns the index of the last block that starts at or before an offset.
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

// runeSlice returns a copy of text[start:end], in runes.
//
// The copy avoids keeping the whole text in memory. Offsets beyond the end are clamped.
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

// showSheets shows the pages around one. Their number is reduced if they have more text or more nodes than the
// limits.
//
// Text is counted first, since lines are read only for shown pages, and then the nodes, which depend on the lines.
// The requested page is always included.
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
		// The requested page's image loads at once, the others lazily.
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

// textsOf returns the range of the text on each page; empty for a page without text.
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

// spanOf returns the range from the first text to the last one.
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

// withCarried extends the text of pages by the preceding block, which may end on the first page.
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

// drawPages converts an Office file to its printed pages, if that view is requested. On chat.CodeUndrawable the text
// is shown with a notice; other errors are returned.
//
// The first conversion takes seconds, limited by ctx.
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
		p.v.Notice = failure.Message.In(p.ctx)
		return nil
	}
	p.drawn = drawn
	return err
}

// showDrawn replaces the document's text with its rendered pages, including the marks. Marked words that can't be
// found on the pages are shown in the text instead.
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
	// Offsets in the document's text are invalid in the text of the pages.
	p.v.Passage, p.v.Quote, p.v.Also = views.Span{}, views.Span{}, nil
	if len(pieces) > 0 {
		p.v.Quote, p.v.Also = pieces[0], pieces[1:]
	}
	p.text, p.blocks, p.sizes = p.drawn.Text, p.drawn.Blocks, p.drawn.Sizes
	p.link.At, p.v.Drawn = "", true
}

// viewURL returns the address of another view of this document, with the same mark.
func (p *viewing) viewURL(view string) string {
	link := p.link
	link.View, link.Page, link.At, link.Fragment = view, 0, "", ""
	if p.markedSpan().End > 0 {
		link.Fragment = chat.FragmentCited
	}
	return link.String()
}

// boxes returns the boxes of a part of the text on the shown pages, one for each line.
func (p *viewing) boxes(s views.Span) ([]chat.Box, error) {
	lines, err := p.lines(s)
	return corpus.BoxesOf(lines), err
}

// lines returns the lines of a part of the text on the shown pages.
func (p *viewing) lines(s views.Span) ([]corpus.Line, error) {
	if p.drawn != nil {
		return p.drawn.Lines(s.Start, s.End), nil
	}
	return p.Library.Lines(p.ctx, p.scope, p.v.Document.ID, s.Start, s.End)
}

// cutPart selects the part of the document around a place.
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
// A third of the part precedes the block, the reader's target, and two thirds follow it. The links to the adjacent
// parts leave no gap.
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
		// The text up to the next block is included, for a quote that spans the gap.
		end = p.v.Next
		at := min(to+size/3, len(p.blocks)-1)
		if first, _ := p.blockWindow(at, size); first > to {
			at = to // centring on the farther block would leave blocks out
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

// blockWindow returns the range of blocks to render around one: at most size, and fewer if they exceed MaxBlockNodes
// nodes or maxShownText. It always includes the block itself.
func (p *viewing) blockWindow(block, size int) (from, to int) {
	from = max(min(block-size/3, len(p.blocks)-size), 0)
	to = min(from+size, len(p.blocks)) - 1
	// Both limits apply in turn: a part may have few words in many nodes, or the reverse.
	from, to = itemsAround(block, from, to, maxShownText, func(i int) int {
		return p.blocks[i].End - p.blocks[i].Start
	})
	from, to = itemsAround(block, from, to, views.MaxBlockNodes,
		func(i int) int { return views.BlockNodes(p.blocks[i]) })
	return from, to + 1
}

// itemsAround narrows the range [from, to] to the items around one, with a total cost of at most most. The items
// before it may take a third of the budget after its own cost, and those after it the rest. The range always
// contains the item itself.
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

// markSheets sets the boxes of passage and quote on the shown pages.
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
	// A link targets the quote, or else the passage.
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

// listHeadings lists the headings and omits the deepest levels if there are too many.
//
// At most maxOutline are listed; Current is the last one before the mark.
func (p *viewing) listHeadings(at place) {
	if p.v.Panel {
		return
	}
	// Three levels: deeper headings make the list too long to read.
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

// headingURL returns the address of a heading on this page, or of the part that contains it.
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
