package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

const (
	// gcPercent trades a little processor time for memory: a thousand answers at once stay below 300 MiB.
	gcPercent = 75
	// crowd is how many goroutines more than now there must have been before memory is given back out of turn.
	crowd = 2000
	// giveBackEvery is how often the crowd is counted.
	giveBackEvery = 5 * time.Second
)

// spareMemory sets how the collector works, unless GOGC does, and gives back what only the start needed.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	debug.FreeOSMemory()
	dropProgramPages()
}

// giveBackMemory returns memory to the system soon after many readers have left, until ctx ends. A server at rest allocates
// next to nothing, so the collector would come every two minutes only, and what pools keep (a buffer or two for each connection) goes
// at its second run.
func giveBackMemory(ctx context.Context) {
	tick := time.NewTicker(giveBackEvery)
	defer tick.Stop()
	var c crowdCount
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if c.left(runtime.NumGoroutine()) {
			runtime.GC()
			debug.FreeOSMemory()
		}
	}
}

// crowdCount knows the most goroutines seen since memory was given back.
type crowdCount struct{ most int }

// left reports that a crowd has gone: fewer than a quarter of the most are left.
func (c *crowdCount) left(now int) bool {
	if c.most-now >= crowd && now < c.most/4 {
		c.most = now
		return true
	}
	c.most = max(c.most, now)
	return false
}
