//go:build linux

package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// failPoint defines when a replica is killed: at a point of its run, or after a reader has received a number of
// events.
//
// Only one is used: events applies if at is empty. events of 0 is directly after the run was accepted.
type failPoint struct {
	at     point
	events int
}

// String formats the point for messages.
func (p failPoint) String() string {
	switch {
	case p.at != "":
		return string(p.at)
	case p.events == 0:
		return "as soon as the run was accepted"
	}
	return fmt.Sprintf("when event %d was seen", p.events)
}

// failPoints returns the twenty moments at which replicas are killed.
//
// Twelve are by received events, directly after a commit; eight are by the state of the model or the tool, during
// an operation of the replica.
func failPoints() (points []failPoint) {
	for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14} {
		points = append(points, failPoint{events: n})
	}
	for _, at := range []point{
		atFirstTurn, atToolTurn, atTool, atSearch, atAnswerTurn, inAnswer, midAnswer, lateAnswer,
	} {
		points = append(points, failPoint{at: at})
	}
	return points
}

// killReplicas kills replicas with SIGKILL under load, each repeatedly while the other two continue, at every
// point, rounds times. It stops early when the time is over.
//
// Kills of different replicas overlap, so at times two of three are down. Each of the three takes the next job when
// it is up again. It notes a problem if less than half of the kills hit a run in flight: the others prove nothing.
// It ends at the first replica that does not restart.
//
// The load is three users, and a document every three seconds. Runs and documents are followed to their end,
// whatever ends the kills.
func killReplicas(ctx context.Context, g *rig, c *cell, points []failPoint, rounds int, most time.Duration) error {
	following := ctx // runs are followed beyond this
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.lasting = most // a run may be interrupted repeatedly until then
	var jobs []failPoint
	for range rounds {
		jobs = append(jobs, points...)
	}
	ends := time.Now().Add(most)
	// hit counts the kills during the intended run.
	var next, kills, hit atomic.Int64
	var workers, load sync.WaitGroup
	loading, stopLoad := context.WithCancel(following)
	defer stopLoad()
	g.loadRig(loading, &load, c, 3, 3*time.Second)
	failed := make(chan error, len(g.replicas))
	for _, r := range g.replicas {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) || time.Now().After(ends) || ctx.Err() != nil {
					return
				}
				on, err := c.killOnce(following, g, r, jobs[i])
				if err != nil {
					failed <- fmt.Errorf("%s: %w", jobs[i], err)
					cancel()
					return
				}
				if on {
					hit.Add(1)
				}
				if n := kills.Add(1); n%50 == 0 {
					g.log("  %d kills, %d while the run was under way", n, hit.Load())
				}
			}
		})
	}
	workers.Wait()
	stopLoad()
	load.Wait()
	close(failed)
	c.mu.Lock()
	c.name = fmt.Sprintf(
		"%s: %d kills at %d points, %d in the middle of the run that was meant", c.name, kills.Load(), len(points),
		hit.Load(),
	)
	c.mu.Unlock()
	if hit.Load()*2 < kills.Load() {
		c.noteProblem("only %d of %d kills hit a run that was under way", hit.Load(), kills.Load())
	}
	return <-failed
}

// killOnce kills a replica at one point of a run that it works on, and restarts it. hit reports whether the run was
// in flight then.
//
// The question is sent to the replica itself and not through nginx, so that the run is its own, unless it dies
// before it has accepted it. For a point in the model or the tool, outside calls strike; for a number of events,
// the reader does. Both calls are inside a request that the replica waits for, so strike must not wait for the
// replica's end.
func (c *cell) killOnce(ctx context.Context, g *rig, r *replica, p failPoint) (hit bool, err error) {
	reached := make(chan struct{})
	var once sync.Once
	strike := func() {
		once.Do(func() {
			r.killWithoutWait()
			close(reached)
		})
	}
	armed := func(key string) {
		if p.at != "" {
			g.outside.armPoint(key, p.at, strike)
		}
	}
	seen := func(n int) {
		if p.at == "" && n == p.events {
			strike()
		}
	}
	type taken struct {
		*asked
		err error
	}
	answered := make(chan taken, 1)
	go func() { // ends with the question's response
		a, err := c.askQuestion(ctx, g, r.baseURL(), armed, seen)
		answered <- taken{a, err}
	}()
	var a taken
	select {
	case a = <-answered:
		if a.err != nil {
			return false, a.err
		}
		if p.at == "" && p.events == 0 {
			strike()
		}
		select {
		case <-reached:
			hit = true
		case <-a.over: // it has ended before
		case <-time.After(30 * time.Second): // another replica has it
		case <-ctx.Done():
		}
	case <-reached: // before the response: the question is retried
		hit = true
	}
	// Without a hit it is killed as well: each job ends with a kill.
	r.killServer()
	if err := r.startServing(); err != nil {
		return hit, err
	}
	if a.asked == nil {
		if a = <-answered; a.err != nil {
			return hit, a.err
		}
	}
	if len(g.replicas) == 1 { // the only one that can resume it
		<-a.over
	}
	return hit, nil
}

// loadRig sends concurrent questions through the proxy, and uploads documents at an interval, until ctx ends. Its
// runs are followed to their end.
//
// Each asker has one question in flight. A question that no server accepts within 90 seconds is a problem, and ends
// that asker. With every of 0 there are no uploads.
func (g *rig) loadRig(ctx context.Context, wg *sync.WaitGroup, c *cell, askers int, every time.Duration) {
	following := context.WithoutCancel(ctx)
	for range askers {
		wg.Go(func() {
			for ctx.Err() == nil {
				a, err := c.askQuestion(following, g, g.proxy, nil, nil)
				if err != nil {
					c.noteProblem("%v", err)
					return
				}
				select {
				case <-a.over:
				case <-ctx.Done():
				}
			}
		})
	}
	if every <= 0 {
		return
	}
	wg.Go(func() {
		for {
			if err := c.putDocument(following, g); err != nil {
				c.noteProblem("%v", err)
				return
			}
			select {
			case <-time.After(every):
			case <-ctx.Done():
				return
			}
		}
	})
}
