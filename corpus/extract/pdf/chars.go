package pdf

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"

	"github.com/footnote/footnote/corpus/extract/doctext"
)

// reader assembles the characters of a page into words and lines. runs buffers the runes of the current word. glue:
// the next word follows without a space.
type reader struct {
	m     *module
	tp    uint64
	g     geometry
	sheet *sheet
	line  line
	word  word
	runs  []rune
	glue  bool

	hyphen bool // the last character was a hyphen that may end the line
	high   rune // the pending high surrogate of a character beyond U+FFFF; 0: none

	at    int    // index of the current character
	from  int    // index of the current line's first character
	right int    // letters of scripts that run to the left, in the current line
	spans []span // the characters of each line

	page    uint64
	forward bool // see writesForward
}

// readChars reads at most maxChars characters of a page, in PDFium's order, which is that of its lines.
func (r *reader) readChars() error {
	n, err := r.m.callCount("FPDFText_CountChars", r.tp)
	if err != nil {
		return err
	}
	// The limit is for malicious pages: each character takes several calls of PDFium.
	for i := range min(n, maxChars) {
		r.at = i
		u, err := r.m.callFunction("FPDFText_GetUnicode", r.tp, uint64(i))
		if err != nil {
			return err
		}
		c := rune(uint32(u))
		if utf16.IsSurrogate(c) { // PDFium returns characters beyond U+FFFF as surrogate pairs
			// D800 to DBFF are high surrogates, DC00 to DFFF low ones. A low one alone is decoded to U+FFFD, which
			// counts as garbage.
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
	r.at = min(n, maxChars)
	r.endLine()
	return r.orderLines()
}

// readChar adds one character. Line breaks and white space end words; PDFium generates some of both from gaps.
// Characters without a meaning are counted as garbage, because a page of them needs OCR. A letter of a script
// without spaces is a separate word, so that each has a box.
func (r *reader) readChar(i int, c rune) error {
	switch {
	case c == '\n' || c == '\r':
		r.endLine()
		return nil
	case c == 0xFFFE || c == 0xAD || c == 2: // a hyphen at the end of a line, or a hidden one
		r.hyphen = true
		return nil
	case unicode.IsSpace(c) || c == 0xA0:
		r.endWord()
		r.glue = false
		return nil
	case c == 0:
		return nil
	case c == unicode.ReplacementChar || unicode.Is(unicode.Co, c) || doctext.Dropped(c):
		r.sheet.garbage++
		return nil
	}
	box, ok, err := r.charBox(i)
	if err != nil || !ok {
		return err
	}
	if r.hyphen { // PDFium omits the line break after a hyphen
		if !r.isBeside(box) {
			r.endLine()
		}
		r.hyphen = false
	}
	if len(r.runs) > 0 && !r.isLevel(box) { // it may belong to turned text
		turn, _, err := r.readTurn(i)
		if err != nil {
			return err
		}
		if turn != r.word.turn {
			r.endWord()
			r.glue = false
		}
	}
	// A raised number after a word, such as a note's marker, is a separate word without a space before it.
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
		r.sheet.letters++
	}
	if runsLeft(c) {
		r.right++
		if isPresentation(c) {
			r.runs = append(r.runs, []rune(norm.NFKC.String(string(c)))...)
			r.word.joinBox(box)
			return nil
		}
	}
	r.runs = append(r.runs, c)
	r.word.joinBox(box)
	return nil
}

// isBeside reports whether a box continues the current line. It must overlap vertically with the last word by half
// of the lower one's height, and not begin to its left.
func (r *reader) isBeside(box rect) bool {
	last := r.word.rect
	if len(r.runs) == 0 {
		last = r.line.rect
	}
	shared := min(last.y1, box.y1) - max(last.y0, box.y0)
	return shared > 0.5*min(last.boxHeight(), box.boxHeight()) && box.x0 >= last.x1-0.5*box.boxHeight()
}

// charBox returns the box of a character. The loose box extends from the font's ascent to its descent, which gives
// highlights an even height. If it is empty or implausibly large, the fallback is the box of the glyph. ok is false
// for a character outside of the page.
func (r *reader) charBox(i int) (rect, bool, error) {
	got, err := r.m.callCount("FPDFText_GetLooseCharBox", r.tp, uint64(i), uint64(r.m.scratch))
	if err != nil {
		return rect{}, false, err
	}
	b := r.m.readFloats(4)
	w, h := b[2]-b[0], b[1]-b[3]
	// In points: no letter is 70 cm high.
	if got != 0 && w > 0 && h > 0 && h < 2000 && w < 5000 {
		box, ok := r.g.toRect(b[0], b[1], b[2], b[3])
		return box, ok, nil
	}
	// FPDFText_GetCharBox writes four doubles of 8 bytes each.
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

// isLevel reports whether a box has the same height as the current word. Only otherwise the letter's direction is
// read, which is expensive.
func (r *reader) isLevel(box rect) bool {
	above, below := box.y0-r.word.y0, box.y1-r.word.y1
	return max(above, -above)+max(below, -below) < 0.2*box.boxHeight()
}

// readTurn returns the direction of character i, and its size in points. The font size is scaled by the text matrix,
// because some programs set all fonts at size 1.
func (r *reader) readTurn(i int) (turn int8, size float64, err error) {
	v, err := r.m.callFunction("FPDFText_GetFontSize", r.tp, uint64(i))
	if err != nil {
		return 0, 0, err
	}
	size = math.Float64frombits(v)
	ok, err := r.m.callCount("FPDFText_GetMatrix", r.tp, uint64(i), uint64(r.m.scratch))
	if err != nil || ok == 0 {
		return int8(r.g.turn), math.Abs(size), err
	}
	mx := r.m.readFloats(4)
	// The matrix has a, b, c and d: (a, b) is the direction of the baseline, and the length of (c, d) the vertical
	// scale of letters. Mirrored letters are upright: OCR programs write invisible text to the left in this way.
	if mx[0]*mx[3] < mx[1]*mx[2] {
		mx[0], mx[1] = -mx[0], -mx[1]
	}
	return turnOf(mx[0], mx[1], size), math.Abs(size) * math.Hypot(mx[2], mx[3]), nil
}

// noteFont sets size, style and direction of the word that begins at character i. The style is that of the font's
// numeric weight, with the font's name as a fallback. The name is read up to 48 bytes.
func (r *reader) noteFont(i int) error {
	turn, size, err := r.readTurn(i)
	if err != nil {
		return err
	}
	// Weights are those of CSS: 400 is regular, 600 half bold and 700 bold. -1 is unknown.
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
	r.word.turn, r.word.size = turn, float32(min(size, 1000))
	r.word.bold = weight >= 600 || strings.Contains(name, "bold") || strings.Contains(name, "black") ||
		strings.Contains(name, "heavy")
	r.word.mono = strings.Contains(name, "mono") || strings.Contains(name, "courier") ||
		strings.Contains(name, "consol")
	return nil
}

// endWord appends the current word to the line, unless its box is empty.
func (r *reader) endWord() {
	if len(r.runs) > 0 && r.word.x1 > r.word.x0 && r.word.y1 > r.word.y0 {
		r.word.text = r.m.texts.internRunes(r.runs)
		r.word.glued = r.glue && len(r.line.words) > 0
		r.line.words = append(r.line.words, r.word)
		r.line.joinBox(r.word.rect)
	}
	r.word, r.runs = word{}, r.runs[:0]
}

// endLine appends the current line to the sheet.
func (r *reader) endLine() {
	r.endWord()
	r.glue = false
	if len(r.line.words) > 0 {
		r.line.joinSpaced()
		r.line.setStyle()
		r.line.raiseDigits()
		spare := r.line.words
		r.line.words = slices.Clone(spare) // a long document has millions of words: no spare capacity
		r.line.hyphen = r.hyphen
		r.line.takeHyphen("\u2010") // PDFium takes only others
		r.spans = append(r.spans, span{from: r.from, to: r.at, right: r.right})
		r.sheet.lines = append(r.sheet.lines, r.line)
		r.line.words = spare
	}
	r.line, r.hyphen = line{words: r.line.words[:0]}, false
	r.from, r.right = r.at, 0
}

// setStyle sets the size and weight of most of the line's letters. A line is bold if more than half of it is. It is
// code if nine tenths are, since a sentence may contain a word of code.
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
