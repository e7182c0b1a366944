package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus/extract/doctext"
)

// part is a future block: lines of one page that belong together. table is set for a table, item for a list item.
type part struct {
	lines []line
	table *table
	item  *item // a list item
	aside bool  // it is turned relative to most text of its page
	plain bool  // never a heading, regardless of its letters
	loose bool  // its lines are not joined
}

// item is the marker of a list item.
type item struct {
	ordinal int
	skip    int // words of the marker that are not part of the text: a bullet
}

func (p *part) lastLine() line { return p.lines[len(p.lines)-1] }

// joinLines returns the text of a part as one line.
func (p *part) joinLines() string {
	var b strings.Builder
	for i := range p.lines {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p.lines[i].joinWords())
	}
	return b.String()
}

// usualLeading returns the most frequent line distance of paragraphs, as a multiple of the font size. It counts in
// steps of a twentieth of the font size. The default is 1.2, for a document with too little text.
func usualLeading(sheets []sheet) float32 {
	counts := map[int]int{}
	for _, p := range sheets {
		for i := 1; i < len(p.lines); i++ {
			a, b := p.lines[i-1], p.lines[i]
			if d := (b.y1 - a.y1) / b.size; d > 0.8 && d < 3 && math.Abs(float64(a.size-b.size)) < 0.5 &&
				doOverlap(a.x0, a.x1, b.x0, b.x1) {
				counts[int(d*20+0.5)]++
			}
		}
	}
	best, most := 24, 0
	for d, n := range counts {
		if n > most || n == most && d < best {
			best, most = d, n
		}
	}
	return float32(best) / 20
}

// doOverlap reports whether two ranges overlap by more than their edges.
func doOverlap(a0, a1, b0, b1 float32) bool { return min(a1, b1) > max(a0, b0) }

// bodySize returns the font size in points of most letters. It counts in half points. The default is 10, for a
// document without text.
func bodySize(sheets []sheet) float32 {
	counts := map[int]int{}
	for _, p := range sheets {
		for _, l := range p.lines {
			for _, w := range l.words {
				counts[int(w.size*2+0.5)] += len(w.text)
			}
		}
	}
	best, most := 20, 0
	for s, n := range counts {
		if n > most || n == most && s < best {
			best, most = s, n
		}
	}
	return float32(best) / 2
}

// mergeLines joins text fragments that PDFium separates although they are on one line. A gap between them may be
// that of a column, which findTable detects later. The fragments must not overlap by more than half a letter.
func mergeLines(lines []line) []line {
	var out []line
	for _, l := range lines {
		if n := len(out); n > 0 {
			p := &out[n-1]
			if p.sharesLine(&l) && l.x0 >= p.x1-0.5*p.size && !p.hyphen {
				p.takeWords(&l)
				continue
			}
		}
		out = append(out, l)
	}
	return out
}

// sharesLine reports whether another fragment is on the same line.
func (l *line) sharesLine(o *line) bool {
	return min(l.y1, o.y1)-max(l.y0, o.y0) > 0.6*min(l.boxHeight(), o.boxHeight())
}

// takeWords appends the words of another fragment to the line.
func (l *line) takeWords(o *line) {
	l.words = append(slices.Clip(l.words), o.words...)
	l.joinBox(o.rect)
	l.hyphen = o.hyphen
	l.setStyle()
}

// groupParts groups the lines of sheet i into paragraphs, list items, code and tables. lead and body are the
// document's usual leading and font size. It consumes the lines of the sheet.
func groupParts(sheets []sheet, i int, lead, body float32) (out []part) {
	s := &sheets[i]
	if s.oblique {
		out = s.groupOblique()
	} else {
		head, foot := s.takeRunning()
		out = slices.Concat(head, s.groupLines(lead, body), foot)
	}
	s.lines = nil
	for j := range out {
		p := &out[j]
		for k := range p.lines {
			p.lines[k].sheet = i
		}
		running := p.lines[0].running
		p.aside = s.aside || running
		p.plain = running || s.aside && !p.standsOver(out[j+1:])
	}
	return out
}

