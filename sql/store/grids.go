package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
)

const selectGrid = `SELECT d.id, d.user_id, d.due_at, d.body FROM grids d `

// scanGrid decodes a row of selectGrid. Columns take precedence over the body, as statements find rows by them.
func scanGrid(row Row) (g chat.Grid, err error) {
	var id, user string
	var due int64
	var body []byte
	if err := row.Scan(&id, &user, &due, &body); err != nil {
		return g, err
	}
	if err := json.Unmarshal(body, &g); err != nil {
		return g, fmt.Errorf("decode the table %s: %w: %w", id, chat.ErrDamaged, err)
	}
	g.ID, g.User, g.DueAt = id, user, TimeOf(due)
	return g, nil
}

// scanCell decodes a cell. Its Seq is a column, by which lists are read; the rest is JSON.
func scanCell(row Row) (cell chat.GridCell, err error) {
	var seq int64
	var body []byte
	if err := row.Scan(&seq, &body); err != nil {
		return cell, err
	}
	if err := json.Unmarshal(body, &cell); err != nil {
		return cell, fmt.Errorf("decode a cell of a table: %w: %w", chat.ErrDamaged, err)
	}
	cell.Seq = seq
	return cell, nil
}

// AddGrid implements chat.Store. It counts grids against the limit and writes no cells: a missing cell is waiting.
func (c *Chats) AddGrid(ctx context.Context, s chat.Scope, g chat.Grid) (chat.Grid, error) {
	g.ID, g.User, g.CreatedAt = chat.NewID(), s.User, time.Now().UTC().Truncate(time.Microsecond)
	body, err := json.Marshal(g)
	if err != nil {
		return g, fmt.Errorf("store a table: %w", err)
	}
	return g, c.db.Write(ctx, Durable, func(t Tx) error {
		there, err := countOf(t, "grids", s.User)
		if err != nil {
			return err
		}
		if err := chat.CheckGridQuota(there); err != nil {
			return err
		}
		_, err = t.Exec(`INSERT INTO grids (id, user_id, created_at, due_at, body) VALUES ($1, $2, $3, $4, $5)`, g.ID,
			g.User, ToMicros(g.CreatedAt), ToMicros(g.DueAt), string(body))
		return err
	})
}

// countOf counts a user's rows of a table and locks that number until the transaction ends. Without the lock two
// transactions could count the same rows and both insert. table is a constant of the caller.
func countOf(t Tx, table, user string) (there int64, err error) {
	if err := t.Lock(table, user); err != nil {
		return 0, err
	}
	return there, t.One(`SELECT count(*) FROM `+table+` WHERE user_id = $1`, []any{user}, &there)
}

// Grid implements chat.Store.
func (c *Chats) Grid(ctx context.Context, s chat.Scope, id string) (chat.Grid, error) {
	g, err := readOne(c.db.Autocommit(ctx, 0), scanGrid, selectGrid+`WHERE d.id = $1 AND d.user_id = $2`, id, s.User)
	return g, NotFound(err, "read a table", "table")
}

// Grids implements chat.Store.
func (c *Chats) Grids(ctx context.Context, s chat.Scope) ([]chat.Grid, error) {
	list, err := readList(c.db.Autocommit(ctx, 0), scanGrid, selectGrid+`WHERE d.user_id = $1
		ORDER BY d.created_at DESC, d.id`, s.User)
	return list, wrap(err, "list tables")
}

// lockedGrid reads a grid and locks it until the transaction ends.
func (c *Chats) lockedGrid(t Tx, s chat.Scope, id string) (chat.Grid, error) {
	g, err := readOne(t, scanGrid, selectGrid+`WHERE d.id = $1 AND d.user_id = $2`+c.sql.Locked("d"), id, s.User)
	return g, NotFound(err, "change a table", "table")
}

// ChangeGrid implements chat.Store.
func (c *Chats) ChangeGrid(
	ctx context.Context, s chat.Scope, id string, change func(*chat.Grid) error,
) (g chat.Grid, err error) {
	err = c.db.Write(ctx, Durable, func(t Tx) error {
		if g, err = c.lockedGrid(t, s, id); err != nil {
			return err
		}
		if err := change(&g); err != nil {
			return err
		}
		body, err := json.Marshal(g)
		if err != nil {
			return fmt.Errorf("update a table: %w", err)
		}
		_, err = t.Exec(`UPDATE grids SET due_at = $1, body = $2 WHERE id = $3`, ToMicros(g.DueAt), string(body), id)
		return err
	})
	return g, err
}

