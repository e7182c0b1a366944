package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/footnote/footnote/chat"
)

// Both are choices. A larger batch would make its first write wait longer for its answer; without the second, a bulk
// write would wait for as long as small ones come.
const (
	maxBatch   = 256 // writes that share one transaction
	bulkEveryN = 8   // batches of small writes that may pass one waiting bulk write
)

// A writer owns the writing connection. Its goroutine takes all small writes that wait, runs them in one transaction,
// each in a savepoint of its own, commits, and then answers them: so the more is written at once, the less each write
// costs, and a lone write goes through at once. A bulk write gets a transaction to itself when no small one waits.
//
// The writes of one batch share the fsync of a commit, which costs far more than the writes. A write in a savepoint
// that fails is undone alone; what fails for the whole transaction, such as a full disk, fails all of them.
type writer struct {
	log  *slog.Logger
	conn *sql.Conn
	tx   *tx

	mu     sync.Mutex
	small  []*pendingWrite
	bulk   []*pendingWrite
	closed bool

	wake     chan struct{} // holds one signal
	finished chan struct{}
	passed   int  // small batches since a bulk write began to wait
	durable  bool // the connection runs with synchronous=FULL
}

// A pendingWrite is one that was submitted. state settles the race between the writer that begins it and a caller that
// gives up: one of the two wins the exchange.
//
// abandoned is one whose caller gave up before it was begun: it is not carried out.
type pendingWrite struct {
	fn      func(*tx) error
	durable bool
	state   atomic.Int32 // waiting, started or abandoned
	answer  chan error   // holds one
	err     error
}

const (
	waiting int32 = iota
	started
	abandoned
)

// It prepares the statements that steer transactions, so that a file which can't be read fails here.
func startWriter(ctx context.Context, conn *sql.Conn, log *slog.Logger) (*writer, error) {
	w := &writer{
		log:  log,
		conn: conn,
		// One transaction serves many callers, so none of their contexts may interrupt it.
		tx:       &tx{ctx: context.WithoutCancel(ctx), conn: conn, stmts: make(map[string]heldStmt)},
		wake:     make(chan struct{}, 1),
		finished: make(chan struct{}),
	}
	for _, control := range []string{begin, commit, rollback, savepoint, release, rollbackTo} {
		if _, err := w.tx.stmt(control); err != nil {
			return nil, err
		}
	}
	go w.writeLoop()
	return w, nil
}

// writeTx runs fn in a transaction and returns once that is committed. fn must be short: some tens of rows, no I/O. Its
// error is returned as it is and undoes what fn did, and only that. A durable write survives power loss once writeTx
// returned; the others survive the end of the process, and power loss after the next durable one. A ctx that ends
// while fn waits for its turn cancels it; once fn has begun, writeTx waits for the outcome, so what fn captured is the
// caller's again when writeTx returns.
func (db *DB) writeTx(ctx context.Context, durable bool, fn func(*tx) error) error {
	return db.writer.submitWrite(ctx, &pendingWrite{fn: fn, durable: durable, answer: make(chan error, 1)}, false)
}

// writeBulk is writeTx for long work. It runs alone in its transaction, when no small write waits or when enough of
// them went first. All others wait meanwhile, so work of more than about 50 ms belongs in several calls.
func (db *DB) writeBulk(ctx context.Context, durable bool, fn func(*tx) error) error {
	return db.writer.submitWrite(ctx, &pendingWrite{fn: fn, durable: durable, answer: make(chan error, 1)}, true)
}

// A write that has begun can't be taken back, so the caller waits for its outcome even when its context has ended.
func (w *writer) submitWrite(ctx context.Context, j *pendingWrite, bulk bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "The database is closed.", Hint: "Start Footnote again.",
		}
	}
	if bulk {
		w.bulk = append(w.bulk, j)
	} else {
		w.small = append(w.small, j)
	}
	w.mu.Unlock()
	w.wakeWriter()
	select {
	case err := <-j.answer:
		return err
	case <-ctx.Done():
		if j.state.CompareAndSwap(waiting, abandoned) {
			return ctx.Err()
		}
		return <-j.answer
	}
}

// wakeWriter signals that there is something to do. The channel holds one signal, so it never blocks and none is lost.
func (w *writer) wakeWriter() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// close lets the accepted writes finish and ends the goroutine. Only the first call does anything. Every caller waits
// until the goroutine has ended.
func (w *writer) close() error {
	w.mu.Lock()
	again := w.closed
	w.closed = true
	w.mu.Unlock()
	w.wakeWriter()
	<-w.finished
	if again {
		return nil
	}
	return w.tx.close()
}

