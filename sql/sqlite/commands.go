package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"footnote/chat"
)

// AddCommand implements chat.Store. There is one server only, so nobody has to be woken.
func (c *Chats) AddCommand(ctx context.Context, s chat.Scope, w chat.Command) error {
	return c.db.writeTx(ctx, true, func(tx *tx) error {
		var run int64
		var status string
		err := tx.queryRow(`SELECT r.n, r.status FROM runs r JOIN sessions s ON s.n = r.session WHERE r.id = ?
			AND s.user = ? AND s.deleted_at = 0`,
			[]any{w.RunID, s.User}, &run, &status)
		if err != nil {
			return notFound(err, "keep a command", "run")
		}
		if chat.RunStatus(status) != chat.RunRunning {
			return &chat.Error{Code: chat.CodeConflict, Message: "This answer is finished already."}
		}
		n, err := tx.exec(`INSERT INTO commands (run, about, kind, call, input) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (run, about) DO NOTHING`,
			run, w.About(), string(w.Kind), w.CallID, sql.NullString{String: string(w.Input), Valid: w.Input != nil})
		if err != nil {
			return fmt.Errorf("keep a command: %w", err)
		}
		if n == 0 && w.Decides() {
			return &chat.Error{Code: chat.CodeConflict, Message: "This step was decided already."}
		}
		return nil
	})
}

// Commands implements chat.Store.
func (c *Chats) Commands(ctx context.Context, owner string) ([]chat.Command, error) {
	rows, err := c.db.queryRows(ctx, `SELECT r.id, c.kind, c.call, c.input FROM commands c JOIN runs r ON r.n = c.run
		WHERE r.owner = ? AND r.status = 'running' ORDER BY c.n`, owner)
	if err != nil {
		return nil, fmt.Errorf("read commands: %w", err)
	}
	defer rows.Close()
	var list []chat.Command
	for rows.Next() {
		var w chat.Command
		var kind string
		var input sql.NullString
		if err := rows.Scan(&w.RunID, &kind, &w.CallID, &input); err != nil {
			return nil, failure(err)
		}
		w.Kind = chat.CommandKind(kind)
		if input.Valid {
			w.Input = json.RawMessage(input.String)
		}
		list = append(list, w)
	}
	return list, failure(rows.Err())
}

// Release implements chat.Store.
func (c *Chats) Release(ctx context.Context, owner, runID string) error {
	err := c.db.writeTx(ctx, false, func(tx *tx) error {
		_, err := tx.exec(
			`UPDATE runs SET owner = '', lease_until = 0 WHERE id = ? AND owner = ? AND status = 'running'`, runID,
			owner,
		)
		return err
	})
	if err != nil {
		return fmt.Errorf("release run: %w", err)
	}
	return nil
}
