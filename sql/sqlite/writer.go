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

// Limits of a batch; the values are estimates. A larger batch delays the response of its first write. Without
// bulkEveryN, a bulk write would wait for all small ones.
const (
	maxBatch   = 256 // writes that share one transaction
	bulkEveryN = 8   // batches of small writes that may precede one waiting bulk write
)

// A writer owns the writing connection. Its goroutine takes all queued small writes, runs them in one transaction,
// commits, and then answers them. So the cost of a write falls with their number, and a single write has no delay. A
// bulk write has a transaction of its own when no small one is queued.
//
// The writes of a batch share the fsync of a commit, which costs far more than the writes. A failed write is rolled
// back to its savepoint; a failure of the whole transaction, such as a full disk, fails all of them.
type writer struct {
	log  *slog.Logger
	conn *sql.Conn
	tx   *tx

	mu     sync.Mutex
	small  []*pendingWrite
	bulk   []*pendingWrite
	closed bool

	wake     chan struct{} // a buffer for one signal
	finished chan struct{}
	passed   int  // small batches since a bulk write was queued
	durable  bool // the connection has synchronous=FULL
}

// A pendingWrite is a submitted write. state resolves the race between the writer that starts it and a caller whose
// context is cancelled, by compare-and-swap.
//
// An abandoned write was cancelled before its start and is not executed.
type pendingWrite struct {
	fn      func(*tx) error
	durable bool
	// checksFirst means that fn returns its own errors before it writes. It needs no savepoint: a later error is one
	// of the database and fails the whole transaction.
	checksFirst bool
	state       atomic.Int32 // waiting, started or abandoned
	answer      chan error   // a buffer for one, made by submitWrite
	err         error
}

const (
	waiting int32 = iota
	started
	abandoned
)

// startWriter prepares the transaction control statements, so that an unreadable file fails here, and starts the
// writer's goroutine.
func startWriter(ctx context.Context, conn *sql.Conn, log *slog.Logger) (*writer, error) {
	w := &writer{
		log:  log,
		conn: conn,
		// One transaction serves many callers, so it ignores cancellation of their contexts.
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

// writeTx runs fn in a transaction and returns after its commit. fn must be short: some tens of rows, no I/O. Its
// error is returned unchanged and rolls back only fn's changes. A durable write survives power loss; others survive
// a crash of the process, and power loss after the next durable write. If ctx is cancelled while fn is queued, fn is
// not run. Once fn has started, writeTx waits for its result, so captured variables belong to the caller again
// afterwards.
func (db *DB) writeTx(ctx context.Context, durable bool, fn func(*tx) error) error {
	return db.writer.submitWrite(ctx, &pendingWrite{fn: fn, durable: durable}, false)
}

// writeBulk is writeTx for long work. It runs in a separate transaction, when no small write is queued or after
// bulkEveryN batches of them. It blocks all other writes, so work of more than about 50 ms needs several calls.
func (db *DB) writeBulk(ctx context.Context, durable bool, fn func(*tx) error) error {
	return db.writer.submitWrite(ctx, &pendingWrite{fn: fn, durable: durable}, true)
}

// submitWrite queues a write and waits for its result. A started write can't be cancelled.
func (w *writer) submitWrite(ctx context.Context, j *pendingWrite, bulk bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.answer = make(chan error, 1)
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

// wakeWriter wakes the writer's goroutine. It never blocks, as one buffered signal is enough.
func (w *writer) wakeWriter() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// close completes the accepted writes and stops the goroutine. It is idempotent; every caller waits for the
// goroutine's end.
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

// writeLoop runs batches until the writer is closed. It sleeps only with an empty queue: the channel buffers a
// signal that arrives meanwhile.
func (w *writer) writeLoop() {
	defer close(w.finished)
	var batch []*pendingWrite
	for {
		var closed bool
		// Let concurrent writes join this batch: under load batches grow, and a single write is not delayed.
		runtime.Gosched()
		if batch, closed = w.nextBatch(batch[:0]); len(batch) > 0 {
			w.runBatch(batch)
			clear(batch) // release the writes for the garbage collector
			continue
		}
		if closed {
			return
		}
		<-w.wake
	}
}

// nextBatch moves the next transaction's writes into batch: one bulk write or up to maxBatch small ones. A bulk
// write is next when no small one is queued, or after bulkEveryN batches of them, so it never starves. It clears the
// moved elements, so that closures of finished writes are garbage collected.
//
// closed is returned with the batch, so that the loop ends only with an empty queue.
func (w *writer) nextBatch(batch []*pendingWrite) ([]*pendingWrite, bool) {
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

// runBatch runs a batch in one transaction and answers each write. The commit is durable if one of its writes is.
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

// commitBatch runs the writes and commits. It sets each write's own error, and returns an error of the whole
// transaction, such as a full disk. A single write needs no savepoint. If all failed it rolls back without disk
// access.
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
		switch written := w.tx.written; {
		case len(writes) == 1: // the transaction is its savepoint
			j.err = w.callSafely(j.fn)
		case !j.checksFirst:
			err = w.callInSavepoint(j)
		default:
			if j.err = w.callSafely(j.fn); j.err != nil && w.tx.written > written {
				err = j.err
			}
		}
		if err != nil {
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

// callInSavepoint returns an error only if the whole transaction is lost: SQLite itself rolls back for a full disk,
// for example.
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

// callSafely runs fn and converts a panic into an error, since the goroutine serves all callers.
func (w *writer) callSafely(fn func(*tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("a write panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("write panicked: %v", p)
		}
	}()
	return fn(w.tx)
}

// rollBack ends a failed transaction. SQLite may have rolled it back already.
func (w *writer) rollBack() {
	if err := w.tx.control(rollback); err != nil {
		w.log.Debug("rollback", "error", err)
	}
}

// setDurable sets whether commits are synced. In WAL mode, NORMAL does not sync the log at a commit and FULL does
// (sqlite.org/pragma.html#pragma_synchronous). The pragma has no effect inside a transaction, so it precedes BEGIN.
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
