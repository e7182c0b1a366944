package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxSpaced = 1000 // words of a line, and lines of a page with drop caps: more than any has
	fewSpaced = 4    // letters in sequence that may be spaced
	wordStep  = 1.6  // a gap between words, in gaps between letters
	capSize   = 1.7  // of the font size beside it: the minimum of a drop cap
)

// joinSpaced joins letters that are set apart to words. Their distances decide, not the spaces of the file: the gaps
// between words are wider, or those between letters are wider than any space. A sequence of letters with ordinary
// spaces stays.
func (l *line) joinSpaced() {
	if len(l.words) > maxSpaced {
		return
	}
	for from := 0; from+fewSpaced <= len(l.words); from++ {
		to, letters, least, most := from, 0, float32(0), float32(0)
		for to < len(l.words) && l.words[to].isLetter() && (to == from || !l.words[to].glued) {
			if gap := l.words[to].x0 - l.words[max(to-1, 0)].x1; to == from+1 {
				least, most = gap, gap
			} else if to > from {
				least, most = min(least, gap), max(most, gap)
			}
			if strings.IndexFunc(l.words[to].text, unicode.IsLetter) == 0 {
				letters++
			}
			to++
		}
		if letters < fewSpaced || 2*letters < to-from {
			from = max(from, to-1)
			continue
		}
		words := l.words[from:to]
		least = max(least, 0.02*l.words[from].size)
		if most <= wordStep*least && least <= narrowGap*words[0].size || least > wideGap*words[0].size {
			from = to - 1
			continue
		}
		joined := words[:1:1]
		for i, w := range words[1:] {
			last := &joined[len(joined)-1]
			if w.x0-words[i].x1 > wordStep*least {
				joined = append(joined, w)
				continue
			}
			last.text += w.text
			last.joinBox(w.rect)
		}
		if len(joined)*2 > len(words) { // most would be single letters
			from = to - 1
			continue
		}
		l.words = slices.Replace(l.words, from, to, joined...)
		from += len(joined) - 1
	}
}

// isLetter reports whether a word is one letter of a script with spaces, or a mark beside such letters.
func (w *word) isLetter() bool {
	c, n := utf8.DecodeRuneInString(w.text)
	return n == len(w.text) && (unicode.IsLetter(c) && !isUnspaced(c) || unicode.IsPunct(c))
}

// isCap reports whether a line is a drop cap: one capital letter, or two characters with a quotation mark.
func (l *line) isCap(body float32) bool {
	if len(l.words) != 1 || l.size < capSize*body || utf8.RuneCountInString(l.words[0].text) > 2 {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(l.words[0].text)
	return unicode.IsUpper(last)
}

// joinCaps moves each drop cap to the first of the lines beside it, of which there are two or more. The words of the
// document decide whether it is a word of its own, like “A”.
func (s *sheet) joinCaps(body float32, words vocabulary) {
	for i := 0; i < len(s.lines) && len(s.lines) <= maxSpaced; i++ {
		c := s.lines[i]
		if !c.isCap(body) {
			continue
		}
		first, beside := -1, 0
		for j := range s.lines {
			l := &s.lines[j]
			gap := l.x0 - c.x1
			if j == i || l.size*capSize > c.size || gap < -0.5*l.size || gap > l.size ||
				l.y1 < c.y0+0.3*l.size || l.y0 > c.y1-0.3*l.size {
				continue
			}
			beside++
			if first < 0 || l.y0 < s.lines[first].y0 {
				first = j
			}
		}
		if beside < 2 {
			continue
		}
		l := &s.lines[first]
		initial, next := c.words[0], l.words[0].text
		initial.y0, initial.y1 = l.y0, l.y1                        // a mark of the line covers no others
		l.words = slices.Insert(slices.Clone(l.words), 0, initial) // the line's box stays that of its text
		l.words[1].glued = words[plainWord(initial.text+next)] > 0 ||
			words[plainWord(initial.text)] < 2 || words[plainWord(next)] < 2
		s.lines = slices.Delete(s.lines, i, i+1)
		i--
	}
}
