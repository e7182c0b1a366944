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

// underLoad has questions and documents come in, lets act happen in the midst of them, and waits until something came
// after it too.
//
// Four users ask through nginx, one question after the other, and a document comes every two seconds. act is called
// when eight questions were taken, and the load goes on until eight more were taken after it: a server that recovers
// only when it is restarted would not take those. Runs that are still under way are followed on.
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

// countRuns returns how many questions of this cell were taken so far.
func (c *cell) countRuns() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts.runs
}

// waitForRuns waits until so many runs were taken. It fails after two minutes, with the number that was reached.
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

// rollReplicas ends every replica in order, one after the other, and starts it again.
//
// This is what an operator does for an upgrade. Each must end by itself within 30 seconds, with exit code 0. Runs that
// are under way go to another replica; a server that broke them off would show as lost or endless.
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
			// The replica takes questions again before the next one goes.
			if err := c.waitForRuns(ctx, c.countRuns()+4); err != nil {
				return err
			}
		}
		return nil
	})
}

// postgresAway ends PostgreSQL and starts it again after a while.
//
// how is a mode of Halt. With postgrestest.Immediate the database crashes: what it had not written to the disk is
// lost, and logs may lose their last half second (forgets). In the other modes nothing may be lost. While it is away,
// every question must be refused with 503: one that was accepted would be stored nowhere. away of 0 is a restart.
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

// slowLinks disturbs the links to one thing for a while. The replicas and the thing itself go on; only the network
// between them fails. act returns when the links are well again.
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

// milvusAway kills Milvus and starts it again, with or without what it kept.
//
// Questions go on without it, since a search then goes by words alone. emptied is the case in which its disk was lost:
// the vectors have to be made again from what the database has, without anybody asking for it. A document without them
// would be counted as half.
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
			if err := c.waitForRuns(ctx, c.countRuns()+12); err != nil { // questions go on without it
				return err
			}
			return g.milvus.Run(ctx)
		})
	}
}

// milvusSilent stops Milvus where it is for a while: connections stay, and nothing is answered. The standalone server
// may take itself for dead when it goes on after that; then it is started again.
//
// This is worse than an end: a client that waits for an answer without a limit would wait for as long as the silence.
// Twelve questions must be taken meanwhile.
func milvusSilent(ctx context.Context, g *rig, c *cell) error {
	return underLoad(ctx, g, c, func() error {
		if err := g.milvus.Pause(); err != nil {
			return err
		}
		err := c.waitForRuns(ctx, c.countRuns()+12)
		if resumed := g.milvus.Resume(); resumed != nil {
			return resumed
		}
		// Milvus must answer searches for five seconds on end before it counts as well.
		fine, late := time.Now(), time.Now().Add(15*time.Second)
		for err == nil && time.Since(fine) < 5*time.Second { // it may still answer before it takes itself for dead
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

// cutOff separates one replica from PostgreSQL until the others have taken its runs over, and joins it again.
//
// The replica lives and can't know that its runs are no longer its own. If it wrote to a log once it is joined again,
// events would be in it twice or out of order; if it went on with a call that has an effect, that would come twice.
// Six questions are asked of it that stop at different points; the first to get to its point cuts it off.
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
	// A lease takes 30 seconds, and replicas look at the others' runs every three (docs/reliability.md).
	time.Sleep(45 * time.Second) // a lease and a look at them
	if err := r.links[onPostgres].setFault(fine); err != nil {
		return err
	}
	waiting.Wait()
	return nil
}

// freezeReplica stops one replica's process where it is until the others have taken its runs over, and lets it go on.
//
// It is like cutOff, and harder: the process does not see time pass. After SIGCONT its next statement may be one that
// it prepared before the others took over. The database has to refuse that.
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
	// As in cutOff: a lease and a look.
	time.Sleep(45 * time.Second)
	return r.currentProcess().cmd.Process.Signal(syscall.SIGCONT)
}

// atPoint disturbs the links to one thing when a run gets to a point, for a while.
//
// Each replica has a run with an act at p; the first that gets there begins the fault for all. One more document and
// one more user go on during the fault, so that not only the run that is at p meets it.
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
		// The fault has begun, or nobody got there.
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

// act is what a cell does. Runs and documents that it began are followed after it. An error that it returns is a
// problem of the cell; the rest of the plans are still tried.
type act func(ctx context.Context, g *rig, c *cell) error

// plan is one cell to come. name is what -only is compared with, and the row's first column.
type plan struct {
	name string
	act  act
}

// linkPlans are all faults on all links at three points of a run.
//
// They are 3 links × 5 faults × 3 points = 45. The points are one before any tool, one while a tool works, and one in
// the answer: what was stored by then differs, and so does what has to be done again.
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

// dependencyPlans are the faults of what the replicas depend on, and of single replicas.
//
// The seconds are choices; 4 s is twice what a server may take to refuse a question. Names with “disk” need root
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
