package views

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/text/locale"
)

// Span is the range [Start, End) of rune offsets in a document's text. The zero Span is empty.
type Span struct{ Start, End int }

// isEmpty reports whether the span covers nothing.
func (s Span) isEmpty() bool { return s.End <= s.Start }

// holdsPlace reports whether the span contains an offset.
func (s Span) holdsPlace(at int) bool { return s.Start <= at && at < s.End }

// Viewer is a document, or the part around an offset, with its marked ranges.
//
// It has Sheets or Blocks, not both. All offsets are rune offsets in the shown text, which for a rendered Office
// file is the text of its pages.
type Viewer struct {
	Document corpus.Document
	Panel    bool // beside an answer, not as a page
	Notice   string
	Outline  []OutlineEntry
	Current  string // id of the heading above the marked offset
	Passage  Span
	Quote    Span
	Also     []Span // marked like the quote, sorted
	Cited    *Cited // nil: no citation is shown
	Map      []MapCell

	HasPages          bool   // a page view is available
	Drawn             bool   // the page view is shown
	TextURL, PagesURL string // URLs of the two views, with the same mark

	Parent     *corpus.Document  // its container; nil: none that still exists
	Inside     []corpus.Document // documents of the files inside it, the first ones
	MoreInside int

	Text   []rune         // of the blocks shown
	Offset int            // of Text in the document's text
	Blocks []corpus.Block // of a document without page images
	Next   int            // start of the block after the last shown one; 0 at the end
	Sheets []Sheet        // of a document with page images
	Pages  PageRange

	Earlier, Later string // URLs of the parts before and after the one shown; empty at the ends
}

// PageRange is the range of shown pages, from 1.
type PageRange struct{ From, To, All int }

// OutlineEntry is a heading of a document.
type OutlineEntry struct {
	ID    string // of its block
	Title string
	Level int // from 1
	URL   string
}

// MapCell is a cell of the strip that shows the citations' pages.
type MapCell struct{ Cited, Now bool }

// Cited is a citation and its answer.
//
// Marked selects the message about the quote: words that are not in the document are never shown as if they were.
type Cited struct {
	chat.Citation
	Question  string
	SessionID string
	RunID     string
	Here      []chat.Citation // all of this answer in this document, including this one
	Before    *chat.Citation  // the previous one in the answer, or nil
	After     *chat.Citation  // the next one, or nil
	Changed   bool            // the document is not the cited version
	Marked    bool            // the current document contains its quote
	Doubted   bool            // the answer's sentence is unsupported
}

// answerURL returns the link back to the answer.
func (c *Cited) answerURL() string {
	return "/c/" + url.PathEscape(c.SessionID) + "#" + turnID(c.RunID)
}

// where returns the result of the citation's check, and the place of the quote.
func (c *Cited) where(ctx context.Context) string {
	at := placeText(ctx, placeAndSection(c.PlaceWords(), c.Section))
	switch {
	case c.Check == chat.CheckNotFound || c.Quote == "":
		return txtQuoteMissing.In(ctx)
	// A changed document is reported first, since it explains a missing quote.
	case !c.Marked && c.Changed:
		return txtChangedGone.In(ctx)
	case c.Changed:
		return txtChangedSame.In(ctx)
	case !c.Marked:
		return txtQuoteMissing.In(ctx)
	case c.Check == chat.CheckApproximate:
		return joinDot(txtNearly.In(ctx), at)
	default:
		return joinDot(txtWordForWord.In(ctx), at)
	}
}

// joinDot joins two parts of a line.
func joinDot(what, where string) string {
	if where == "" {
		return what
	}
	return what + " · " + where
}

// check returns the check to show. A verified citation whose quote is no longer found in an unchanged document is
// CheckNotFound.
func (c *Cited) check() chat.Check {
	if !c.Marked && !c.Changed {
		return chat.CheckNotFound
	}
	return c.Check
}

