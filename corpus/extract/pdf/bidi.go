package pdf

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

// wordGap is the least distance between words of a script that runs to the left, as a share of the font's height.
// Its letters touch.
const wordGap = 0.15

// maxOrdered is the maximum number of characters of a line that are brought into order.
const maxOrdered = 4096

// span is the characters of a line.
type span struct {
	from, to int // indexes
	right    int // number of letters that run to the left
}

// runsLeft reports whether a letter is of a script that runs to the left.
func runsLeft(c rune) bool {
	if c < 0x590 {
		return false
	}
	p, _ := bidi.LookupRune(c)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}

// isPresentation reports whether a character is a form of a Hebrew or Arabic letter, or a ligature of several.
func isPresentation(c rune) bool { return c >= 0xFB1D && c <= 0xFDFF || c >= 0xFE70 && c <= 0xFEFC }

// lettersToTheLeft counts the letters of lines that run to the left.
func lettersToTheLeft(lines []line) (n int) {
	for _, l := range lines {
		for _, w := range l.words {
			for _, c := range w.text {
				if runsLeft(c) {
					n++
				}
			}
		}
	}
	return n
}

// mirror mirrors the boxes of a sheet, so that text that runs to the left is grouped like any other.
func (s *sheet) mirror() {
	flip := func(r *rect) { r.x0, r.x1 = s.width-r.x1, s.width-r.x0 }
	for i := range s.lines {
		flip(&s.lines[i].rect)
		for j := range s.lines[i].words {
			flip(&s.lines[i].words[j].rect)
		}
	}
	s.mirrored = true
}

// glyph is a character of a line with its position.
type glyph struct {
	index int
	rune  rune
	rect
	marks []glyph // accents above or below it
}

// orderLines brings the characters of lines with letters that run to the left into logical order, and mirrors the
// sheet if most of its letters do. PDFium's order depends on how the letters were drawn, and takes ligatures and
// numbers apart. It begins another line where the next letters are to the left.
func (r *reader) orderLines() error {
	right := 0
	for i, s := range r.spans {
		if r.g.turn == 0 && r.sheet.lines[i].words[0].turn == 0 {
			right += s.right
		}
	}
	if right == 0 {
		return nil
	}
	var err error
	if r.forward, err = r.writesForward(); err != nil {
		return err
	}
	letters, garbage, all := r.sheet.letters, r.sheet.garbage, r.sheet.lines
	most := right*2 > letters
	var out []line
	for i := 0; i < len(all); {
		n := i + 1
		for n < len(all) && (most || r.spans[n-1].right+r.spans[n].right > 0) && all[n-1].touchesLine(&all[n]) {
			n++
		}
		l, err := r.orderSpans(r.spans[i:n], most)
		if err != nil {
			return err
		}
		if l == nil || all[i].words[0].turn != 0 {
			out = append(out, all[i:n]...)
		} else {
			l.hyphen = all[n-1].hyphen
			out = append(out, *l)
		}
		i = n
	}
	r.sheet.letters, r.sheet.garbage, r.sheet.lines, r.spans = letters, garbage, out, nil
	if most {
		r.sheet.mirror()
	}
	return nil
}

// invisible is PDFium's number for text that is not drawn, as over a scan.
const invisible = 3

// writesForward reports whether each invisible word of a page has its first letter at the left, although the words
// follow one another to the left. Some OCR programs write so; in text that is drawn it would be seen.
func (r *reader) writesForward() (bool, error) {
	first := slices.IndexFunc(r.spans, func(s span) bool { return s.right > 0 })
	for i := r.spans[first].from; i < r.spans[first].to; i++ {
		object, err := r.m.callFunction("FPDFText_GetTextObject", r.tp, uint64(i))
		if err != nil {
			return false, err
		}
		if object == 0 {
			continue
		}
		mode, err := r.m.callCount("FPDFTextObj_GetTextRenderMode", object)
		if err != nil || mode != invisible {
			return false, err
		}
		ok, err := r.m.callCount("FPDFText_GetMatrix", r.tp, uint64(i), uint64(r.m.scratch))
		if err != nil {
			return false, err
		}
		if m := r.m.readFloats(4); ok == 0 || m[0]*m[3] < m[1]*m[2] {
			return false, nil // mirrored letters run to the left
		}
		break
	}
	n, err := r.m.callCount("FPDFPage_CountObjects", r.page)
	if err != nil {
		return false, err
	}
	left, last := 0, rect{}
	for i := range min(n, maxDrawn) {
		object, err := r.m.callFunction("FPDFPage_GetObject", r.page, uint64(i))
		if err != nil || object == 0 {
			return false, err
		}
		kind, err := r.m.callCount("FPDFPageObj_GetType", object)
		if err != nil {
			return false, err
		}
		if kind != textObject {
			continue
		}
		box, inside, err := r.m.objectBox(object, r.g)
		if err != nil {
			return false, err
		}
		if !inside {
			continue
		}
		if min(box.y1, last.y1)-max(box.y0, last.y0) > 0.5*min(box.boxHeight(), last.boxHeight()) {
			if box.x0 < last.x0 {
				left++
			} else {
				left--
			}
		}
		last = box
	}
	return left > 0, nil
}

