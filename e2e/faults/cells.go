//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/footnote/footnote/sql/postgres/postgrestest"
)

// underLoad generates a load of questions and documents, calls act during it, and waits for further successes after
// it.
//
// Four users ask through nginx, one question after the other, and a document is uploaded every two seconds. act is
// called after eight accepted questions, and the load continues until eight more are accepted after it: a server
// that recovers only after a restart would not accept those. Runs in flight are followed to their end.
func underLoad(ctx context.Context, g *rig, c *cell, act func() error) error {
	loading, stop := context.WithCancel(ctx)
	defer stop()
	var load sync.WaitGroup
	g.loadRig(loading, &load, c, 4, 2*time.Second)
	before := c.countRuns()
	if err := c.waitForRuns(ctx, before+8); err != nil {
		return err
	}
	err := act()
	if err == nil {
		err = c.waitForRuns(ctx, c.countRuns()+8)
	}
	stop()
	load.Wait()
	return err
}

// countRuns returns the number of this cell's accepted questions.
func (c *cell) countRuns() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts.runs
}

// waitForRuns waits until a number of questions is accepted. It fails after two minutes, with the number reached.
func (c *cell) waitForRuns(ctx context.Context, runs int) error {
	late := time.After(2 * time.Minute)
	for c.countRuns() < runs {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-late:
			return fmt.Errorf("no questions are taken: %d runs, want %d", c.countRuns(), runs)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// rollReplicas stops every replica gracefully, one after the other, and restarts it.
//
// An operator does the same for an upgrade. Each must end by itself within 30 seconds, with exit code 0. Its runs
// are handed over to another replica; a server that aborted them would be counted as lost or endless.
func rollReplicas(ctx context.Context, g *rig, c *cell) error {
	return underLoad(ctx, g, c, func() error {
		for _, r := range g.replicas {
			began := time.Now()
			if code := r.currentProcess().endProcess(ctx); code != 0 {
				c.noteProblem("%s ended with code %d after SIGTERM", r.addr, code)
			}
			if took := time.Since(began); took > 30*time.Second {
				c.noteProblem("%s took %v to stop", r.addr, took)
			}
			if err := r.startServing(); err != nil {
				return err
			}
			// The replica accepts questions again before the next one is stopped.
			if err := c.waitForRuns(ctx, c.countRuns()+4); err != nil {
				return err
			}
		}
		return nil
	})
}

// postgresAway stops PostgreSQL and restarts it after a while.
//
// how is a mode of Halt. With postgrestest.Immediate the database crashes: writes that were not synced are lost,
// and logs may lose their last half second (forgets). In the other modes no data may be lost. While it is down,
// every question must be refused with 503, since an accepted one would be stored nowhere. away of 0 is a restart.
func postgresAway(how string, away time.Duration) act {
	return func(ctx context.Context, g *rig, c *cell) error {
		c.forgets = how == postgrestest.Immediate
		return underLoad(ctx, g, c, func() error {
			if err := g.postgres.Halt(how); err != nil {
				return err
			}
			for began := time.Now(); time.Since(began) < away; {
				asked := time.Now()
				status, answer, err := sendRequest(
					ctx, http.MethodPost, g.replicas[0].baseURL()+"/chat", "application/json",
					[]byte(`{"message":"Is anybody there?"}`), "",
				)
				if err != nil || status != http.StatusServiceUnavailable {
					c.noteProblem(
						"without its database, a replica answers a question with %d %.200s %v", status, answer, err,
					)
				}
				c.mu.Lock()
				c.slowest = max(c.slowest, time.Since(asked))
				c.mu.Unlock()
				time.Sleep(100 * time.Millisecond)
			}
			return g.postgres.Run(ctx)
		})
	}
}

// slowLinks injects a fault into the links to one dependency for a while. The replicas and the dependency continue;
// only the network between them fails. act returns after the links have recovered.
func slowLinks(on string, f fault, lasting time.Duration) act {
	return func(ctx context.Context, g *rig, c *cell) error {
		return underLoad(ctx, g, c, func() error {
			if err := g.disturbLinks(on, f); err != nil {
				return err
			}
			select {
			case <-time.After(lasting):
			case <-ctx.Done():
			}
			return g.disturbLinks(on, fine)
		})
	}
}

// milvusAway kills Milvus and restarts it, with or without its data.
//
// Questions continue without it, since search then falls back to the text index. emptied simulates a lost disk: the
// embeddings must be computed again from the database, automatically. A document without them would be counted as
// half.
func milvusAway(emptied bool) act {
	return func(ctx context.Context, g *rig, c *cell) error {
		return underLoad(ctx, g, c, func() error {
			if err := g.milvus.Kill(); err != nil {
				return err
			}
			if emptied {
				if err := g.milvus.Empty(); err != nil {
					return err
				}
			}
			if err := c.waitForRuns(ctx, c.countRuns()+12); err != nil { // questions continue without it
				return err
			}
			return g.milvus.Run(ctx)
		})
	}
}

// milvusSilent suspends Milvus for a while: connections stay open without a response. The standalone server may
// consider itself dead when it resumes; then it is restarted.
//
// This is worse than a crash: a client without a timeout would wait for the whole time. Twelve questions must be
// accepted meanwhile.
func milvusSilent(ctx context.Context, g *rig, c *cell) error {
	return underLoad(ctx, g, c, func() error {
		if err := g.milvus.Pause(); err != nil {
			return err
		}
		err := c.waitForRuns(ctx, c.countRuns()+12)
		if resumed := g.milvus.Resume(); resumed != nil {
			return resumed
		}
		// Milvus must respond to searches for five seconds in a row before it counts as healthy.
		fine, late := time.Now(), time.Now().Add(15*time.Second)
		for err == nil && time.Since(fine) < 5*time.Second { // it may still respond before it considers itself dead
			if time.Now().After(late) {
				return errors.Join(g.milvus.Kill(), g.milvus.Run(ctx))
			}
			time.Sleep(300 * time.Millisecond)
			if !g.byMeaning(ctx, g.proxy) {
				fine = time.Now()
			}
		}
		return err
	})
}

// cutOff separates one replica from PostgreSQL until the others have taken over its runs, and reconnects it.
//
// The replica is alive and can't know that it has lost its leases. If it wrote to a log after the reconnect, events
// would be duplicated or out of order; if it resumed a call with a side effect, that would happen twice. It gets
// six questions that pause at different points; the first to reach its point triggers the cut.
func cutOff(ctx context.Context, g *rig, c *cell) error {
	r := g.replicas[0]
	var mine []*asked
	var mu sync.Mutex
	reached := make(chan struct{})
	var waiting sync.WaitGroup
	points := []point{atFirstTurn, atTool, atSearch, atAnswerTurn, inAnswer, midAnswer}
	all := sync.OnceFunc(func() { close(reached) })
	for _, p := range points {
		waiting.Go(func() {
			a, err := c.askQuestion(ctx, g, r.baseURL(), func(key string) {
				g.outside.armPoint(key, p, func() {
					if err := r.links[onPostgres].setFault(stalled); err != nil {
						c.noteProblem("%v", err)
					}
					all()
				})
			}, nil)
			if err != nil {
				c.noteProblem("%v", err)
				return
			}
			mu.Lock()
			mine = append(mine, a)
			mu.Unlock()
		})
	}
	select {
	case <-reached:
	case <-time.After(30 * time.Second):
		c.noteProblem("none of its runs got anywhere")
	}
	// A lease lasts 30 seconds, and replicas check the others' runs every three (docs/reliability.md).
	time.Sleep(45 * time.Second) // a lease and a check
	if err := r.links[onPostgres].setFault(fine); err != nil {
		return err
	}
	waiting.Wait()
	return nil
}

// freezeReplica suspends one replica's process until the others have taken over its runs, and resumes it.
//
// It is a harder variant of cutOff: the process does not notice the time. After SIGCONT its next statement may be
// one that it prepared before the takeover. The database must reject that.
func freezeReplica(ctx context.Context, g *rig, c *cell) error {
	r := g.replicas[1]
	reached := make(chan struct{})
	freeze := sync.OnceFunc(func() {
		if err := r.currentProcess().cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			c.noteProblem("%v", err)
		}
		close(reached)
	})
	for _, p := range []point{atTool, inAnswer, lateAnswer} {
		if _, err := c.askQuestion(ctx, g, r.baseURL(), func(key string) { g.outside.armPoint(key, p, freeze) },
			nil); err != nil {
			return err
		}
	}
	select {
	case <-reached:
	case <-time.After(30 * time.Second):
		c.noteProblem("none of its runs got anywhere")
	}
	// As in cutOff: a lease and a check.
	time.Sleep(45 * time.Second)
	return r.currentProcess().cmd.Process.Signal(syscall.SIGCONT)
}

// atPoint injects a fault into the links to one dependency when a run reaches a point, for a while.
//
// Each replica has a run with an act at p; the first to reach it starts the fault for all. One more document and
// one more user continue during the fault, so that it affects more than the run at p.
func atPoint(on string, f fault, p point, lasting time.Duration) act {
	return func(ctx context.Context, g *rig, c *cell) error {
		reached := make(chan struct{})
		begin := sync.OnceFunc(func() {
			if err := g.disturbLinks(on, f); err != nil {
				c.noteProblem("%v", err)
			}
			close(reached)
		})
		if err := c.putDocument(ctx, g); err != nil {
			return err
		}
		var load sync.WaitGroup
		for _, r := range g.replicas {
			load.Go(func() {
				if _, err := c.askQuestion(
					ctx, g, r.baseURL(), func(key string) { g.outside.armPoint(key, p, begin) }, nil,
				); err != nil {
					c.noteProblem("%v", err)
				}
			})
		}
		select {
		case <-reached:
		case <-time.After(30 * time.Second):
			c.noteProblem("no run got to this point")
		}
		// The fault has started, or no run reached the point.
		late := time.After(lasting)
		loading, stop := context.WithCancel(ctx)
		defer stop()
		g.loadRig(loading, &load, c, 1, 0)
		<-late
		if err := g.disturbLinks(on, fine); err != nil {
			return err
		}
		stop()
		load.Wait()
		return nil
	}
}

// act is the action of a cell. Its runs and documents are followed after it. An error is a problem of the cell; the
// remaining plans still run.
type act func(ctx context.Context, g *rig, c *cell) error

// plan is a cell to run. name is matched with -only, and is the row's first column.
type plan struct {
	name string
	act  act
}

// linkPlans returns all faults on all links at three points of a run.
//
// They are 3 links × 5 faults × 3 points = 45. The points are one before any tool, one while a tool runs, and one
// in the answer: they differ in the stored events, and so in the work to repeat.
func linkPlans() (plans []plan) {
	for _, on := range []string{onPostgres, onMilvus, onModel} {
		for _, f := range []fault{latency, stalled, reset, sliced, limited} {
			for _, p := range []point{atFirstTurn, atTool, inAnswer} {
				at := p
				if on == onMilvus && p == atTool {
					at = atSearch // the tool that needs it
				}
				plans = append(
					plans, plan{fmt.Sprintf("link to %s: %s, %s", on, f, p), atPoint(on, f, at, 2*time.Second)},
				)
			}
		}
	}
	return plans
}

// dependencyPlans returns the faults of the replicas' dependencies, and of single replicas.
//
// The durations are arbitrary; 4 s is twice the limit for refusing a question. Names with “disk” require root
// (runPlans).
func dependencyPlans() []plan {
	return []plan{
		{"SIGTERM, one replica after the other", rollReplicas},
		{"PostgreSQL stopped for 4 s", postgresAway(postgrestest.Fast, 4*time.Second)},
		{"PostgreSQL restarted", postgresAway(postgrestest.Fast, 0)},
		{"PostgreSQL crashed", postgresAway(postgrestest.Immediate, 0)},
		{"PostgreSQL slow: 300 ms each way", slowLinks(onPostgres, latency, 6*time.Second)},
		{"PostgreSQL silent for 4 s", slowLinks(onPostgres, stalled, 4*time.Second)},
		{"Milvus killed and started", milvusAway(false)},
		{"Milvus silent", milvusSilent},
		{"Milvus slow: 300 ms each way", slowLinks(onMilvus, latency, 6*time.Second)},
		{"Milvus lost its collections", milvusAway(true)},
		{"the model's server refuses for 6 s", slowLinks(onModel, refused, 6*time.Second)},
		{"the model's server is silent for 6 s", slowLinks(onModel, stalled, 6*time.Second)},
		{"the disk of the originals full", diskFull(originalsOf, false)},
		{"one process with SQLite: its disk full", byItself(
			true, diskFull(func(g *rig) string { return g.replicas[0].dir }, true),
		)},
		{"originals in a bucket: kill -9, and its storage gone for 4 s", inBucket},
		{"PostgreSQL slow, and a replica killed", withKill(slowLinks(onPostgres, latency, 6*time.Second))},
		{"Milvus killed and started, and a replica killed", withKill(milvusAway(false))},
		{"PostgreSQL restarted, and a replica killed", withKill(postgresAway(postgrestest.Fast, 0))},
		{"one replica cut off from PostgreSQL for 45 s", cutOff},
		{"one replica frozen for 45 s", freezeReplica},
	}
}