// unmarked returns the quote to show beside the document if it can't be marked there.
func (c *Cited) unmarked() string {
	switch {
	case c.Marked && c.Check == chat.CheckApproximate:
		return c.Claimed
	case c.Marked:
		return ""
	case c.Quote != "":
		return c.Quote
	default:
		return c.Claimed
	}
}

// stripLabel returns a short name for a citation's place.
func stripLabel(ctx context.Context, c chat.Citation) string {
	if place := c.PlaceWords(); place != "" {
		return clipped(placeText(ctx, place), 24)
	}
	section := c.Section
	if i := strings.LastIndex(section, " › "); i >= 0 {
		section = section[i+len(" › "):]
	}
	return clipped(section, 24)
}

// clipped cuts a text to at most n runes, with an ellipsis if it was longer.
func clipped(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return strings.TrimSpace(string(runes[:n-1])) + "…"
}

// counts returns the document's page count and its number of citations for the panel's head.
func (v *Viewer) counts(ctx context.Context) string {
	var parts []string
	if v.Document.Pages > 0 {
		parts = append(parts, pagesWord(ctx, v.Document))
	}
	if v.Cited != nil && len(v.Cited.Here) > 0 {
		parts = append(parts, timesCited.Count(ctx, len(v.Cited.Here)))
	}
	if len(parts) == 0 {
		parts = append(parts, v.Document.Filename)
	}
	return strings.Join(parts, " · ")
}

// wholeURL returns the URL of the full page of this document at the same offset.
func (v *Viewer) wholeURL() string {
	link := chat.Link{Document: v.Document.ID}
	if v.Drawn {
		return v.PagesURL
	}
	if v.Cited != nil {
		return citeURL(v.Cited.Citation)
	}
	if len(v.Sheets) > 0 {
		link.Page, link.Fragment = v.Pages.From, sheetID(v.Pages.From)
	} else if len(v.Blocks) > 0 && (!v.Passage.isEmpty() || !v.Quote.isEmpty()) {
		link.At = v.Blocks[0].ID
	}
	return link.String()
}

// askURL returns the URL of a new question about the document.
func (v *Viewer) askURL(ctx context.Context) string {
	return "/?q=" + url.QueryEscape(askAbout.Say(ctx, documentTitle(v.Document))+" ")
}

// fileURL returns the URL of a document's original file.
func fileURL(d corpus.Document) string { return "/documents/" + url.PathEscape(d.ID) + "/file" }

// textRange returns the shown part of a range of the document's text.
//
// It is empty if no part of the range is shown.
func (v *Viewer) textRange(start, end int) string {
	start, end = max(start-v.Offset, 0), min(end-v.Offset, len(v.Text))
	if start >= end {
		return ""
	}
	return string(v.Text[start:end])
}

// group is a run of blocks in one element: the items of a list, otherwise a single block.
type group struct {
	list    bool
	ordered bool
	blocks  []numberedBlock
}

// numberedBlock is a block with the offset of the next block.
type numberedBlock struct {
	corpus.Block
	next  int
	plain bool // too large to format: only its text is shown
}

// groups groups adjacent list items into lists.
//
// Items on two pages are two lists, so that each page is self-contained.
func (v *Viewer) groups() []group {
	var out []group
	for i, b := range v.Blocks {
		next := v.Next
		if i+1 < len(v.Blocks) {
			next = v.Blocks[i+1].Start
		}
		nb := numberedBlock{b, next, tooLarge(b)}
		if b.Kind != corpus.BlockList || nb.plain {
			out = append(out, group{blocks: []numberedBlock{nb}})
			continue
		}
		if n := len(
			out,
		); n > 0 && out[n-1].list && out[n-1].blocks[0].Page == b.Page &&
			(b.Level > 1 || out[n-1].ordered == (b.Ordinal > 0)) {
			out[n-1].blocks = append(out[n-1].blocks, nb)
			continue
		}
		out = append(out, group{list: true, ordered: b.Ordinal > 0, blocks: []numberedBlock{nb}})
	}
	return out
}

