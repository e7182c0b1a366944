//go:build linux

package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// killTwo kills two of the replicas, one after the other, and restarts them only after the third one has ended all
// their runs.
//
// The other cells restart a replica at once; here it stays down, so a run can only continue at another one. Each
// replica works on four runs that pause at different points, and the first to reach its point triggers the kill.
// c.died records the time. takenOver checks that each run is taken over once, within the 35 seconds of
// docs/reliability.md.
func killTwo(ctx context.Context, g *rig, c *cell) error {
	c.died = map[string]time.Time{}
	var errs []error
	for i, r := range g.replicas[:2] {
		if i > 0 {
			time.Sleep(2 * time.Second) // at a different phase of the checks
		}
		reached := make(chan struct{})
		kill := sync.OnceFunc(func() {
			r.killWithoutWait()
			c.mu.Lock()
			c.died[r.baseURL()] = time.Now()
			c.mu.Unlock()
			close(reached)
		})
		var asking sync.WaitGroup
		// From early, when a tool may or may not have been called, to late, with a partial answer.
		for _, p := range []point{atToolTurn, atTool, inAnswer, lateAnswer} {
			asking.Go(func() {
				if _, err := c.askQuestion(ctx, g, r.baseURL(), func(key string) { g.outside.armPoint(key, p, kill) },
					nil); err != nil {
					c.noteProblem("%v", err)
				}
			})
		}
		select {
		case <-reached:
		case <-time.After(30 * time.Second):
			kill()
			c.noteProblem("none of its runs got anywhere")
		}
		asking.Wait()
	}
	c.wg.Wait()
	// A cell without any takeover must not pass.
	if c.taken == 0 {
		c.noteProblem("nothing was under way")
	}
	for _, r := range g.replicas[:2] {
		r.killServer()
		errs = append(errs, r.startServing())
	}
	return errors.Join(errs...)
}

// withKill kills a replica during another fault, and restarts it.
//
// The kill follows after six more accepted questions. The combination tests recovery that depends on a third
// component: for example a takeover while the database is slow.
func withKill(other act) act {
	return func(ctx context.Context, g *rig, c *cell) error {
		killed := make(chan error, 1)
		go func() { // ends with killOne
			if err := c.waitForRuns(ctx, c.countRuns()+6); err != nil {
				killed <- err
				return
			}
			killed <- c.killOne(ctx, g)
		}()
		return errors.Join(other(ctx, g, c), <-killed)
	}
}

// killOne kills a replica while it streams an answer, and restarts it. It is always the third replica, which no
// other fault of these cells affects.
func (c *cell) killOne(ctx context.Context, g *rig) error {
	_, err := c.killOnce(ctx, g, g.replicas[2], failPoint{at: inAnswer})
	return err
}
