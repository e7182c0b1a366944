package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/table"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// queryTableParams is a query in fixed fields. Its limits (20 conditions, 10 functions, 5 groups) were not measured.
//
// A query language such as SQL would have to be parsed, limited and explained to every model. The schema validates
// fixed fields, and a validation error names the field.
var queryTableParams = []param{
	docID("document!").also("doc_id").as("doc_id"),
	textParam("sheet", 200, "Name or number of the sheet or table; may be left out if only one has the columns").
		also("table"),
	property("where", `{"type": "array", "maxItems": 20, "description": "Conditions, all of which a row must fulfil",
		"items": {"type": "object", "additionalProperties": false, "required": ["column", "op"], "properties": {
			"column": {"type": "string", "minLength": 1, "maxLength": 300},
			"op": {"type": "string", "enum": ["=", "≠", "!=", "<", "≤", "<=", ">", "≥", ">=", "contains", "in",
				"between", "empty", "not empty"]},
			"value": {"type": ["string", "number", "boolean", "array"], "maxLength": 1000, "maxItems": 100,
				"items": {"type": ["string", "number", "boolean"], "maxLength": 1000},
				"description": "A list for in; two for between; dates like 2026-03-12, 2026-03 or 2026"}}}}`),
	property("group_by", `{"type": "array", "maxItems": 5,
		"items": {"type": "string", "minLength": 1, "maxLength": 300}}`),
	property("compute", `{"type": "array", "maxItems": 10,
		"items": {"type": "object", "additionalProperties": false, "required": ["function"], "properties": {
			"function": {"type": "string", "enum": ["count", "sum", "mean", "min", "max", "distinct", "difference"],
				"description": "difference: highest minus lowest, such as of two rows"},
			"column": {"type": "string", "maxLength": 300, "description": "May be left out for count"}}}}`),
	property("order_by", `{"type": "array", "maxItems": 5,
		"items": {"type": "object", "additionalProperties": false, "required": ["column"], "properties": {
			"column": {"type": "string", "minLength": 1, "maxLength": 300,
				"description": "A column; of groups also what is computed, like sum of Amount"},
			"descending": {"type": "boolean"}}}}`),
	property("position", `{"type": "string", "enum": ["first", "last", "next", "previous"], "description":
		"The first or last rows, one without limit, by order_by; or those right below or above the fitting ones"}`),
	count("limit", 100, 20, "How many rows or groups to show"),
}

// tableTime is the timeout of a table query. A query that exceeds it is refused, so that the model sends a smaller
// one. The value was not measured.
const tableTime = 5 * time.Second

// tableArgs holds the arguments of query_table.
//
// Columns are identified by their heads or by letters, as in a spreadsheet. An empty Sheet is any table that has the
// columns. The default of Limit is 20.
type tableArgs struct {
	Sheet string `json:"sheet"`
	Where []struct {
		Column string     `json:"column"`
		Op     string     `json:"op"`
		Value  cellValues `json:"value"`
	} `json:"where"`
	GroupBy []string          `json:"group_by"`
	Compute []table.Aggregate `json:"compute"`
	OrderBy []table.Order     `json:"order_by"`
	Pick    table.Pick        `json:"position"`
	Limit   int               `json:"limit"`
}

// queryTable queries tables: filters, counts and sums over all rows of one table. An invalid query is refused with the
// columns or tables that exist. Its rows are parts of passages, so that answers cite them. The steps: find the
// document, parse its tables, choose the table with the columns, run the query, fetch the passages of the shown rows.
func queryTable(ctx context.Context, d *Context, in args) (Result, error) {
	doc, err := d.find(ctx, in.DocID)
	if err != nil {
		return Result{}, err
	}
	answer, err := d.queryDocument(ctx, doc, in.query())
	if why, ok := errors.AsType[table.Refusal](err); ok {
		return Result{}, refusal(why)
	}
	if err != nil {
		return Result{}, err
	}
	rows, err := d.passagesOfRows(ctx, doc, answer)
	if err != nil {
		return Result{}, err
	}
	return Result{
		Message: locale.Say("Queried the table {1}", doc.DisplayName()), Summary: summaryOf(answer),
		Output: func(number Numberer) (any, chat.StepResult) {
			return tableResult(number, doc, answer, rows)
		},
		SourceChanges: SourceChanges{Documents: []corpus.Document{doc}},
	}, nil
}

