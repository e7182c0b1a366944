package offline

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// decide chooses the operator of a question and its column. It gives the words of the operator their role, so that
// covered finds those without one. ok is false without a certain query.
func (p *planned) decide() (ok bool) {
	for i, t := range p.tokens {
		if p.roles[i] <= grammar && slices.Contains(strings.Fields(alters), t) && !p.joinsTwo(i) && t != "than" {
			return false
		}
	}
	p.mergeFilters()
	_, only := p.word("only")
	_, both := p.word("both")
	var ops []int
	for i := range p.tokens {
		if p.roles[i] == unknown && p.opAt(i) != "" {
			if p.tokens[i] == "next" && i+1 < len(p.tokens) && p.tokens[i+1] == "to" { // beside
				p.roles[i] = grammar
				continue
			}
			ops = append(ops, i)
		}
	}
	count, counts := p.phrase("how", "many")
	if !counts {
		count, counts = p.phrase("number", "of")
	}
	if !counts {
		count, counts = p.phrase("how", "often")
	}
	_, differs := p.word("difference")
	switch two := p.twoCompared(); {
	case only || both:
		return len(ops) == 0 && !counts && !differs && len(p.matches()) == 1 && p.lookUp()
	case differs && !counts:
		at, _ := p.word("difference")
		return p.difference(at, ops)
	case len(ops) == 1 && ops[0] > 0 && (p.tokens[ops[0]-1] == "many" || p.tokens[ops[0]-1] == "much") &&
		(p.opAt(ops[0]) == "more" || p.opAt(ops[0]) == "less") && p.exceeds():
		p.use(ops...)
		return p.difference(ops[0], nil)
	case two && len(ops) > 0 && !counts:
		return p.better(ops)
	case slices.Contains(p.tokens, "than"):
		return false
	case counts && len(ops) == 0:
		return p.counting(count)
	case counts:
		return false
	case len(ops) > 0 && p.neighbour(ops):
		return true
	case len(ops) > 0 && p.end(ops):
		return true
	case len(ops) > 0:
		return p.superlative(ops)
	}
	if at, ok := p.word("average"); ok {
		return p.aggregate(at, "mean")
	}
	if at, ok := p.word("total"); ok && len(p.named) > 0 && p.tokens[0] != "which" && p.tokens[0] != "who" {
		return p.aggregate(at, "sum")
	}
	return p.lookUp()
}

// joinsTwo reports whether a word joins two cells of one column, as in “A or B”.
func (p *planned) joinsTwo(i int) bool {
	if p.tokens[i] != "or" || i == 0 || i+1 >= len(p.tokens) {
		return false
	}
	before, after := p.filterAt(i-1), p.filterAt(i+1)
	return before >= 0 && after >= 0 && p.filters[before].index == p.filters[after].index
}

// filterAt returns the filter with a token, -1 for none.
func (p *planned) filterAt(i int) int {
	if p.roles[i] != ofCell {
		return -1
	}
	found := -1
	for k, f := range p.filters {
		if f.at <= i {
			found = k
		}
	}
	return found
}

// word returns the place of a word without another role.
func (p *planned) word(t string) (at int, ok bool) {
	for i, o := range p.tokens {
		if o == t && p.roles[i] <= grammar {
			return i, true
		}
	}
	return 0, false
}

// phrase returns the place behind two words.
func (p *planned) phrase(a, b string) (after int, ok bool) {
	for i := range p.tokens[:len(p.tokens)-1] {
		if p.tokens[i] == a && p.tokens[i+1] == b && p.roles[i] != ofCell {
			p.roles[i], p.roles[i+1] = operation, operation
			return i + 2, true
		}
	}
	return 0, false
}

// mergeFilters joins whole cells of one column to alternatives.
func (p *planned) mergeFilters() {
	var out []condition
	for _, f := range p.filters {
		i := slices.IndexFunc(out, func(o condition) bool {
			return o.index == f.index && o.whole && f.whole && o.op == "" && f.op == "" && !o.not && !f.not
		})
		if i < 0 {
			f.values = slices.Clone(f.values)
			out = append(out, f)
			continue
		}
		for _, v := range f.values {
			out[i].values = text.AppendNew(out[i].values, v)
		}
	}
	p.filters = out
}

// twoCompared reports whether the conditions have two cells of one column, joined by “or”.
func (p *planned) twoCompared() bool {
	_, or := p.word("or")
	return or && p.pair() >= 0
}

// use gives operators their role.
func (p *planned) use(ops ...int) {
	for _, i := range ops {
		p.roles[i] = operation
	}
}

