package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/footnote/footnote/agent/grid"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/export"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/sse"
)

// Tables serves the tables over documents.
type Tables struct {
	Store   chat.Store
	Filler  *grid.Filler // creates and fills them
	Streams *httpio.Streams
	Bodies  httpio.Bodies
}

// NewTable is the body of POST /agent/table.
type NewTable struct {
	Name string `json:"name" api:"max=chat.MaxGridName"` // The table name. Default: derived from the columns.
	// The questions about each document.
	Columns   []NewColumn `json:"columns" api:"need,min=1,max=chat.MaxGridColumns"`
	Namespace string      `json:"namespace" api:"form=namespace"`
	// Restricts the table to these documents. Default: all readable documents.
	DocumentIDs []string `json:"document_ids" api:"max=chat.MaxDocumentIDs"`
	Model       string   `json:"model"`                  // The model. Default: the server's default model.
	MaxTokens   *int64   `json:"max_tokens" api:"min=1"` // The token limit; filling stops there.
	Preview     bool     `json:"preview"`                // Preview the table without creating it.
}

// NewColumn is a column of a NewTable.
type NewColumn struct {
	Name string `json:"name" api:"need,filled,max=chat.MaxGridName"` // The column's name.
	// The question about each document. Default: the name.
	Question string `json:"question" api:"max=chat.MaxQuestion"`
}

// DocumentTable is a table over documents. Lists omit its cells.
type DocumentTable struct {
	ID        string            `json:"id,omitempty"` // The table ID; absent in a preview.
	Name      string            `json:"name"`
	State     chat.GridState    `json:"state"`             // Whether it is being filled.
	Trouble   string            `json:"trouble,omitempty"` // The reason why filling is paused.
	Model     string            `json:"model,omitempty"`
	CreatedAt *time.Time        `json:"created_at,omitempty"`
	Columns   []chat.GridColumn `json:"columns"`         // The questions about each document.
	Rows      []chat.GridRow    `json:"rows"`            // The documents when the table was created.
	Total     int               `json:"total"`           // The number of cells.
	Done      int               `json:"done"`            // The number of filled cells.
	Tokens    int64             `json:"tokens_used"`     // Model tokens used for filling.
	MaxTokens int64             `json:"max_tokens"`      // The token limit; filling stops there until it is resumed.
	Cells     []chat.GridCell   `json:"cells,omitempty"` // The cells, row by row; omitted cells are pending.
}

// TableList is the response of GET /tables.
type TableList struct {
	Tables []DocumentTable `json:"tables"` // The tables.
}

// CellEdit is the body of PATCH /tables/{id}/cells/{row}/{column}.
type CellEdit struct {
	// Overrides the extracted value. null restores the extracted value.
	Text *string `json:"text" api:"max=chat.MaxGridText"`
}

// newDocumentTable converts a grid to its API form, with the given cells.
func newDocumentTable(g chat.Grid, cells []chat.GridCell) DocumentTable {
	for i, cell := range cells {
		cells[i].Trouble = cell.Trouble.English()
	}
	return DocumentTable{
		ID: g.ID, Name: g.Name, State: g.State, Trouble: g.Trouble.String(), Model: g.Model,
		Columns: httpio.NotNil(g.Columns), Rows: httpio.NotNil(g.Rows), Total: g.Cells(), Done: g.Done,
		Tokens: g.Tokens, MaxTokens: g.MaxTokens, Cells: cells, CreatedAt: httpio.Known(g.CreatedAt),
	}
}

// Make handles POST /agent/table: 201 with a table that is filled in the background, or 200 with a preview.
//
// grid.Filler validates columns, documents and limits before anything is created.
func (a *Tables) Make(c httpio.Context) error {
	var body NewTable
	if err := a.Bodies.ReadJSON(c, &body); err != nil {
		return err
	}
	wanted := grid.Spec{
		Name: body.Name, Namespace: body.Namespace, DocumentIDs: body.DocumentIDs, Model: body.Model,
	}
	for _, column := range body.Columns {
		wanted.Columns = append(wanted.Columns, chat.GridColumn(column))
	}
	if body.MaxTokens != nil {
		// 0 would mean no tokens here and the default limit below, so it is refused.
		if *body.MaxTokens < 1 {
			return httpio.Invalid("max_tokens must be 1 or more.")
		}
		wanted.MaxTokens = *body.MaxTokens
	}
	do, status := a.Filler.Create, http.StatusCreated
	if body.Preview {
		do, status = a.Filler.Plan, http.StatusOK
	}
	g, err := do(c.Request().Context(), httpio.Scope(c), wanted)
	if err != nil {
		return err
	}
	return c.JSON(status, newDocumentTable(g, nil))
}

// List handles GET /tables.
func (a *Tables) List(c httpio.Context) (TableList, error) {
	all, err := a.Store.Grids(c.Request().Context(), httpio.Scope(c))
	return TableList{httpio.Each(all, func(g chat.Grid) DocumentTable { return newDocumentTable(g, nil) })}, err
}

// Get handles GET /tables/{id}.
func (a *Tables) Get(c httpio.Context) (DocumentTable, error) {
	g, cells, err := a.wholeTable(c)
	return newDocumentTable(g, cells), err
}

