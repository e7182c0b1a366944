package offline

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// role is the role of a word in a question about a table.
type role int

const (
	unknown   role = iota
	grammar        // a stop word, or one that only asks to show something
	operation      // of an operator
	ofCell         // of the words of a cell
	ofColumn       // of a column's name
	ofBound        // of a number that limits a column
)

// planned is a question that is parsed word by word to a query of a table.
type planned struct {
	sheet    *sheet
	tokens   []string
	roles    []role
	columnAt []int // the column of a token with the role ofColumn; -1: none
	named    []int // columns, in the order of the question
	filters  []condition
	unsure   bool
	name     []bool // a token is a name: a capital inside the question

	compute, group, order string
	column                int // computed or ordered; -1: none
	descending            bool
	position              string
	limit                 int
}

// condition is a filter or a bound, with the place of its first word in the question.
type condition struct {
	filter
	op    string // of query_table; empty: as the filter says
	loose bool   // cells with more words have it, too
	at    int
	index int // of the column
}

// Words of the operators. Adjectives are those of measures; their comparative and superlative are formed by grammar.
var (
	upward   = strings.Fields("high large big great long tall heavy old late deep wide new")
	downward = strings.Fields("low small short light young early few narrow")
	opWords  = map[string]string{
		"most": "max", "least": "min", "maximum": "max", "minimum": "min", "more": "more", "less": "less",
		"first": "first", "erste": "first", "ersten": "first", "premier": "first", "premiere": "first",
		"primero": "first", "primera": "first", "primo": "first", "prima": "first",
		"last": "last", "final": "last", "letzte": "last", "letzten": "last", "dernier": "last", "derniere": "last",
		"ultimo": "last", "ultima": "last", "top": "top", "bottom": "bottom",
		"next": "next", "after": "next", "following": "next", "below": "below", "under": "below", "nachste": "next",
		"nachsten": "next", "nach": "next", "suivant": "next", "suivante": "next", "siguiente": "next",
		"previous": "previous", "before": "previous", "prior": "previous", "preceding": "previous", "above": "above",
		"vorherige": "previous", "vor": "previous", "precedent": "previous", "precedente": "previous",
		"anterior": "previous",
	}
	asIdle = "list listed lists table chart shown total name named names row rows entry entries number amount value " +
		"following given recorded overall called according compare compared together there different"
	// words that change what is asked for, and that no operator has
	alters = "other another same each every whose besides except excluding without consecutive percent percentage " +
		"ratio neither nor alphabetical never always often per half twice top-5 if than or not no " +
		"versus ever within among all"
	yesNo = "did does do is are was were has have had can could will would should"
)

var numberNames = strings.Fields("zero one two three four five six seven eight nine ten")

// degree returns the operator of an adjective in its comparative or superlative.
func degree(word string) string {
	for i, list := range [][]string{upward, downward} {
		for _, base := range list {
			base = strings.TrimSuffix(base, "e")
			if strings.HasSuffix(base, "y") {
				base = strings.TrimSuffix(base, "y") + "i"
			}
			rest, ok := strings.CutPrefix(word, base)
			rest = strings.TrimPrefix(rest, "g") // biggest
			switch {
			case !ok:
			case rest == "est":
				return []string{"max", "min"}[i]
			case rest == "er":
				return []string{"more", "less"}[i]
			}
		}
	}
	return opWords[word]
}

// opAt returns the operator of a token.
func (p *planned) opAt(i int) string {
	if i < 0 || i >= len(p.tokens) {
		return ""
	}
	return degree(p.tokens[i])
}

// mostTokens is the maximum number of words of a question that is parsed.
const mostTokens = 60

// planOf parses a question about a table. ok is false unless the role of each of its words is known, and the operator
// and its column are certain: a query without one of the conditions would look right.
func planOf(question string, s *sheet) (p *planned, ok bool) {
	p = &planned{sheet: s, tokens: text.Terms(question, ""), column: -1}
	if len(p.tokens) < 2 || len(p.tokens) > mostTokens || len(s.rows) == 0 {
		return p, false
	}
	p.roles, p.columnAt = make([]role, len(p.tokens)), make([]int, len(p.tokens))
	for i := range p.columnAt {
		p.columnAt[i] = -1
	}
	p.name = namesIn(question)
	p.findCells()
	p.findColumns()
	p.findBounds()
	small := text.SmallWords(question)
	for i, t := range p.tokens {
		if p.roles[i] == unknown && degree(t) == "" && (text.IsStop(t, "en") || small(t) || slices.Contains(idle, t) ||
			slices.Contains(strings.Fields(asIdle), t) || s.isAbout(t)) {
			p.roles[i] = grammar
		}
	}
	asksWhether := p.roles[0] != ofCell && slices.Contains(strings.Fields(yesNo), p.tokens[0])
	return p, !p.unsure && !asksWhether && p.decide() && p.covered() && !p.unsure
}

