package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/table"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// Bounds of an output. The bounds are those of an output that a model reads and of a table that the page draws.
//
// They are choices: 30 columns of 300 characters are some 9,000 characters for a row, and a page has room for eight
// columns beside each other.
const (
	maxOutputColumns = 30
	maxDrawnColumns  = 8
	maxOutputCell    = 300 // runes
)

// tableRow is a row of a result, with the number under which it is cited.
//
// Row counts from 1 as a spreadsheet does, so that a reader finds it there. Cells are in the order of the output's
// Columns.
type tableRow struct {
	N     int      `json:"n,omitempty"`
	Row   int      `json:"row"` // in the sheet
	Cells []string `json:"cells"`
}

// tableTotal is a value that was computed.
//
// Value is for programs and Shown for people; what an answer says is checked against both. Cells are those that had a
// value.
type tableTotal struct {
	What  string `json:"what"`
	Value string `json:"value"`          // in the form of JSON, a date in that of ISO 8601
	Shown string `json:"shown"`          // as the table writes it
	Unit  string `json:"unit,omitempty"` // a currency, "%", …
	Exact bool   `json:"exact"`
	Cells int    `json:"cells"` // that it was computed of
}

// tableGroup is a group of rows; N is the number of its first row.
//
// Group has the values by which its rows belong together, in the order of group_by.
type tableGroup struct {
	N      int          `json:"n,omitempty"`
	Group  []string     `json:"group"`
	Rows   int          `json:"rows"`
	Totals []tableTotal `json:"totals"`
}

// queryTableOutput is what a table was asked for.
//
// Totals are of all rows that matched, also of those that are not shown; Rows and Groups exclude each other. Notes are
// sentences about what was left out of a sum, and the like.
type queryTableOutput struct {
	DocID    string       `json:"doc_id"`
	Filename string       `json:"filename"`
	Table    string       `json:"table"`
	AllRows  int          `json:"rows_in_table"`
	Matched  int          `json:"rows_matched"`
	Totals   []tableTotal `json:"totals"`
	Groups   []tableGroup `json:"groups,omitempty"`
	Columns  []string     `json:"columns"` // of the rows: head and letter
	Rows     []tableRow   `json:"rows"`
	More     int          `json:"not_shown,omitempty"` // rows or groups
	Notes    []string     `json:"notes"`

	Passages []ShownPassage `json:"passages"` // the rows as they stand in the document
}

// ForModel tells the rows once.
func (o queryTableOutput) ForModel() any {
	o.Passages = nil
	return o
}

// titleOf is what people call a table: the heading above it, else its document.
func titleOf(doc corpus.Document, t *table.Table) string {
	if t.Section == "" {
		return doc.DisplayTitle()
	}
	return t.Name
}

// shownRows are the rows that an answer shows: of groups the first one of each, else the first ones.
func shownRows(a table.Answer) (rows []table.Row) {
	for _, g := range a.Groups {
		rows = append(rows, g.Rows[0])
	}
	if len(a.Groups) > 0 {
		return rows
	}
	return a.Used[:a.Shown]
}

// columnsShown are the columns that are shown, in their order: those that the query names, and others from the left.
//
// What the query is about must not fall out where a table has more columns than there is room for.
func columnsShown(a table.Answer, most int) (columns []int) {
	columns = slices.Clone(a.Columns[:min(len(a.Columns), most)])
	for i := range a.Table.Columns {
		if len(columns) >= most {
			break
		}
		if !slices.Contains(columns, i) {
			columns = append(columns, i)
		}
	}
	slices.Sort(columns)
	return columns
}

// cellsOf are some cells of a row, each cut to so many characters. Cells are one line each: a line break in one would
// break the table that is drawn.
func cellsOf(r table.Row, columns []int, most int) []string {
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = text.Shorten(r.Cell(c), most)
	}
	return cells
}

// newTableOutput numbers the rows that an answer shows, whose passages are given. A row without a passage, which a
// document that changed may leave, has the number 0.
//
// It is called once for each run, when the output is made, since it gives out numbers.
func newTableOutput(
	number Numberer, doc corpus.Document, a table.Answer, passages []corpus.Passage,
) queryTableOutput {
	out := queryTableOutput{
		DocID: doc.ID, Filename: doc.DisplayName(), Table: titleOf(doc, a.Table), AllRows: len(a.Table.Rows),
		Matched: a.Matched,
		Totals:  totalsOf(a.Totals), Rows: []tableRow{}, Notes: append([]string{}, a.Notes...),
		Passages: []ShownPassage{}, Columns: []string{},
	}
	for _, p := range passages {
		shown := ShownPassage{}
		if p.ID != "" {
			shown = showPassage(number, p, doc)
		}
		out.Passages = append(out.Passages, shown)
	}
	for i, g := range a.Groups {
		// The passages of groups are those of their first rows, in the same order.
		out.Groups = append(out.Groups, tableGroup{out.Passages[i].N, g.Values, len(g.Rows), totalsOf(g.Totals)})
	}
	if len(a.Groups) > 0 {
		out.More = a.Parted - len(a.Groups)
		return out
	}
	columns := columnsShown(a, maxOutputColumns)
	for _, c := range columns {
		column := a.Table.Columns[c]
		out.Columns = append(out.Columns, strings.TrimSpace(text.Shorten(column.Name, 80)+" ("+column.Letter+")"))
	}
	for i, r := range shownRows(a) {
		out.Rows = append(out.Rows, tableRow{out.Passages[i].N, r.Number, cellsOf(r, columns, maxOutputCell)})
	}
	out.More = a.Matched - len(out.Rows)
	return out
}

