package extract

import "strings"

const (
	maxMarkdown = 4 << 20 // bytes; longer files, which nobody writes by hand, are read as plain text
	maxNesting  = 100     // of blocks and of inline marks
)

// tableCells returns an upper bound for the cells of all tables after parsing, where each row has as many as the
// header. It counts the columns of a delimiter row, "|---|---|", and adds that number for each line until a blank
// one.
func tableCells(s string) int {
	cells, columns := 0, 0 // columns of the current table
	for line := range strings.Lines(s) {
		switch line = strings.Trim(line, " \t\n>"); {
		case line == "":
			columns = 0
		case strings.Contains(line, "-") && strings.Trim(line, "|-: \t") == "":
			columns = max(columns, strings.Count(line, "|")+1)
		}
		cells += columns
	}
	return cells
}

// tooNested reports whether a line opens more containers or spans than a person writes, since parsers take quadratic
// time on them. It counts the marks whose pairs a parser searches: 5000 on one line are no prose, and matching them
// takes 25 million steps.
func tooNested(s string) bool {
	for line := range strings.Lines(s) {
		if countContainers(line) > maxNesting {
			return true
		}
		for _, mark := range []string{"[", "`", "*", "_", "<"} {
			if strings.Count(line, mark) > 5000 {
				return true
			}
		}
	}
	return false
}

// countContainers counts the quotation and list markers at the start of a line.
func countContainers(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c >= '0' && c <= '9':
		case c == '>':
			n++
		case strings.IndexByte("-+*.)", c) >= 0 && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t'):
			n++
		default:
			return n
		}
	}
	return n
}
