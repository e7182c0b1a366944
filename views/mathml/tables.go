package mathml

import "strings"

// layout is the style of an environment's rows.
type layout struct {
	left, right string // fences
	columns     string // l, c or r for each, repeated; empty: centred
	display     bool   // cells are in display style
	close       bool   // no space between columns, as around a relation
	spec        bool   // its argument is the alignment of columns
	one         bool   // a single row is not a table
}

var environments = map[string]layout{
	"matrix": {}, "smallmatrix": {}, "pmatrix": {left: "(", right: ")"}, "bmatrix": {left: "[", right: "]"},
	"Bmatrix": {left: "{", right: "}"}, "vmatrix": {left: "|", right: "|"}, "Vmatrix": {left: "‖", right: "‖"},
	"cases": {left: "{", columns: "l"}, "dcases": {left: "{", columns: "l", display: true},
	"rcases": {right: "}", columns: "l"},
	"array":  {spec: true}, "subarray": {spec: true},
	"aligned": {columns: "rl", display: true, close: true}, "split": {columns: "rl", display: true, close: true},
	"align": {columns: "rl", display: true, close: true}, "eqnarray": {columns: "rcl", display: true, close: true},
	"alignat":   {columns: "rl", display: true, close: true, spec: true},
	"alignedat": {columns: "rl", display: true, close: true, spec: true},
	"flalign":   {columns: "rl", display: true, close: true},
	"gather":    {display: true}, "gathered": {display: true}, "multline": {display: true},
	"equation": {display: true, one: true}, "displaymath": {display: true, one: true}, "math": {one: true},
}

// environment parses and draws an environment, after \begin.
func (p *parser) environment() *node {
	defer p.enter()()
	name := p.words()
	form, ok := environments[strings.TrimSuffix(name, "*")]
	if !ok {
		p.fail(ErrUnknown)
	}
	bars := ""
	if form.spec {
		if spec := p.words(); form.columns == "" {
			form.columns, bars = columns(spec)
		}
	} else if p.take("[") { // its vertical position
		p.next()
		p.expect("]")
	}
	table := p.lines(bars, form)
	p.expect(`\end`)
	if p.words() != name {
		p.fail(ErrUnknown)
	}
	if form.left == "" && form.right == "" {
		return table
	}
	fence := func(form, char string) *node {
		return p.add("mo", ` fence="true" form="`+form+`" stretchy="true" symmetric="true"`, char)
	}
	return p.add("mrow", "", "", fence("prefix", form.left), table, fence("postfix", form.right))
}

// columns parses the argument of an array: the alignment of each column, and the vertical lines before columns.
func columns(spec string) (align, bars string) {
	bar := byte(' ')
	for _, c := range []byte(spec) {
		switch c {
		case 'l', 'c', 'r':
			align += string(c)
			bars += string(bar)
			bar = ' '
		case '|', ':':
			bar = '|'
		}
	}
	return align, bars + string(bar)
}

// lines parses rows of cells up to an end token. A single cell is not drawn as a table, unless it is a matrix.
func (p *parser) lines(bars string, form layout) *node {
	rows := [][]*node{{}}
	ruled := map[int]bool{}
	for p.take(`\hline`) {
		ruled[0] = true
	}
	for {
		row := &rows[len(rows)-1]
		*row = append(*row, p.row(p.list("")))
		switch {
		case p.take("&"):
		case p.take(`\\`), p.take(`\cr`):
			p.skipGap()
			rows = append(rows, []*node{})
			for p.take(`\hline`) {
				ruled[len(rows)-1] = true
			}
		default:
			return p.table(rows, ruled, bars, form)
		}
	}
}

// skipGap skips the row gap: a bracketed length directly after the line break.
func (p *parser) skipGap() {
	if p.at < len(p.tex) && p.tex[p.at] == '[' {
		end := strings.IndexByte(p.tex[p.at:], ']')
		if end > 0 && end < 12 && length.MatchString(p.tex[p.at+1:p.at+end]) {
			p.at += end + 1
		}
	}
}

// table draws rows of cells. A trailing empty row, after a final line break, is dropped.
func (p *parser) table(rows [][]*node, ruled map[int]bool, bars string, form layout) *node {
	last := len(rows) - 1
	below := false
	if only := rows[last]; last > 0 && len(only) == 1 && only[0].tag == "mrow" && len(only[0].kids) == 0 {
		rows, below = rows[:last], ruled[last]
	}
	if len(rows) == 1 && len(rows[0]) == 1 && form.left == "" && (form.one || !form.spec && form.right == "") {
		return rows[0][0]
	}
	attrs := ""
	if form.display {
		attrs = ` displaystyle="true"`
	}
	if form.close {
		attrs += ` class="mx-close"`
	}
	table := p.add("mtable", attrs, "")
	for i, cells := range rows {
		tr := p.add("mtr", "", "")
		for k, cell := range cells {
			tr.kids = append(tr.kids, p.add("mtd", cellClass(form.columns, bars, k,
				ruled[i], below && i == len(rows)-1), "", cell))
		}
		table.kids = append(table.kids, tr)
	}
	return table
}

// cellClass returns the classes of a cell: its alignment and the lines around it.
func cellClass(columns, bars string, column int, above, below bool) string {
	classes := []string{}
	if n := len(columns); n > 0 {
		switch columns[column%n] {
		case 'l':
			classes = append(classes, "mx-l")
		case 'r':
			classes = append(classes, "mx-r")
		}
	}
	if column < len(bars) && bars[column] == '|' {
		classes = append(classes, "mx-bar")
	}
	if column == len(bars)-2 && bars[len(bars)-1] == '|' {
		classes = append(classes, "mx-bar-end")
	}
	if above {
		classes = append(classes, "mx-above")
	}
	if below {
		classes = append(classes, "mx-below")
	}
	if len(classes) == 0 {
		return ""
	}
	return ` class="` + strings.Join(classes, " ") + `"`
}
