package grid

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// Spec is the specification of a table.
type Spec struct {
	Name        string
	Columns     []chat.GridColumn
	Namespace   string   // namespace of the documents; empty: all of the user's
	DocumentIDs []string // limits the documents; empty: all of the namespace
	Model       string   // the model to ask; empty: the default
	MaxTokens   int64    // 0: chat.GridTokens
}

// Plan returns the table that Make would create, without storing it. Its rows are the documents that are ready now.
// It returns CodeInvalid for invalid columns or too many rows, and CodeConflict if no document is ready.
func (f *Filler) Plan(ctx context.Context, s chat.Scope, w Spec) (chat.Grid, error) {
	g := chat.Grid{
		Name: clean(w.Name), User: s.User, Model: w.Model, State: chat.GridFilling, MaxTokens: w.MaxTokens,
	}
	if g.MaxTokens == 0 {
		g.MaxTokens = chat.GridTokens
	}
	var err error
	if g.Columns, err = columnsOf(w.Columns); err != nil {
		return g, err
	}
	switch {
	case g.MaxTokens < 0:
		return g, invalid("max_tokens must be 1 or more.")
	case utf8.RuneCountInString(g.Name) > chat.MaxGridName:
		return g, invalid(locale.Say("The table's name must have at most {1} characters.", chat.MaxGridName))
	case g.Name == "":
		g.Name = nameOf(g.Columns)
	}
	if err := f.cfg.Library.CheckNamed(ctx, s, w.Namespace, w.DocumentIDs); err != nil {
		return g, err
	}
	if w.Namespace != "" {
		s = s.In(w.Namespace)
	}
	// One page of MaxGridRows documents: a cursor means that there are more.
	list, more, err := f.cfg.Library.List(ctx, s, corpus.Filter{
		States: []corpus.State{corpus.StateReady}, IDs: w.DocumentIDs, Sort: "title", Limit: chat.MaxGridRows,
	})
	switch {
	case err != nil:
		return g, err
	case more != "":
		return g, invalid(locale.Say(
			"These are more than {1} documents, which is as many rows as a table can have. Choose a namespace or some "+
				"of the documents.", chat.MaxGridRows,
		))
	case len(list) == 0:
		return g, &chat.Error{
			Code: chat.CodeConflict, Message: "There is no document yet that can be read. Add some first.",
		}
	}
	for _, d := range list {
		g.Rows = append(g.Rows, chat.GridRow{DocumentID: d.ID, Title: d.Title})
	}
	return g, nil
}

// nameOf returns a default name for a table: the names of its columns.
func nameOf(columns []chat.GridColumn) string {
	names := make([]string, 0, len(columns))
	for _, c := range columns {
		names = append(names, c.Name)
	}
	name := []rune(strings.Join(names, ", "))
	return string(name[:min(len(name), chat.MaxGridName)])
}