// mirrorWords gives the letters of each word that was written forward the places that they would have if it were
// drawn. Numbers and words of other scripts keep their order.
func (r *reader) mirrorWords(all []glyph) error {
	words := map[uint64][]*glyph{}
	for i := range all {
		object, err := r.m.callFunction("FPDFText_GetTextObject", r.tp, uint64(all[i].index))
		if err != nil {
			return err
		}
		words[object] = append(words[object], &all[i])
	}
	flip := func(part []*glyph) {
		var box rect
		for _, g := range part {
			box.joinBox(g.rect)
		}
		for _, g := range part {
			g.x0, g.x1 = box.x0+box.x1-g.x1, box.x0+box.x1-g.x0
		}
	}
	for _, w := range words {
		slices.SortStableFunc(w, func(a, b *glyph) int { return cmp.Compare(a.x0, b.x0) })
		flip(w)
		for from, to := 0, 0; from < len(w); from = to {
			for to = from; to < len(w) && !runsLeft(w[to].rune); to++ {
			}
			flip(w[from:to])
			to = max(to, from+1)
		}
	}
	return nil
}

// touchesLine reports whether another fragment is beside the line without a wide gap, at either side.
func (l *line) touchesLine(o *line) bool {
	return l.sharesLine(o) && max(l.x0-o.x1, o.x0-l.x1) < wideGap*l.size
}

// orderSpans returns the line of some characters in logical order, nil if they are in it. most: the text of the page
// runs to the left.
func (r *reader) orderSpans(spans []span, most bool) (*line, error) {
	var glyphs []glyph
	right, others := 0, 0
	for _, s := range spans {
		right += s.right
	}
	if right == 0 && !most || spans[len(spans)-1].to-spans[0].from > maxOrdered {
		return nil, nil
	}
	glyphs, err := r.glyphsOf(spans)
	if err != nil || len(glyphs) == 0 {
		return nil, err
	}
	for _, g := range glyphs {
		if unicode.IsLetter(g.rune) && !runsLeft(g.rune) {
			others++
		}
	}
	// A number that ends a sentence, alone in its line, has the stop at its left.
	if right == 0 && (others > 0 || !strings.ContainsRune(".,:;!?", glyphs[0].rune)) {
		return nil, nil
	}
	r.sheet.lines = nil
	for _, g := range logicalOrder(glyphs, right > others || most && 3*right >= others) {
		for _, c := range append([]glyph{g}, g.marks...) {
			if err := r.readChar(c.index, c.rune); err != nil {
				return nil, err
			}
		}
	}
	r.endLine()
	if len(r.sheet.lines) != 1 {
		return nil, nil
	}
	return &r.sheet.lines[0], nil
}