// marked reports whether a block overlaps the quote.
func (v *Viewer) marked(b corpus.Block) bool {
	return !v.Quote.isEmpty() && b.Start < v.Quote.End && v.Quote.Start < b.End
}

// indent returns the class that indents an outline entry: it counts the higher levels that occur in the outline.
func (v *Viewer) indent(level int) string {
	seen := []int{}
	for _, e := range v.Outline {
		if !slices.Contains(seen, e.Level) && e.Level < level {
			seen = append(seen, e.Level)
		}
	}
	return "level-" + strconv.Itoa(min(len(seen)+1, 4))
}

// Sheet is a page of a document: its image, the text layer over it, and the marked boxes.
//
// Boxes are fractions of the page; see chat.Box.
type Sheet struct {
	Page          int
	Width, Height float64 // in points
	Lines         []SheetLine
	Text          Span // the text that starts on it
	Passage       []chat.Box
	Quote         []chat.Box
	Eager         bool           // load its image eagerly
	Anchor        bool           // the marked words start here
	Undrawn       locale.Message // the error if there is no image, whose text is shown instead; empty: there is one
}

// SheetLine is a line of text with the characters up to the next line.
type SheetLine struct {
	corpus.Line
	Until int // start of the next line
}

// lineNodes is the node count of a line against MaxBlockNodes: an element and its text. A quote adds some to a few
// lines.
const lineNodes = 2

// Nodes returns the node count of the page's lines against MaxBlockNodes. It is at most MaxBlockNodes: a page with
// more is rendered without its text layer, and its text is shown below it.
func (s Sheet) Nodes() int {
	if s.beside() {
		return plainNodes
	}
	return lineNodes * len(s.Lines)
}

// tooLarge reports whether the page's lines exceed the node budget of a page.
func (s Sheet) tooLarge() bool { return lineNodes*len(s.Lines) > MaxBlockNodes }

// unplaced reports whether the page has text without known positions.
func (s Sheet) unplaced() bool { return len(s.Lines) == 0 && s.Text.End > s.Text.Start }

// beside reports whether the page's text is shown below its image instead of as a text layer.
func (s Sheet) beside() bool { return s.tooLarge() || s.unplaced() }

// ImageWidth is a page image's default width in pixels. It is the API's default for a request without a width.
const ImageWidth = 1000

// imageWidths are the widths of page images in pixels. The values are estimates.
var imageWidths = []int{640, ImageWidth, 1500}

// imageURL returns the URL of a page's image. It contains the document's version and the page's rotation, so that a
// browser can cache it indefinitely.
func imageURL(d corpus.Document, page, width int) string {
	version, turn := d.SHA256[:min(len(d.SHA256), 12)], ""
	if quarters := d.TurnOf(page); quarters != 0 {
		turn = "&turn=" + strconv.Itoa(quarters)
	}
	return "/documents/" + url.PathEscape(d.ID) + "/pages/" + strconv.Itoa(page) + ".png?width=" + strconv.Itoa(width) +
		"&v=" + version + turn
}

// imageSet returns the image's srcset.
func imageSet(d corpus.Document, page int) string {
	var parts []string
	for _, w := range imageWidths {
		parts = append(parts, imageURL(d, page, w)+" "+strconv.Itoa(w)+"w")
	}
	return strings.Join(parts, ", ")
}

// imageSizes returns the image's sizes attribute. The browser selects the density by it.
func imageSizes(panel bool) string {
	if panel {
		return "(max-width: 48rem) 92vw, min(38vw, 46rem)"
	}
	return "(max-width: 48rem) 92vw, 46rem"
}

// sheetID returns the element id of a page, the target of links.
func sheetID(page int) string { return "p" + strconv.Itoa(page) }

// drawMarks renders the marked boxes. The page is 1 by 1.
func (s Sheet) drawMarks() templ.Component {
	var b strings.Builder
	drawRects(&b, "passage", s.Passage, "")
	id := ""
	if s.Anchor && !s.beside() {
		id = "cited"
	}
	drawRects(&b, "quote", s.Quote, id)
	return templ.Raw(b.String())
}

