package pdf

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	margin      = 0.12 // of the page's height, within which headers and footers are
	repeatShare = 0.4  // of the pages; headers may differ on left and right pages
	repeatMin   = 3    // pages
	maxPairs    = 1e4  // of lines in two rows that are compared: more than any page has
	maxSought   = 500  // headers that are sought in the text
	maxCount    = 999  // number of a page, in a part of a longer document
)

// findRepeated marks headers, footers and page numbers. These are lines in the margins that recur at the same
// height, ignoring digits, on many pages (repeatShare). No other line is further out, and on most pages the text keeps
// its distance: a line of the text may recur too. Watermarks, which are oblique, are matched anywhere on the page. A
// line is counted at its height and at one step above and below, since pages of a scan vary a little. A page counts
// once for each place.
func findRepeated(sheets []sheet, pages int) {
	type place struct {
		text string
		at   int // height in steps of 1 % of the page
	}
	seen, near := map[place]int{}, map[place]int{}
	keys := func(p *sheet, l *line) []place {
		y := (l.y0 + l.y1) / 2 / p.height
		if l.running || y > margin && y < 1-margin && !p.oblique {
			return nil
		}
		text, at := lineShape(l.joinWords()), int(math.Round(float64(y)*100))
		return []place{{text, at}, {text, at + 1}, {text, at - 1}}
	}
	for i := range sheets {
		var here []place
		for j := range sheets[i].lines {
			for _, k := range keys(&sheets[i], &sheets[i].lines[j]) {
				if !slices.Contains(here, k) {
					here = append(here, k)
					seen[k]++
				}
			}
		}
	}
	limit := max(repeatMin, int(math.Ceil(repeatShare*float64(pages))))
	recurs := func(p *sheet, l *line) bool {
		k := keys(p, l)
		return len(k) > 0 && seen[k[0]] >= limit
	}
	outer := make([][]*line, len(sheets)) // recurring lines with nothing but such lines further out
	for i := range sheets {
		p := &sheets[i]
		for _, foot := range []bool{false, true} {
			rows := p.rowsFrom(foot)
			n := slices.IndexFunc(rows, func(row []*line) bool { // numbers alone may be those of a table's row
				again, titled := 0, false
				for _, l := range row {
					if l.running || recurs(p, l) {
						again++
						titled = titled || strings.IndexFunc(l.joinWords(), unicode.IsLetter) >= 0
					}
				}
				return !titled && again < len(row)
			})
			if n < 0 {
				n = len(rows)
			}
			for k := n - 1; k >= 0; k-- {
				outer[i] = append(outer[i], rows[k]...)
			}
			for k := n - 1; k >= 0 && k+1 < len(rows) && !areApart(rows[k], rows[k+1]); k-- {
				for _, l := range rows[k] {
					for _, key := range keys(p, l)[:min(1, len(keys(p, l)))] {
						near[key]++
					}
				}
			}
		}
	}
	for i := range sheets {
		p := &sheets[i]
		if p.oblique {
			outer[i] = nil
			for j := range p.lines {
				outer[i] = append(outer[i], &p.lines[j])
			}
		}
		var found []*line
		for _, l := range outer[i] {
			if k := keys(p, l); recurs(p, l) && (p.oblique || near[k[0]]*2 <= seen[k[0]]) {
				found = append(found, l)
			}
		}
		for _, l := range found {
			l.running = true
		}
	}
}

// rowsFrom returns the lines of a sheet by rows from its top, or from its foot.
func (s *sheet) rowsFrom(foot bool) (rows [][]*line) {
	lines := make([]*line, len(s.lines))
	for i := range s.lines {
		lines[i] = &s.lines[i]
	}
	slices.SortStableFunc(lines, func(a, b *line) int {
		if foot {
			return cmp.Compare(b.y1, a.y1)
		}
		return cmp.Compare(a.y0, b.y0)
	})
	for _, l := range lines {
		if n := len(rows); n > 0 && rows[n-1][0].sharesLine(l) {
			rows[n-1] = append(rows[n-1], l)
			continue
		}
		rows = append(rows, []*line{l})
	}
	return rows
}

// areApart reports whether the text in the next row keeps its distance from a running head. The titles of columns
// don't: two of them or more begin or end where the cells below do.
func areApart(head, text []*line) bool {
	if len(head)*len(text) > maxPairs {
		return true
	}
	var ends [][2]float32
	for _, l := range text {
		ends = append(ends, l.pieceEdges()...)
	}
	aligned := map[int]bool{} // cells below a title
	for _, l := range head {
		for _, e := range l.pieceEdges() {
			if i := slices.IndexFunc(ends, func(o [2]float32) bool {
				return closeTo(e[0], o[0], 0.3*l.size) || closeTo(e[1], o[1], 0.3*l.size)
			}); i >= 0 {
				aligned[i] = true
			}
		}
	}
	if len(aligned) > 1 {
		return false
	}
	for _, a := range head {
		for _, b := range text {
			if max(b.y0-a.y1, a.y0-b.y1) < clearOf*a.boxHeight() {
				return false
			}
		}
	}
	return true
}

