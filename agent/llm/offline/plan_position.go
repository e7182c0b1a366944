package offline

import (
	"slices"
	"strconv"
)

// inList reports whether a question means the order of the rows, whatever they are.
func (p *planned) inList() bool {
	return slices.ContainsFunc(p.tokens, func(t string) bool {
		return slices.Contains([]string{"list", "listed", "table", "chart", "top", "bottom", "above", "below"}, t)
	})
}

// daysInOrder counts the steps to a later and to an earlier day between neighbouring rows, in the first column of days.
func (p *planned) daysInOrder() (later, earlier int) {
	for c := range p.sheet.head {
		if p.sheet.kindOf(c) != ofDays {
			continue
		}
		last := ""
		for r := range p.sheet.rows {
			y := year().FindString(p.cell(r, c))
			switch {
			case y == "":
				continue
			case last != "" && y > last:
				later++
			case last != "" && y < last:
				earlier++
			}
			last = y
		}
		if later+earlier == 0 { // of one year
			later = 1
		}
		return later, earlier
	}
	return 0, 0
}

// backwards reports whether the rows are in descending order of days, so that the next row is the earlier one.
func (p *planned) backwards() bool {
	later, earlier := p.daysInOrder()
	return !p.inList() && earlier > later
}

// neighbour plans the row above or below another one.
func (p *planned) neighbour(ops []int) bool {
	way := ""
	for _, i := range ops {
		op := map[string]string{
			"next": "next", "below": "next", "previous": "previous", "above": "previous",
		}[p.opAt(i)]
		if op == "" || way != "" && op != way {
			return false
		}
		way = op
	}
	last := ops[len(ops)-1]
	behind := slices.ContainsFunc(p.filters, func(f condition) bool { return f.at > last })
	adjective := p.tokens[last] == "next" || p.tokens[last] == "previous"
	rows := p.matches()
	if len(rows) != 1 || len(p.filters) == 0 || !behind && !adjective ||
		slices.ContainsFunc(p.filters, func(f condition) bool { return f.op != "" || f.not }) {
		return false
	}
	if p.backwards() {
		way = map[string]string{"next": "previous", "previous": "next"}[way]
	}
	if way == "next" && p.sheet.whole && rows[0] == len(p.sheet.rows)-1 || way == "previous" && rows[0] == 0 {
		return false
	}
	p.use(ops...)
	p.position = way
	return true
}

// end plans the first or the last rows.
func (p *planned) end(ops []int) bool {
	if len(ops) != 1 {
		return false
	}
	i := ops[0]
	op := p.opAt(i)
	way := map[string]string{"first": "first", "top": "first", "last": "last", "bottom": "last"}[op]
	if way == "" || len(p.matches()) == 0 {
		return false
	}
	p.limit = 1
	if i+1 < len(p.tokens) {
		next := p.tokens[i+1]
		if n := slices.Index(numberNames, next); n > 0 {
			p.limit = n
		} else if n, err := strconv.Atoi(next); err == nil && n > 0 && n <= mostAsked && p.roles[i+1] <= grammar {
			p.limit = n
		}
		if p.limit > 1 {
			p.use(i + 1)
		}
		// The first place is a value, not a position.
		if c := p.columnAt[i+1]; c >= 0 && p.sheet.kindOf(c) != ofWords && p.sheet.kindOf(c) != ofDays {
			return false
		}
	}
	p.use(i)
	if i+1 < len(p.tokens) && p.columnAt[i+1] >= 0 && p.sheet.kindOf(p.columnAt[i+1]) == ofDays { // the last year
		p.order, p.position = p.sheet.ids[p.columnAt[i+1]], way
		return true
	}
	// Otherwise the order of the rows must be that of their days, or that of a list.
	up, down := p.daysInOrder()
	switch {
	case p.inList():
	case up == 0 && down == 0 || 4*min(up, down) > max(up, down):
		return false
	case down > up:
		way = map[string]string{"first": "last", "last": "first"}[way]
	}
	p.position = way
	return true
}