// measure returns the named column of numbers or days nearest behind a word, else before it; -1 without one.
func (p *planned) measure(at int, kinds ...columnKind) int {
	best, far := -1, 2*len(p.tokens)
	for k, c := range p.columnAt {
		if c < 0 || !slices.Contains(kinds, p.sheet.kindOf(c)) {
			continue
		}
		away := k - at
		if away < 0 {
			away = len(p.tokens) - away
		}
		if away < far {
			best, far = c, away
		}
	}
	return best
}

// only returns the only column of a kind, -1 for none or several.
func (p *planned) only(kind columnKind) int {
	found := -1
	for c := range p.sheet.head {
		if p.sheet.kindOf(c) == kind {
			if found >= 0 {
				return -1
			}
			found = c
		}
	}
	return found
}

// pair returns the condition of two cells of one column, -1 without one or with several.
func (p *planned) pair() int {
	found := -1
	for i, f := range p.filters {
		if len(f.values) == 2 && f.whole && f.op == "" && !f.not {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// eachOne reports whether the question is about two rows, one for each cell of a pair.
func (p *planned) eachOne() bool {
	rows, i := p.matches(), p.pair()
	return i >= 0 && len(rows) == 2 && p.cell(rows[0], p.filters[i].index) != p.cell(rows[1], p.filters[i].index)
}

// exceeds reports whether two cells of one column are compared: more than.
func (p *planned) exceeds() bool {
	at, ok := p.word("than")
	if ok && p.pair() >= 0 {
		p.roles[at] = operation
		return true
	}
	return false
}

// difference plans the difference of two rows, or the largest one of a column.
func (p *planned) difference(at int, ops []int) bool {
	p.roles[at] = operation
	p.column = p.measure(at, ofNumbers)
	if p.column < 0 {
		p.column = p.only(ofNumbers)
	}
	largest := len(ops) == 1 && p.opAt(ops[0]) == "max" && ops[0] == at-1
	switch {
	case p.column < 0, len(ops) > 0 && !largest:
		return false
	case largest && len(p.filters) == 0:
		p.use(ops...)
	case !p.eachOne():
		return false
	}
	p.compute = "difference"
	return true
}

// better plans the comparison of two rows.
func (p *planned) better(ops []int) bool {
	way := ""
	for _, i := range ops {
		op := map[string]string{
			"more": "max", "max": "max", "less": "min", "min": "min", "first": "first", "last": "last",
		}[p.opAt(i)]
		if op == "" || way != "" && op != way {
			return false
		}
		way = op
	}
	p.column = p.measure(ops[0], ofNumbers)
	if t := p.tokens[ops[0]]; way == "first" || way == "last" || t == "earlier" || t == "later" {
		p.column = p.only(ofDays)
		way = map[string]string{"first": "min", "last": "max"}[way]
		if way == "" {
			way = map[string]string{"earlier": "min", "later": "max"}[t]
		}
	}
	if p.column < 0 || !p.eachOne() {
		return false
	}
	if or, ok := p.word("or"); ok {
		p.use(or)
	}
	p.use(ops...)
	p.position, p.order, p.descending = "first", p.sheet.ids[p.column], way == "max"
	return true
}

// headEnd returns the place behind the noun that begins at a token: the words before the next verb, preposition or
// cell.
func (p *planned) headEnd(at int) int {
	i := at
	for i < len(p.tokens) && (p.roles[i] == unknown || p.roles[i] == ofColumn ||
		p.roles[i] == grammar && !text.IsStop(p.tokens[i], "en")) && p.opAt(i) == "" {
		i++
	}
	return i
}

// beforeCounted are words between “how many” and the counted noun.
var beforeCounted = []string{"the", "different", "total", "number", "of", "unique"}

// wordsOf returns the number of words from a token on that are of one column's name.
func (p *planned) wordsOf(column, at int) (n int) {
	for at+n < len(p.tokens) && p.columnAt[at+n] == column {
		n++
	}
	return n
}

// counting plans a count of rows or of values, or the number in the one row that is meant.
func (p *planned) counting(at int) bool {
	for at < len(p.tokens) && p.roles[at] <= grammar && slices.Contains(beforeCounted, p.tokens[at]) {
		p.roles[at] = operation
		at++
	}
	column, noun := -1, false
	for i := at; i < max(p.headEnd(at), min(at+1, len(p.tokens))); i++ {
		switch {
		case p.roles[i] == ofColumn && column < 0:
			column = p.columnAt[i]
			// A word of a longer name is the kind of the rows: reactors, and the reactor type.
			if column >= 0 && p.sheet.kindOf(column) == ofWords && len(p.sheet.names[column]) > p.wordsOf(column, i) {
				column, noun = -1, true
			}
		case p.roles[i] <= grammar && i == at:
			noun = true
			p.roles[i] = grammar
		}
	}
	rows := p.matches()
	if len(rows) == 0 || noun && column >= 0 || len(rows) == 1 && noun ||
		slices.ContainsFunc(p.filters, func(f condition) bool { return f.loose }) {
		return false
	}
	_, total := p.word("total")
	if column >= 0 {
		switch p.sheet.kindOf(column) {
		case ofNumbers:
			switch {
			case len(rows) == 1:
				p.limit = mostAsked
				return true
			case total || len(p.filters) > 0 && len(rows) <= mostAsked:
				p.compute, p.column = "sum", column
				return true
			}
			return false
		case ofRanks:
			return false
		case ofDays, ofWords:
		}
		seen := map[string]bool{}
		for _, r := range rows {
			if cell := p.cell(r, column); cell != "" {
				seen[text.Fold(cell)] = true
			}
		}
		p.compute, p.column = "distinct", column
		_, different := p.word("different")
		return len(p.filters) == 0 || different || len(seen) == len(rows)
	}
	p.compute = "count"
	// A row that is known by its name is one row: its cells have the number.
	if len(p.filters) == 0 {
		return true
	}
	for _, f := range p.filters {
		if f.op != "" || f.not || !f.whole || !p.unique(f.index) {
			return len(p.named) == 0 || p.namedAreFiltered()
		}
	}
	return false
}

// namedAreFiltered reports whether each named column has a condition: a column without one may be what is asked for.
func (p *planned) namedAreFiltered() bool {
	return !slices.ContainsFunc(p.named, func(c int) bool {
		return !slices.ContainsFunc(p.filters, func(f condition) bool { return f.index == c }) &&
			p.sheet.kindOf(c) == ofNumbers
	})
}

func (p *planned) cell(r, c int) string {
	if c < len(p.sheet.rows[r]) {
		return p.sheet.rows[r][c]
	}
	return ""
}

// unique reports whether no two rows have the same cell of a column.
func (p *planned) unique(c int) bool {
	seen := map[string]bool{}
	for r := range p.sheet.rows {
		cell := text.Fold(p.cell(r, c))
		if cell != "" && seen[cell] {
			return false
		}
		seen[cell] = true
	}
	return true
}

// aggregate plans a total or a mean.
func (p *planned) aggregate(at int, function string) bool {
	p.column = p.measure(at, ofNumbers)
	if p.column < 0 || len(p.matches()) == 0 {
		return false
	}
	p.roles[at] = operation
	p.compute = function
	return true
}

// superlative plans the row with the highest or lowest value, or the value of most rows.
func (p *planned) superlative(ops []int) bool {
	if len(ops) != 1 || len(p.matches()) == 0 {
		return false
	}
	i := ops[0]
	op := p.opAt(i)
	if op != "max" && op != "min" {
		return false
	}
	t := p.tokens[i]
	byTime := slices.ContainsFunc([]string{"old", "new", "late", "earl", "young", "recent"}, func(base string) bool {
		return strings.HasPrefix(t, base)
	})
	p.column = p.measured(i)
	switch {
	case byTime:
		if p.column = p.measure(i, ofDays); p.column < 0 {
			p.column = p.only(ofDays)
		}
		if strings.HasPrefix(t, "old") {
			op = "min"
		} else if strings.HasPrefix(t, "young") {
			op = "max"
		}
	case p.column >= 0 && p.sheet.kindOf(p.column) == ofRanks: // the highest rank is the first
		op = map[string]string{"max": "min", "min": "max"}[op]
	case p.column < 0 && (t == "most" || p.followed(i, "amount", "number")):
		return p.mostRows(i, op)
	case p.column < 0 && (i+1 == len(p.tokens) || p.roles[i+1] == ofColumn || text.IsStop(p.tokens[i+1], "en")):
		p.column = p.only(ofNumbers)
	}
	if p.column < 0 {
		return false
	}
	p.use(i)
	p.position, p.order, p.descending = "first", p.sheet.ids[p.column], op == "max"
	return true
}

// measured returns the column that a superlative is about: that behind it, with nothing but grammar between; without a
// noun behind it the nearest before it. -1 if another noun is behind it.
func (p *planned) measured(i int) int {
	for k := i + 1; k < len(p.tokens); k++ {
		switch {
		case p.columnAt[k] >= 0:
			if p.sheet.kindOf(p.columnAt[k]) == ofWords { // the longest route: of the only numbers
				return -1
			}
			return p.columnAt[k]
		case p.roles[k] == grammar:
		case p.roles[k] == unknown && (k == i+1 || p.tokens[k-1] == "of" || p.tokens[k-1] == "number"):
			return -1
		default:
			return p.measure(i, ofNumbers, ofRanks)
		}
	}
	return p.measure(i, ofNumbers, ofRanks)
}

// followed reports whether one of these words is behind a token.
func (p *planned) followed(i int, words ...string) bool {
	return i+1 < len(p.tokens) && slices.Contains(words, p.tokens[i+1])
}

// mostRows plans the value of the asked column that most rows have.
func (p *planned) mostRows(i int, op string) bool {
	asked := -1
	for k := range p.tokens[:i] {
		if c := p.columnAt[k]; c >= 0 && p.sheet.kindOf(c) == ofWords {
			asked = c
		}
	}
	if asked < 0 || op != "max" {
		return false
	}
	for c := range p.sheet.head { // the same names in another column would have to be counted as well
		if c != asked && slices.ContainsFunc(p.sheet.rows, func(row []string) bool {
			return c < len(row) && row[c] != "" && slices.ContainsFunc(p.sheet.rows, func(other []string) bool {
				return asked < len(other) && other[asked] == row[c]
			})
		}) {
			return false
		}
	}
	counts, most, second := map[string]int{}, 0, 0
	for _, r := range p.matches() {
		if cell := text.Fold(p.cell(r, asked)); cell != "" {
			counts[cell]++
		}
	}
	for _, n := range counts {
		if n > most {
			most, second = n, most
		} else {
			second = max(second, n)
		}
	}
	if most < 2 || most == second {
		return false
	}
	p.use(i)
	p.compute, p.group, p.order, p.descending, p.limit = "count", p.sheet.ids[asked], "count", true, 1
	return true
}

// lookUp plans the rows that the question describes.
func (p *planned) lookUp() bool {
	n := len(p.matches())
	p.limit = mostAsked
	return len(p.filters) > 0 && n > 0 && n <= mostAsked && (!p.ofOneRow() || p.asksColumn())
}

// ofOneRow reports whether a condition names a row: by words that no other row has.
func (p *planned) ofOneRow() bool {
	all := p.filters
	defer func() { p.filters = all }()
	return slices.ContainsFunc(all, func(f condition) bool {
		p.filters = []condition{f}
		return f.op == "" && !f.not && f.whole && p.sheet.kindOf(f.index) == ofWords && len(p.matches()) == 1
	})
}

// asksColumn reports whether a question about one row asks for a column: by its name, as the only other one, or as the
// only one of the numbers or days that it asks for.
func (p *planned) asksColumn() bool {
	for _, c := range p.named {
		if !slices.ContainsFunc(p.filters, func(f condition) bool { return f.index == c }) {
			return true
		}
	}
	switch p.tokens[0] {
	case "when":
		return p.only(ofDays) >= 0
	case "where":
		return len(p.sheet.head) == 2
	case "how":
		return p.only(ofNumbers) >= 0 && len(p.tokens) > 1 && p.tokens[1] != "many"
	}
	return p.unknowns() == 0
}

// unknowns returns the number of words without a role.
func (p *planned) unknowns() (n int) {
	for _, r := range p.roles {
		if r == unknown {
			n++
		}
	}
	return n
}

// call encodes the query as a call of the tool.
func (p *planned) call(document, name string) step {
	input := map[string]any{"document": document}
	if name != "" {
		input["sheet"] = name
	}
	var where []any
	for _, f := range p.filters {
		if f.op == "" {
			where = append(where, f.conditions()...)
			continue
		}
		value := any(f.values[0])
		if len(f.values) > 1 {
			value = f.values
		}
		where = append(where, map[string]any{"column": f.column, "op": f.op, "value": value})
	}
	if len(where) > 0 {
		input["where"] = where
	}
	if p.compute != "" {
		compute := map[string]any{"function": p.compute}
		if p.column >= 0 {
			compute["column"] = p.sheet.ids[p.column]
		}
		input["compute"] = []any{compute}
	}
	if p.group != "" {
		input["group_by"] = []string{p.group}
	}
	if p.order != "" {
		input["order_by"] = []any{map[string]any{"column": p.order, "descending": p.descending}}
	}
	if p.position != "" {
		input["position"] = p.position
	}
	if p.limit > 0 {
		input["limit"] = p.limit
	}
	return step{queryTool, input}
}
