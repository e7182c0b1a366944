package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"footnote/chat"
)

const selectGrid = `SELECT id, user, due_at, body FROM grids `

// scanGrids reads all rows of selectGrid and closes them.
func scanGrids(rows *sql.Rows) ([]chat.Grid, error) {
	defer rows.Close()
	var list []chat.Grid
	for rows.Next() {
		var id, user string
		var due int64
		var body []byte
		if err := rows.Scan(&id, &user, &due, &body); err != nil {
			return nil, failure(err)
		}
		var g chat.Grid
		if err := json.Unmarshal(body, &g); err != nil {
			return nil, fmt.Errorf("decode the table %s: %w: %w", id, chat.ErrDamaged, err)
		}
		g.ID, g.User, g.DueAt = id, user, timeOf(due)
		list = append(list, g)
	}
	return list, failure(rows.Err())
}

// KeepGrid implements chat.Store.
func (c *Chats) KeepGrid(ctx context.Context, s chat.Scope, g chat.Grid) (chat.Grid, error) {
	g.ID, g.User, g.CreatedAt = chat.NewID(), s.User, time.Now().UTC().Truncate(time.Microsecond)
	body, err := json.Marshal(g)
	if err != nil {
		return g, fmt.Errorf("keep a table: %w", err)
	}
	err = c.db.writeTx(ctx, true, func(tx *tx) error {
		var there int64
		if err := tx.queryRow(`SELECT count(*) FROM grids WHERE user = ?`, []any{s.User}, &there); err != nil {
			return err
		}
		if err := chat.RoomForGrid(there); err != nil {
			return err
		}
		_, err := tx.exec(`INSERT INTO grids VALUES (?, ?, ?, ?, ?)`, g.ID, g.User, toMicros(g.CreatedAt),
			toMicros(g.DueAt), string(body))
		return err
	})
	return g, err
}

// Grid implements chat.Store.
func (c *Chats) Grid(ctx context.Context, s chat.Scope, id string) (g chat.Grid, err error) {
	rows, err := c.db.queryRows(ctx, selectGrid+`WHERE id = ? AND user = ?`, id, s.User)
	if err != nil {
		return g, fmt.Errorf("read a table: %w", err)
	}
	list, err := scanGrids(rows)
	switch {
	case err != nil:
		return g, err
	case len(list) == 0:
		return g, chat.NoSuch("table")
	}
	return list[0], nil
}

// Grids implements chat.Store.
func (c *Chats) Grids(ctx context.Context, s chat.Scope) ([]chat.Grid, error) {
	rows, err := c.db.queryRows(ctx, selectGrid+`WHERE user = ? ORDER BY created_at DESC, id`, s.User)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	return scanGrids(rows)
}

// gridOf reads a grid within a transaction.
func gridOf(tx *tx, s chat.Scope, id string) (g chat.Grid, err error) {
	rows, err := tx.query(selectGrid+`WHERE id = ? AND user = ?`, id, s.User)
	if err != nil {
		return g, err
	}
	list, err := scanGrids(rows)
	switch {
	case err != nil:
		return g, err
	case len(list) == 0:
		return g, chat.NoSuch("table")
	}
	return list[0], nil
}

// ChangeGrid implements chat.Store.
func (c *Chats) ChangeGrid(
	ctx context.Context, s chat.Scope, id string, change func(*chat.Grid) error,
) (g chat.Grid, err error) {
	err = c.db.writeTx(ctx, true, func(tx *tx) error {
		if g, err = gridOf(tx, s, id); err != nil {
			return err
		}
		if err := change(&g); err != nil {
			return err
		}
		body, err := json.Marshal(g)
		if err != nil {
			return fmt.Errorf("change a table: %w", err)
		}
		_, err = tx.exec(`UPDATE grids SET due_at = ?, body = ? WHERE id = ?`, toMicros(g.DueAt), string(body), id)
		return err
	})
	return g, err
}

