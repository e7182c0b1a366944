package offline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/text"
)

// covered reports whether each word has a role. The kind of the rows, behind an interrogative or an operator, needs
// none, nor does one verb, the noun behind a column's name, or a unit.
func (p *planned) covered() bool {
	verbs, auxiliary, counted := 0, false, p.compute == "count" || p.compute == "distinct"
	for i, t := range p.tokens {
		before, after := "", ""
		if i > 0 {
			before = p.tokens[i-1]
		}
		if i+1 < len(p.tokens) {
			after = p.tokens[i+1]
		}
		auxiliary = auxiliary || after != "" && (before == "did" || before == "does" || before == "do")
		switch {
		case p.roles[i] != unknown:
		case strings.ContainsAny(t, "0123456789") && (i == 0 || p.roles[i-1] != ofBound), i < len(p.name) && p.name[i]:
			return false // a year, a version or a name that the table does not have
		case (t == "year" || t == "season") && p.position != "" && p.only(ofDays) >= 0:
		case counted && p.sheet.alike(t):
			return false // it may be a condition: did they win, and a cell “Won”
		case slices.Contains([]string{"which", "what", "many", "only"}, before), i <= 1, p.roles[i-1] == operation:
		case after != "" && p.roles[i+1] == ofColumn && strings.HasSuffix(after, "ed"): // the ship ordered
		case p.namesRow(i), p.roles[i-1] == ofColumn, p.roles[i-1] == ofBound:
		case before == "in" && p.column >= 0 && p.compute != "sum": // a unit
		// “were sold” is a condition on what is counted.
		case counted && (before == "was" || before == "were" || p.compute == "count" && len(p.filters) == 0):
			return false
		case i == len(p.tokens)-1, auxiliary, strings.HasSuffix(t, "ed"):
			if verbs++; verbs > 1 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// namesRow reports whether a noun is only the kind of the row that a preposition and a cell behind it describe: the
// game on 20 September.
func (p *planned) namesRow(i int) bool {
	return i > 0 && p.tokens[i-1] == "the" && i+2 < len(p.tokens) && p.roles[i+2] == ofCell &&
		slices.Contains([]string{"on", "of", "at", "in", "against"}, p.tokens[i+1])
}

// operates reports whether a question asks for more than the rows that it describes: for a position, an extreme, a
// difference or a count of rows. Quotes do not answer that.
func (p *planned) operates() bool {
	for i, t := range p.tokens {
		switch {
		case p.roles[i] == ofCell || p.roles[i] == ofColumn:
		case p.opAt(i) != "" && !(t == "next" && p.followed(i, "to")), t == "difference", t == "whose":
			return true
		case t == "many" && i > 0 && p.tokens[i-1] == "how" || t == "of" && i > 0 && p.tokens[i-1] == "number":
			k := p.headEnd(i + 1)
			return !slices.ContainsFunc(p.columnAt[i+1:k], func(c int) bool {
				return c >= 0 && p.sheet.kindOf(c) == ofNumbers
			})
		}
	}
	return false
}

// fits evaluates the conditions on a row as the tool does, for its rows that are known.
func (p *planned) fits(r int) bool {
	for _, f := range p.filters {
		cell := ""
		if f.index < len(p.sheet.rows[r]) {
			cell = p.sheet.rows[r][f.index]
		}
		has := false
		if f.op != "" {
			n, ok := firstNumber(cell)
			if ok {
				has = bounded(n, f.op, f.values)
			}
		} else {
			for _, v := range f.values {
				has = has || f.whole && text.Fold(v) == text.Fold(cell) ||
					!f.whole && strings.Contains(text.Fold(cell), text.Fold(v))
			}
		}
		if has == f.not {
			return false
		}
	}
	return true
}

// firstNumber returns the first number of a cell, or its year.
func firstNumber(cell string) (float64, bool) {
	if y := year().FindString(cell); y != "" && !strings.ContainsAny(cell, "$€£") && !numeral().MatchString(cell) {
		n, err := strconv.ParseFloat(y, 64)
		return n, err == nil
	}
	for _, t := range text.Terms(cell, "") {
		if n, err := strconv.ParseFloat(strings.TrimLeft(t, "t"), 64); err == nil {
			return n, true
		}
	}
	return 0, false
}

func bounded(n float64, op string, values []string) bool {
	first, err := strconv.ParseFloat(values[0], 64)
	if err != nil {
		return false
	}
	switch op {
	case "≥":
		return n >= first
	case "≤":
		return n <= first
	case ">":
		return n > first
	case "<":
		return n < first
	}
	last, err := strconv.ParseFloat(values[len(values)-1], 64)
	return err == nil && n >= first && n <= last
}

// matches returns the rows that fulfil the conditions.
func (p *planned) matches() (rows []int) {
	for r := range p.sheet.rows {
		if p.fits(r) {
			rows = append(rows, r)
		}
	}
	return rows
}
