package pdf

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
)

const maxChars = 200_000 // per page; the rest is dropped

// rect is a box in points from the top left of the sheet, in reading direction, clipped to the crop box.
type rect struct{ x0, y0, x1, y1 float32 }

// boxHeight returns the height in points.
func (r rect) boxHeight() float32 { return r.y1 - r.y0 }

// joinBox extends the box to contain another; an empty one becomes the other.
func (r *rect) joinBox(o rect) {
	if r.x1 <= r.x0 {
		*r = o
		return
	}
	*r = rect{min(r.x0, o.x0), min(r.y0, o.y0), max(r.x1, o.x1), max(r.y1, o.y1)}
}

// word is a run of letters without white space. In scripts without spaces each letter is a word, glued to the one
// before.
type word struct {
	rect
	text  string
	size  float32
	glued bool // no space before it
	bold  bool
	mono  bool
	ruled bool // a line of a table separates it from the word before
	turn  int8 // clockwise quarter turns that make it upright on its unturned page; oblique: none does
}

// line is a line of text as PDFium detects it.
type line struct {
	rect
	words  []word
	size   float32 // of most letters
	bold   bool    // most letters are
	mono   bool
	hyphen bool // its last word continues in the next line
	sheet  int  // index of its sheet; set when lines are grouped
	// a header or a footer of the page, which is no part of its paragraphs
	running bool
}

