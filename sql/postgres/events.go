package postgres

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/cursor"
	"github.com/footnote/footnote/sql/store"
)

// Events implements chat.Store. One statement checks the scope and reads by the primary key of events. Only an empty
// result needs a second one to distinguish an unknown run from one without new events.
func (c *Chats) Events(ctx context.Context, s chat.Scope, runID string, after int64, limit int) ([]chat.Event, error) {
	read := func(row scanner) (chat.Event, error) {
		var seq, at int64
		var kind string
		var body []byte
		err := row.Scan(&seq, &at, &kind, &body)
		return chat.Event{RunID: runID, Seq: seq, At: store.TimeOf(at), Type: chat.Kind(kind), Body: body}, err
	}
	events, err := queryList(ctx, c.db, shortTime, read, `SELECT e.seq, e.at, e.type, e.body
		FROM runs r JOIN sessions s ON s.n = r.session JOIN events e ON e.run = r.n
		WHERE r.id = $1 AND s.user_id = $2 AND s.deleted_at = 0 AND e.seq > $3 ORDER BY e.seq LIMIT $4`,
		runID, s.User, min(max(after, 0), maxSeq), cursor.Limit(limit, chat.DefaultPage, chat.MaxPage))
	if err == nil && len(events) == 0 {
		_, err = c.RunNumber(ctx, s, runID) // not found, or no new events
	}
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return events, nil
}
