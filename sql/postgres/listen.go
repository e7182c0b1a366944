package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/footnote/footnote/sql/store"
)

// Intervals; the values are estimates.
const (
	listenCheck = 20 * time.Second // timeout of a silent connection; also the polling interval for missed notifications
	listenPause = 3 * time.Second  // maximum delay between attempts to connect

	// gatherPause is the delay after a notification before the next read: under load, notifications are handled in
	// batches.
	gatherPause = 10 * time.Millisecond
)

// Listen receives the other replicas' notifications until ctx is cancelled. It calls wake with the ID of each run
// with new events, or of a session that shows another branch. It calls changed with the ID of each document with a
// new state or progress. It calls look when there is a command for a run or a released run. None may block.
//
// Notifications may be missed at its start, after its connection broke, and without a connection. So it then calls
// all three, the first two with "", and also every listenCheck. While the database is down, Listen retries with
// backoff; it never fails.
func (db *DB) Listen(ctx context.Context, wake func(runID string), changed func(documentID string), look func()) {
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, listenPause) {
		began := time.Now()
		err := db.listenOnce(ctx, wake, changed, look)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > listenCheck {
			pause = 50 * time.Millisecond
		}
		db.log.WarnContext(ctx, "not listening to the other replicas just now", "error", err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// listenOnce does so on one connection until it breaks. Buffered notifications are handled before the pause, as one
// batch.
//
// missed handles notifications that were possibly missed: after LISTEN, and after a long silence.
func (db *DB) listenOnce(
	ctx context.Context, wake func(runID string), changed func(documentID string), look func(),
) error {
	missed := func() { wake(""); changed(""); look() }
	conn, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // the server detects a closed connection anyway
	if _, err := conn.Exec(ctx, `LISTEN `+pgx.Identifier{db.channel}.Sanitize()); err != nil {
		return err
	}
	missed()
	for {
		waiting, cancel := context.WithTimeout(ctx, listenCheck)
		notification, err := conn.WaitForNotification(waiting)
		woken := time.Now()
		for err == nil {
			db.passMessage(notification.Payload, wake, changed, look)
			if conn.PgConn().Frontend().ReadBufferLen() == 0 {
				break
			}
			notification, err = conn.WaitForNotification(waiting)
		}
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		// The connection may be dead, and notifications may have been missed.
		case errors.Is(err, context.DeadlineExceeded):
			if err := isAnswering(ctx, conn); err != nil {
				return err
			}
			missed()
		case err != nil:
			return err
		default:
			time.Sleep(gatherPause - time.Since(woken))
		}
	}
}

// passMessage dispatches a notification. Its IDs are those of runs; documents and looks have the prefixes of
// sql/store/commands.go.
//
// One notification may have many IDs, which readNotice separates.
func (db *DB) passMessage(message string, wake func(runID string), changed func(documentID string), look func()) {
	for _, id := range db.readNotice(message) {
		if document, ok := strings.CutPrefix(id, store.OfDocument); ok {
			changed(document)
		} else if id == store.ToLook {
			look()
		} else {
			wake(id)
		}
	}
}

// notifyDocument notifies the other replicas of a document's change when the transaction commits. A rolled-back
// transaction sends no notification.
func (db *DB) notifyDocument(t *tx, documentID string) error {
	_, err := t.Exec(`SELECT pg_notify($1, $2)`, db.channel, db.writeNotice(store.OfDocument+documentID))
	return err
}

// isAnswering pings a silent connection, with the timeout shortTime, since a vanished machine does not close it.
func isAnswering(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, shortTime)
	defer cancel()
	return conn.Ping(ctx)
}
