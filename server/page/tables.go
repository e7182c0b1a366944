package page

import (
	"context"
	"net/http"
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
	frame, err := h.pageFrame(c, views.TablesTitle.In(ctx))
	if err != nil {
		return err
	}
	frame.Place = "tables"
	return h.showPage(c, status, frame, views.Tables(p), nil)
}

// MakeTable handles POST /tables: the form previews a table, and then creates it. On an error it keeps its input.
//
// Without do=make it only shows the plan, since a table may be expensive. It answers 303 to the new table.
func (h *Handlers) MakeTable(c httpio.Context) error {
	if err := h.Bodies.ReadForm(c); err != nil {
		return err
	}
	form := c.Request().PostForm
	p := views.TablesPage{
		Name: form.Get("name"), Columns: form.Get("columns"), Namespace: form.Get("namespace"),
		Model: form.Get("model"),
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	wanted := grid.Wanted{Name: p.Name, Columns: columnsOf(p.Columns), Namespace: p.Namespace, Model: p.Model}
	var err error
	if form.Get("do") == "make" {
		var g chat.Grid
		if g, err = h.Tabler.Make(ctx, scope, wanted); err == nil {
			return c.Redirect(http.StatusSeeOther, "/tables/"+g.ID)
		}
	} else {
		var g chat.Grid
		if g, err = h.Tabler.Plan(ctx, scope, wanted); err == nil {
			p.Plan = &g
			return h.tablesPage(c, http.StatusOK, p)
		}
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
	frame, err := h.pageFrame(c, p.Grid.Name)
	if err != nil {
		return err
	}
	frame.Place, frame.Running = "tables", p.Grid.State == chat.GridFilling
	return h.showPage(c, http.StatusOK, frame, views.Table(p), nil)
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

// ActOnTable handles POST /tables/{id}/act: a button of a table.
//
// It answers 303 to the table, or to the list after its deletion; 400 for an unknown button.
func (h *Handlers) ActOnTable(c httpio.Context) error {
	if err := h.Bodies.ReadForm(c); err != nil {
		return err
	}
	ctx, scope, id := c.Request().Context(), httpio.Scope(c), c.Param("id")
	var err error
	switch c.Request().PostForm.Get("do") {
	case "stop":
		_, err = h.Tabler.Stop(ctx, scope, id)
	case "resume":
		_, err = h.Tabler.Resume(ctx, scope, id)
	case "delete":
		if err = h.Tabler.Drop(ctx, scope, id); err == nil {
			return c.Redirect(http.StatusSeeOther, "/tables")
		}
	default:
		err = errUnknownButton
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/tables/"+id)
}

// errUnknownButton is the error for a form of an outdated page.
var errUnknownButton = httpio.Invalid("The button is not known here. Open the page again.")

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
		return httpio.NotFound("This table has no such cell.")
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
	frame, err := h.pageFrame(c, p.Grid.Columns[column].Name)
	if err != nil {
		return err
	}
	frame.Place = "tables"
	return h.showPage(c, status, frame, views.Cell(p), nil)
}

// pageOfRow returns the address of the table page with a row.
func pageOfRow(id string, row int) string {
	page := "/tables/" + id
	if from := row - row%rowsShown; from > 0 {
		page += "?from=" + strconv.Itoa(from)
	}
	return page
}

// ChangeCell handles POST /tables/{id}/cells/{row}/{column}: a form that edits a cell, reverts the edit, or asks
// again.
//
// It answers 303 to the cell in its table. An invalid text is shown again with 400.
func (h *Handlers) ChangeCell(c httpio.Context) error {
	if err := h.Bodies.ReadForm(c); err != nil {
		return err
	}
	row, column, err := httpio.CellPlace(c)
	if err != nil {
		return err
	}
	form, id := c.Request().PostForm, c.Param("id")
	edit := func(ctx context.Context, text *string) error {
		_, err := h.Tabler.Edit(ctx, httpio.Scope(c), id, row, column, text)
		return err
	}
	ctx := c.Request().Context()
	switch form.Get("do") {
	case "save":
		text := form.Get("text")
		err = edit(ctx, &text)
		if problem := httpio.AsError(err); err != nil && problem.Code == chat.CodeInvalid {
			return h.cellPage(c, http.StatusBadRequest, views.CellPage{Typed: text, Said: problem.Message})
		}
	case "back":
		err = edit(ctx, nil)
	case "ask":
		_, err = h.Tabler.AskAgain(ctx, httpio.Scope(c), id, row, column)
	default:
		err = errUnknownButton
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, pageOfRow(id, row)+"#"+views.CellID(row, column))
}