// drawRects renders boxes slightly larger than the words.
func drawRects(b *strings.Builder, class string, boxes []chat.Box, id string) {
	for i, box := range boxes {
		pad := min(box[4]-box[2], box[3]-box[1]) * 0.12 // for rotated text the width is the line's
		b.WriteString(`<rect class="` + class + `"`)
		if i == 0 && id != "" {
			b.WriteString(` id="` + id + `"`)
		}
		writeAttribute(b, "x", box[1]-pad)
		writeAttribute(b, "y", box[2]-pad)
		writeAttribute(b, "width", box[3]-box[1]+2*pad)
		writeAttribute(b, "height", box[4]-box[2]+2*pad)
		b.WriteString(`/>`)
	}
}

// writeAttribute encodes a number with four decimals, less than a pixel of any page.
func writeAttribute(b *strings.Builder, name string, value float64) {
	b.WriteString(` ` + name + `="` + strconv.FormatFloat(value, 'f', 4, 64) + `"`)
}

// drawLines renders a page's text layer: invisible text at its positions, for selection, search and screen readers.
// The quote's text is in elements of class quote.
func (v *Viewer) drawLines(s Sheet) templ.Component {
	var b strings.Builder
	for _, l := range s.Lines {
		left, top, right, bottom := l.Box[1]*s.Width, l.Box[2]*s.Height, l.Box[3]*s.Width, l.Box[4]*s.Height
		length, height := right-left, bottom-top
		if l.Turn%2 != 0 {
			length, height = height, length
		}
		// The start of the baseline.
		begin := [4][2]float64{
			{left, bottom - height*0.2}, {left + height*0.2, top}, {right, top + height*0.2},
			{right - height*0.2, bottom},
		}[l.Turn&3]
		b.WriteString(`<text`)
		writeAttribute(&b, "x", begin[0])
		writeAttribute(&b, "y", begin[1])
		if l.Turn != 0 {
			fmt.Fprintf(&b, ` transform="rotate(%d %.4f %.4f)"`, 90*l.Turn, begin[0], begin[1])
		}
		writeAttribute(&b, "font-size", height*0.92)
		writeAttribute(&b, "textLength", length)
		b.WriteString(` lengthAdjust="spacingAndGlyphs">`)
		from := l.Start
		for _, at := range []int{v.Quote.Start, v.Quote.End, l.Until} {
			at = min(max(at, from), l.Until)
			v.writeRun(&b, from, at)
			from = at
		}
		b.WriteString(`</text>`)
	}
	return templ.Raw(b.String())
}

// writeRun writes a segment of the text that is either inside the quote or outside.
func (v *Viewer) writeRun(b *strings.Builder, from, to int) {
	if from >= to {
		return
	}
	text := html.EscapeString(v.textRange(from, to))
	if v.Quote.holdsPlace(from) {
		text = `<tspan class="quote">` + text + `</tspan>`
	}
	b.WriteString(text)
}

// pageBox returns the page's SVG viewBox in points.
func (s Sheet) pageBox() string {
	return "0 0 " + strconv.FormatFloat(s.Width, 'f', 2, 64) + " " + strconv.FormatFloat(s.Height, 'f', 2, 64)
}

// pixels returns an image dimension, so that the browser reserves its space before it is loaded.
//
// It is at least 1, since a browser ignores a size of 0.
func pixels(points float64) string { return strconv.Itoa(max(int(points+0.5), 1)) }

// mapBox returns the strip's viewBox: 10 units for each cell.
func mapBox(cells int) string { return "0 0 " + strconv.Itoa(cells*10-1) + " 4" }

// drawMap renders the strip of a document's pages, with cited pages dark.
func drawMap(cells []MapCell) templ.Component {
	var b strings.Builder
	for i, cell := range cells {
		class := ""
		switch {
		case cell.Now:
			class = ` class="now"`
		case cell.Cited:
			class = ` class="cited"`
		}
		b.WriteString(`<rect x="` + strconv.Itoa(i*10) + `" y="0" width="9" height="4"` + class + `/>`)
	}
	return templ.Raw(b.String())
}