// queryDocument parses the tables of a document and runs a query on the matching one. The tables are parsed from the
// stored text and blocks, so every row has a location that can be cited (docs/decisions/citations.md). The timeout
// does not include fetching text and blocks. A run that exceeds its own deadline gets an error, not a refusal.
func (d *Context) queryDocument(ctx context.Context, doc corpus.Document, q table.Query) (table.Answer, error) {
	if doc.Passages == 0 {
		return table.Answer{}, table.Refusal(doc.DisplayName() + " has no text that could be asked.")
	}
	text, err := d.Library.Text(ctx, d.ReadScope(), doc.ID)
	if err != nil {
		return table.Answer{}, fmt.Errorf("text of a document: %w", err)
	}
	blocks, err := d.Library.Blocks(ctx, d.ReadScope(), doc.ID)
	if err != nil {
		return table.Answer{}, fmt.Errorf("blocks of a document: %w", err)
	}
	work, stop := context.WithTimeout(ctx, tableTime)
	defer stop()
	tables := table.Read(text, blocks)
	t, err := table.Choose(tables, q)
	if err != nil {
		return table.Answer{}, err
	}
	answer, err := t.Ask(work, q, doc.Language)
	// Only the table's own timeout is a refusal, since the model can correct it; the run's deadline is an error.
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return table.Answer{}, table.Refusal("The table is too large to be asked this. Ask with fewer conditions, " +
			"functions or groups.")
	}
	return answer, err
}

// passagesOfRows returns the passages of the rows that an answer shows, each cut to its row.
func (d *Context) passagesOfRows(ctx context.Context, doc corpus.Document, a table.Answer) ([]corpus.Passage, error) {
	shown := shownRows(a)
	offsets := make([]int, len(shown))
	for i, r := range shown {
		offsets[i] = r.Start
	}
	passages, err := d.Library.PassagesAt(ctx, d.ReadScope(), doc.ID, offsets)
	if err != nil {
		return nil, fmt.Errorf("passages of rows: %w", err)
	}
	// A row whose passage was deleted stays in the answer, without a number.
	for i, r := range shown {
		if passages[i].ID != "" {
			passages[i] = passages[i].Cut(r.Start, r.End, a.Table.SectionOf(r))
		}
	}
	return passages, nil
}

// cellValues are the values of a condition: one value or a list of texts, numbers or booleans.
//
// They are kept unparsed, since only the compared column determines whether they are numbers, dates or texts.
type cellValues []table.Value

// UnmarshalJSON decodes one value or a list. It never fails, since the schema has validated the value. Numbers keep
// their digits.
func (v *cellValues) UnmarshalJSON(raw []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, one := range list {
		var said string
		var number json.Number
		switch {
		case json.Unmarshal(one, &said) == nil:
			*v = append(*v, table.Value{Text: said})
		case json.Unmarshal(one, &number) == nil:
			*v = append(*v, table.Value{Number: number.String()})
		default: // true or false
			*v = append(*v, table.Value{Text: string(one)})
		}
	}
	return nil
}

// operators maps aliases of operators to those of package table. The schema lists them, too.
var operators = map[string]table.Op{"!=": table.Unequal, "<=": table.AtMost, ">=": table.AtLeast}

// query converts the arguments to a table.Query. Values of “empty” and “not empty” are dropped, as models send some
// although none are needed.
func (in tableArgs) query() table.Query {
	q := table.Query{Sheet: in.Sheet, GroupBy: in.GroupBy, OrderBy: in.OrderBy, Limit: in.Limit, Compute: in.Compute,
		Pick: in.Pick}
	for _, c := range in.Where {
		op := table.Op(c.Op)
		if known, ok := operators[c.Op]; ok {
			op = known
		}
		condition := table.Condition{Column: c.Column, Op: op, Values: c.Value}
		if op == table.Empty || op == table.Filled {
			condition.Values = nil
		}
		q.Where = append(q.Where, condition)
	}
	return q
}

