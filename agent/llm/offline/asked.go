package offline

import (
	"fmt"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text"
)

// mostAsked is the maximum number of rows in an answer.
const mostAsked = 10

// tableResult is the decoded output of query_table (agent/tools): rows with their numbers, and computed values.
// Cells are texts as in the table; computed values are rounded by the tool.
type tableResult struct {
	Matched int        `json:"rows_matched"`
	Totals  []computed `json:"totals"`
	Columns []string   `json:"columns"` // with their letters: "Amount (D)"
	Rows    []askedRow `json:"rows"`
	Notes   []string   `json:"notes"`
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
	if len(results) == 0 {
		return move{}, false
	}
	out := results[len(results)-1].out
	if out.Error != nil || len(out.Rows) == 0 {
		return move{}, false
	}
	var heads []string
	for _, c := range out.Columns {
		name, _, _ := strings.Cut(c, " (")
		heads = append(heads, name)
	}
	lines := tableLine(heads) + "> |" + strings.Repeat("---|", len(heads)) + "\n"
	// Each row has its footnote; the totals repeat all of them.
	notes := ""
	for _, r := range out.Rows[:min(len(out.Rows), mostAsked)] {
		note := cited(strings.Join(r.Cells, cellJoint), r.N, nil)
		lines += strings.TrimSuffix(tableLine(r.Cells), " |\n") + note + " |\n"
		notes += note
	}
	said := []string{string(answers)}
	if out.Matched > min(len(out.Rows), mostAsked) {
		said = append(said, fmt.Sprintf("The first %d of %d rows:", min(len(out.Rows), mostAsked), out.Matched))
	}
	said = append(said, strings.TrimSuffix(lines, "\n"))
	if totals := out.totals(); totals != "" {
		said = append(said, totals+notes)
	}
	for _, note := range out.Notes {
		said = append(said, escape(note))
	}
	return move{text: strings.Join(said, "\n\n"), found: &llm.Found{Sure: 1, Likely: true}}, true
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
