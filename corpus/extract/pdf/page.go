package pdf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"footnote/corpus/extract/doctext"
)

const maxChars = 200_000 // of one page; what is beyond is left out

// rect is in points from the page's top left as it is shown: rotated, and cut to the crop box.
type rect struct{ x0, y0, x1, y1 float32 }

func (r rect) boxHeight() float32 { return r.y1 - r.y0 }

func (r *rect) joinBox(o rect) {
	if r.x1 <= r.x0 {
		*r = o
		return
	}
	*r = rect{min(r.x0, o.x0), min(r.y0, o.y0), max(r.x1, o.x1), max(r.y1, o.y1)}
}

// word is a run of letters without white space. Scripts without spaces have one word for each letter, glued together.
type word struct {
	rect
	text  string
	glued bool // no space before it
	size  float32
	bold  bool
	mono  bool
}

// line is what PDFium takes for one line.
type line struct {
	rect
	words  []word
	size   float32 // of most letters
	bold   bool    // most letters are
	mono   bool
	hyphen bool // its last word goes on in the next line
	page   int  // index of the page it stands on; known once parts are joined
}

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

type page struct {
	width, height float32 // in points, as shown
	placed        geometry
	lines         []line
	letters       int // letters and digits
	garbage       int // characters that mean nothing: no glyph's name is known
}

// geometry turns PDF user space, from the bottom left, into the page as it is shown.
type geometry struct {
	left, bottom, right, top float64
	turn                     int // quarter turns clockwise
	width, height            float64
}

func (g geometry) toRect(l, t, r, b float64) (rect, bool) {
	w, h := g.right-g.left, g.top-g.bottom
	u0, u1 := (min(l, r)-g.left)/w, (max(l, r)-g.left)/w
	v0, v1 := (g.top-max(t, b))/h, (g.top-min(t, b))/h
	switch g.turn {
	case 1:
		u0, u1, v0, v1 = 1-v1, 1-v0, u0, u1
	case 2:
		u0, u1, v0, v1 = 1-u1, 1-u0, 1-v1, 1-v0
	case 3:
		u0, u1, v0, v1 = v0, v1, 1-u1, 1-u0
	}
	mu, mv := (u0+u1)/2, (v0+v1)/2
	if !(mu >= 0 && mu <= 1 && mv >= 0 && mv <= 1) { // also when it is not a number
		return rect{}, false
	}
	at := func(f, side float64) float32 { return float32(min(max(f, 0), 1) * side) }
	return rect{at(u0, g.width), at(v0, g.height), at(u1, g.width), at(v1, g.height)}, true
}

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

// readPage reads the words of page i, from 0. A page that can't be read is empty; only a crash is an error.
func (m *module) readPage(doc uint64, i int) (page, error) {
	pg, err := m.callFunction("FPDF_LoadPage", doc, uint64(i))
	if err != nil || pg == 0 {
		return page{width: 595, height: 842}, err
	}
	g, err := m.readGeometry(pg)
	if err != nil {
		if _, dead := errors.AsType[*crash](err); dead {
			return page{}, err
		}
		_, err = m.callFunction("FPDF_ClosePage", pg)
		return page{width: 595, height: 842}, err
	}
	p := page{width: float32(g.width), height: float32(g.height), placed: g}
	tp, err := m.callFunction("FPDFText_LoadPage", pg)
	if err != nil {
		return page{}, err
	}
	if tp != 0 {
		r := reader{m: m, tp: tp, g: g, page: &p}
		if err = r.readChars(); err != nil {
			return page{}, err
		}
		if _, err = m.callFunction("FPDFText_ClosePage", tp); err != nil {
			return page{}, err
		}
	}
	_, err = m.callFunction("FPDF_ClosePage", pg)
	return p, err
}

// reader turns the characters of one page into words and lines.
type reader struct {
	m    *module
	tp   uint64
	g    geometry
	page *page
	line line
	word word
	runs []rune
	glue bool

	hyphen bool // the last character was a hyphen that may end the line
	high   rune // the first half of a character beyond U+FFFF; 0 if the last one was none
}

func (r *reader) readChars() error {
	n, err := r.m.callCount("FPDFText_CountChars", r.tp)
	if err != nil {
		return err
	}
	for i := range min(n, maxChars) {
		u, err := r.m.callFunction("FPDFText_GetUnicode", r.tp, uint64(i))
		if err != nil {
			return err
		}
		c := rune(uint32(u))
		if utf16.IsSurrogate(c) { // PDFium gives characters beyond U+FFFF in two halves
			if r.high == 0 && c < 0xDC00 {
				r.high = c
				continue
			}
			c = utf16.DecodeRune(r.high, c)
		}
		r.high = 0
		if err := r.readChar(i, c); err != nil {
			return err
		}
	}
	r.endLine()
	return nil
}

func (r *reader) readChar(i int, c rune) error {
	switch {
	case c == '\n' || c == '\r':
		r.endLine()
		return nil
	case c == 0xFFFE || c == 0xAD || c == 2: // a hyphen at the end of a line, or one that is not shown
		r.hyphen = true
		return nil
	case unicode.IsSpace(c) || c == 0xA0:
		r.endWord()
		r.glue = false
		return nil
	case c == 0:
		return nil
	case c == unicode.ReplacementChar || unicode.Is(unicode.Co, c) || doctext.Dropped(c):
		r.page.garbage++
		return nil
	}
	box, ok, err := r.charBox(i)
	if err != nil || !ok {
		return err
	}
	if r.hyphen { // PDFium leaves out the line break behind a hyphen
		if !r.isBeside(box) {
			r.endLine()
		}
		r.hyphen = false
	}
	if len(r.runs) > 0 && r.leavesRaised(c, box) {
		r.endWord()
		r.glue = true
	}
	alone := isUnspaced(c)
	if len(r.runs) > 0 && (alone || isUnspaced(r.runs[len(r.runs)-1])) {
		r.endWord()
		r.glue = true
	}
	if len(r.runs) == 0 {
		if err := r.noteFont(i); err != nil {
			return err
		}
	}
	if unicode.IsLetter(c) || unicode.IsDigit(c) {
		r.page.letters++
	}
	r.runs = append(r.runs, c)
	r.word.joinBox(box)
	return nil
}

