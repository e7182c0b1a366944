package postgres

import (
	"context"
	"fmt"

	"footnote/chat"
)

// AddCommand implements chat.Store. The run's row is locked against its end, so that a command which is kept was about
// a run under way.
func (c *Chats) AddCommand(ctx context.Context, s chat.Scope, w chat.Command) error {
	return c.db.inTx(ctx, shortTime, func(t *tx) error {
		var run int64
		var status string
		err := t.queryRow(`SELECT r.n, r.status FROM runs r JOIN sessions s ON s.n = r.session
			WHERE r.id = $1 AND s.user_id = $2 AND s.deleted_at = 0 FOR UPDATE OF r`, []any{w.RunID, s.User},
			&run, &status)
		if err != nil {
			return notFound(err, "keep a command", "run")
		}
		if chat.RunStatus(status) != chat.RunRunning {
			return &chat.Error{Code: chat.CodeConflict, Message: "This answer is finished already."}
		}
		n, err := t.exec(`INSERT INTO commands (run, about, kind, call, input) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (run, about) DO NOTHING`,
			run, w.About(), string(w.Kind), w.CallID, []byte(w.Input))
		if err != nil {
			return fmt.Errorf("keep a command: %w", err)
		}
		if n == 0 && w.Decides() {
			return &chat.Error{Code: chat.CodeConflict, Message: "This step was decided already."}
		}
		_, err = t.exec(`SELECT pg_notify($1, $2)`, c.db.channel, c.db.writeNotice(toLook))
		return err
	})
}

// Commands implements chat.Store.
func (c *Chats) Commands(ctx context.Context, owner string) ([]chat.Command, error) {
	list, err := queryList(ctx, c.db, shortTime, scanCommand, `SELECT r.id, c.kind, c.call, c.input FROM commands c
		JOIN runs r ON r.n = c.run
		WHERE r.owner = $1 AND r.status = 'running' ORDER BY c.n`, owner)
	if err != nil {
		return nil, fmt.Errorf("read commands: %w", err)
	}
	return list, nil
}

func scanCommand(row scanner) (w chat.Command, err error) {
	err = row.Scan(&w.RunID, (*string)(&w.Kind), &w.CallID, (*[]byte)(&w.Input))
	return w, err
}

// Release implements chat.Store. It does not wait for the disk: a run whose release is lost is taken over when its
// lease ends.
func (c *Chats) Release(ctx context.Context, owner, runID string) error {
	_, err := c.db.execStatement(ctx, longTime, `
		WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
		free AS (UPDATE runs SET owner = '', lease_until = 0 FROM quick WHERE id = $1 AND owner = $2
			AND status = 'running' RETURNING n)
		SELECT pg_notify($3, $4) FROM free`, runID, owner, c.db.channel, c.db.writeNotice(toLook))
	if err != nil {
		return fmt.Errorf("release run: %w", err)
	}
	return nil
}