// mostSpan is the maximum number of words of a cell that are matched.
const mostSpan = 8

// findCells finds the words of cells, the longest first.
func (p *planned) findCells() {
	for n := min(mostSpan, len(p.tokens)); n > 0; n-- {
		for i := 0; i+n <= len(p.tokens); i++ {
			span := p.tokens[i : i+n]
			if slices.ContainsFunc(p.roles[i:i+n], func(r role) bool { return r != unknown }) || !p.content(span) {
				continue
			}
			columns, whole, texts := p.sheet.spanOf(span)
			if len(columns) == 0 {
				continue
			}
			if n == 1 && !p.mayBeCell(i, columns, whole) {
				continue
			}
			c, sure := p.choose(i, n, columns, whole)
			if !sure {
				// The words of another column's name, or of the row's kind, are in many cells.
				if n == 1 && p.sheet.columnNamed(span[0]) >= 0 {
					continue
				}
				p.unsure = true
			}
			f := condition{filter: filter{column: p.sheet.ids[c], whole: whole[c], values: texts[c]}, at: i, index: c}
			p.complete(&f, span)
			f.not = i > 0 && (p.tokens[i-1] == "not" || p.tokens[i-1] == "without") ||
				i > 1 && p.tokens[i-2] == "not"
			for k := i; k < i+n; k++ {
				p.roles[k] = ofCell
			}
			if f.not {
				for k := max(0, i-2); k < i; k++ {
					if p.tokens[k] == "not" || p.tokens[k] == "without" {
						p.roles[k] = operation
					}
				}
			}
			p.filters = append(p.filters, f)
		}
	}
	slices.SortStableFunc(p.filters, func(a, b condition) int { return a.at - b.at })
}

// written returns the words of a span as a cell has them, so that the query's “contains” finds them.
func (p *planned) written(c int, span []string) string {
	for r, terms := range p.sheet.terms {
		for at := 0; at+len(span) <= len(terms[c]); at++ {
			if slices.Equal(terms[c][at:at+len(span)], span) {
				spans := text.NewAnalyser("").Spans(p.sheet.rows[r][c])
				if at+len(span) <= len(spans) {
					return string([]rune(p.sheet.rows[r][c])[spans[at].Start:spans[at+len(span)-1].End])
				}
			}
		}
	}
	return strings.Join(span, " ")
}

// mostCells is the maximum number of cells that match a word of the question.
const mostCells = 20

// complete determines the cells that a span matches. Those that have it as an item of a list, or before brackets,
// are meant as well: Clay (i), and “French, English”. With other cells that contain it the condition is loose.
func (p *planned) complete(f *condition, span []string) {
	a := text.NewAnalyser("")
	var listed []string
	for r, terms := range p.sheet.terms {
		if f.index >= len(p.sheet.rows[r]) {
			continue
		}
		cell := p.sheet.rows[r][f.index]
		at := indexOf(terms[f.index], span)
		if at < 0 {
			continue
		}
		spans, last := a.Spans(cell), at+len(span)-1
		if last < len(spans) && isItem(cell, spans[at].Start, spans[last].End) {
			listed = text.AppendNew(listed, cell)
		} else if f.whole {
			f.loose = true
		}
	}
	switch {
	case f.whole:
		if !f.loose && len(listed) > len(f.values) && len(listed) <= mostCells {
			f.values = listed
		}
		return
	default:
		f.values = []string{p.written(f.index, span)}
	}
	// Words of cells are found by “contains”, unless other words have the same letters.
	var cells []string
	inside := false
	for r, terms := range p.sheet.terms {
		if f.index >= len(p.sheet.rows[r]) {
			continue
		}
		cell := p.sheet.rows[r][f.index]
		if indexOf(terms[f.index], span) >= 0 {
			cells = text.AppendNew(cells, cell)
		} else {
			inside = inside || strings.Contains(text.Fold(cell), text.Fold(f.values[0]))
		}
	}
	if len(cells) == 1 || inside && len(cells) <= mostCells {
		f.values, f.whole = cells, true
	}
}

