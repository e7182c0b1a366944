package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/footnote/footnote/sql/store"
)

// All are choices.
const (
	listenCheck = 20 * time.Second // of a silent connection; also how long a reader may miss what nobody told
	listenPause = 3 * time.Second  // at most, between attempts to connect

	// gatherPause is from one message to the next look for more: under load, a replica wakes less often for what
	// others do.
	gatherPause = 10 * time.Millisecond
)

// Listen calls wake with the id of each run that another replica appends to and with what names no run when it shows
// another branch of a session, changed with that of each document whose state or progress another records, and look
// when another wants something of a run or releases one, until ctx ends. It calls all, the first two with "", when some
// may have been missed: at its start, after its connection broke, and now and then. None must block. While the database
// is down, Listen keeps trying; it never fails. Notifications are lost while nobody listens, so every new connection
// begins with a look at everything.
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

// listenOnce does so on one connection until that breaks. Messages that are already in the buffer are passed on before
// the pause, so that a burst wakes once.
//
// missed stands for everything that nobody told: it is called when listening has begun, and when nothing was heard for
// long.
func (db *DB) listenOnce(
	ctx context.Context, wake func(runID string), changed func(documentID string), look func(),
) error {
	missed := func() { wake(""); changed(""); look() }
	conn, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // the server notices anyway
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
		// A silent connection may be a dead one, and what nobody told may have been missed.
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

// passMessage calls what a message is for. A message of a run names its id; documents and looks begin with the words in
// sql/store/commands.go.
//
// One message may be about many runs and documents; their ids are parted by readNotice.
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

// tellOf lets the other replicas know of a document's change once the transaction commits. A notification of a
// transaction that is undone is never sent.
func (db *DB) tellOf(t *tx, documentID string) error {
	_, err := t.Exec(`SELECT pg_notify($1, $2)`, db.channel, db.writeNotice(store.OfDocument+documentID))
	return err
}

// isAnswering asks the server of a connection that has been silent: a machine that vanished closes nothing, and only
// an unanswered question shows it. The question has shortTime to be answered.
func isAnswering(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, shortTime)
	defer cancel()
	return conn.Ping(ctx)
}