// glyphsOf returns the characters of a line from left to right, with spaces between words. Spaces that PDFium made
// and those without a width are replaced by those of wordGap, as their position is unknown.
func (r *reader) glyphsOf(spans []span) (all []glyph, err error) {
	var marks []glyph
	for i := spans[0].from; i < spans[len(spans)-1].to; i++ {
		u, err := r.m.callFunction("FPDFText_GetUnicode", r.tp, uint64(i))
		if err != nil {
			return nil, err
		}
		g := glyph{index: i, rune: rune(uint32(u))}
		if g.rune == '\n' || g.rune == '\r' || g.rune == 0 {
			continue
		}
		if unicode.IsSpace(g.rune) {
			made, err := r.m.callCount("FPDFText_IsGenerated", r.tp, uint64(i))
			if err != nil {
				return nil, err
			}
			if made == 1 {
				continue
			}
		}
		ok := false
		if g.rect, ok, err = r.charBox(i); err != nil {
			return nil, err
		}
		switch {
		case !ok || unicode.IsSpace(g.rune) && g.x1-g.x0 < 0.01:
		case unicode.Is(unicode.Mn, g.rune):
			marks = append(marks, g)
		default:
			all = append(all, g)
		}
	}
	if r.forward {
		if err := r.mirrorWords(all); err != nil {
			return nil, err
		}
	}
	middle := func(g glyph) float32 { return g.x0 + g.x1 }
	slices.SortStableFunc(all, func(a, b glyph) int { return cmp.Compare(middle(a), middle(b)) })
	for i := 1; i < len(all); i++ { // a ligature: PDFium reverses the letters of some
		if a, b := &all[i-1], &all[i]; a.rect == b.rect && a.rune == 'ل' && strings.ContainsRune("اأإآ", b.rune) {
			*a, *b = *b, *a
		}
	}
	for _, m := range marks {
		best := -1
		for i := range all {
			if !unicode.IsSpace(all[i].rune) && (best < 0 ||
				max(middle(all[i])-middle(m), middle(m)-middle(all[i])) <
					max(middle(all[best])-middle(m), middle(m)-middle(all[best]))) {
				best = i
			}
		}
		if best >= 0 {
			all[best].marks = append(all[best].marks, m)
		}
	}
	var out []glyph
	height := float32(0)
	for _, g := range all {
		height = max(height, g.boxHeight())
	}
	for i, g := range all {
		if gap := g.x0 - all[max(i-1, 0)].x1; i > 0 && gap > wideGap*height {
			out = append(out, glyph{index: g.index, rune: '\t'}) // another cell, which is no part of a run
		} else if i > 0 && gap > wordGap*height {
			out = append(out, glyph{index: g.index, rune: ' '})
		}
		out = append(out, g)
	}
	return out, nil
}

// logicalOrder brings glyphs from their order on the page, from left to right, into the order in which they are
// read. The Unicode bidirectional algorithm finds the runs of one direction, as it is symmetric but for Arabic
// numbers. They are treated as European ones, so that characters between the letters and digits of a word keep their
// place.
func logicalOrder(glyphs []glyph, leftward bool) []glyph {
	proxy := make([]rune, len(glyphs))
	for i, g := range glyphs {
		p, _ := bidi.LookupRune(g.rune)
		switch p.Class() {
		case bidi.R, bidi.AL:
			proxy[i] = 'א'
		case bidi.L:
			proxy[i] = 'a'
		case bidi.EN, bidi.AN:
			proxy[i] = '0'
		case bidi.S:
			proxy[i] = '\t'
		case bidi.WS, bidi.B:
			proxy[i] = ' '
		default:
			proxy[i] = '!'
		}
	}
	for i := 1; i+1 < len(proxy); i++ {
		if a, b := proxy[i-1], proxy[i+1]; proxy[i] == '!' && (a == 'a' || a == '0') && (b == 'a' || b == '0') {
			proxy[i] = max(a, b) // a letter, or a digit between digits
		}
	}
	for i, g := range glyphs { // the sign of a percentage or a currency belongs to the number before it
		if p, _ := bidi.LookupRune(g.rune); i > 0 && p.Class() == bidi.ET && proxy[i-1] == '0' {
			proxy[i] = '0'
		}
	}
	mark := "\u200e" // the first strong character sets the direction of a paragraph
	if leftward {
		mark = "\u200f"
	}
	var p bidi.Paragraph
	if _, err := p.SetString(mark + string(proxy)); err != nil {
		return glyphs
	}
	order, err := p.Order()
	if err != nil {
		return glyphs
	}
	out := make([]glyph, 0, len(glyphs))
	for n := range order.NumRuns() {
		i := n
		if leftward {
			i = order.NumRuns() - 1 - n
		}
		run := order.Run(i)
		from, to := run.Pos()
		part := slices.Clone(glyphs[max(from-1, 0):to])
		if run.Direction() == bidi.RightToLeft {
			slices.Reverse(part)
		}
		out = append(out, part...)
	}
	if len(out) != len(glyphs) {
		return glyphs
	}
	mirrorBrackets(out)
	return out
}

const brackets = "()[]{}«»"

// mirrorBrackets turns brackets that open after a word, or close before one. Some programs store the shape that is
// drawn, and others the character that is read.
func mirrorBrackets(line []glyph) {
	all := []rune(brackets)
	blank := func(i int) bool { return i < 0 || i >= len(line) || unicode.IsSpace(line[i].rune) }
	for i := range line {
		at := slices.Index(all, line[i].rune)
		if at < 0 {
			continue
		}
		after := i + 1
		for after < len(line) && unicode.IsPunct(line[after].rune) {
			after++
		}
		if opens := at%2 == 0; opens && !blank(i-1) && blank(after) || !opens && blank(i-1) && !blank(i+1) {
			line[i].rune = all[at^1]
		}
	}
}