// columnsOf validates the columns of a table. Their questions have the limits of any question: length and
// characters.
func columnsOf(wanted []chat.GridColumn) (columns []chat.GridColumn, err error) {
	for _, c := range wanted {
		c.Name, c.Question = clean(c.Name), strings.TrimSpace(c.Question)
		switch {
		case c.Name == "":
			return nil, invalid("Every column needs a name.")
		case utf8.RuneCountInString(c.Name) > chat.MaxGridName:
			return nil, invalid(locale.Say(
				"A column's name must have at most {1} characters. Put the rest into its question.", chat.MaxGridName,
			))
		}
		if err := (chat.RunRequest{Message: c.Asked()}).Validate(); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	switch {
	case len(columns) == 0:
		return nil, invalid("Name at least one column, such as “Notice period”.")
	case len(columns) > chat.MaxGridColumns:
		return nil, invalid(locale.Say("A table has at most {1} columns.", chat.MaxGridColumns))
	}
	return columns, nil
}

// clean normalises a name to one line.
func clean(name string) string { return strings.Join(strings.Fields(name), " ") }

// invalid returns an error for an invalid request.
func invalid(message locale.Message) error {
	return &chat.Error{Code: chat.CodeInvalid, Message: message}
}

// Create creates a table and schedules its filling.
func (f *Filler) Create(ctx context.Context, s chat.Scope, w Spec) (chat.Grid, error) {
	g, err := f.Plan(ctx, s, w)
	if err != nil {
		return g, err
	}
	g.DueAt = time.Now()
	g, err = f.cfg.Store.AddGrid(ctx, s, g)
	f.loop.Wake()
	return g, err
}

// Stop stops the filling of a table. Active cells are stored when they are done.
func (f *Filler) Stop(ctx context.Context, s chat.Scope, id string) (chat.Grid, error) {
	return f.cfg.Store.ChangeGrid(ctx, s, id, func(g *chat.Grid) error {
		if g.State == chat.GridFilling {
			g.State, g.DueAt, g.Trouble = chat.GridStopped, time.Time{}, ""
		}
		return nil
	})
}

// Resume continues the filling of a table: waiting and failed cells. If the table's token limit is exhausted, it is
// raised.
func (f *Filler) Resume(ctx context.Context, s chat.Scope, id string) (chat.Grid, error) {
	cells, err := f.cfg.Store.GridCells(ctx, s, id, 0)
	if err != nil {
		return chat.Grid{}, err
	}
	for _, cell := range cells {
		if cell.State == chat.CellFailed {
			// A cell whose state has changed since it was read is left unchanged.
			still := func(c chat.GridCell) bool { return c.State == cell.State }
			if err := f.empty(ctx, s, id, cell, still); err != nil {
				return chat.Grid{}, err
			}
		}
	}
	// The limit is raised by that of a new table.
	g, err := f.cfg.Store.ChangeGrid(ctx, s, id, func(g *chat.Grid) error {
		g.State, g.DueAt, g.Trouble, g.Failed = chat.GridFilling, time.Now(), "", 0
		if g.Tokens >= g.MaxTokens {
			g.MaxTokens = g.Tokens + chat.GridTokens
		}
		return nil
	})
	f.loop.Wake()
	return g, err
}

// RetryCell empties one cell and asks it again. A user's text in it is removed.
func (f *Filler) RetryCell(ctx context.Context, s chat.Scope, id string, row, column int) (chat.Grid, error) {
	cell := chat.GridCell{Row: row, Column: column}
	if err := f.empty(ctx, s, id, cell, func(c chat.GridCell) bool { return c.State != chat.CellWaiting }); err != nil {
		return chat.Grid{}, err
	}
	return f.Resume(ctx, s, id)
}

// empty sets a cell to waiting if it satisfies the condition.
func (f *Filler) empty(
	ctx context.Context, s chat.Scope, id string, cell chat.GridCell, wanted func(chat.GridCell) bool,
) error {
	_, err := f.cfg.Store.ChangeGridCell(ctx, s, id, cell.Row, cell.Column, func(c *chat.GridCell) error {
		if !wanted(*c) {
			return errNotWaiting
		}
		*c = chat.GridCell{State: chat.CellWaiting, Turn: c.Turn + 1}
		return nil
	})
	if errors.Is(err, errNotWaiting) {
		return nil
	}
	return err
}

// Edit replaces a cell's extracted text with a user's text; nil restores the extracted text.
func (f *Filler) Edit(
	ctx context.Context, s chat.Scope, id string, row, column int, text *string,
) (chat.GridCell, error) {
	if text != nil {
		trimmed := strings.TrimSpace(*text)
		if utf8.RuneCountInString(trimmed) > chat.MaxGridText {
			return chat.GridCell{}, invalid(locale.Say("A cell has at most {1} characters.", chat.MaxGridText))
		}
		text = &trimmed
	}
	return f.cfg.Store.ChangeGridCell(ctx, s, id, row, column, func(c *chat.GridCell) error {
		if text != nil && *text == c.Text {
			text = nil // it equals the extracted text
		}
		c.Edited = text
		return nil
	})
}

// Delete deletes a table and the runs that filled it. The grid is deleted first, so that no server fills it meanwhile.
// An error of deleting a session is logged, and the remaining sessions are kept.
func (f *Filler) Delete(ctx context.Context, s chat.Scope, id string) error {
	cells, err := f.cfg.Store.GridCells(ctx, s, id, 0)
	if err != nil {
		return err
	}
	if err := f.cfg.Store.DropGrid(ctx, s, id); err != nil {
		return err
	}
	for _, cell := range cells {
		// Each turn of a cell has its own session.
		for turn := range cell.Turn + 1 {
			cell.Turn = turn
			err := f.cfg.Store.DeleteSession(ctx, s, sessionOf(id, cell))
			if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
				f.cfg.Log.WarnContext(ctx, "could not delete the runs of a deleted table", "table", id, "error", err)
				return nil
			}
		}
	}
	return nil
}