// takeRunning removes the running headers and footers from the lines of a sheet, and returns each as a part.
func (s *sheet) takeRunning() (head, foot []part) {
	s.lines = slices.DeleteFunc(s.lines, func(l line) bool {
		switch p := (part{lines: []line{l}}); {
		case !l.running:
		case l.y0+l.y1 < s.height:
			head = append(head, p)
		default:
			foot = append(foot, p)
		}
		return l.running
	})
	return head, foot
}

// groupLines groups the lines of a sheet in order. A line begins a table, continues the part above, or begins a new
// one.
func (s *sheet) groupLines(lead, body float32) []part {
	lines := unweaveColumns(mergeLines(orderLines(s.lines)))
	var out []part
	for i := 0; i < len(lines); {
		if t, ok := findTable(lines[i:]); ok && !isJustified(lines, i, t.size) {
			out = append(out, part{lines: t.rows, table: &t})
			i += t.size
			continue
		}
		l := lines[i]
		i++
		mark := listMark(l)
		if n := len(out); n > 0 && mark == nil && out[n-1].table == nil && out[n-1].takesLine(l, lead, body) {
			out[n-1].lines = append(out[n-1].lines, l)
			continue
		}
		out = append(out, part{lines: []line{l}, item: mark})
	}
	return out
}

// takesLine reports whether l continues the part. It must be below, in the same column, in letters of the same size
// and weight, at the usual distance. Then indentation decides, which differs between list items and paragraphs.
// Finally, a short line with the end of a sentence ends a paragraph.
func (p *part) takesLine(l line, lead, body float32) bool {
	last := p.lines[len(p.lines)-1]
	step := l.y1 - last.y1
	if step < 0.3*l.size || !doOverlap(last.x0-l.size, last.x1+l.size, l.x0, l.x1) {
		return false // another column, or beside it
	}
	if l.isNote() {
		return false // a footnote is not part of the text above it
	}
	tolerance := float32(0.08)
	if max(l.size, last.size) < 1.1*body {
		tolerance = 0.2 // a line of inline code in the middle of a paragraph is often set smaller
	}
	if max(l.size, last.size)-min(l.size, last.size) > tolerance*max(l.size, last.size) || l.bold != last.bold {
		return false
	}
	code := p.lines[0].mono
	if l.mono != code && (code || !p.goesOn(l)) {
		return false
	}
	usual := lead * l.size
	if len(p.lines) > 1 {
		usual = last.y1 - p.lines[len(p.lines)-2].y1
	}
	if step > max(usual, 1.1*l.size)*1.28 {
		return false
	}
	if code {
		return true
	}
	left, right := p.lines[0].x0, float32(0)
	for i, pl := range p.lines {
		if i > 0 {
			left = min(left, pl.x0)
		}
		right = max(right, pl.x1)
	}
	if p.item != nil {
		return l.x0 > p.lines[0].x0+0.4*l.size || len(p.lines) > 1 && l.x0 > left-0.4*l.size
	}
	if len(p.lines) > 1 {
		left = p.lines[1].x0
		if l.x0 > left+0.8*l.size && last.x0 < left+0.4*l.size {
			return false // the first line of the next paragraph is indented
		}
	} else if l.x0 > last.x0+0.8*l.size && last.x1-last.x0 > 20*l.size && !last.hangsBefore(l.x0) {
		return false
	}
	ended := strings.ContainsAny(lastRune(last), ".!?:。！？")
	return !(ended && last.x1 < right-0.3*(right-left) && len(p.lines) > 1)
}

// hangsBefore reports whether the text of a line begins at x, after a number in the margin.
func (l *line) hangsBefore(x float32) bool {
	first, _ := utf8.DecodeRuneInString(l.words[0].text)
	return len(l.words) > 1 && unicode.IsDigit(first) && closeTo(l.words[1].x0, x, 0.2*l.size)
}

