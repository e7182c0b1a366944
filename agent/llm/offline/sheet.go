package offline

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// sheet is a table with all of its rows that are known, for the parsing of a question.
type sheet struct {
	head  []string
	ids   []string     // the names of the columns in a query
	names [][]string   // the stems of each column's name
	rows  [][]string   // cells
	terms [][][]string // of each cell
	about map[string]bool
	whole bool // rows are all rows of the table
	kinds map[int]columnKind
}

// newSheet returns the sheet of a table. about has the stems of the table's own name.
func newSheet(head []string, rows [][]string, about map[string]bool, whole bool) *sheet {
	s := &sheet{head: head, ids: head, rows: rows, about: about, whole: whole, kinds: map[int]columnKind{}}
	for _, name := range head {
		s.names = append(s.names, stems(name))
	}
	for _, cells := range rows {
		var terms [][]string
		for c := range head {
			cell := ""
			if c < len(cells) {
				cell = cells[c]
			}
			terms = append(terms, text.Terms(cell, ""))
		}
		s.terms = append(s.terms, terms)
	}
	return s
}

func stems(s string) []string { return text.Terms(s, cmp.Or(text.Detect(s), "en")) }

// columnKind is the kind of most cells of a column.
type columnKind int

const (
	ofWords columnKind = iota
	ofNumbers
	ofDays  // dates, years and seasons
	ofRanks // 1, 2, 3 from the first row on
)

var (
	year     = lazy.Regexp(`\b(?:1[5-9]|20)\d\d\b`)
	numeral  = lazy.Regexp(`^[^\d\p{L}]{0,3}\d`)
	joined   = lazy.Regexp(`\d\s*[-–—/]\s*\d`)
	smallInt = lazy.Regexp(`^\d{1,4}$`)
)

// kindOf returns the kind of a column, with a cache.
func (s *sheet) kindOf(c int) columnKind {
	if _, known := s.kinds[c]; !known {
		s.kinds[c] = s.classify(c)
	}
	return s.kinds[c]
}

// classify classifies a column by its cells.
func (s *sheet) classify(c int) columnKind {
	filled, numbers, days, ranks := 0, 0, 0, 0
	for r, cells := range s.rows {
		if c >= len(cells) || cells[c] == "" {
			continue
		}
		filled++
		cell := cells[c]
		if at := year().FindStringIndex(cell); at != nil && !strings.ContainsAny(cell, "$€£%") &&
			(at[0] == 0 || strings.ContainsAny(cell[:at[0]], " -/.,")) {
			days++
		} else if hasNamedDay(text.Fold(cell)) && len(cell) < 40 {
			days++
		} else if numeral().MatchString(cell) && isNumber(cell) && !joined().MatchString(cell) {
			numbers++
			n, err := strconv.Atoi(strings.TrimSuffix(cell, "."))
			if err == nil && (n == r+1 || strings.HasSuffix(cell, ".")) {
				ranks++
			}
		}
	}
	switch {
	case filled == 0:
		return ofWords
	case 4*ranks > 3*filled:
		return ofRanks
	case 3*days >= 2*filled:
		return ofDays
	case 3*numbers >= 2*filled:
		return ofNumbers
	}
	return ofWords
}

// isAbout reports whether a word is in the table's own name.
func (s *sheet) isAbout(word string) bool {
	return slices.ContainsFunc(append(stems(word), word), func(t string) bool { return s.about[t] })
}

// spanOf returns the columns with cells that contain tokens as neighbours; whole are those where they are a cell.
func (s *sheet) spanOf(tokens []string) (columns, whole map[int]bool, texts map[int][]string) {
	columns, whole, texts = map[int]bool{}, map[int]bool{}, map[int][]string{}
	for r, terms := range s.terms {
		for c, cell := range terms {
			if len(cell) > mostCellTerms && (len(tokens) == 1 || len(tokens) == 2 && len(cell) > 2*mostCellTerms) {
				continue // prose
			}
			for at := 0; at+len(tokens) <= len(cell); at++ {
				if slices.Equal(cell[at:at+len(tokens)], tokens) {
					columns[c] = true
					if len(cell) == len(tokens) {
						whole[c] = true
						texts[c] = text.AppendNew(texts[c], s.rows[r][c])
					}
					break
				}
			}
		}
	}
	return columns, whole, texts
}

// has reports whether a column's name has a word.
func (s *sheet) has(c int, word string) bool {
	for _, stem := range stems(word) {
		if slices.Contains(s.names[c], stem) {
			return true
		}
	}
	return false
}

// columnNamed returns the column whose name has a word, -1 for none.
func (s *sheet) columnNamed(word string) int {
	for c := range s.head {
		if s.has(c, word) {
			return c
		}
	}
	return -1
}

// around returns the only column of numbers with some below and some above a value, -1 for none or several.
func (s *sheet) around(value float64) int {
	found := -1
	for c := range s.head {
		if s.kindOf(c) != ofNumbers {
			continue
		}
		below, above := false, false
		for _, row := range s.rows {
			if c >= len(row) {
				continue
			}
			if n, ok := firstNumber(row[c]); ok {
				below, above = below || n <= value, above || n >= value
			}
		}
		if below && above {
			if found >= 0 {
				return -1
			}
			found = c
		}
	}
	return found
}

// alike reports whether a cell or a column's name has a word with the same first letters.
func (s *sheet) alike(word string) bool {
	const same = 3
	if len(word) < same {
		return true
	}
	like := func(t string) bool { return strings.HasPrefix(t, word[:same]) }
	if slices.ContainsFunc(s.names, func(name []string) bool { return slices.ContainsFunc(name, like) }) {
		return true
	}
	for _, row := range s.terms {
		for _, cell := range row {
			if len(cell) <= mostCellTerms && slices.ContainsFunc(cell, like) {
				return true
			}
		}
	}
	return false
}

// isItem reports whether a part of a cell is an item of a list, or precedes brackets.
func isItem(cell string, start, end int) bool {
	runes := []rune(cell)
	before := strings.TrimRight(string(runes[:start]), " “\"'‘")
	after := strings.TrimLeft(string(runes[end:]), " ”\"'’")
	return (before == "" || strings.ContainsAny(before[len(before)-1:], ",/;(&\n:")) &&
		(after == "" || strings.ContainsAny(after[:1], ",/;()&\n:.[*"))
}

// indexOf returns the place of neighbouring words in others, -1 without them.
func indexOf(terms, span []string) int {
	for at := 0; at+len(span) <= len(terms); at++ {
		if slices.Equal(terms[at:at+len(span)], span) {
			return at
		}
	}
	return -1
}
