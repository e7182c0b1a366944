package offline

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// table is a sequence of consecutive rows of a passage.
type table struct {
	head   []string          // the column names; nil: none
	has    []map[string]bool // the terms of each name
	unsure bool              // the head may be an ordinary row
}

// row is the table data of a unit.
type row struct {
	table *table
	cells []map[string]bool // the terms of each cell
	first bool              // it may be the head of its table
}

// cellJoint separates the cells of a row in canonical text.
const cellJoint = " | "

// cellsOf splits a line at its bars. Canonical lines have no white space at their ends, so a bar there has an empty
// cell beside it.
func cellsOf(line string) []string {
	cells := strings.Split(" "+line+" ", cellJoint)
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// tables returns the rune ranges of the tables of a passage, line by line. A single line with bars is a table only
// if it starts a passage that continues a table.
func tables(runes []rune, section string) (all [][][2]int) {
	var rows [][2]int
	end := func() {
		if len(rows) > 1 || len(rows) == 1 && rows[0][0] == 0 && columnsOf(section) != nil {
			all = append(all, rows)
		}
		rows = nil
	}
	for start := 0; start < len(runes); {
		stop := start
		for stop < len(runes) && runes[stop] != '\n' {
			stop++
		}
		if n := len(cellsOf(string(runes[start:stop]))); n < 2 || stop-start > quoteLength {
			end()
		} else {
			rows = append(rows, [2]int{start, stop})
		}
		start = stop + 1
	}
	end()
	return all
}

// columnsOf returns the column names of a continued table, which are the last part of its section's name.
func columnsOf(section string) []string {
	at := strings.LastIndex(section, "›")
	names := cellsOf(strings.TrimPrefix(section[max(0, at):], "›"))
	if len(names) < 2 {
		return nil
	}
	last := &names[len(names)-1]
	*last = strings.TrimRight(*last, "… ")
	return names
}

// firstRow is the classification of a table's first row.
type firstRow int

const (
	firstNames  firstRow = iota // the head
	firstStates                 // an ordinary row: it has numbers in numeric columns
	firstEither                 // undecided: two columns of words
)

// firstOf classifies a table's first row. A column is numeric if more than half of its filled cells below are
// numbers.
func firstOf(rows [][]string) firstRow {
	named := false // a numeric column has a word in the first row
	for c, name := range rows[0] {
		numbers, filled := 0, 0
		for _, cells := range rows[1:] {
			if c < len(cells) && cells[c] != "" {
				filled++
				if isNumber(cells[c]) {
					numbers++
				}
			}
		}
		switch {
		// Not a numeric column: no evidence.
		case 2*numbers <= filled:
		case isNumber(name):
			return firstStates
		default:
			named = true
		}
	}
	if !named && len(rows[0]) == 2 {
		return firstEither
	}
	return firstNames
}

// isNumber reports whether a cell is a number, possibly with a unit: it has more digits than letters.
func isNumber(cell string) bool {
	digits, letters := 0, 0
	for _, r := range cell {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return digits > letters
}

// addTable adds the units of a table's rows, with the terms of the passage's language. A continued table has the
// head of its section's name, without a row for it.
func (p *pool) addTable(source int, spans [][2]int, heading int, a *text.Analyser) {
	runes, section := []rune(p.sources[source].Text), p.sources[source].Section
	var rows [][]string
	for _, span := range spans {
		rows = append(rows, cellsOf(string(runes[span[0]:span[1]])))
	}
	t, first := &table{}, firstStates
	// A continued table has its head in the section's name; otherwise the first row is classified.
	if head := columnsOf(section); head != nil && spans[0][0] == 0 {
		t.head = head
	} else if first = firstOf(rows); first != firstStates {
		t.head, t.unsure = rows[0], first == firstEither
	}
	for _, name := range t.head {
		t.has = append(t.has, setOf(a.Terms(name)))
	}
	for i, span := range spans {
		said := string(runes[span[0]:span[1]])
		end := span[0] + utf8.RuneCountInString(strings.TrimRight(said, " "))
		u := unit{source: source, start: span[0], end: end, text: string(runes[span[0]:end]), heading: heading}
		u.sequence = a.Terms(said)
		u.terms = withIdentifiers(setOf(u.sequence), said)
		u.row = &row{table: t, first: i == 0 && first == firstEither}
		u.names = i == 0 && first == firstNames
		for _, cell := range rows[i] {
			u.row.cells = append(u.row.cells, setOf(a.Terms(cell)))
		}
		p.units = append(p.units, u)
	}
}

// named returns how well the heads of a row's filled columns match a word, 0–1.
func (r *row) named(w word) float64 {
	best, worth := 0.0, 1.0
	if r.first {
		return 0
	}
	if r.table.unsure {
		worth = inHeading
	}
	for c, terms := range r.table.has {
		if c < len(r.cells) && len(r.cells[c]) > 0 {
			best = max(best, worth*w.in(terms))
		}
	}
	return best
}

// sameTable reports whether two units are rows of one table, which may continue over several passages.
func (p pool) sameTable(a, b unit) bool {
	if a.row == nil || b.row == nil {
		return false
	}
	return a.row.table == b.row.table || a.row.table.head != nil && slices.Equal(a.row.table.head, b.row.table.head) &&
		p.sources[a.source].document.DocID == p.sources[b.source].document.DocID
}

// headOf returns the head of a quoted row's table as Markdown, empty for other text and a table without a head.
func (p pool) headOf(q quote) string {
	r := p.units[q.first].row
	if r == nil || r.first || r.table.head == nil {
		return ""
	}
	names := slices.Clone(r.table.head)
	for len(names) < len(r.cells) {
		names = append(names, "")
	}
	return tableLine(names) + "> |" + strings.Repeat("---|", len(names)) + "\n"
}

// rows renders a quote's rows with its footnote, below the head of their table.
func (p pool) rows(q quote, words []word) string {
	src, said := p.sources[q.source], p.words(q)
	lines := ""
	for _, u := range p.units[q.first : q.last+1] {
		cells := cellsOf(u.text)
		for len(cells) < len(u.row.table.head) {
			cells = append(cells, "")
		}
		lines += tableLine(cells)
	}
	lines = strings.TrimSuffix(lines, " |\n")
	return lines + cited(said, src.N, matchedWords(said, words, text.Detect(src.Text))) + " |"
}

// tableLine renders a line of a quoted table in Markdown.
func tableLine(cells []string) string {
	line := "> |"
	for _, cell := range cells {
		if cell != "" {
			line += " " + strings.ReplaceAll(escape(cell), "|", `\|`)
		}
		line += " |"
	}
	return line + "\n"
}