// functionWords are the words that answers use for the value of each function.
//
// A statement such as “altogether 4,500 €” is checked against a sum only if “altogether” is a word for sums.
var functionWords = map[table.Function]string{
	table.Count: "count number many", table.Sum: "sum total altogether", table.Mean: "mean average",
	table.Min: "lowest least smallest minimum first earliest", table.Max: "highest most largest maximum last latest",
	table.Distinct: "distinct different", table.Difference: "difference more less between apart",
}

// words returns the vocabulary of a query: its columns, values and functions.
func (in tableArgs) words() string {
	words := []string{in.Sheet, "row table column"}
	for _, c := range in.Where {
		words = append(words, c.Column)
		for _, v := range c.Value {
			words = append(words, v.Text, v.Number)
		}
	}
	words = append(words, in.GroupBy...)
	for _, a := range in.Compute {
		words = append(words, functionWords[a.Function], a.Column)
	}
	return strings.Join(words, " ")
}

// Limits of an output for the model and of the table that the page shows.
//
// They were not measured: 30 columns of 300 characters are some 9,000 characters for a row, and a page has room for
// eight columns.
const (
	maxOutputColumns = 30
	maxDrawnColumns  = 8
	maxOutputCell    = 300 // runes
)

// tableGroup is a group of rows; N is the number of its first row.
//
// Group holds the group's values, in the order of group_by.
type tableGroup struct {
	N      int           `json:"n,omitempty"`
	Group  []string      `json:"group"`
	Rows   int           `json:"rows"`
	Totals []table.Total `json:"totals"`
}

// queryTableOutput is the result of a table query.
//
// Totals are of all rows that matched, including rows that are not shown. Rows and Groups exclude each other. Notes
// are sentences, for example about values that a sum left out.
type queryTableOutput struct {
	DocID    string        `json:"doc_id"`
	Filename string        `json:"filename"`
	Table    string        `json:"table"`
	AllRows  int           `json:"rows_in_table"`
	Matched  int           `json:"rows_matched"`
	Totals   []table.Total `json:"totals"`
	Groups   []tableGroup  `json:"groups,omitempty"`
	Columns  []string      `json:"columns"`             // of the rows: head and letter
	Rows     []object      `json:"rows"`                // n, its number in the sheet, and its cells
	More     int           `json:"not_shown,omitempty"` // rows or groups
	Notes    []string      `json:"notes"`

	Passages []shownPassage `json:"passages"` // the shown rows as passages of the document
}

// shownRows returns the rows that an answer shows: the first row of each group, or the first rows.
func shownRows(a table.Answer) (rows []table.Row) {
	for _, g := range a.Groups {
		rows = append(rows, g.Rows[0])
	}
	if len(a.Groups) > 0 {
		return rows
	}
	return a.Used[:a.Shown]
}

// columnsShown returns the indexes of at most most columns, in their order: those that the query names, then others
// from the left.
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

// cellsOf returns cells of a row, each truncated and on one line. A line break would break the rendered table.
func cellsOf(r table.Row, columns []int) []string {
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = text.Shorten(r.Cell(c), maxOutputCell)
	}
	return cells
}