// goesOn reports whether a line of code only continues a sentence of the paragraph. The line before is full and
// doesn't end a sentence, and both have the same left edge.
func (p *part) goesOn(l line) bool {
	last := p.lines[len(p.lines)-1]
	if strings.ContainsAny(lastRune(last), ".!?:。！？") {
		return false
	}
	if len(p.lines) == 1 {
		return math.Abs(float64(l.x0-last.x0)) < 0.4*float64(l.size) && last.x1-last.x0 > 20*l.size
	}
	right := float32(0)
	for _, pl := range p.lines {
		right = max(right, pl.x1)
	}
	first := l.words[0]
	return math.Abs(float64(l.x0-p.lines[1].x0)) < 0.4*float64(l.size) && last.x1+(first.x1-first.x0) > right-l.size
}

// lastRune returns the last character of a line.
func lastRune(l line) string {
	s := l.words[len(l.words)-1].text
	_, n := utf8.DecodeLastRuneInString(s)
	return s[len(s)-n:]
}

// listMark returns the marker of a line that begins a list item, nil otherwise. A bold number belongs to a heading.
// A single word is no item.
func listMark(l line) *item {
	if len(l.words) < 2 {
		return nil
	}
	switch ordinal, ok := doctext.ItemMark(l.words[0].text); {
	case !ok || ordinal > 0 && l.bold:
		return nil
	case ordinal > 0:
		return &item{ordinal: ordinal}
	}
	return &item{skip: 1}
}

// headingSizes returns the font sizes of headings, largest first. These are sizes of parts with the form of a
// heading that are at least 12 % above the body size.
func headingSizes(pages [][]part, body float32) []float32 {
	var sizes []float32
	for _, ps := range pages {
		for i := range ps {
			if s := roundSize(ps[i].lines[0].size); ps[i].titleLike() && s >= body*1.12 && !slices.Contains(sizes, s) {
				sizes = append(sizes, s)
			}
		}
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	return sizes
}

// roundSize rounds to whole points, because sizes of equal headings differ by rounding errors in the file.
func roundSize(s float32) float32 { return float32(math.Round(float64(s))) }

// titleLike reports whether a part has the form of a heading: short, with letters, no table and no code. It has at
// most four lines and 260 bytes, and at least a third of it is letters.
func (p *part) titleLike() bool {
	if p.table != nil || p.plain || len(p.lines) > 4 || p.lines[0].mono {
		return false
	}
	n, letters := 0, 0
	for i := range p.lines {
		for _, w := range p.lines[i].words {
			n += len(w.text) + 1
			for _, r := range w.text {
				if unicode.IsLetter(r) {
					letters++
				}
			}
		}
	}
	return n <= 260 && letters >= 2 && letters*3 >= n
}

// titleOf returns the first of the highest-level headings on the first two pages, "" without one.
func titleOf(grouped [][]part, sizes []float32, body float32) string {
	best, title := 7, ""
	for _, parts := range grouped[:min(len(grouped), 2)] {
		for i := range parts {
			if level := parts[i].headingLevel(sizes, body); level > 0 && level < best {
				best, title = level, doctext.Line(parts[i].joinLines())
			}
		}
	}
	return title
}

// headingLevel returns the level of a heading by its letters, 0 for other parts. The n-th largest size is level n,
// up to 6. Bold lines of the body size are one level below the smallest heading size, unless they end like a
// sentence.
func (p *part) headingLevel(sizes []float32, body float32) int {
	if !p.titleLike() || p.item != nil {
		return 0
	}
	l := p.lines[0]
	if i := slices.Index(sizes, roundSize(l.size)); i >= 0 && roundSize(l.size) >= body*1.12 {
		return min(i+1, 6)
	}
	small := min(len(sizes)+1, 6)
	text := p.joinLines()
	if l.bold && len(p.lines) <= 2 && len(text) <= 120 && l.size >= body*0.95 &&
		!strings.ContainsAny(lastRune(p.lines[len(p.lines)-1]), ".,;:") {
		return small
	}
	return 0
}
