//go:build linux

package main

import (
	"context"
	"errors"
	"sync"
	"time"
)

// killTwo kills two of the replicas, one after the other, and starts them again only when the third one has ended all
// that they worked on.
//
// The other cells start a replica again at once; here it stays away, so a run can only go on at another one. Each
// replica works on four runs that stop at different points, and the first to get to its point has the replica killed.
// c.died says when; takenOver holds each run to the 35 seconds that docs/reliability.md promises, and to one
// take-over.
func killTwo(ctx context.Context, g *rig, c *cell) error {
	c.died = map[string]time.Time{}
	var errs []error
	for i, r := range g.replicas[:2] {
		if i > 0 {
			time.Sleep(2 * time.Second) // at another moment between two looks
		}
		reached := make(chan struct{})
		kill := sync.OnceFunc(func() {
			r.killWithoutWait()
			c.mu.Lock()
			c.died[r.baseURL()] = time.Now()
			c.mu.Unlock()
			close(reached)
			// Early enough for a tool to have been called or not, and late enough for an answer to be half written.
		})
		var asking sync.WaitGroup
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
	// A cell that tries nothing must not pass.
	if c.taken == 0 {
		c.noteProblem("nothing was under way")
	}
	for _, r := range g.replicas[:2] {
		r.killServer()
		errs = append(errs, r.startServing())
	}
	return errors.Join(errs...)
}

// withKill kills a replica in the middle of another fault, and starts it again.
//
// The kill comes when six more questions were taken. Both together try what recovers only while a third thing works:
// for example that a run is taken over while the database is slow.
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

// killOne kills a replica while it writes an answer, and starts it again. It is always the third replica, which no
// other fault of these cells is about.
func (c *cell) killOne(ctx context.Context, g *rig) error {
	_, err := c.killOnce(ctx, g, g.replicas[2], failPoint{at: inAnswer})
	return err
}
