package page

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/quote"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/views"
)

// markCitation resolves the citation {run}.{number} and marks its words in the current document. Missing words are
// not marked, nor are any nearby.
//
// A deleted answer, or another user's, adds a notice and is no error.
func (p *viewing) markCitation(name string) error {
	run, number, ok := strings.Cut(name, ".")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		p.v.Notice = views.CiteGone.In(p.ctx)
		return nil
	}
	answer, err := p.Logs.Trace(p.ctx, p.scope, run)
	if err != nil && chat.CodeOf(err) == chat.CodeNotFound {
		p.v.Notice = views.CiteGone.In(p.ctx)
		return nil
	}
	if err != nil {
		return err
	}
	cited := findCitation(answer, n, p.v.Document.ID)
	if cited == nil {
		p.v.Notice = views.CiteGone.In(p.ctx)
		return nil
	}
	p.v.Cited = cited
	// A citation without a hash can't be compared, so a change is not reported.
	cited.Changed = cited.SHA256 != "" && cited.SHA256 != p.v.Document.SHA256
	if err := p.markQuote(cited); err != nil {
		return err
	}
	p.v.Map = p.citedMap(cited)
	return nil
}

// findCitation returns a citation with its neighbours, nil if the answer has none with that number in this document.
func findCitation(answer *runlog.Trace, number int, document string) *views.Cited {
	var found *views.Cited
	for i, c := range answer.Citations {
		if c.Number != number || c.DocumentID != document {
			continue
		}
		found = &views.Cited{Citation: c, Question: answer.Question, SessionID: answer.SessionID, RunID: answer.RunID}
		if a := answer.Answer; a != nil {
			found.Doubted = views.Doubted(a.Markdown, a.Unsupported)[number]
		}
		if i > 0 {
			found.Before = &answer.Citations[i-1]
		}
		if i+1 < len(answer.Citations) {
			found.After = &answer.Citations[i+1]
		}
		break
	}
	if found == nil {
		return nil
	}
	for _, c := range answer.Citations {
		if c.DocumentID == document {
			found.Here = append(found.Here, c)
		}
	}
	return found
}

// markQuote marks the quote and its passage.
//
// It tries the offsets of the citation first. If the text there differs, the document has changed; then it searches
// for the quote, word for word only.
func (p *viewing) markQuote(c *views.Cited) error {
	if c.Check == chat.CheckNotFound || c.Quote == "" {
		return nil
	}
	span := views.Span{Start: c.Start, End: c.End}
	if string(runeSlice(p.text, span.Start, span.End)) != c.Quote {
		start, end, check := quote.Find([]rune(p.text), c.Quote, 0, 0)
		if check != chat.CheckVerified {
			return nil
		}
		span = views.Span{Start: start, End: end}
	}
	// The passage is only a secondary mark around the quote: a missing or moved one is left out.
	p.v.Quote, c.Marked = span, true
	found, err := p.Library.Passages(p.ctx, p.scope, []string{c.ChunkID})
	if err != nil {
		return err
	}
	if len(found) == 1 && found[0].DocumentID == p.v.Document.ID && found[0].Start <= span.Start &&
		span.Start < found[0].End {
		p.v.Passage = views.Span{Start: found[0].Start, End: found[0].End}
	}
	return nil
}

// mapCells is the number of cells in a document's citation map.
const mapCells = 60

// citedMap returns the document's map of this answer's citations: a cell for each page, or for a part of the text.
func (p *viewing) citedMap(c *views.Cited) []views.MapCell {
	last := 0
	if n := len(p.blocks); n > 0 {
		last = p.blocks[n-1].End
	}
	cells := min(len(p.sizes), mapCells)
	if len(p.sizes) == 0 {
		cells = min(len(p.blocks), mapCells)
	}
	if cells < 2 || last == 0 {
		return nil
	}
	strip := make([]views.MapCell, cells)
	for _, other := range c.Here {
		if other.Check == chat.CheckNotFound {
			continue
		}
		at := other.Start * cells / last
		if len(p.sizes) > 0 {
			at = (other.Page - 1) * cells / len(p.sizes)
		}
		if at < 0 || at >= cells {
			continue
		}
		if strip[at].Cited = true; other.Number == c.Number {
			strip[at].Now = true
		}
	}
	return strip
}

// readLink parses the parameters of a chat.Link. The pages must be known.
//
// It fails with chat.CodeInvalid for numbers out of range and for invalid ranges.
func (p *viewing) readLink(c httpio.Context) (err error) {
	p.link = chat.Link{
		Document: p.v.Document.ID, Citation: c.QueryParam("c"), Passage: c.QueryParam("p"), Block: c.QueryParam("b"),
		At: c.QueryParam("at"),
	}
	if p.drawn != nil {
		p.link.View = chat.ViewPages
	}
	// A page is checked against the last shown page; offsets are checked when they are marked.
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
		return chat.Invalid("also must be ascending ranges like 120-140,150-170, at most {1}.", chat.MaxRanges)
	}
	return nil
}

// markLink resolves the link in the current document. A missing target is not marked and adds a notice.
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

// atBlock returns the address of the part of this document around a block, with the same mark.
func (p *viewing) atBlock(id, fragment string) string {
	link := p.link
	link.At, link.Page, link.Fragment = id, 0, fragment
	return link.String()
}

// atPage returns the address of the part of this document around a page, with the same mark.
func (p *viewing) atPage(page int) string {
	link := p.link
	link.At, link.Page, link.Fragment = "", page, "p"+strconv.Itoa(page)
	return link.String()
}

// blockNamed returns the index of a block, -1 if the id is unknown.
func (p *viewing) blockNamed(id string) int {
	return slices.IndexFunc(p.blocks, func(b corpus.Block) bool { return b.ID == id })
}