const defaultNamespace = chat.DefaultNamespace

// documentFacts returns a document's metadata, such as size, date and author, for the line under its title.
//
// Author and date are untrusted input of the document or its user, cut at 80 characters.
func documentFacts(ctx context.Context, d corpus.Document) []string {
	var facts []string
	if d.Pages > 0 {
		facts = append(facts, pagesWord(ctx, d))
	}
	facts = append(facts, locale.Size(ctx, d.Bytes), addedOn.Say(ctx, locale.Date(ctx, d.CreatedAt)))
	for _, key := range []string{"author", "date"} {
		if text := d.MetaText(key); text != "" {
			facts = append(facts, clipped(text, 80))
		}
	}
	return append(facts, d.Path)
}

// pagesWord returns the page count of a document: "12 pages", "7 slides".
func pagesWord(ctx context.Context, d corpus.Document) string {
	return pageNames[pageWord(d)].counted.Count(ctx, d.Pages)
}

// pageWord returns a document's word for a page: "page", "slide", "cell".
func pageWord(d corpus.Document) string {
	if word := extract.Formats.PageWord(d.MIME, d.Filename); word != "p." {
		return word
	}
	return "page"
}

// trueWord encodes a boolean ARIA attribute.
func trueWord(is bool) string {
	if is {
		return "true"
	}
	return "false"
}

// regionWord returns the accessible name of the document's region.
func regionWord(v *Viewer) locale.Text {
	if len(v.Sheets) > 0 {
		return txtPagesRegion
	}
	return txtTextRegion
}

// earlierWord returns the label of the link to the part before the shown one.
func earlierWord(v *Viewer) locale.Text {
	if len(v.Sheets) > 0 {
		return txtEarlierPages
	}
	return txtEarlier
}

// laterWord returns the label of the link to the part after the shown one.
func laterWord(v *Viewer) locale.Text {
	if len(v.Sheets) > 0 {
		return txtLaterPages
	}
	return LaterPart
}

// itemClass returns the class of a list item, by its level and mark.
func itemClass(b numberedBlock) string {
	class := "level-" + strconv.Itoa(min(max(b.Level, 1), 6))
	switch {
	case b.Numbered:
		class += " numbered"
	// An item without an ordinal gets a bullet.
	case b.Ordinal == 0:
		class += " bullet"
	}
	return class
}

// added formats the age of a document: "now", "5 min ago", "Today", "12 March", with days as in dayName.
//
// now is the server's time, and days are in UTC.
func added(ctx context.Context, t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	switch ago := now.Sub(t); {
	case ago < time.Minute:
		return justNow.In(ctx)
	case ago < time.Hour:
		return minutesAgo.Count(ctx, int(ago.Minutes()))
	}
	if day := dayName(ctx, t, now); day == txtToday.In(ctx) || day == txtYesterday.In(ctx) {
		return day
	}
	if t.Year() == now.Year() {
		return locale.Day(ctx, t)
	}
	return locale.ShortDate(ctx, t)
}

// slide is the content of one page of a document that has no page images, such as a presentation.
type slide struct {
	page   int // 0 in a document without pages
	groups []group
}

// slides groups the shown blocks by page.
//
// Blocks are sorted by page, so each page is one slide.
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

// slideWord returns a page's label: "Slide 3 of 12".
func (v *Viewer) slideWord(ctx context.Context, page int) string {
	return pageNames[pageWord(v.Document)].of.Say(ctx, page, v.Document.Pages)
}

// gridColumns returns the columns of a table in its sheet, up to the length of its longest row.
func (b numberedBlock) gridColumns() []int {
	n := 0
	for _, row := range b.Cells {
		n = max(n, len(row))
	}
	return b.Grid.Columns[:min(n, len(b.Grid.Columns))]
}
