package offline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text"
)

// mostAsked is the maximum number of rows in an answer.
const mostAsked = 10

// tableResult is the decoded output of query_table (agent/tools): rows with their numbers, and computed values.
// Cells are texts as in the table; computed values are rounded by the tool.
type tableResult struct {
	Table   string       `json:"table"`
	AllRows int          `json:"rows_in_table"`
	Matched int          `json:"rows_matched"`
	Totals  []computed   `json:"totals"`
	Columns []string     `json:"columns"` // with their letters: "Amount (D)"
	Rows    []askedRow   `json:"rows"`
	Groups  []askedGroup `json:"groups"`
	Notes   []string     `json:"notes"`
}

type askedGroup struct {
	N      int        `json:"n"`
	Group  []string   `json:"group"`
	Totals []computed `json:"totals"`
}

type askedRow struct {
	N     int      `json:"n"`
	Cells []string `json:"cells"`
}

type computed struct {
	What  string `json:"what"`
	Shown string `json:"shown"`
}

// tableAnswer renders the result of a table query: its rows as quotes, and a line with the computed values. The line
// has the footnotes of all shown rows. The last result is used. ok is false without a result, after an error, and
// without rows. It is always certain, because asksTable sends only queries that cover the whole question.
func (t turn) tableAnswer() (move, bool) {
	results := t.of(queryTool)
	if len(results) == 0 || results[len(results)-1].lists() {
		return move{}, false
	}
	out := results[len(results)-1].out
	if out.Error != nil || len(out.Rows) == 0 && len(out.Groups) == 0 {
		return move{}, false
	}
	for _, g := range out.Groups {
		cells := slices.Clone(g.Group)
		for _, total := range g.Totals {
			cells = append(cells, total.What+": "+total.Shown)
		}
		out.Rows = append(out.Rows, askedRow{N: g.N, Cells: cells})
	}
	return move{text: out.render(string(answers), mostAsked), found: &llm.Found{Sure: 1, Likely: true}}, true
}

// render renders the first rows of a result as quotes below a headline, and its computed values.
func (out tableResult) render(headline string, most int) string {
	heads, _ := out.columns()
	lines := ""
	if len(heads) > 0 {
		lines = tableLine(heads) + "> |" + strings.Repeat("---|", len(heads)) + "\n"
	}
	// Each row has its footnote; the totals repeat all of them.
	notes := ""
	shown := out.Rows[:min(len(out.Rows), most)]
	for _, r := range shown {
		note := cited(strings.Join(r.Cells, cellJoint), r.N, nil)
		if len(out.Groups) > 0 {
			lines += "- " + escape(strings.Join(r.Cells, ", ")) + note + "\n"
			continue
		}
		lines += strings.TrimSuffix(tableLine(r.Cells), " |\n") + note + " |\n"
		notes += note
	}
	said := []string{headline}
	if out.Matched > len(shown) && len(out.Groups) == 0 {
		said = append(said, fmt.Sprintf("The first %d of %d rows:", len(shown), out.Matched))
	}
	said = append(said, strings.TrimSuffix(lines, "\n"))
	if totals := out.totals(); totals != "" {
		said = append(said, totals+notes)
	}
	for _, note := range out.Notes {
		said = append(said, escape(note))
	}
	return strings.Join(said, "\n\n")
}

// columns returns the names of the columns and their letters.
func (out tableResult) columns() (names, letters []string) {
	for _, c := range out.Columns {
		at := max(0, strings.LastIndex(c, " ("))
		names, letters = append(names, c[:at]), append(letters, strings.Trim(c[at:], " ()"))
	}
	return names, letters
}

// mostListed is the number of rows that are requested to know a table.
const mostListed = 100

// lists reports whether a result lists a table, without a condition or an operator.
func (r result) lists() bool {
	return r.tool == queryTool && r.input["where"] == nil && r.input["compute"] == nil && r.input["position"] == nil &&
		r.input["order_by"] == nil && r.input["group_by"] == nil
}

