package api

import (
	"encoding/json"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// tableLook is the time between two looks at a table that is followed.
// It is a choice between a table that looks alive and looks at the store: nothing wakes a reader of a table.
const tableLook = 500 * time.Millisecond

// TableEvents answers GET /tables/{id}/events: a "table" event with the table, a "cell" event for each cell that
// changed, numbered by its seq, and, when nothing is filled any more, "table_done" with the table, the last. A reader
// that comes back gets the cells that changed after the one it saw last.
//
// 404 for a table that the user does not have, 429 when no place for a stream is free.
func (a *Handlers) TableEvents(c httpio.Context) error {
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
		// The state is read before the cells: those of a table that is done are all there.
		if g, err = a.Store.Grid(ctx, scope, id); err != nil {
			return err // removed meanwhile: the stream just ends
		}
		cells, err := a.Store.GridCells(ctx, scope, id, after)
		if err != nil {
			return err
		}
		for _, cell := range cells {
			body, err := json.Marshal(cell)
			if err != nil {
				return err
			}
			if err := out.Send(httpio.AppendFrame(nil, cell.Seq, "cell", body)); err != nil {
				return nil
			}
			after = cell.Seq
		}
		if g.State != chat.GridFilling {
			_ = sendTable(out, "table_done", g) // best effort: the reader may have left
			return nil
		}
		if !httpio.Await(a.Streams, c, out, time.After(tableLook)) {
			return nil
		}
	}
}

// sendTable sends a table without its cells.
func sendTable(out *httpio.EventStream, event string, g chat.Grid) error {
	body, err := json.Marshal(tellTable(g, nil))
	if err != nil {
		return err
	}
	return out.Send(httpio.AppendFrame(nil, 0, event, body))
}