// isBeside reports whether a box goes on in the line that is being read.
func (r *reader) isBeside(box rect) bool {
	last := r.word.rect
	if len(r.runs) == 0 {
		last = r.line.rect
	}
	shared := min(last.y1, box.y1) - max(last.y0, box.y0)
	return shared > 0.5*min(last.boxHeight(), box.boxHeight()) && box.x0 >= last.x1-0.5*box.boxHeight()
}

// charBox is where a character stands: its full height, which makes even marks, unless the font lies about it.
func (r *reader) charBox(i int) (rect, bool, error) {
	got, err := r.m.callCount("FPDFText_GetLooseCharBox", r.tp, uint64(i), uint64(r.m.scratch))
	if err != nil {
		return rect{}, false, err
	}
	b := r.m.readFloats(4)
	w, h := b[2]-b[0], b[1]-b[3]
	if got != 0 && w > 0 && h > 0 && h < 2000 && w < 5000 {
		box, ok := r.g.toRect(b[0], b[1], b[2], b[3])
		return box, ok, nil
	}
	at := uint64(r.m.scratch)
	got, err = r.m.callCount("FPDFText_GetCharBox", r.tp, uint64(i), at, at+8, at+16, at+24)
	if err != nil || got == 0 {
		return rect{}, false, err
	}
	mem, ok := r.m.mod.Memory().Read(r.m.scratch, 32)
	if !ok {
		return rect{}, false, nil
	}
	v := func(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(mem[8*i:])) }
	box, ok := r.g.toRect(v(0), v(3), v(1), v(2)) // left, right, bottom, top
	return box, ok, nil
}

// noteFont notes size and style of the word that begins at character i.
func (r *reader) noteFont(i int) error {
	v, err := r.m.callFunction("FPDFText_GetFontSize", r.tp, uint64(i))
	if err != nil {
		return err
	}
	size := math.Float64frombits(v)
	ok, err := r.m.callCount("FPDFText_GetMatrix", r.tp, uint64(i), uint64(r.m.scratch))
	if err != nil {
		return err
	}
	if ok != 0 {
		mx := r.m.readFloats(4)
		size *= math.Hypot(mx[2], mx[3])
	}
	weight, err := r.m.callCount("FPDFText_GetFontWeight", r.tp, uint64(i))
	if err != nil {
		return err
	}
	const room = 48
	n, err := r.m.callCount("FPDFText_GetFontInfo", r.tp, uint64(i), uint64(r.m.scratch), room,
		uint64(r.m.scratch)+room)
	if err != nil {
		return err
	}
	name := ""
	if n > 0 && n <= room {
		if b, ok := r.m.mod.Memory().Read(r.m.scratch, uint32(n)); ok {
			name = strings.ToLower(strings.TrimRight(string(b), "\x00"))
		}
	}
	r.word.size = float32(min(max(size, 0), 1000))
	r.word.bold = weight >= 600 || strings.Contains(name, "bold") || strings.Contains(name, "black") ||
		strings.Contains(name, "heavy")
	r.word.mono = strings.Contains(name, "mono") || strings.Contains(name, "courier") ||
		strings.Contains(name, "consol")
	return nil
}

func (r *reader) endWord() {
	if len(r.runs) > 0 && r.word.x1 > r.word.x0 && r.word.y1 > r.word.y0 {
		r.word.text = r.m.texts.internRunes(r.runs)
		r.word.glued = r.glue && len(r.line.words) > 0
		r.line.words = append(r.line.words, r.word)
		r.line.joinBox(r.word.rect)
	}
	r.word, r.runs = word{}, r.runs[:0]
}

func (r *reader) endLine() {
	r.endWord()
	r.glue = false
	if len(r.line.words) > 0 {
		r.line.setStyle()
		r.line.raiseDigits()
		spare := r.line.words
		r.line.words = slices.Clone(spare) // a long document has millions of words: none has room to spare
		r.line.hyphen = r.hyphen
		r.page.lines = append(r.page.lines, r.line)
		r.line.words = spare
	}
	r.line, r.hyphen = line{words: r.line.words[:0]}, false
}

// setStyle takes size and weight from most of the line's letters.
func (l *line) setStyle() {
	sizes := map[float32]int{}
	all, bold, mono := 0, 0, 0
	for _, w := range l.words {
		n := len(w.text)
		all += n
		sizes[w.size] += n
		if w.bold {
			bold += n
		}
		if w.mono {
			mono += n
		}
	}
	most := 0
	for size, n := range sizes {
		if n > most || n == most && size > l.size {
			l.size, most = size, n
		}
	}
	l.bold, l.mono = bold*2 > all, mono*10 > all*9
	if l.size < 1 { // a font that hides its size
		l.size = l.boxHeight() * 0.85
	}
}

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303F ||
		r >= 0xFF00 && r <= 0xFF60
}
