package page

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/grid"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// rowsShown is the number of documents on a page of a table.
const rowsShown = 100

// Tables handles GET /tables: the tables over documents, and the form that creates one.
//
// ?namespace= fills in the form.
func (h *Handlers) Tables(c httpio.Context) error {
	return h.tablesPage(c, http.StatusOK, views.TablesPage{Namespace: c.QueryParam("namespace")})
}

func (h *Handlers) tablesPage(c httpio.Context, status int, p views.TablesPage) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	var err error
	if p.Tables, err = h.Store.Grids(ctx, scope); err != nil {
		return err
	}
	if p.Namespaces, err = h.Library.Namespaces(ctx, scope, maxNamespaces); err != nil {
		return err
	}
	p.Models, p.Now = h.Models(), time.Now()
	return h.show(c, status, views.Page{Title: views.TablesTitle.In(ctx), Place: "tables"}, views.Tables(p))
}

// MakeTable handles POST /tables: the form previews a table, and then creates it. On an error it keeps its input.
//
// Without do=make it only shows the plan, since a table may be expensive. It answers 303 to the new table.
func (h *Handlers) MakeTable(c httpio.Context, form url.Values) error {
	p := views.TablesPage{
		Name: form.Get("name"), Columns: form.Get("columns"), Namespace: form.Get("namespace"),
		Model: form.Get("model"),
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	wanted := grid.Spec{Name: p.Name, Columns: columnsOf(p.Columns), Namespace: p.Namespace, Model: p.Model}
	do := h.Tabler.Plan
	if form.Get("do") == "make" {
		do = h.Tabler.Create
	}
	g, err := do(ctx, scope, wanted)
	switch {
	case err == nil && g.ID != "":
		return c.Redirect(http.StatusSeeOther, "/tables/"+g.ID)
	case err == nil:
		p.Plan = &g
		return h.tablesPage(c, http.StatusOK, p)
	}
	// Only errors that a user can fix show the form again.
	problem := httpio.AsError(err)
	if problem.Code == chat.CodeInternal || ctx.Err() != nil {
		return err
	}
	p.Said = problem.Message
	return h.tablesPage(c, httpio.Status(problem.Code), p)
}

// columnsOf parses the form's columns: one per line, a name and, after a colon and a space, its question.
//
// Empty lines are ignored. The limit on their number is checked when the table is created.
func columnsOf(text string) (columns []chat.GridColumn) {
	for line := range strings.Lines(text) {
		name, question, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name != "" {
			columns = append(columns, chat.GridColumn{Name: name, Question: question})
		}
	}
	return columns
}

// Table handles GET /tables/{id}.
//
// ?from= is the first row, from 0; it is rounded down to the start of a page. The page reloads while the table is
// filled.
func (h *Handlers) Table(c httpio.Context) error {
	p, err := h.tablePage(c, 0)
	if err != nil {
		return err
	}
	return h.show(c, http.StatusOK, views.Page{
		Title: p.Grid.Name, Place: "tables", Running: p.Grid.State == chat.GridFilling,
	}, views.Table(p))
}

// TableCells handles GET /tables/{id}/cells for the page's script: the table's progress, and the cells that changed
// after those of the page.
func (h *Handlers) TableCells(c httpio.Context) error {
	after, err := httpio.LastSeen(c.Request())
	if err != nil {
		return err
	}
	p, err := h.tablePage(c, after)
	if err != nil {
		return err
	}
	return httpio.Show(c, http.StatusOK, views.TableChanges(p))
}

// tablePage reads a page of a table with the cells that changed after a Seq.
func (h *Handlers) tablePage(c httpio.Context, after int64) (p views.TablePage, err error) {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	from, err := httpio.QueryInt(c, "from", 0, 0, chat.MaxGridRows)
	if err != nil {
		return p, err
	}
	// The table is read before its cells: if it is done, its cells are complete.
	if p.Grid, err = h.Store.Grid(ctx, scope, c.Param("id")); err != nil {
		return p, err
	}
	cells, err := h.Store.GridCells(ctx, scope, p.Grid.ID, after)
	if err != nil {
		return p, err
	}
	// Pages start at multiples of rowsShown, so that their links are stable.
	p.After, p.From = after, from-from%rowsShown
	p.To = min(p.From+rowsShown, len(p.Grid.Rows))
	// The number counts changes of the whole table, including rows that are not shown.
	for _, cell := range cells {
		p.After = max(p.After, cell.Seq)
	}
	p.Step, p.Cells = rowsShown, slices.DeleteFunc(cells, func(cell chat.GridCell) bool {
		return cell.Row < p.From || cell.Row >= p.To
	})
	return p, nil
}

// TableCell handles GET /tables/{id}/cells/{row}/{column}: one cell with its quotes, for reading and editing.
//
// It fails with 404 for a cell outside the table. A deleted conversation of the cell is left out.
func (h *Handlers) TableCell(c httpio.Context) error {
	return h.cellPage(c, http.StatusOK, views.CellPage{})
}

func (h *Handlers) cellPage(c httpio.Context, status int, p views.CellPage) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	row, column, err := httpio.CellPlace(c)
	if err != nil {
		return err
	}
	if p.Grid, err = h.Store.Grid(ctx, scope, c.Param("id")); err != nil {
		return err
	}
	if !p.Grid.Has(row, column) {
		return httpio.NotFound("Cell not found in this table.")
	}
	if p.Cell, err = h.Store.GridCell(ctx, scope, p.Grid.ID, row, column); err != nil {
		return err
	}
	if p.Cell.RunID != "" {
		run, err := h.Store.Run(ctx, scope, p.Cell.RunID)
		switch {
		case err == nil:
			p.Session = run.SessionID
		case chat.CodeOf(err) != chat.CodeNotFound:
			return err
		}
	}
	p.Back = pageOfRow(p.Grid.ID, row)
	return h.show(c, status, views.Page{Title: p.Grid.Columns[column].Name, Place: "tables"}, views.Cell(p))
}

// pageOfRow returns the address of the table page with a row.
func pageOfRow(id string, row int) string {
	page := "/tables/" + id
	if from := row - row%rowsShown; from > 0 {
		page += "?from=" + strconv.Itoa(from)
	}
	return page
}

// CellRefused shows the form of a cell again, with a text that was refused.
func (h *Handlers) CellRefused(c httpio.Context, err error) error {
	if chat.CodeOf(err) != chat.CodeInvalid {
		return err
	}
	return h.cellPage(c, http.StatusBadRequest, views.CellPage{
		Typed: c.Request().PostForm.Get("text"), Said: chat.MessageOf(err),
	})
}