// It sleeps only when nothing waits: the channel holds a signal that came while it worked.
func (w *writer) writeLoop() {
	defer close(w.finished)
	var batch []*pendingWrite
	for {
		var closed bool
		// who is about to write joins this transaction: under load the batches grow, and a lone write loses nothing
		runtime.Gosched()
		if batch, closed = w.takeBatch(batch[:0]); len(batch) > 0 {
			w.runBatch(batch)
			clear(batch) // a write must not live on in the buffer
			continue
		}
		if closed {
			return
		}
		<-w.wake
	}
}

// takeBatch moves the next transaction's writes into batch: one bulk write or up to maxBatch small ones. A bulk write
// goes when no small one waits, or after bulkEveryN batches of them, so it is never starved. Buffers are cleared behind
// what was moved, so that a finished write's closure can be freed.
//
// closed is reported with the batch, so that the loop ends only when there is nothing left.
func (w *writer) takeBatch(batch []*pendingWrite) ([]*pendingWrite, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.bulk) > 0 && (len(w.small) == 0 || w.passed >= bulkEveryN) {
		batch = append(batch, w.bulk[0])
		w.bulk = append(w.bulk[:0], w.bulk[1:]...)
		w.passed = 0
		return batch, w.closed
	}
	if len(w.bulk) > 0 {
		w.passed++
	}
	n := min(len(w.small), maxBatch)
	batch = append(batch, w.small[:n]...)
	rest := copy(w.small, w.small[n:])
	clear(w.small[rest:])
	w.small = w.small[:rest]
	return batch, w.closed
}

// runBatch carries out a batch in one transaction and answers each write. The batch waits for the disk if one of its
// writes asks for it; the others get that for nothing.
func (w *writer) runBatch(batch []*pendingWrite) {
	live, durable := batch[:0], false
	for _, j := range batch {
		if j.state.CompareAndSwap(waiting, started) {
			live = append(live, j)
			durable = durable || j.durable
		}
	}
	if len(live) == 0 {
		return
	}
	err := w.commitBatch(live, durable)
	for _, j := range live {
		if err != nil && j.err == nil {
			j.err = err
		}
		j.answer <- j.err
	}
}

// commitBatch sets each write's own error and returns the one that undid them all, if any. A lone write needs no
// savepoint. When all failed there is nothing to commit, and the disk is spared.
//
// It returns an error only for what concerns all of them, such as a disk that is full; a write's own error is in its
// err.
func (w *writer) commitBatch(writes []*pendingWrite, durable bool) error {
	if err := w.setDurable(durable); err != nil {
		return err
	}
	if err := w.tx.control(begin); err != nil {
		return err
	}
	succeeded := 0
	for _, j := range writes {
		var err error
		if len(writes) == 1 {
			j.err = w.callSafely(j.fn) // the transaction is its savepoint
		} else if err = w.callInSavepoint(j); err != nil {
			w.rollBack()
			return err
		}
		if j.err == nil {
			succeeded++
		}
	}
	if succeeded == 0 {
		w.rollBack()
		return nil
	}
	if err := w.tx.control(commit); err != nil {
		w.rollBack()
		return err
	}
	return nil
}

// callInSavepoint fails only if the whole transaction is lost: SQLite itself rolls back when the disk is full, for one.
func (w *writer) callInSavepoint(j *pendingWrite) error {
	if err := w.tx.control(savepoint); err != nil {
		return err
	}
	if j.err = w.callSafely(j.fn); j.err != nil {
		if err := w.tx.control(rollbackTo); err != nil {
			return errors.Join(j.err, err)
		}
	}
	return w.tx.control(release)
}

// callSafely runs fn. A panic becomes its error: the goroutine serves everybody.
func (w *writer) callSafely(fn func(*tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("a write panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("write panicked: %v", p)
		}
	}()
	return fn(w.tx)
}

// rollBack ends a transaction that failed. SQLite may have ended it already, and then has none to roll back.
func (w *writer) rollBack() {
	if err := w.tx.control(rollback); err != nil {
		w.log.Debug("rollback", "error", err)
	}
}

// setDurable switches whether commits wait for the disk. With WAL, NORMAL leaves the log unsynced at a commit and FULL
// syncs it (sqlite.org/pragma.html#pragma_synchronous). The pragma has no effect inside a transaction, so it comes
// before BEGIN.
func (w *writer) setDurable(durable bool) error {
	if w.durable == durable {
		return nil
	}
	pragma := `PRAGMA synchronous=NORMAL`
	if durable {
		pragma = `PRAGMA synchronous=FULL`
	}
	if _, err := w.conn.ExecContext(w.tx.ctx, pragma); err != nil {
		return failure(err)
	}
	w.durable = durable
	return nil
}
