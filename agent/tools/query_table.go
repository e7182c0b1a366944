package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/table"
)

//go:embed query_table.md
var queryTableDoc string

// queryTableSchema is a query in fixed fields and no language of its own. Its bounds (20 conditions, 10 functions, 5
// groups) are choices and not measured.
//
// A language of its own, such as SQL, would have to be parsed, bounded and explained to every model; fixed fields are
// checked by the schema, and what is wrong with one is told by its name.
const queryTableSchema = `{
	"type": "object", "additionalProperties": false, "required": ["document"],
	"properties": {
		"document": {"type": "string", "minLength": 1, "maxLength": 500,
			"description": "The document's id, title or file name"},
		"sheet": {"type": "string", "maxLength": 200,
			"description": "Name or number of the sheet or table; may be left out if only one has the columns"},
		"where": {"type": "array", "maxItems": 20, "description": "Conditions, all of which a row must fulfil",
			"items": {"type": "object", "additionalProperties": false, "required": ["column", "op"], "properties": {
				"column": {"type": "string", "minLength": 1, "maxLength": 300},
				"op": {"type": "string", "enum": ["=", "≠", "!=", "<", "≤", "<=", ">", "≥", ">=", "contains", "in",
					"between", "empty", "not empty"]},
				"value": {"type": ["string", "number", "boolean", "array"], "maxLength": 1000, "maxItems": 100,
					"items": {"type": ["string", "number", "boolean"], "maxLength": 1000},
					"description": "A list for in; two for between; dates like 2026-03-12, 2026-03 or 2026"}}}},
		"group_by": {"type": "array", "maxItems": 5, "items": {"type": "string", "minLength": 1, "maxLength": 300}},
		"compute": {"type": "array", "maxItems": 10,
			"items": {"type": "object", "additionalProperties": false, "required": ["function"], "properties": {
				"function": {"type": "string", "enum": ["count", "sum", "mean", "min", "max", "distinct"]},
				"column": {"type": "string", "maxLength": 300, "description": "May be left out for count"}}}},
		"order_by": {"type": "array", "maxItems": 5,
			"items": {"type": "object", "additionalProperties": false, "required": ["column"], "properties": {
				"column": {"type": "string", "minLength": 1, "maxLength": 300,
					"description": "A column; of groups also what is computed, like sum of Amount"},
				"descending": {"type": "boolean"}}}},
		"limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20,
			"description": "How many rows or groups to show"}
	}
}`

// tableTime is how long a table is asked at most. Longer than that the question is refused, so that the model asks for
// less. It is a choice.
const tableTime = 5 * time.Second

// queryTableInput are the arguments of query_table.
//
// Columns are named by their heads or by letters, as in a spreadsheet. An empty Sheet is any table that has the
// columns. Limit is 20 unless the model says otherwise.
type queryTableInput struct {
	Document string `json:"document"`
	Sheet    string `json:"sheet"`
	Where    []struct {
		Column string     `json:"column"`
		Op     string     `json:"op"`
		Value  cellValues `json:"value"`
	} `json:"where"`
	GroupBy []string `json:"group_by"`
	Compute []struct {
		Function table.Function `json:"function"`
		Column   string         `json:"column"`
	} `json:"compute"`
	OrderBy []table.Order `json:"order_by"`
	Limit   int           `json:"limit"`
}

// queryTable is the tool that asks tables: filters, counts and sums over all rows of one. What can't be asked is
// refused with the columns or tables that there are. Its rows are parts of passages, so that answers cite them. What it
// computes holds in answers as the result of a calculation does. The steps: find the document, read its tables, choose
// the one with the columns, ask it, then fetch the passages of the rows that are shown. A table.Refusal is a sentence
// for the model; any other error is ours.
func queryTable() (*Tool, error) {
	return definition[queryTableInput]{
		name: "query_table", action: chat.ActionCalculating, capability: chat.CapabilityQuery, unique: true,
		modelView: viewOf[queryTableOutput], retrieval: true, cached: true,
		doc: queryTableDoc, schema: queryTableSchema,
		aliases:    map[string]string{"doc_id": "document", "document_id": "document", "table": "sheet"},
		computed:   computedOf,
		vocabulary: queryTableInput.words,
		label: chat.Label{
			Doing: "Asking the table", Done: "Asked the table", Noun: "table question", Argument: "document",
			Form: chat.LabelTitle,
		},
		describe: func(d *Context, in queryTableInput) string {
			return "Asking the table " + d.displayName(in.Document)
		},
		run: func(ctx context.Context, d *Context, in queryTableInput) (Result, error) {
			doc, why, err := d.Resolve(ctx, in.Document)
			if err != nil {
				return Result{}, fmt.Errorf("find document: %w", err)
			}
			if why != "" {
				return refusedResult("%s", why)
			}
			answer, err := d.askTable(ctx, doc, in.query())
			if why, ok := errors.AsType[table.Refusal](err); ok {
				return refusedResult("%s", why.Error())
			}
			if err != nil {
				return Result{}, err
			}
			rows, err := d.passagesOfRows(ctx, doc, answer)
			if err != nil {
				return Result{}, err
			}
			return Result{
				Message: "Asked the table " + doc.DisplayName(), Summary: summaryOf(answer),
				Output: func(number Numberer) (any, chat.StepResult) {
					out := newTableOutput(number, doc, answer, rows)
					return out, out.stepResult(doc, answer, rows)
				},
				SourceChanges: SourceChanges{Documents: []corpus.Document{doc}},
			}, nil
		},
	}.buildTool()
}

// askTable reads the tables of a document and asks the one that a query is about. The table is read from the stored
// text and blocks, so every row is a place that can be cited (docs/decisions/citations.md). The time counts for asking
// alone, not for reading text and blocks. When the run itself is out of time, that is no refusal.
func (d *Context) askTable(ctx context.Context, doc corpus.Document, q table.Query) (table.Answer, error) {
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
	// The run's own end is told apart from the table's: only the second is something the model can do anything about.
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
	// A row whose passage is gone stays in the answer, without a number.
	for i, r := range shown {
		if passages[i].ID != "" {
			passages[i] = passages[i].Cut(r.Start, r.End, a.Table.SectionOf(r))
		}
	}
	return passages, nil
}