// tableResult returns the output and the step's result: a small table with its rows as hits. Its table has at most
// maxDrawnColumns columns; the model sees up to maxOutputColumns. It assigns numbers to the shown rows from their
// passages, in the order of the rows. A row without a passage, after the document changed, has the number 0.
func tableResult(
	number Numberer, doc corpus.Document, a table.Answer, passages []corpus.Passage,
) (any, chat.StepResult) {
	name := a.Table.Name
	if a.Table.Section == "" {
		name = doc.DisplayTitle()
	}
	out := queryTableOutput{
		DocID: doc.ID, Filename: doc.DisplayName(), Table: name, AllRows: len(a.Table.Rows), Matched: a.Matched,
		Totals: append([]table.Total{}, a.Totals...), Rows: []object{}, Notes: append([]string{}, a.Notes...),
		Passages: []shownPassage{}, Columns: []string{},
	}
	drawn := &chat.Table{Used: len(a.Used), Name: name}
	result := chat.StepResult{
		Title: doc.DisplayTitle(), Query: name, Found: a.Matched, Notes: out.Notes, Table: drawn,
		Opened: []chat.OpenedPart{{DocumentID: doc.ID, Part: "table " + name}},
	}
	// A row's hit opens the document at that row, and the row's cells link to the same place.
	for _, p := range passages {
		shown := shownPassage{}
		if p.ID != "" {
			shown = showPassage(number, p, doc)
		}
		out.Passages = append(out.Passages, shown)
		hit := chat.Hit{
			N: shown.N, DocumentID: doc.ID, ChunkID: p.ID, BlockID: p.FirstBlock, Page: p.Page, Section: p.Section,
			Snippet: p.Text, Start: p.Start, End: p.End,
		}
		result.Hits = append(result.Hits, hit)
		drawn.Links = append(drawn.Links, hit.Link())
	}
	for _, t := range a.Totals {
		drawn.Totals = append(drawn.Totals, chat.Fact{Name: t.Label, Value: t.Shown})
	}
	if len(a.Used) > 0 {
		drawn.URL = rowsLink(doc, a.Used)
	}
	if len(a.Groups) > 0 {
		out.More, drawn.Columns = a.Parted-len(a.Groups), slices.Concat(a.By, a.Labels)
		for i, g := range a.Groups { // the passages are those of their first rows
			totals := append([]table.Total{}, g.Totals...)
			out.Groups = append(out.Groups, tableGroup{out.Passages[i].N, g.Values, len(g.Rows), totals})
			drawn.Rows = append(drawn.Rows, append(slices.Clone(g.Values), shownTotals(totals, a.Labels)...))
		}
	} else {
		columns, few := columnsShown(a, maxOutputColumns), columnsShown(a, maxDrawnColumns)
		for _, c := range columns {
			column := a.Table.Columns[c]
			out.Columns = append(out.Columns, strings.TrimSpace(text.Shorten(column.Name, 80)+" ("+column.Letter+")"))
		}
		for _, c := range few {
			drawn.Columns = append(drawn.Columns, a.Table.Columns[c].Title())
		}
		for i, r := range shownRows(a) {
			out.Rows = append(out.Rows, pick("n row cells", map[string]any{
				"n": given(out.Passages[i].N), "row": r.Number, "cells": cellsOf(r, columns),
			}))
			drawn.Rows = append(drawn.Rows, cellsOf(r, few))
		}
		out.More = a.Matched - len(out.Rows)
	}
	drawn.More = out.More
	return out, result
}

// shownTotals joins the totals of each label in one cell. For example two currencies in one column give two sums.
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

// computedOf returns the values that an answer may state without a cited row: totals and numbers of rows. Each value
// is listed in every format an answer may use: with and without separators, a date in words.
func computedOf(output json.RawMessage) json.RawMessage {
	var out queryTableOutput
	if json.Unmarshal(output, &out) != nil {
		return nil
	}
	said := map[string][]string{"rows": {fmt.Sprint(out.Matched)}}
	add := func(totals []table.Total) {
		for _, t := range totals {
			said[t.Label] = append(said[t.Label], t.Shown)
			said[t.Label] = append(said[t.Label], table.Written(t.Plain)...)
		}
	}
	add(out.Totals)
	for _, g := range out.Groups {
		add(g.Totals)
		said["rows"] = append(said["rows"], fmt.Sprint(g.Rows))
	}
	raw, _ := json.Marshal(said) // strings can always be encoded
	return raw
}

// rowsLink returns a link that opens a document and highlights rows of a table, at most chat.MaxRanges further
// ranges. Adjacent rows are merged into one range, which keeps the URL short. Rows beyond the limit are used in the
// result but not highlighted.
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

// summaryOf formats an answer on one line with at most two totals: "3 rows, sum of Amount = 4,500 €".
func summaryOf(a table.Answer) locale.Message {
	said := english.Count(a.Matched, "row")
	if len(a.Groups) > 0 {
		return locale.Say("{1} in {2}", said, locale.Count(a.Parted, "group"))
	}
	for _, t := range a.Totals[:min(len(a.Totals), 2)] {
		said += ", " + text.Shorten(t.Label, 60) + " = " + t.Shown
	}
	return locale.Message(said)
}
