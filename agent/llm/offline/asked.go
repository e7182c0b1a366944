package offline

import (
	"fmt"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text"
)

// mostAsked is how many rows of a table an answer lists.
const mostAsked = 10

// tableResult is what a table answered: rows with their numbers, and what was computed of them. Cells are texts, as the
// table has them; what was computed is shown as the tool rounds it. The shape is query_table's (agent/tools).
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

// tableAnswer says what a table answered: its rows as quotes, and a line with what was computed, which cites them. It
// is not ok when the table was not asked, could not answer, or has no such rows. Where nothing was computed it is the
// rows. The last result counts. It is sure and likely without a measure, because asksTable only asks what the whole
// question says. The line of totals has the footnotes of the rows below it, as it is made of them.
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
	// Each row carries its footnote; all of them stand behind the totals once more, which rest on these rows.
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

// totals is the line that says what was computed, and of how many rows; empty where nothing was.
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