// content reports whether a span has a word that is neither a stop word nor an operator, and none at its ends.
func (p *planned) content(span []string) bool {
	small := func(t string) bool { return text.IsStop(t, "en") || t == "name" || t == "number" || t == "total" }
	if len(span) == 1 {
		return !small(span[0]) && degree(span[0]) == ""
	}
	return slices.ContainsFunc(span, func(t string) bool { return !small(t) && degree(t) == "" && len(t) > 1 }) &&
		!small(span[0]) && !small(span[len(span)-1]) && degree(span[len(span)-1]) == ""
}

// mayBeCell reports whether one word can match a cell. A small number does so after the name of its column only, and
// a word that a column's name has only as a whole cell.
func (p *planned) mayBeCell(i int, columns, whole map[int]bool) bool {
	t := p.tokens[i]
	if smallInt().MatchString(t) {
		if len(t) == 4 && year().MatchString(t) {
			return true
		}
		for c := range whole {
			for k := max(0, i-4); k < min(len(p.tokens), i+2); k++ {
				if p.sheet.has(c, p.tokens[k]) {
					return !p.bounds(i)
				}
			}
		}
		return false
	}
	if c := p.sheet.columnNamed(t); c >= 0 && len(whole) == 0 {
		return false
	}
	return len(t) > 1
}

// bounds reports whether a number is that of a comparison: at least 3.
func (p *planned) bounds(i int) bool {
	if i == 0 {
		return false
	}
	before := p.tokens[i-1]
	return slices.Contains([]string{"than", "least", "most", "over", "under", "above", "below", "exceeding"}, before)
}

// choose returns the column of a span: the one with it as a whole cell, else the only one; of several the one whose
// name is beside it, and for a year the column of dates. sure is false for a guess.
func (p *planned) choose(i, n int, columns, whole map[int]bool) (column int, sure bool) {
	fit := columns
	if len(whole) > 0 {
		fit = whole
	}
	var all []int
	for c := range fit {
		all = append(all, c)
	}
	slices.Sort(all)
	if len(all) == 1 {
		return all[0], true
	}
	rows := p.rowsWith(all[0], i, n)
	if slices.ContainsFunc(all, func(c int) bool { return !slices.Equal(p.rowsWith(c, i, n), rows) }) {
		return p.chooseOne(i, n, all)
	}
	return all[0], true
}

// rowsWith returns the rows whose cell of a column has a span of the question.
func (p *planned) rowsWith(c, i, n int) (rows []int) {
	for r, terms := range p.sheet.terms {
		for at := 0; at+n <= len(terms[c]); at++ {
			if slices.Equal(terms[c][at:at+n], p.tokens[i:i+n]) {
				rows = append(rows, r)
				break
			}
		}
	}
	return rows
}

// chooseOne chooses one of several columns.
func (p *planned) chooseOne(i, n int, all []int) (column int, sure bool) {
	for _, c := range all {
		for k := max(0, i-3); k < min(len(p.tokens), i+n+2); k++ {
			if (k < i || k >= i+n) && p.sheet.has(c, p.tokens[k]) {
				return c, true
			}
		}
	}
	if n == 1 && year().MatchString(p.tokens[i]) {
		var days []int
		for _, c := range all {
			if p.sheet.kindOf(c) == ofDays {
				days = append(days, c)
			}
		}
		if len(days) == 1 {
			return days[0], true
		}
	}
	return all[0], false
}

// findColumns finds the names of columns in the other words. The column with the most neighbouring words is meant.
func (p *planned) findColumns() {
	for i := 0; i < len(p.tokens); i++ {
		if p.roles[i] != unknown || degree(p.tokens[i]) != "" || text.IsStop(p.tokens[i], "en") {
			continue
		}
		best, most, full := -1, 0, 0.0
		tie := false
		for c := range p.sheet.head {
			n := 0
			for k := i; k < len(p.tokens) && p.roles[k] == unknown && p.sheet.has(c, p.tokens[k]); k++ {
				n++
			}
			share := float64(n) / float64(max(1, len(p.sheet.names[c])))
			switch {
			case n == 0:
			case n > most || n == most && share > full:
				best, most, full, tie = c, n, share, false
			case n == most && share == full:
				tie = true
			}
		}
		if best < 0 {
			continue
		}
		for k := i; k < i+most; k++ {
			p.roles[k], p.columnAt[k] = ofColumn, best
			if tie { // one of several, which must not matter
				p.columnAt[k] = -1
			}
		}
		if !tie && !slices.Contains(p.named, best) {
			p.named = append(p.named, best)
		}
		i += most - 1
	}
}

