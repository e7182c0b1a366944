package pdf

import (
	"math"
	"slices"
	"unicode/utf8"
)

// oblique is the direction of text that no quarter turn makes upright, such as a watermark across the page.
const oblique = -1

// turnOf returns the direction of text with the baseline x, y in PDF user space. A negative font size reverses it.
// Directions are rounded to an eighth of a turn; those between quarters are oblique. PDF's y axis points upwards.
func turnOf(x, y, size float64) int8 {
	if size < 0 {
		x, y = -x, -y
	}
	eighths := int(math.Round(math.Atan2(y, x)/(math.Pi/4))) & 7
	if eighths%2 != 0 {
		return oblique
	}
	return int8(eighths / 2)
}

// isPlain reports whether neither the page nor a word of it is turned.
func (s *sheet) isPlain() bool {
	return len(s.lines) == 0 || s.placed.turn == 0 && !slices.ContainsFunc(s.lines, func(l line) bool {
		return slices.ContainsFunc(l.words, func(w word) bool { return w.turn != 0 })
	})
}

// lettersOf counts the letters of each direction. Index 0 to 3 are quarter turns, 4 is oblique.
func (s *sheet) lettersOf() (n [5]int) {
	for _, l := range s.lines {
		for _, w := range l.words {
			at := w.turn
			if at == oblique {
				at = 4
			}
			n[at] += utf8.RuneCountInString(w.text)
		}
	}
	return n
}

// readTurned reads a page again for each direction of its text, turned so that this text is upright. It returns the
// sheet with most letters first. drawn is the page as rendered, with all words. Directions are ordered by their
// number of letters. If turning loses more than a tenth of a direction's letters, the words of the first reading are
// used. Vertical Japanese text is detected by runsDown and kept in PDFium's order.
func (p *openPage) readTurned(drawn sheet) (out []sheet, err error) {
	letters := drawn.lettersOf()
	turns := []int{0, 1, 2, 3}
	slices.SortStableFunc(turns, func(a, b int) int { return letters[b] - letters[a] })
	for _, turn := range turns {
		if letters[turn] == 0 {
			break
		}
		s := drawn
		if turn != 0 || drawn.placed.turn != 0 {
			if s, err = p.readUpright(drawn.placed, turn); isCrash(err) {
				return nil, err
			}
		}
		if len(out) == 0 && s.runsDown() {
			s.layColumns() // words of other scripts are turned in a vertical column
			return []sheet{s}, nil
		}
		if s.lines = s.linesOf(0); s.lettersOf()[0]*10 < letters[turn]*9 { // the page can't be turned
			s = drawn
			s.lines = drawn.linesOf(int8(turn))
		}
		out = append(out, s)
	}
	if p.at != 0 { // the document may contain the page twice
		if err = p.moveContent(unturned, drawn.placed.turn, drawn.placed); isCrash(err) {
			return nil, err
		}
	}
	if letters[4] > 0 {
		drawn.lines = drawn.linesOf(oblique)
		drawn.oblique = true
		out = append(out, drawn)
	}
	for i := 1; i < len(out); i++ {
		out[i].aside, out[i].lines = true, joinGlyphs(out[i].lines)
		out[i].letters, out[i].garbage = 0, 0 // the first one has the total
	}
	return out, nil
}

// readUpright reads a page with its content turned by quarters in PDF user space. PDFium assembles lines and words
// by their position there, so that turned text is read like upright text only there. drawn.turn is the page's
// rotation, which is reset meanwhile.
func (p *openPage) readUpright(drawn geometry, turn int) (s sheet, err error) {
	g, box := drawn, drawn
	if turn > 0 {
		box = geometry{right: drawn.right - drawn.left, top: drawn.top - drawn.bottom}
		if turn%2 != 0 {
			box.right, box.top = box.top, box.right
		}
	}
	if err = p.moveContent(drawn.uprightMatrix(turn), 0, box); err == nil {
		err = p.load()
	}
	if err == nil {
		s, err = p.readSheet()
	}
	g.turn, g.width, g.height = turn, float64(s.width), float64(s.height)
	s.placed, s.shown = g, (drawn.turn-turn)&3
	return s, err
}

// linesOf returns the lines of one direction. PDFium may combine several into one line.
func (s *sheet) linesOf(turn int8) (out []line) {
	for _, l := range s.lines {
		part := line{hyphen: l.hyphen && l.words[len(l.words)-1].turn == turn}
		for _, w := range l.words {
			if w.turn == turn {
				part.words = append(part.words, w)
				part.joinBox(w.rect)
			}
		}
		switch len(part.words) {
		case 0:
		case len(l.words):
			out = append(out, l)
		default:
			part.words[0].glued = false
			part.setStyle()
			out = append(out, part)
		}
	}
	return out
}

