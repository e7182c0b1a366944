package views

import (
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// Sheet is a page of a document: its image, the words over it, and what is marked.
//
// Boxes are fractions of the page; see chat.Box.
type Sheet struct {
	Page          int
	Width, Height float64 // in points
	Lines         []SheetLine
	Text          Span // that begins on it
	Passage       []chat.Box
	Quote         []chat.Box
	Eager         bool   // load its image at once
	Anchor        bool   // the marked words begin here
	Undrawn       string // why there is no image, in a sentence: its words are shown in its place; empty: there is one
}

// SheetLine is a line of words with the text that follows it up to the next line.
type SheetLine struct {
	corpus.Line
	Until int // where the next line starts
}

// lineNodes are what a line counts against MaxBlockNodes: an element and its text. A quote adds some to a few lines.
const lineNodes = 2

// Nodes returns how many nodes the page's lines count against MaxBlockNodes. It is never above MaxBlockNodes: a page
// with more is drawn without them, and its text is shown below it.
func (s Sheet) Nodes() int {
	if s.beside() {
		return plainNodes
	}
	return lineNodes * len(s.Lines)
}

// tooLarge reports whether the page's lines would need more nodes than a page may have.
func (s Sheet) tooLarge() bool { return lineNodes*len(s.Lines) > MaxBlockNodes }

// unplaced reports whether it is not known where on the page its words stand.
func (s Sheet) unplaced() bool { return len(s.Lines) == 0 && s.Text.End > s.Text.Start }

// beside reports whether the page's text is shown below its picture and not over it.
func (s Sheet) beside() bool { return s.tooLarge() || s.unplaced() }

// ImageWidth is how wide a page's image is, in pixels, where the browser does not choose.
// It is the API's width for a request without one.
const ImageWidth = 1000

// imageWidths are the widths in pixels that page images come in.
// They are choices.
var imageWidths = []int{640, ImageWidth, 1500}

// imageURL is where the image of a page is. The version is in it, and how the page is turned, so that a browser may
// keep it for ever.
func imageURL(d corpus.Document, page, width int) string {
	version, turn := d.SHA256[:min(len(d.SHA256), 12)], ""
	if quarters := d.TurnOf(page); quarters != 0 {
		turn = "&turn=" + strconv.Itoa(quarters)
	}
	return "/documents/" + url.PathEscape(d.ID) + "/pages/" + strconv.Itoa(page) + ".png?width=" + strconv.Itoa(width) +
		"&v=" + version + turn
}

// imageSet offers the image in several widths.
func imageSet(d corpus.Document, page int) string {
	var parts []string
	for _, w := range imageWidths {
		parts = append(parts, imageURL(d, page, w)+" "+strconv.Itoa(w)+"w")
	}
	return strings.Join(parts, ", ")
}

// imageSizes says how wide a page is shown, so that the browser takes an image of fitting density.
func imageSizes(panel bool) string {
	if panel {
		return "(max-width: 48rem) 92vw, min(38vw, 46rem)"
	}
	return "(max-width: 48rem) 92vw, 46rem"
}

// sheetID is the id of a page, which links lead to.
func sheetID(page int) string { return "p" + strconv.Itoa(page) }

// drawMarks draws the marked rectangles; the page is 1 by 1.
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

// drawRects draws boxes a little larger than the words.
func drawRects(b *strings.Builder, class string, boxes []chat.Box, id string) {
	for i, box := range boxes {
		pad := min(box[4]-box[2], box[3]-box[1]) * 0.12 // of turned words the width is that of a line
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

// writeAttribute writes a number with four decimals: less than a pixel of any page.
func writeAttribute(b *strings.Builder, name string, value float64) {
	b.WriteString(` ` + name + `="` + strconv.FormatFloat(value, 'f', 4, 64) + `"`)
}

// drawLines draws the words of a page where they stand, invisible, to be selected, searched and read aloud. The
// marked words are in elements of class quote.
func (v *Viewer) drawLines(s Sheet) templ.Component {
	var b strings.Builder
	for _, l := range s.Lines {
		left, top, right, bottom := l.Box[1]*s.Width, l.Box[2]*s.Height, l.Box[3]*s.Width, l.Box[4]*s.Height
		length, height := right-left, bottom-top
		if l.Turn%2 != 0 {
			length, height = height, length
		}
		// where the baseline begins
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

// writeRun writes a piece of the text that is either all inside the quote or all outside.
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

// pageBox is the page's size in points, as SVG has it.
func (s Sheet) pageBox() string {
	return "0 0 " + strconv.FormatFloat(s.Width, 'f', 2, 64) + " " + strconv.FormatFloat(s.Height, 'f', 2, 64)
}

// pixels is a side of the image for the browser to keep its place before it is loaded.
//
// It is 1 at least, since a browser takes 0 for no size.
func pixels(points float64) string { return strconv.Itoa(max(int(points+0.5), 1)) }

// mapBox is the drawing area of the map's strip: 10 units for each cell.
func mapBox(cells int) string { return "0 0 " + strconv.Itoa(cells*10-1) + " 4" }

// drawMap draws the strip of a document's pages, the cited ones dark.
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
