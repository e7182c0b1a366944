package store

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/chat"
)

// Topics of notifications to other processes, see Statements; for a document, OfDocument with an ID. Other versions
// of the program read them too, so they must not change.
const (
	// OfDocument is the prefix of a notification about a document.
	OfDocument = "document/"
	// SomeDocument is the ID of any document: search results have changed.
	SomeDocument = "*"
	// ToLook is the notification of a command for a run, or of a released run.
	ToLook = "look/"
	// HeadMoved is the notification that a session shows another branch.
	HeadMoved = "head/"
)

// AddCommand implements chat.Store. The run's row is locked against its end, so that a stored command is for a
// running run. ON CONFLICT DO NOTHING makes a repeated command a no-op. A second decision about a call has the same
// `about`; it is detected by the row count 0.
func (c *Chats) AddCommand(ctx context.Context, s chat.Scope, w chat.Command) error {
	return c.db.Write(ctx, Durable, func(t Tx) error {
		var run int64
		var status string
		if err := t.One(`SELECT r.n, r.status FROM runs r JOIN sessions s ON s.n = r.session
			WHERE r.id = $1 AND s.user_id = $2 AND s.deleted_at = 0`+c.sql.Locked("r"), []any{w.RunID, s.User},
			&run, &status); err != nil {
			return NotFound(err, "keep a command", "run")
		}
		if chat.RunStatus(status) != chat.RunRunning {
			return &chat.Error{Code: chat.CodeConflict, Message: "This answer is already finished."}
		}
		n, err := t.ExecNotify(ToLook, `INSERT INTO commands (run, about, kind, call, input) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (run, about) DO NOTHING`,
			run, w.About(), string(w.Kind), w.CallID, c.sql.Bytes(w.Input))
		if err != nil {
			return fmt.Errorf("store a command: %w", err)
		}
		if n == 0 && w.Decides() {
			return &chat.Error{Code: chat.CodeConflict, Message: "This step is no longer pending approval."}
		}
		return nil
	})
}

// Commands implements chat.Store. Rows are in the order of their numbers, which for one run is that of their
// commits, as its row was locked.
func (c *Chats) Commands(ctx context.Context, owner string) ([]chat.Command, error) {
	list, err := readList(c.db.Autocommit(ctx, 0), func(row Row) (w chat.Command, err error) {
		err = row.Scan(&w.RunID, (*string)(&w.Kind), &w.CallID, (*[]byte)(&w.Input))
		return w, err
	}, `SELECT r.id, c.kind, c.call, c.input FROM commands c JOIN runs r ON r.n = c.run
		WHERE r.owner = $1 AND r.status = 'running' ORDER BY c.n`, owner)
	return list, wrap(err, "read commands")
}