// wholeTable reads the requested table, with its cells row by row.
//
// The table is read before its cells: if it is done, its cells are complete.
func (a *Tables) wholeTable(c httpio.Context) (g chat.Grid, cells []chat.GridCell, err error) {
	ctx, scope, id := c.Request().Context(), httpio.Scope(c), c.Param("id")
	if g, err = a.Store.Grid(ctx, scope, id); err != nil {
		return g, nil, err
	}
	if cells, err = a.Store.GridCells(ctx, scope, id, 0); err != nil {
		return g, nil, err
	}
	slices.SortFunc(cells, func(a, b chat.GridCell) int {
		return (a.Row-b.Row)*chat.MaxGridColumns + a.Column - b.Column
	})
	return g, httpio.NotNil(cells), nil
}

// Steered returns the handler of a command to a table, such as Filler.Stop.
func (a *Tables) Steered(
	steer func(context.Context, chat.Scope, string) (chat.Grid, error),
) func(httpio.Context) (DocumentTable, error) {
	return func(c httpio.Context) (DocumentTable, error) {
		g, err := steer(c.Request().Context(), httpio.Scope(c), c.Param("id"))
		return newDocumentTable(g, nil), err
	}
}

// EditCell handles PATCH /tables/{id}/cells/{row}/{column}: a user's text overrides the extracted value.
func (a *Tables) EditCell(c httpio.Context, body CellEdit) (cell chat.GridCell, err error) {
	row, column, err := httpio.CellPlace(c)
	if err != nil {
		return cell, err
	}
	cell, err = a.Filler.Edit(c.Request().Context(), httpio.Scope(c), c.Param("id"), row, column, body.Text)
	cell.Trouble = cell.Trouble.English()
	return cell, err
}

// AskCell handles POST /tables/{id}/cells/{row}/{column}/ask.
func (a *Tables) AskCell(c httpio.Context) (t DocumentTable, err error) {
	row, column, err := httpio.CellPlace(c)
	if err != nil {
		return t, err
	}
	g, err := a.Filler.RetryCell(c.Request().Context(), httpio.Scope(c), c.Param("id"), row, column)
	return newDocumentTable(g, nil), err
}

// Export handles GET /tables/{id}/export: the current table as a file.
//
// The default format is a workbook. The file is complete before anything is sent.
func (a *Tables) Export(c httpio.Context) error {
	format := c.QueryParam("format")
	if format == "" {
		format = "xlsx"
	}
	if export.TableTypes[format] == "" {
		return httpio.Invalid("format must be xlsx, csv or json.")
	}
	g, cells, err := a.wholeTable(c)
	if err != nil {
		return err
	}
	download(c, fileName(g.Name)+"."+format)
	table := export.Table{Grid: g, Cells: cells, Origin: httpio.Origin(c)}
	var file []byte
	switch format {
	case "xlsx":
		file, err = table.XLSX()
	case "csv":
		file, err = table.CSV()
	default:
		return c.JSON(http.StatusOK, newDocumentTable(g, cells))
	}
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, export.TableTypes[format], file)
}

// tableLook is the polling interval of a streamed table: nothing notifies a table's readers. It trades latency
// against store queries.
const tableLook = 500 * time.Millisecond

// Events handles GET /tables/{id}/events. It streams a "table" event with the table, a "cell" event for each changed
// cell with its seq as the id, and a final "table_done" with the table once filling is over. A reconnecting reader
// resumes after its last cell.
func (a *Tables) Events(c httpio.Context) error {
	ctx, scope, id := c.Request().Context(), httpio.Scope(c), c.Param("id")
	after, err := httpio.LastSeen(c.Request())
	if err != nil {
		return err
	}
	g, err := a.Store.Grid(ctx, scope, id)
	if err != nil {
		return err
	}
	out, leave, err := a.Streams.Open(c)
	if out == nil {
		return err
	}
	defer leave()
	if err := sendTable(out, "table", g); err != nil {
		return nil
	}
	for {
		// The state is read before the cells: if the table is done, its cells are complete.
		if g, err = a.Store.Grid(ctx, scope, id); err != nil {
			return err // deleted meanwhile: the stream ends
		}
		cells, err := a.Store.GridCells(ctx, scope, id, after)
		if err != nil {
			return err
		}
		for _, cell := range cells {
			cell.Trouble = cell.Trouble.English()
			body, err := json.Marshal(cell)
			if err != nil {
				return err
			}
			if err := out.Send(sse.Append(nil, cell.Seq, "cell", body)); err != nil {
				return nil
			}
			after = cell.Seq
		}
		if g.State != chat.GridFilling {
			_ = sendTable(out, "table_done", g) // best effort: the reader may have disconnected
			return nil
		}
		if !httpio.Await(a.Streams, c, out, time.After(tableLook)) {
			return nil
		}
	}
}

// sendTable sends a table without its cells.
func sendTable(out *httpio.EventStream, event string, g chat.Grid) error {
	body, err := json.Marshal(newDocumentTable(g, nil))
	if err != nil {
		return err
	}
	return out.Send(sse.Append(nil, 0, event, body))
}
