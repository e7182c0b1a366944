package postgres

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Limits of one batch.
//
// They are estimates: further appends are in the next batch, which starts after this one.
const (
	maxGroup      = 64
	maxGroupBytes = 1 << 20
)

// groupPause is the interval between the starts of batches with several appends: under load, an append waits at most
// that long for others.
//
// Groups and their notifications are in docs/decisions/replicas.md.
const groupPause = 18 * time.Millisecond

// A group batches appends to many runs into one statement and one commit. While a batch is written, further appends
// are queued for the next. So a single append does not wait, and the cost of each falls with their number. Its
// goroutine runs while the queue is not empty.
//
// Without it each event of each run would be a separate commit with its own round trip.
type group struct {
	mu      sync.Mutex
	waiting []*pending
	ended   []string // ended runs of which the other replicas were not notified yet
	telling bool     // a timer will notify them if there is no append
	busy    bool
	idle    sync.Cond // signalled when busy ends; its lock is mu
}

// pending is a queued append. Only the group's goroutine writes the result fields, before it closes done. They may
// be read afterwards.
//
// base is the number of the last event before the stored ones, and at the database's time in microseconds.
type pending struct {
	owner, runID string
	l            *logged
	done         chan struct{}

	stored   bool // false without err: the run was skipped, and appendLogged determines why
	base, at int64
	err      error
}

// appendMany stores a batch of appends: it locks the available runs, numbers the events, inserts them and notifies
// the other replicas. A run that another statement has locked, or whose lease the owner lost, is skipped, so a batch
// waits for no lock. One notification has up to a hundred runs, half of its capacity, since each notification has a
// fixed cost. FOR NO KEY UPDATE locks out other appends and permits foreign key checks.
const appendMany = `
	WITH clock AS MATERIALIZED (SELECT now_micros() AS now, set_config('synchronous_commit', 'off', true)),
	held AS MATERIALIZED (SELECT r.n, w.id, w.more FROM unnest($1::text[], $2::text[], $3::int[], $4::bigint[]) AS w
		(id, owner, more, tail)
		CROSS JOIN LATERAL (SELECT n FROM runs WHERE id = w.id AND owner = w.owner AND status = 'running'
			AND last + w.more <= $5 AND last >= w.tail
			FOR NO KEY UPDATE SKIP LOCKED) r),
	run AS (UPDATE runs SET last = last + held.more FROM held WHERE runs.n = held.n
		RETURNING runs.n, held.id, last - held.more AS base),
	stored AS (INSERT INTO events (run, seq, at, type, body)
		SELECT run.n, run.base + e.i, clock.now, e.type, e.body
		FROM clock CROSS JOIN unnest($6::text[], $7::int[], $8::text[], $9::bytea[]) AS e (id, i, type, body) JOIN run
		ON run.id = e.id),
	told AS (SELECT pg_notify($10, $11::text || ' ' || string_agg(id, ' '))
		FROM (SELECT id, row_number() OVER () / 100 AS part FROM (SELECT id FROM run UNION ALL
			SELECT unnest($12::text[])) AS about (id)) AS parts GROUP BY part)
	SELECT coalesce(run.id, ''), coalesce(run.base, 0), clock.now, messages.n FROM clock CROSS
	JOIN (SELECT count(*) AS n FROM told) messages LEFT JOIN run ON true`

// appendGrouped queues an append for a batch and waits. stored is false if the run was skipped without changes. If
// ctx is cancelled, the append stays in the queue.
func (db *DB) appendGrouped(
	ctx context.Context, owner, runID string, l *logged,
) (base, at int64, stored bool, err error) {
	p := &pending{owner: owner, runID: runID, l: l, done: make(chan struct{})}
	db.group.mu.Lock()
	db.group.waiting = append(db.group.waiting, p)
	db.group.startWork(db) //nolint:contextcheck // a group stores the appends of many callers
	db.group.mu.Unlock()
	select {
	case <-p.done:
		return p.base, p.at, p.stored, p.err
	case <-ctx.Done(): // it may still be stored, like any statement in progress
		return 0, 0, false, db.translateError(ctx, ctx.Err())
	}
}

// queueEndNotice notifies the other replicas of a run's end with the next batch, or after groupPause. The notification
// is only a wake-up: if it fails, they poll.
func (db *DB) queueEndNotice(runID string) {
	g := &db.group
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = append(g.ended, runID)
	if g.busy || g.telling {
		return
	}
	g.telling = true
	time.AfterFunc(groupPause, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.telling = false; len(g.ended) > 0 {
			g.startWork(db)
		}
	})
}

