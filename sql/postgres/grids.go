package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"footnote/chat"
)

const selectGrid = `SELECT g.id, g.user_id, g.due_at, g.body FROM grids g `

func scanGrid(row scanner) (g chat.Grid, err error) {
	var id, user string
	var due int64
	var body []byte
	if err := row.Scan(&id, &user, &due, &body); err != nil {
		return g, err
	}
	if err := json.Unmarshal(body, &g); err != nil {
		return g, fmt.Errorf("decode the table %s: %w: %w", id, chat.ErrDamaged, err)
	}
	g.ID, g.User, g.DueAt = id, user, timeOf(due)
	return g, nil
}

func scanCell(row scanner) (cell chat.GridCell, err error) {
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

// KeepGrid implements chat.Store.
func (c *Chats) KeepGrid(ctx context.Context, s chat.Scope, g chat.Grid) (chat.Grid, error) {
	g.ID, g.User, g.CreatedAt = chat.NewID(), s.User, time.Now().UTC().Truncate(time.Microsecond)
	body, err := json.Marshal(g)
	if err != nil {
		return g, fmt.Errorf("keep a table: %w", err)
	}
	err = c.db.inTx(ctx, shortTime, func(t *tx) error {
		if err := t.lockName("grids", s.User); err != nil {
			return err
		}
		var there int64
		if err := t.queryRow(`SELECT count(*) FROM grids WHERE user_id = $1`, []any{s.User}, &there); err != nil {
			return err
		}
		if err := chat.RoomForGrid(there); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO grids VALUES ($1, $2, $3, $4, $5)`, g.ID, g.User, toMicros(g.CreatedAt),
			toMicros(g.DueAt), string(body))
		return err
	})
	return g, err
}

// Grid implements chat.Store.
func (c *Chats) Grid(ctx context.Context, s chat.Scope, id string) (g chat.Grid, err error) {
	list, err := queryList(
		ctx, c.db, shortTime, scanGrid, selectGrid+`WHERE g.id = $1 AND g.user_id = $2`, id, s.User,
	)
	switch {
	case err != nil:
		return g, fmt.Errorf("read a table: %w", err)
	case len(list) == 0:
		return g, chat.NoSuch("table")
	}
	return list[0], nil
}

// Grids implements chat.Store.
func (c *Chats) Grids(ctx context.Context, s chat.Scope) ([]chat.Grid, error) {
	list, err := queryList(
		ctx, c.db, shortTime, scanGrid, selectGrid+`WHERE g.user_id = $1 ORDER BY g.created_at DESC, g.id`, s.User,
	)
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	return list, nil
}

// gridOf reads a grid within a transaction and holds it until that ends.
func gridOf(t *tx, s chat.Scope, id string) (g chat.Grid, err error) {
	list, err := rowsOf(
		t.ctx, t.pgx, scanGrid, selectGrid+`WHERE g.id = $1 AND g.user_id = $2 FOR UPDATE`,
		storableArgs([]any{id, s.User}),
	)
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
	err = c.db.inTx(ctx, shortTime, func(t *tx) error {
		if g, err = gridOf(t, s, id); err != nil {
			return err
		}
		if err := change(&g); err != nil {
			return err
		}
		body, err := json.Marshal(g)
		if err != nil {
			return fmt.Errorf("change a table: %w", err)
		}
		_, err = t.exec(`UPDATE grids SET due_at = $1, body = $2 WHERE id = $3`, toMicros(g.DueAt), string(body), id)
		return err
	})
	return g, err
}

// DropGrid implements chat.Store.
func (c *Chats) DropGrid(ctx context.Context, s chat.Scope, id string) error {
	return c.db.inTx(ctx, shortTime, func(t *tx) error {
		n, err := t.exec(`DELETE FROM grids WHERE id = $1 AND user_id = $2`, id, s.User)
		if err := changedOne(n, err, "forget a table", "table"); err != nil {
			return err
		}
		_, err = t.exec(`DELETE FROM grid_cells WHERE grid = $1`, id)
		return err
	})
}

// GridCells implements chat.Store.
func (c *Chats) GridCells(ctx context.Context, s chat.Scope, id string, after int64) ([]chat.GridCell, error) {
	list, err := queryList(
		ctx, c.db, shortTime, scanCell, `SELECT c.seq, c.body FROM grid_cells c JOIN grids g ON g.id = c.grid
		WHERE c.grid = $1 AND c.seq > $2 AND g.user_id = $3 ORDER BY c.seq`, id, after, s.User,
	)
	if err != nil {
		return nil, fmt.Errorf("read the cells of a table: %w", err)
	}
	return list, nil
}

// ChangeGridCell implements chat.Store.
func (c *Chats) ChangeGridCell(
	ctx context.Context, s chat.Scope, id string, row, column int, change func(*chat.GridCell) error,
) (cell chat.GridCell, err error) {
	err = c.db.inTx(ctx, shortTime, func(t *tx) error {
		g, err := gridOf(t, s, id)
		if err != nil {
			return err
		}
		if !g.Has(row, column) {
			return chat.NoSuch("cell")
		}
		list, err := rowsOf(
			t.ctx, t.pgx, scanCell, `SELECT seq, body FROM grid_cells WHERE grid = $1 AND row = $2 AND col = $3`,
			[]any{id, row, column},
		)
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
		if err := t.queryRow(
			`SELECT coalesce(max(seq), 0) + 1 FROM grid_cells WHERE grid = $1`, []any{id}, &cell.Seq,
		); err != nil {
			return err
		}
		body, err := json.Marshal(cell)
		if err != nil {
			return fmt.Errorf("change a cell: %w", err)
		}
		_, err = t.exec(`INSERT INTO grid_cells VALUES ($1, $2, $3, $4, $5) ON CONFLICT (grid, row, col)
			DO UPDATE SET seq = excluded.seq, body = excluded.body`, id, row, column, cell.Seq, string(body))
		return err
	})
	return cell, err
}

// ClaimGrids implements chat.Store.
func (c *Chats) ClaimGrids(ctx context.Context, now, until time.Time, limit int) ([]chat.Grid, error) {
	list, err := queryList(ctx, c.db, shortTime, scanGrid, `UPDATE grids g SET due_at = $2 WHERE g.id IN (
		SELECT d.id FROM grids d WHERE d.due_at BETWEEN 1 AND $1
		ORDER BY d.due_at, d.id LIMIT $3 FOR UPDATE OF d SKIP LOCKED)
		RETURNING g.id, g.user_id, g.due_at, g.body`, toMicros(now), toMicros(until), limit)
	if err != nil {
		return nil, fmt.Errorf("claim tables: %w", err)
	}
	return list, nil
}
