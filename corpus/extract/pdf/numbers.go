package pdf

import (
	"cmp"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

const (
	maxNumbers  = 500  // of a page; more are a table
	fewNumbers  = 3    // numbered lines from which every fifth or tenth line may be numbered
	manyNumbers = 8    // the same if each line is
	flowing     = 0.25 // share of lines that begin in lower case: they continue a sentence
)

// lineNumber is a number in the margin beside a line.
type lineNumber struct {
	rect
	sheet, line int // indexes
	last        bool
	value, row  int // row counts the lines of the page from its top
}

// dropLineNumbers removes line numbers in the margin beside each line or every few lines, and returns how many they
// were. They are aligned at one side of the text and grow by a step, on from page to page or again on each. As many
// lines of text are between two of them, or fewer if the numbers are evenly spaced, as on paper with printed ones. If
// each line is numbered, many of them continue a sentence, unlike the rows of a list.
func dropLineNumbers(sheets []sheet) (dropped int) {
	for _, last := range []bool{false, true} {
		var all []lineNumber
		for i := range sheets {
			all = append(all, sheets[i].numbersBeside(i, last)...)
		}
		if !countLines(sheets, all) {
			continue
		}
		for k := len(all) - 1; k >= 0; k-- { // from the end, since lines are removed
			n := all[k]
			s := &sheets[n.sheet]
			if l := &s.lines[n.line]; len(l.words) > 1 {
				l.removeWord(last)
			} else {
				s.lines = slices.Delete(s.lines, n.line, n.line+1)
			}
		}
		dropped += len(all)
	}
	return dropped
}

// removeWord removes the first word of a line, or its last one.
func (l *line) removeWord(last bool) {
	if last {
		l.words = l.words[:len(l.words)-1]
	} else {
		l.words = l.words[1:]
	}
	l.rect = rect{}
	for _, w := range l.words {
		l.joinBox(w.rect)
	}
	l.words[0].glued = false
}

// numbersBeside returns the numbers at one side of the text of sheet i, from its top.
func (s *sheet) numbersBeside(i int, last bool) (all []lineNumber) {
	var rows []*line
	edge := float32(0)
	for j := range s.lines {
		l := &s.lines[j]
		if l.running {
			continue
		}
		w := l.words[0]
		if last {
			w = l.words[len(l.words)-1]
		}
		if n, err := strconv.Atoi(w.text); err == nil && len(w.text) <= 4 && n > 0 {
			all = append(all, lineNumber{rect: w.rect, sheet: i, line: j, last: last, value: n})
			if len(l.words) == 1 {
				continue
			}
			if l = (&line{words: slices.Clone(l.words), size: l.size}); true {
				l.removeWord(last)
			}
		}
		rows = append(rows, l)
	}
	if len(all) == 0 || len(all) > maxNumbers {
		return nil
	}
	for j, l := range rows {
		switch {
		case last && (j == 0 || l.x1 > edge):
			edge = l.x1
		case !last && (j == 0 || l.x0 < edge):
			edge = l.x0
		}
	}
	all = slices.DeleteFunc(all, func(n lineNumber) bool { return last && n.x0 <= edge || !last && n.x1 >= edge })
	slices.SortStableFunc(rows, func(a, b *line) int { return cmp.Compare(a.y0, b.y0) })
	slices.SortStableFunc(all, func(a, b lineNumber) int { return cmp.Compare(a.y0, b.y0) })
	for k := range all {
		for j, l := range rows {
			if (l.y0+l.y1)/2 < all[k].y1 && (j == 0 || l.y0 >= rows[j-1].y0+0.5*rows[j-1].boxHeight()) {
				all[k].row++
			}
		}
	}
	return all
}

// countLines reports whether numbers count lines.
func countLines(sheets []sheet, all []lineNumber) bool {
	if len(all) < fewNumbers {
		return false
	}
	step, onPage, rows := 0, 0, 0
	pitch, even, blank := float32(0), true, false
	for k := range all[1:] {
		a, b := all[k], all[k+1]
		height := max(a.boxHeight(), b.boxHeight())
		if !closeTo(a.x0, b.x0, 0.3*height) && !closeTo(a.x1, b.x1, 0.3*height) {
			return false
		}
		d := b.value - a.value
		if step == 0 {
			step = d
		}
		switch {
		case a.sheet == b.sheet:
			if d != step || d <= 0 || b.row-a.row > step {
				return false
			}
			if onPage == 0 {
				pitch = b.y0 - a.y0
			}
			even = even && closeTo(b.y0-a.y0, pitch, 0.3*height)
			blank = blank || b.row <= a.row
			onPage, rows = onPage+1, rows+b.row-a.row
		case d != step && b.value > step:
			return false
		}
	}
	least := 2
	if even {
		least = 4
	}
	if onPage == 0 || blank && !even || least*rows < step*onPage { // some count blank lines too
		return false
	}
	if step > 1 {
		return true
	}
	lines, continued := 0, 0
	for i := range sheets {
		for j := range sheets[i].lines {
			for _, w := range sheets[i].lines[j].words {
				first, _ := utf8.DecodeRuneInString(w.text)
				if unicode.IsDigit(first) {
					continue
				}
				lines++
				if unicode.IsLower(first) {
					continued++
				}
				break
			}
		}
	}
	return len(all) >= manyNumbers && float64(continued) >= flowing*float64(lines)
}

func closeTo(a, b, most float32) bool { return a-b < most && b-a < most }