// joinGlyphs joins the letters of words that PDFium returns as separate lines, as it does where most text of the
// page has another direction. Letters of one word touch: the gap is less than a tenth of the font size.
func joinGlyphs(lines []line) (out []line) {
	for _, l := range lines {
		if n := len(out); n > 0 {
			p := &out[n-1]
			last, first := p.words[len(p.words)-1], &l.words[0]
			if gap := l.x0 - p.x1; p.sharesLine(&l) && max(gap, -gap) < 0.1*l.size && first.size == last.size &&
				first.turn != oblique && !p.hyphen {
				first.glued = true
				p.takeWords(&l)
				continue
			}
		}
		out = append(out, l)
	}
	return out
}

// runsDown reports whether text in a script without spaces is vertical.
func (s *sheet) runsDown() bool {
	down, across := 0, 0
	for _, l := range s.lines {
		for i := 1; i < len(l.words); i++ {
			a, b := l.words[i-1], l.words[i]
			if first, _ := utf8.DecodeRuneInString(b.text); !b.glued || !isUnspaced(first) {
				continue
			}
			if math.Abs(float64(b.x0+b.x1-a.x0-a.x1)) < math.Abs(float64(b.y0+b.y1-a.y0-a.y1)) {
				down++
			} else {
				across++
			}
		}
	}
	return down > across
}

// layColumns turns a page of vertical text anticlockwise: its columns, from the right, become lines below each other.
func (s *sheet) layColumns() {
	turn := func(r *rect) { r.x0, r.y0, r.x1, r.y1 = turnBox(r.x0, r.y0, r.x1, r.y1, s.width, s.height, 3) }
	for i := range s.lines {
		turn(&s.lines[i].rect)
		for j := range s.lines[i].words {
			turn(&s.lines[i].words[j].rect)
		}
	}
	s.width, s.height = s.height, s.width
	s.shown = (s.shown + 1) & 3
	s.placed.width, s.placed.height = s.placed.height, s.placed.width
	s.placed.turn = (s.placed.turn + 3) & 3
}

// toDrawn converts a box of the sheet to one of the rendered page.
func (s *sheet) toDrawn(r rect) (out rect) {
	if s.mirrored {
		r.x0, r.x1 = s.width-r.x1, s.width-r.x0
	}
	out.x0, out.y0, out.x1, out.y1 = turnBox(r.x0, r.y0, r.x1, r.y1, s.width, s.height, s.shown)
	return out
}

// fromDrawn converts a box of the rendered page to one of the sheet.
func (s *sheet) fromDrawn(r rect) (out rect) {
	width, height := s.drawnSize()
	out.x0, out.y0, out.x1, out.y1 = turnBox(r.x0, r.y0, r.x1, r.y1, width, height, -s.shown)
	if s.mirrored {
		out.x0, out.x1 = s.width-out.x1, s.width-out.x0
	}
	return out
}

// drawnSize returns the width and height of the rendered page.
func (s *sheet) drawnSize() (width, height float32) {
	if s.shown%2 != 0 {
		return s.height, s.width
	}
	return s.width, s.height
}

// groupOblique returns one part with all oblique lines, since their structure is unknown.
func (s *sheet) groupOblique() []part {
	if len(s.lines) == 0 {
		return nil
	}
	return []part{{lines: s.lines, loose: true}}
}

// standsOver reports whether a part is a heading of the next one: directly above it, in other letters. Text at a
// page's edge and labels of a drawing are never headings, regardless of their size.
func (p *part) standsOver(next []part) bool {
	if len(next) == 0 {
		return false
	}
	over, under := p.lastLine(), next[0].lines[0]
	return under.y0 > over.y0 && under.y0-over.y1 < 2.5*over.size && doOverlap(over.x0, over.x1, under.x0, under.x1) &&
		(next[0].table != nil || under.size < 0.95*over.size || over.bold && !under.bold)
}

// placeParts inserts the parts of a sheet among those of its page. Turned text is inserted before the first text
// below it, or after all other text, such as for a stamp in the margin. page holds the existing parts in reading
// order; the first sheet's are first and keep their order.
func placeParts(sheets []sheet, page, parts []part) []part {
	if len(page) == 0 {
		return parts
	}
	to := &sheets[page[0].lines[0].sheet]
	for _, p := range parts {
		from := &sheets[p.lines[0].sheet]
		var area rect
		for _, l := range p.lines {
			area.joinBox(l.rect)
		}
		area = to.fromDrawn(from.toDrawn(area))
		at := slices.IndexFunc(page, func(other part) bool {
			first := other.lines[0]
			return !other.aside && first.y0 >= area.y1-first.size && doOverlap(first.x0, first.x1, area.x0, area.x1)
		})
		if at < 0 {
			at = len(page)
		}
		page = slices.Insert(page, at, p)
	}
	return page
}
