package views

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// The text of the pages of tables over many documents.
var (
	TablesTitle   = locale.T("Tables")
	txtTablesWhat = locale.T("Ask the same questions about many documents. Each row is a document, and each " +
		"cell cites its quote.")
	txtTableNew        = locale.T("New table")
	txtTableColumns    = locale.T("Columns (one per line)")
	txtTableHelp       = locale.T("Enter a name. To specify the question, add it after a colon.")
	txtTableExample    = locale.T("Parties\nNotice period\nRent: What is the monthly rent?")
	txtTableName       = locale.T("Table name")
	txtTableOf         = locale.T("Documents")
	txtTableShow       = locale.T("Preview")
	txtTableMake       = locale.T("Create table")
	txtTableLimit      = locale.T("Stops after {n} model tokens. Resume to continue.")
	txtTableNone       = locale.T("No tables yet.")
	txtTableStop       = locale.T("Stop")
	txtTableResume     = locale.T("Resume")
	txtTableStopped    = locale.T("Stopped")
	txtTableFilling    = locale.T("Running")
	txtTableDone       = locale.T("Done")
	txtTableOne        = locale.T("Document")
	txtTableMore       = locale.T("Table pages")
	txtCellWaiting     = locale.T("queued")
	txtCellAbsent      = locale.T("No answer found.")
	txtCellClosest     = locale.T("closest match")
	txtCellClosestHelp = locale.T("Closest passage in the document. It may not answer the question.")
	txtCellFailed      = locale.T("Failed:")
	txtCellEdited      = locale.T("edited")
	txtCellFound       = locale.T("Original answer:")
	txtCellText        = locale.T("Cell text")
	txtCellBack        = locale.T("Revert edit")
	txtCellHow         = locale.T("View run")
	txtCellRests       = locale.T("Sources")
	txtCellOpen        = locale.T("Open cell: {column}, {document}")
	txtTableBack       = locale.T("Back to table")
	txtTableSure       = locale.T("Deletes the table and its runs. Documents are kept.")
	txtTablesWay       = locale.T("Ask the same questions about many documents.")
	tableDocuments     = locale.N("{n} document", "{n} documents")
	tableColumns       = locale.N("{n} column", "{n} columns")
	tableCells         = locale.N("{n} cell", "{n} cells")
	tokensTaken        = locale.N("{n} model token", "{n} model tokens")
	tableRows          = locale.N("and {n} more document", "and {n} more documents")
	txtTableProgress   = locale.T("{done} of {total} cells")
	txtTableRange      = locale.T("Documents {from} to {to}")
)

// tablesOf returns the URL of the form that adds a table of a namespace's documents.
func tablesOf(namespace string) string {
	if namespace == "" {
		return "/tables"
	}
	return "/tables?" + url.Values{"namespace": {namespace}}.Encode()
}

// TablesPage is the data of the list of tables and the form that adds one.
type TablesPage struct {
	Tables     []chat.Grid // newest first
	Namespaces []string
	Models     []string // the default first
	Now        time.Time

	Name, Columns, Namespace, Model string         // as typed
	Plan                            *chat.Grid     // a preview of the table; nil: not requested
	Said                            locale.Message // the error message
}

// planned is the number of a plan's documents that are listed by title. The rest is a count.
const planned = 8

// costs reports whether filling the planned table uses a model's tokens.
//
// It requires a Plan. The offline model uses no tokens.
func (p TablesPage) costs() bool {
	if p.Plan.Model != "" {
		return p.Plan.Model != OfflineModel
	}
	return p.Models[0] != OfflineModel
}

// tableSize returns the number of documents, columns and cells of a table.
func tableSize(ctx context.Context, g chat.Grid) string {
	return tableDocuments.Count(ctx, len(g.Rows)) + " × " + tableColumns.Count(ctx, len(g.Columns)) + " = " +
		tableCells.Count(ctx, g.Cells())
}

// tableState returns the text of a table's state and progress.
func tableState(ctx context.Context, g chat.Grid) string {
	state := txtTableDone
	switch g.State {
	case chat.GridFilling:
		state = txtTableFilling
	case chat.GridStopped:
		state = txtTableStopped
	case chat.GridDone:
		return state.In(ctx)
	}
	return state.In(ctx) + ": " + txtTableProgress.Say(ctx, locale.Digits(ctx, g.Done), locale.Digits(ctx, g.Cells()))
}

// TablePage is a page of a table's rows.
type TablePage struct {
	Grid     chat.Grid
	Cells    []chat.GridCell // of the rows shown; those changed since the page's version
	After    int64           // number of the last change
	From, To int             // range of the rows shown, without To
	Step     int             // rows per page
}

// url returns a URL below the table's own.
func (p TablePage) url(rest string) string { return "/tables/" + p.Grid.ID + rest }

// changesURL returns the URL that the page's script polls for changed cells.
func (p TablePage) changesURL() string {
	return p.url("/cells?after=" + strconv.FormatInt(p.After, 10) + "&from=" + strconv.Itoa(p.From))
}

// pages returns the first row of each page, if the table has several pages.
func (p TablePage) pages() (starts []int) {
	for from := 0; from < len(p.Grid.Rows) && len(p.Grid.Rows) > p.Step; from += p.Step {
		starts = append(starts, from)
	}
	return starts
}

// rangeOf returns the label of the rows on the page that starts at a row.
func (p TablePage) rangeOf(ctx context.Context, from int) string {
	to := min(from+p.Step, len(p.Grid.Rows))
	return txtTableRange.Say(ctx, locale.Digits(ctx, from+1), locale.Digits(ctx, to))
}

// CellID returns a cell's element id.
//
// Both numbers count from 0. Forms redirect to it as a fragment.
func CellID(row, column int) string { return "cell-" + strconv.Itoa(row) + "-" + strconv.Itoa(column) }

// cellPath returns the URL of a cell's page.
func cellPath(g chat.Grid, cell chat.GridCell) string {
	return "/tables/" + g.ID + "/cells/" + strconv.Itoa(cell.Row) + "/" + strconv.Itoa(cell.Column)
}

// cellName returns the accessible name of a cell's link.
func cellName(ctx context.Context, g chat.Grid, cell chat.GridCell) string {
	return txtCellOpen.Say(ctx, visible(g.Columns[cell.Column].Name), visible(g.Rows[cell.Row].Title))
}

// CellPage is the data of a cell's page, to read and edit the cell.
type CellPage struct {
	Grid    chat.Grid
	Cell    chat.GridCell
	Session string         // the session of the cell's run; empty: deleted
	Back    string         // the table's URL
	Typed   string         // a rejected text
	Said    locale.Message // its error message
}

// value returns the value of the cell's field: the rejected input, or the cell's value.
func (p CellPage) value() string {
	if p.Said != "" {
		return p.Typed
	}
	return p.Cell.Shown()
}