// DropGrid implements chat.Store.
func (c *Chats) DropGrid(ctx context.Context, s chat.Scope, id string) error {
	return c.db.writeTx(ctx, true, func(tx *tx) error {
		n, err := tx.exec(`DELETE FROM grids WHERE id = ? AND user = ?`, id, s.User)
		if err := changedOne(n, err, "forget a table", "table"); err != nil {
			return err
		}
		_, err = tx.exec(`DELETE FROM grid_cells WHERE grid = ?`, id)
		return err
	})
}

// scanCells reads bodies and sequence numbers of cells and closes the rows.
func scanCells(rows *sql.Rows) ([]chat.GridCell, error) {
	defer rows.Close()
	var list []chat.GridCell
	for rows.Next() {
		var seq int64
		var body []byte
		if err := rows.Scan(&seq, &body); err != nil {
			return nil, failure(err)
		}
		var cell chat.GridCell
		if err := json.Unmarshal(body, &cell); err != nil {
			return nil, fmt.Errorf("decode a cell of a table: %w: %w", chat.ErrDamaged, err)
		}
		cell.Seq = seq
		list = append(list, cell)
	}
	return list, failure(rows.Err())
}

// GridCells implements chat.Store.
func (c *Chats) GridCells(ctx context.Context, s chat.Scope, id string, after int64) ([]chat.GridCell, error) {
	rows, err := c.db.queryRows(ctx, `SELECT c.seq, c.body FROM grid_cells c JOIN grids g ON g.id = c.grid
		WHERE c.grid = ? AND c.seq > ? AND g.user = ? ORDER BY c.seq`, id, after, s.User)
	if err != nil {
		return nil, fmt.Errorf("read the cells of a table: %w", err)
	}
	return scanCells(rows)
}

// ChangeGridCell implements chat.Store.
func (c *Chats) ChangeGridCell(
	ctx context.Context, s chat.Scope, id string, row, column int, change func(*chat.GridCell) error,
) (cell chat.GridCell, err error) {
	err = c.db.writeTx(ctx, true, func(tx *tx) error {
		g, err := gridOf(tx, s, id)
		if err != nil {
			return err
		}
		if !g.Has(row, column) {
			return chat.NoSuch("cell")
		}
		rows, err := tx.query(
			`SELECT seq, body FROM grid_cells WHERE grid = ? AND row = ? AND col = ?`, id, row, column,
		)
		if err != nil {
			return err
		}
		list, err := scanCells(rows)
		if err != nil {
			return err
		}
		cell = chat.GridCell{State: chat.CellWaiting}
		if len(list) > 0 {
			cell = list[0]
		}
		if err := change(&cell); err != nil {
			return err
		}
		cell.Row, cell.Column = row, column
		if err := tx.queryRow(
			`SELECT coalesce(max(seq), 0) + 1 FROM grid_cells WHERE grid = ?`, []any{id}, &cell.Seq,
		); err != nil {
			return err
		}
		body, err := json.Marshal(cell)
		if err != nil {
			return fmt.Errorf("change a cell: %w", err)
		}
		_, err = tx.exec(`INSERT INTO grid_cells VALUES (?, ?, ?, ?, ?) ON CONFLICT (grid, row, col)
			DO UPDATE SET seq = excluded.seq, body = excluded.body`, id, row, column, cell.Seq, string(body))
		return err
	})
	return cell, err
}

// ClaimGrids implements chat.Store.
func (c *Chats) ClaimGrids(ctx context.Context, now, until time.Time, limit int) (list []chat.Grid, err error) {
	var due bool
	if err := c.db.queryRow(
		ctx, `SELECT EXISTS (SELECT 1 FROM grids WHERE due_at BETWEEN 1 AND ?)`, []any{toMicros(now)}, &due,
	); err != nil || !due {
		return nil, err
	}
	err = c.db.writeTx(ctx, true, func(tx *tx) error {
		rows, err := tx.query(
			selectGrid+`WHERE due_at BETWEEN 1 AND ? ORDER BY due_at, id LIMIT ?`, toMicros(now), limit,
		)
		if err != nil {
			return err
		}
		if list, err = scanGrids(rows); err != nil {
			return err
		}
		for i := range list {
			list[i].DueAt = until
			if _, err := tx.exec(`UPDATE grids SET due_at = ? WHERE id = ?`, toMicros(until), list[i].ID); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}