// dropRepeats removes the marked lines without new text, and returns their number. The first line with a text stays,
// unless it recurs on few pages and the body has it too: a section's title. A number is not new if it counts the
// pages: alone, or up to maxCount beside a text. An invoice's number differs from page to page as well.
func dropRepeats(sheets []sheet, pages int) (dropped int) {
	offsets := map[int]int{} // of the numbers in marked lines from the index of their page, on how many pages
	eachRunning := func(do func(s *sheet, l *line)) {
		for i := range sheets {
			for j := range sheets[i].lines {
				if l := &sheets[i].lines[j]; l.running {
					do(&sheets[i], l)
				}
			}
		}
	}
	last := map[int]int{}
	eachRunning(func(s *sheet, l *line) {
		for _, n := range numbersOf(l.joinWords()) {
			if o := n - s.page; last[o] != s.page+1 {
				last[o] = s.page + 1
				offsets[o]++
			}
		}
	})
	whole := map[string]string{} // the first of each text with its numbers
	texts := func(s *sheet, l *line) (all []string) {
		for _, piece := range l.widePieces() {
			text := textBesideNumbers(piece, func(n int, alone bool) bool {
				return n == pages || offsets[n-s.page] >= repeatMin && (alone || n <= max(pages, maxCount))
			})
			if all = append(all, text); whole[text] == "" {
				whole[text] = squeezeTitle(piece)
			}
		}
		return all
	}
	on := map[string]int{} // the number of lines with a text
	eachRunning(func(s *sheet, l *line) {
		for _, text := range texts(s, l) {
			on[text]++
		}
	})
	if len(on) == 0 {
		return 0
	}
	said := map[string]bool{"": true}
	var all strings.Builder // the text itself, for what it says, such as the title of a section
	for i := range sheets {
		for j := range sheets[i].lines {
			if l := &sheets[i].lines[j]; !l.running {
				for _, w := range l.words {
					all.WriteString(squeezeTitle(w.text))
				}
			}
		}
	}
	body, sought := all.String(), 0
	for text, n := range on {
		if n < int(math.Ceil(repeatShare*float64(pages))) && sought < maxSought {
			sought++
			said[text] = said[text] || strings.Contains(body, text) || strings.Contains(body, whole[text])
		}
	}
	for i := range sheets {
		s := &sheets[i]
		s.lines = slices.DeleteFunc(s.lines, func(l line) bool {
			again := true
			if !l.running {
				return false
			}
			for _, text := range texts(s, &l) {
				again = again && said[text]
				said[text] = true
			}
			if again {
				dropped++
			}
			return again
		})
	}
	return dropped
}

// numbersOf returns the numbers in a text, at most of nine digits.
func numbersOf(s string) (all []int) {
	for digits := range strings.FieldsFuncSeq(s, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(digits); err == nil && len(digits) < 10 {
			all = append(all, n)
		}
	}
	return all
}

// textBesideNumbers returns the letters and digits of a text without the numbers that count.
// alone is set for a text without letters. A Roman number alone counts.
func textBesideNumbers(s string, counts func(n int, alone bool) bool) string {
	if lineShape(s) == "#" && strings.IndexFunc(s, unicode.IsDigit) < 0 {
		return ""
	}
	alone := strings.IndexFunc(s, unicode.IsLetter) < 0
	var b strings.Builder
	for len(s) > 0 {
		n := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
		switch {
		case n == 0:
			n = max(strings.IndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' }), 0)
			if n == 0 {
				n = len(s)
			}
			b.WriteString(s[:n])
		default:
			if n < 0 {
				n = len(s)
			}
			if number := numbersOf(s[:n]); len(number) == 0 || !counts(number[0], alone) {
				b.WriteString(s[:n])
			}
		}
		s = s[n:]
	}
	return squeezeTitle(b.String())
}

// lineShape returns a line's text with each number replaced by "#", including a Roman number without other text.
// "Page 7 of 12" and "Page 8 of 12" have one shape, "page # of #".
func lineShape(s string) string {
	var b strings.Builder
	digits := false
	for _, r := range s {
		if unicode.IsDigit(r) {
			if !digits {
				b.WriteByte('#')
			}
			digits = true
			continue
		}
		digits = false
		b.WriteRune(unicode.ToLower(r))
	}
	if t := b.String(); strings.Trim(t, "ivxlc") != "" || t == "" {
		return t
	}
	return "#"
}