var amountAt = lazy.Regexp(`^\d+(?:\.\d+)?$`)

// findBounds finds numbers that limit a column: at least 3, more than 70000, before 1980, between 2007 and 2010.
func (p *planned) findBounds() {
	for i := 0; i < len(p.tokens); i++ {
		if !amountAt().MatchString(p.tokens[i]) {
			continue
		}
		is := func(words ...string) bool {
			return i >= len(words) && slices.Equal(p.tokens[i-len(words):i], words)
		}
		after := func(words ...string) bool {
			return i+len(words) < len(p.tokens) && slices.Equal(p.tokens[i+1:i+1+len(words)], words)
		}
		op, from, to := "", i, i
		isYear := year().MatchString(p.tokens[i]) && len(p.tokens[i]) == 4
		comparative := p.opAt(i - 2)
		switch {
		case is("at", "least"):
			op, from = "≥", i-2
		case is("at", "most"):
			op, from = "≤", i-2
		case after("or", "more"), after("or", "higher"), after("or", "above"):
			op, to = "≥", i+2
		case after("or", "less"), after("or", "below"), after("or", "fewer"), after("or", "lower"):
			op, to = "≤", i+2
		case is("than") && comparative == "more":
			op, from = ">", i-2
		case is("than") && comparative == "less":
			op, from = "<", i-2
		case is("above"), is("over"), is("exceeding"):
			op, from = ">", i-1
		case is("below"), is("under"):
			op, from = "<", i-1
		case isYear && is("before"):
			op, from = "<", i-1
		case isYear && is("before", "the", "year"):
			op, from = "<", i-3
		case isYear && is("after", "the", "year"):
			op, from = ">", i-3
		case isYear && is("prior", "to"):
			op, from = "<", i-2
		case isYear && is("after"):
			op, from = ">", i-1
		case isYear && is("since"):
			op, from = "≥", i-1
		}
		value := p.tokens[i]
		values := []string{value}
		if op == "" && i+2 < len(p.tokens) && amountAt().MatchString(p.tokens[i+2]) &&
			(is("between") && p.tokens[i+1] == "and" || is("from") && p.tokens[i+1] == "to") {
			op, from, to = "between", i-1, i+2
			values = append(values, p.tokens[i+2])
		}
		if op == "" {
			continue
		}
		// A number of a bound is no cell.
		p.filters = slices.DeleteFunc(p.filters, func(f condition) bool { return f.at >= from && f.at <= to })
		c := p.boundColumn(i, isYear)
		if c < 0 {
			p.unsure = true
			continue
		}
		for k := from; k <= to; k++ {
			p.roles[k] = ofBound
		}
		p.filters = append(p.filters, condition{
			filter: filter{column: p.sheet.ids[c], values: values, whole: true}, op: op, at: i, index: c,
		})
		i = to
	}
}

// boundColumn returns the column that a number limits: of days for a year, else the named column of numbers nearest
// to it.
func (p *planned) boundColumn(i int, isYear bool) int {
	if isYear {
		found := -1
		for c := range p.sheet.head {
			if p.sheet.kindOf(c) == ofDays {
				if found >= 0 {
					return -1
				}
				found = c
			}
		}
		if found >= 0 {
			return found
		}
	}
	best, far := -1, len(p.tokens)
	for k, c := range p.columnAt {
		if c < 0 || p.sheet.kindOf(c) != ofNumbers && p.sheet.kindOf(c) != ofRanks {
			continue
		}
		if away := max(k-i, i-k); away < far {
			best, far = c, away
		}
	}
	if value, err := strconv.ParseFloat(p.tokens[i], 64); err == nil && best < 0 {
		return p.sheet.around(value)
	}
	return best
}

// namesIn reports for each word of a question whether it is a name, by its capital behind the first word. In German
// all nouns have one.
func namesIn(question string) []bool {
	spans, runes := text.NewAnalyser("").Spans(question), []rune(question)
	names := make([]bool, len(spans))
	german := text.Detect(question) == "de"
	for i, span := range spans {
		names[i] = i > 0 && !german && unicode.IsUpper(runes[span.Start])
	}
	return names
}
