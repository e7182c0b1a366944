package postgres

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// What one statement stores at most.
//
// They are choices: what comes beyond them goes into the next statement, which begins when this one is done.
const (
	maxGroup      = 64
	maxGroupBytes = 1 << 20
)

// groupPause is from the start of a group of several to that of the next: under load, appends wait so long at most for
// more to come.
//
// Groups and their notifications are in docs/decisions/replicas.md.
const groupPause = 18 * time.Millisecond

// A group stores appends to many runs in one statement and one commit. While one is on its way, those that come wait
// for the next: so a lone append waits for nobody, and the more there are, the less each costs. Its goroutine lives
// as long as anything waits.
//
// Without it each event of each run would be a commit of its own, with a round trip of its own.
type group struct {
	mu      sync.Mutex
	waiting []*pending
	ended   []string // runs whose ends the other replicas are still to be told of
	telling bool     // a timer sees to it that they are, should no append come
	busy    bool
	idle    sync.Cond // signalled when busy ends; its lock is mu
}

// pending is an append that waits. The fields of its outcome may be read once done is closed. Only the group's
// goroutine writes the outcome, before it closes done.
//
// base is the number of the last event before those that were stored, and at the database's time in microseconds.
type pending struct {
	owner, runID string
	l            *logged
	done         chan struct{}

	stored   bool // false without err: the run was not to be had, why is for appendAlone to find out
	base, at int64
	err      error
}

// appendMany stores the appends of a group: it locks the runs that are to be had, numbers the events, adds them and
// tells the other replicas. A run whose row another statement holds at this moment, or that is not the owner's to
// change, is left out. So a group waits for no lock. One message tells of a hundred runs, which is half of what fits
// into one: each message costs the database and every replica the same. FOR NO KEY UPDATE keeps other appends away and
// lets foreign keys to the run be checked.
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

// appendGrouped stores an append with others. stored is false if the run was not to be had: then nothing was done. The
// caller may leave; its append stays in the group.
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
	case <-ctx.Done(): // it may be stored all the same, as with any statement that is under way
		return 0, 0, false, db.translateError(ctx, ctx.Err())
	}
}

// tellEnd lets the other replicas know of an end with the next group, or after groupPause. It is a wake-up only: when
// it fails, they look by themselves in a while.
func (db *DB) tellEnd(runID string) {
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

// startWork begins to work off what waits, if nobody does. The caller holds mu. The goroutine owns itself: it ends when
// nothing waits, and Close waits for that.
func (g *group) startWork(db *DB) {
	if g.busy {
		return
	}
	g.busy = true
	go func() {
		for {
			runtime.Gosched() // whoever is about to append joins
			batch, ended := g.takeBatch()
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

// takeBatch returns what is to be stored next, of each run one append. Without any the group is idle. A second append
// to a run waits for the next batch, since the statement numbers each run once.
func (g *group) takeBatch() (batch []*pending, ended []string) {
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

// waitIdle returns once all is stored and told.
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

// storeBatch works off a batch. A lone append takes the plain statement, which is cheaper. If the database refused the
// statement as a whole, one of its appends may be to blame, so each caller tries its own again by itself.
func (db *DB) storeBatch(batch []*pending, ended []string) {
	ctx := context.Background() // the callers have their own patience
	switch {
	case len(batch) == 0:
		db.sayEnded(ctx, ended)
	case len(batch) == 1 && len(ended) == 0:
		p := batch[0]
		p.base, p.at, p.err = db.appendPlain(ctx, p.owner, p.runID, p.l)
		p.stored = p.err == nil
	default:
		err := db.storeMany(ctx, batch, ended)
		if _, undone := errors.AsType[*pgconn.PgError](err); undone { // one may be to blame: each is tried by itself
			err = nil
			db.sayEnded(ctx, ended)
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

// storeMany stores a batch by appendMany and fills in the outcome of each append. Runs that the statement left out stay
// not stored, and appendLogged tries them alone.
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

// sayEnded tells the other replicas of ends.
func (db *DB) sayEnded(ctx context.Context, runIDs []string) {
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