// DropGrid implements chat.Store.
func (c *Chats) DropGrid(ctx context.Context, s chat.Scope, id string) error {
	return c.db.Write(ctx, Durable, func(t Tx) error {
		n, err := t.Exec(`DELETE FROM grids WHERE id = $1 AND user_id = $2`, id, s.User)
		if err := ChangedOne(n, err, "forget a table", "table"); err != nil {
			return err
		}
		_, err = t.Exec(`DELETE FROM grid_cells WHERE grid = $1`, id)
		return err
	})
}

// GridCells implements chat.Store.
func (c *Chats) GridCells(ctx context.Context, s chat.Scope, id string, after int64) ([]chat.GridCell, error) {
	list, err := readList(c.db.Autocommit(ctx, 0), scanCell, `SELECT c.seq, c.body FROM grid_cells c
		JOIN grids g ON g.id = c.grid WHERE c.grid = $1 AND c.seq > $2 AND g.user_id = $3 ORDER BY c.seq`,
		id, after, s.User)
	return list, wrap(err, "read the cells of a table")
}

// GridCell implements chat.Store.
func (c *Chats) GridCell(ctx context.Context, s chat.Scope, id string, row, column int) (chat.GridCell, error) {
	list, err := readList(c.db.Autocommit(ctx, 0), scanCell, `SELECT c.seq, c.body FROM grid_cells c
		JOIN grids g ON g.id = c.grid WHERE c.grid = $1 AND c.row = $2 AND c.col = $3 AND g.user_id = $4`,
		id, row, column, s.User)
	return chat.ByPlace(list).At(row, column), wrap(err, "read a cell of a table")
}

// ChangeGridCell implements chat.Store. The grid's row is locked first, so that max(seq) + 1 is unique and change
// numbers are committed in order. So a reader of changes after a number misses none.
func (c *Chats) ChangeGridCell(
	ctx context.Context, s chat.Scope, id string, row, column int, change func(*chat.GridCell) error,
) (cell chat.GridCell, err error) {
	err = c.db.Write(ctx, Durable, func(t Tx) error {
		g, err := c.lockedGrid(t, s, id)
		if err != nil {
			return err
		}
		if !g.Has(row, column) {
			return chat.NoSuch("cell")
		}
		list, err := readList(t, scanCell, `SELECT seq, body FROM grid_cells WHERE grid = $1 AND row = $2 AND col = $3`,
			id, row, column)
		if err != nil {
			return err
		}
		cell = chat.ByPlace(list).At(row, column)
		if err := change(&cell); err != nil {
			return err
		}
		cell.Row, cell.Column = row, column
		if err := t.One(
			`SELECT coalesce(max(seq), 0) + 1 FROM grid_cells WHERE grid = $1`, []any{id}, &cell.Seq,
		); err != nil {
			return err
		}
		body, err := json.Marshal(cell)
		if err != nil {
			return fmt.Errorf("update a cell: %w", err)
		}
		_, err = t.Exec(`INSERT INTO grid_cells VALUES ($1, $2, $3, $4, $5) ON CONFLICT (grid, row, col)
			DO UPDATE SET seq = excluded.seq, body = excluded.body`, id, row, column, cell.Seq, string(body))
		return err
	})
	return cell, err
}

// dueGrids selects the grids with due work. BETWEEN 1 excludes 0, which is no time, and matches the partial index
// grids_by_due.
var dueGrids = claimable[chat.Grid]{
	table: "grids", rows: selectGrid, due: `d.due_at BETWEEN 1 AND $1`,
	read: scanGrid, nameOf: func(g chat.Grid) string { return g.ID },
}

// DueGrids implements chat.Store.
func (c *Chats) DueGrids(ctx context.Context, now time.Time) ([]string, error) {
	return dueGrids.dueUsers(ctx, c, now)
}

// ClaimGrid implements chat.Store.
func (c *Chats) ClaimGrid(ctx context.Context, user string, now, until time.Time) (chat.Grid, bool, error) {
	g, ok, err := dueGrids.claim(ctx, c, user, now, until)
	g.DueAt = until
	return g, ok, err
}

// FreeGrids implements chat.Store.
func (c *Chats) FreeGrids(ctx context.Context, now time.Time, within time.Duration) error {
	_, err := c.db.Autocommit(ctx, 0).Exec(`UPDATE grids SET due_at = $1 WHERE due_at BETWEEN $1 AND $2`,
		ToMicros(now), ToMicros(now.Add(within)))
	return err
}