// startWork starts the group's goroutine unless it runs. The caller holds mu. The goroutine ends when the queue is
// empty, and Close waits for that.
func (g *group) startWork(db *DB) {
	if g.busy {
		return
	}
	g.busy = true
	go func() {
		for {
			runtime.Gosched() // let concurrent appends join the batch
			batch, ended := g.nextBatch()
			if len(batch)+len(ended) == 0 {
				return
			}
			began := time.Now()
			db.storeBatch(batch, ended)
			for _, p := range batch {
				close(p.done)
			}
			if len(batch) > 1 {
				time.Sleep(groupPause - time.Since(began))
			}
		}
	}()
}

// nextBatch returns the next batch, with one append for each run. Without any the group becomes idle. A second
// append to a run waits for the next batch, since the statement numbers each run once.
func (g *group) nextBatch() (batch []*pending, ended []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen, size := make(map[string]bool, len(g.waiting)), 0
	later := g.waiting[:0:0]
	for _, p := range g.waiting {
		if seen[p.runID] || len(batch) == maxGroup || size > maxGroupBytes {
			later = append(later, p)
			continue
		}
		seen[p.runID] = true
		batch = append(batch, p)
		for _, body := range p.l.bodies {
			size += len(body)
		}
	}
	g.waiting, ended, g.ended = later, g.ended, nil
	if len(batch)+len(ended) == 0 {
		g.busy = false
		g.idle.Broadcast()
	}
	return batch, ended
}

// waitIdle waits until all appends are stored and notified.
func (g *group) waitIdle(db *DB) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.ended) > 0 {
		g.startWork(db)
	}
	for g.busy {
		g.idle.Wait()
	}
}

// storeBatch stores a batch. A single append uses the cheaper plain statement. If the database rejected the whole
// statement, one append may be the cause, so each caller retries its own.
func (db *DB) storeBatch(batch []*pending, ended []string) {
	ctx := context.Background() // the callers have their own timeouts
	switch {
	case len(batch) == 0:
		db.notifyEnded(ctx, ended)
	case len(batch) == 1 && len(ended) == 0:
		p := batch[0]
		p.base, p.at, p.err = db.appendPlain(ctx, p.owner, p.runID, p.l)
		p.stored = p.err == nil
	default:
		err := db.storeMany(ctx, batch, ended)
		if _, undone := errors.AsType[*pgconn.PgError](err); undone { // one may be the cause: each is retried alone
			err = nil
			db.notifyEnded(ctx, ended)
		}
		for _, p := range batch {
			if !p.stored {
				p.err = err
			}
		}
	}
	for _, p := range batch {
		if p.stored {
			db.tails.Store(p.runID, p.base+int64(len(p.l.kinds)))
		}
	}
}

// storeMany stores a batch with appendMany and sets the result of each append. appendLogged retries skipped runs
// alone.
func (db *DB) storeMany(ctx context.Context, batch []*pending, ended []string) error {
	byRun := make(map[string]*pending, len(batch))
	var ids, owners, of, kinds []string
	var more, places []int
	var tails []int64
	var bodies [][]byte
	for _, p := range batch {
		id := legibleText(p.runID)
		byRun[id] = p
		ids, owners, more, tails = append(ids, id), append(owners, p.owner), append(more, len(p.l.kinds)), append(
			tails, db.lastEvent(p.runID),
		)
		for i, kind := range p.l.kinds {
			of, places, kinds = append(of, id), append(places, i+1), append(kinds, kind)
		}
		bodies = append(bodies, p.l.bodies...)
	}
	type added struct {
		id       string
		base, at int64
	}
	read := func(row scanner) (a added, err error) {
		var messages int64
		err = row.Scan(&a.id, &a.base, &a.at, &messages)
		return a, err
	}
	list, err := queryList(
		ctx, db, longTime, read, appendMany, ids, owners, more, tails, maxSeq, of, places, kinds, bodies, db.channel,
		db.instance, ended,
	)
	if err != nil {
		return err
	}
	for _, a := range list {
		if p := byRun[a.id]; p != nil {
			p.base, p.at, p.stored = a.base, a.at, true
		}
	}
	return nil
}

// notifyEnded notifies the other replicas of ended runs.
func (db *DB) notifyEnded(ctx context.Context, runIDs []string) {
	if len(runIDs) == 0 {
		return
	}
	_, err := db.execStatement(ctx, shortTime,
		`SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2::text || ' ' || string_agg(id, ' '))
		FROM unnest($3::text[]) WITH ORDINALITY AS about (id, i) GROUP BY i / 100`, db.channel, db.instance, runIDs)
	if err != nil {
		db.log.WarnContext(
			ctx, "the other replicas were not told of the end of a run; they see it a little later", "runs", runIDs,
			"error", err,
		)
	}
}