// listing returns the rows of the table that was listed. ok is false if it was not, or failed.
func (t turn) listing() (out output, ok bool) {
	for _, r := range t.of(queryTool) {
		if r.lists() {
			return r.out, r.out.Error == nil && len(r.out.Rows) > 0
		}
	}
	return output{}, false
}

// asksListing returns the call that lists a table: of the one document that the question is limited to, unless its
// search found text only, else that of the best quote if quotes do not answer the question.
func (t turn) asksListing(a answer) (step, bool) {
	if !t.has(queryTool) || len(t.of(queryTool)) > 0 || len(t.given()) > 0 ||
		t.chosen == "" && !a.operates(t.question) {
		return step{}, false
	}
	input := map[string]any{"document": t.chosen, "limit": mostListed}
	if len(a.quotes) > 0 {
		best := a.pile.units[a.quotes[0].first]
		if best.row == nil {
			return step{}, false
		}
		src := a.pile.sources[best.source]
		input["document"] = src.document.DocID
		if name := sheetOf(src.Section); name != "" {
			input["sheet"] = name
		}
	}
	return step{queryTool, input}, true
}

// parsed parses a question about the table of the best quote, from its rows that were found; nil if that is no row of
// a table with a head.
func (a answer) parsed(question string) *planned {
	if len(a.quotes) == 0 {
		return nil
	}
	best := a.pile.units[a.quotes[0].first]
	if best.row == nil || best.row.table.unsure || best.row.table.head == nil {
		return nil
	}
	var rows [][]string
	for _, u := range a.pile.units {
		if a.pile.sameTable(best, u) && !u.names && len(rows) < mostListed {
			rows = append(rows, cellsOf(u.text))
		}
	}
	p, _ := planOf(question, newSheet(best.row.table.head, rows, a.pile.around[best.source], false))
	if len(p.roles) == 0 {
		return nil
	}
	return p
}

// operates reports whether the best quote is a row of a table, and the question asks for more than rows.
func (a answer) operates(question string) bool {
	p := a.parsed(question)
	return p != nil && p.operates()
}

// overrates reports whether an answer of rows must not be called found: they do not give what the question asks for,
// or the table was listed and the question is no certain query of it.
func (t turn) overrates(a answer) bool {
	p := a.parsed(t.question)
	_, listed := t.listing()
	return p != nil && !t.canCheck() && (p.operates() || listed)
}

// plansTable returns the query of the listed table that the question asks for. ok is false unless it is certain.
func (t turn) plansTable(answer) (step, bool) {
	out, ok := t.listing()
	if !ok || len(t.of(queryTool)) > 1 {
		return step{}, false
	}
	heads, ids := out.columns()
	for i, name := range heads {
		if name != "" && slices.Index(heads, name) == i && !slices.Contains(heads[i+1:], name) {
			ids[i] = name
		}
	}
	var rows [][]string
	for _, r := range out.Rows {
		rows = append(rows, r.Cells)
	}
	s := newSheet(heads, rows, setOf(stems(out.Table+" "+plainName(out.Filename))), out.AllRows == len(rows))
	s.ids = ids
	p, ok := planOf(t.question, s)
	if !ok {
		return step{}, false
	}
	listed := t.of(queryTool)[0].input
	document, _ := listed["document"].(string)
	name, _ := listed["sheet"].(string)
	return p.call(document, name), true
}

// closestRows shows the first rows of the listed table, for a question that nothing else answers.
func (t turn) closestRows(a answer) (move, bool) {
	out, ok := t.listing()
	if !ok || t.chosen == "" {
		return move{}, false
	}
	return move{text: out.render(string(closest), mostQuotes), found: &llm.Found{Sure: a.sure}}, true
}

// totals formats the computed values and the number of rows, empty without values.
func (r tableResult) totals() string {
	var totals []string
	for _, c := range r.Totals {
		totals = append(totals, escape(text.Shorten(c.What, 80))+": **"+escape(c.Shown)+"**")
	}
	if len(totals) == 0 {
		return ""
	}
	if r.Totals[0].What != "count" {
		totals = append(totals, fmt.Sprintf("rows: %d", r.Matched))
	}
	return strings.ToUpper(totals[0][:1]) + strings.Join(totals, ", ")[1:]
}