// totalsOf are totals as outputs have them.
func totalsOf(totals []table.Total) []tableTotal {
	out := make([]tableTotal, len(totals))
	for i, t := range totals {
		out[i] = tableTotal{t.Label, t.Plain, t.Shown, t.Unit, t.Exact, t.Cells}
	}
	return out
}

// stepResult draws the answer as a small table, whose rows are hits. A page draws at most maxDrawnColumns of them; the
// model sees up to maxOutputColumns. Hits and links stand in the order of the rows.
func (o queryTableOutput) stepResult(
	doc corpus.Document, a table.Answer, passages []corpus.Passage,
) chat.StepResult {
	r := chat.StepResult{
		Title: doc.DisplayTitle(), Query: o.Table, Found: a.Matched, Notes: o.Notes,
		Opened: []chat.OpenedPart{{DocumentID: doc.ID, Part: "table " + o.Table}},
		Table:  &chat.Table{More: o.More, Used: len(a.Used), Name: o.Table},
	}
	for _, t := range o.Totals {
		r.Table.Totals = append(r.Table.Totals, chat.Fact{Name: t.What, Value: t.Shown})
	}
	if len(a.Used) > 0 {
		r.Table.URL = rowsLink(doc, a.Used)
	}
	// The hit of a row opens the document at that row, and the row's cells link to the same place.
	for i, p := range passages {
		hit := chat.Hit{
			N: o.Passages[i].N, DocumentID: doc.ID, ChunkID: p.ID, BlockID: p.FirstBlock, Page: p.Page,
			Section: p.Section, Snippet: p.Text, Start: p.Start, End: p.End,
		}
		r.Hits = append(r.Hits, hit)
		r.Table.Links = append(r.Table.Links, hit.Link())
	}
	if len(a.Groups) > 0 {
		r.Table.Columns = slices.Concat(a.By, a.Labels)
		for _, g := range a.Groups {
			r.Table.Rows = append(r.Table.Rows, append(slices.Clone(g.Values), shownTotals(g.Totals, a.Labels)...))
		}
		return r
	}
	columns := columnsShown(a, maxDrawnColumns)
	for _, c := range columns {
		r.Table.Columns = append(r.Table.Columns, a.Table.Columns[c].Title())
	}
	for _, row := range shownRows(a) {
		r.Table.Rows = append(r.Table.Rows, cellsOf(row, columns, maxOutputCell))
	}
	return r
}

// shownTotals are totals under their labels; those of different units stand in one cell. For example two currencies in
// one column give two sums.
func shownTotals(totals []table.Total, labels []string) []string {
	out := make([]string, len(labels))
	for i, label := range labels {
		var values []string
		for _, t := range totals {
			if t.Label == label {
				values = append(values, t.Shown)
			}
		}
		out[i] = strings.Join(values, ", ")
	}
	return out
}

// computedOf is what an answer may say of a table without a row behind it: the totals, each in the forms in which it is
// written, and how many rows there are. A value is kept in every form in which an answer may write it: with and without
// separators, as a date in words.
func computedOf(output json.RawMessage) json.RawMessage {
	var out queryTableOutput
	if json.Unmarshal(output, &out) != nil {
		return nil
	}
	said := map[string][]string{"rows": {fmt.Sprint(out.Matched)}}
	add := func(totals []tableTotal) {
		for _, t := range totals {
			said[t.What] = append(said[t.What], t.Shown)
			said[t.What] = append(said[t.What], table.Written(t.Value)...)
		}
	}
	add(out.Totals)
	for _, g := range out.Groups {
		add(g.Totals)
		said["rows"] = append(said["rows"], fmt.Sprint(g.Rows))
	}
	raw, err := json.Marshal(said)
	if err != nil { // not reached: texts have a form
		return nil
	}
	return raw
}

// rowsLink opens a document at rows of a table, and marks them: as many as there is room for. Rows that follow each
// other are one range, so that long runs of rows take little room in an address.
//
// The rest of the rows is used all the same; only the marks in the viewer are fewer.
func rowsLink(doc corpus.Document, rows []table.Row) string {
	rows = slices.SortedFunc(slices.Values(rows), func(x, y table.Row) int { return x.Start - y.Start })
	var runs chat.Ranges
	for _, r := range rows {
		if n := len(runs); n > 0 && r.Start == runs[n-1][1]+1 {
			runs[n-1][1] = r.End
		} else if n <= chat.MaxRanges && r.End > r.Start {
			runs = append(runs, [2]int{r.Start, r.End})
		}
	}
	if len(runs) == 0 {
		return chat.Link{Document: doc.ID}.String()
	}
	return chat.Link{
		Document: doc.ID, Start: runs[0][0], End: runs[0][1], Also: runs[1:], Fragment: chat.FragmentCited,
	}.String()
}

// summaryOf is an answer in a few words: "3 rows, sum of Amount = 4,500 €". It has two totals at most, for one line.
func summaryOf(a table.Answer) string {
	said := english.Count(a.Matched, "row")
	if len(a.Groups) > 0 {
		return said + " in " + english.Count(a.Parted, "group")
	}
	for _, t := range a.Totals[:min(len(a.Totals), 2)] {
		said += ", " + text.Shorten(t.Label, 60) + " = " + t.Shown
	}
	return said
}