// joinWords returns the text of a line.
func (l *line) joinWords() string {
	var b strings.Builder
	for i, w := range l.words {
		if i > 0 && !w.glued {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	}
	return b.String()
}

// sheet is the text of a page in one direction. Turned text is on a separate sheet, which is turned so that it is
// upright. A page has at least one sheet. The origin is the upper left corner.
type sheet struct {
	page          int     // index in the document
	width, height float32 // in points
	shown         int     // clockwise quarter turns from this sheet to the rendered page
	aside         bool    // another sheet of the page has more text
	oblique       bool    // no quarter turn makes its text upright
	mirrored      bool    // its boxes are mirrored at the vertical axis: the text runs to the left
	placed        geometry
	lines         []line
	letters       int    // letters and digits
	garbage       int    // characters without a meaning: their glyphs have no mapping
	picture       bool   // its lines were recognised by OCR
	unplaced      bool   // the positions of its words are unknown
	typed         []mark // the text of annotations, which is added when scans are known
}

// geometry transforms PDF user space, with the origin at the bottom left, to the page after some quarter turns.
type geometry struct {
	left, bottom, right, top float64
	turn                     int // quarter turns clockwise
	width, height            float64
}

// toRect converts a box of user space to one of the page, clipped at its edges. ok is false if the middle is outside
// of the page.
func (g geometry) toRect(l, t, r, b float64) (rect, bool) {
	w, h := g.right-g.left, g.top-g.bottom
	u0, u1 := (min(l, r)-g.left)/w, (max(l, r)-g.left)/w
	v0, v1 := (g.top-max(t, b))/h, (g.top-min(t, b))/h
	u0, v0, u1, v1 = turnBox(u0, v0, u1, v1, 1, 1, g.turn)
	mu, mv := (u0+u1)/2, (v0+v1)/2
	if !(mu >= 0 && mu <= 1 && mv >= 0 && mv <= 1) { // also when it is NaN
		return rect{}, false
	}
	at := func(f, side float64) float32 { return float32(min(max(f, 0), 1) * side) }
	return rect{at(u0, g.width), at(v0, g.height), at(u1, g.width), at(v1, g.height)}, true
}

// turnBox turns a box on a page w × h clockwise by quarters.
func turnBox[N float32 | float64](x0, y0, x1, y1, w, h N, quarters int) (left, top, right, bottom N) {
	for range quarters & 3 {
		x0, y0, x1, y1 = h-y1, x0, h-y0, x1
		w, h = h, w
	}
	return x0, y0, x1, y1
}

// readGeometry reads the rendered size, the rotation and the box of a page. It fails for an empty page.
func (m *module) readGeometry(pg uint64) (geometry, error) {
	var g geometry
	for _, side := range []struct {
		name string
		to   *float64
	}{{"FPDF_GetPageWidthF", &g.width}, {"FPDF_GetPageHeightF", &g.height}} {
		v, err := m.callFunction(side.name, pg)
		if err != nil {
			return g, err
		}
		*side.to = float64(math.Float32frombits(uint32(v)))
	}
	turn, err := m.callCount("FPDFPage_GetRotation", pg)
	if err != nil {
		return g, err
	}
	if _, err = m.callFunction("FPDF_GetPageBoundingBox", pg, uint64(m.scratch)); err != nil {
		return g, err
	}
	b := m.readFloats(4)
	g.turn, g.left, g.top, g.right, g.bottom = turn&3, b[0], b[1], b[2], b[3]
	if !(g.right-g.left > 0 && g.top-g.bottom > 0 && g.width > 0 && g.height > 0) {
		return g, fmt.Errorf("a page of %v × %v points", g.width, g.height)
	}
	return g, nil
}

// Size in points of the placeholder for an unreadable page.
const blankWidth, blankHeight = 595, 842

// readPage reads the words of page i, from 0. It returns a sheet for each direction of text, the one with most text
// first, which has the annotations too. beside describes other content of a page with hardly any words. An
// unreadable page is an empty sheet; only a crash is an error.
func (m *module) readPage(doc uint64, i int, r *marks) (sheets []sheet, beside shown, err error) {
	blank := []sheet{{page: i, width: blankWidth, height: blankHeight}}
	p := openPage{m: m, doc: doc, number: i, moved: unturned}
	if err := p.load(); err != nil || p.at == 0 {
		return blank, shown{}, err
	}
	s, err := p.readSheet()
	sheets = []sheet{s}
	if err == nil {
		beside, err = p.inspectObjects(&s)
	}
	var typed []mark
	if err == nil {
		typed, err = r.read(p.at, s.placed)
	}
	if err == nil && !s.isPlain() {
		sheets, err = p.readTurned(s)
	} else if err == nil && s.runsDown() {
		sheets[0].layColumns()
	} else if err == nil {
		err = p.readRules(&sheets[0])
	}
	if err == nil {
		sheets[0].typed, err = p.readDrawn(typed, r)
	}
	if err != nil {
		if isCrash(err) {
			return nil, shown{}, err
		}
		sheets = blank
	}
	return sheets, beside, p.close()
}

// isCrash reports whether PDFium crashed, so that its instance can't be used again.
func isCrash(err error) bool {
	_, dead := errors.AsType[*crash](err)
	return dead
}

// openPage is a page loaded by PDFium.
type openPage struct {
	m       *module
	doc, at uint64 // at is 0 if it can't be read
	number  int    // from 0
	moved   matrix // transformation of its content so far
}

// load loads the page, or reloads it.
func (p *openPage) load() error {
	err := p.close()
	if err != nil {
		return err
	}
	p.at, err = p.m.callFunction("FPDF_LoadPage", p.doc, uint64(p.number))
	return err
}

func (p *openPage) close() error {
	if p.at == 0 {
		return nil
	}
	_, err := p.m.callFunction("FPDF_ClosePage", p.at)
	p.at = 0
	return err
}

// readSheet reads the words of the page as it is turned now, in all directions. It returns no words if PDFium can't
// load the text.
func (p *openPage) readSheet() (sheet, error) {
	g, err := p.m.readGeometry(p.at)
	if err != nil {
		return sheet{}, err
	}
	s := sheet{page: p.number, width: float32(g.width), height: float32(g.height), placed: g}
	tp, err := p.m.callFunction("FPDFText_LoadPage", p.at)
	if err != nil || tp == 0 {
		return s, err
	}
	r := reader{m: p.m, tp: tp, page: p.at, g: g, sheet: &s}
	if err = r.readChars(); err != nil {
		return s, err
	}
	_, err = p.m.callFunction("FPDFText_ClosePage", tp)
	return s, err
}

// isUnspaced reports whether a rune is of a script without spaces; such letters are separate words.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303F ||
		r >= 0xFF00 && r <= 0xFF60
}
