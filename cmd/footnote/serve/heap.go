package serve

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// gcPercent trades a little processor time for memory at rest.
	gcPercent = 75
	// minScanPercent trades more of it when memory is full: a thousand answers at once stay below 300 MiB. It is of
	// what a collection has to look through: texts and vectors hold no pointers, so that they cost it next to nothing
	// and need no garbage beside them.
	minScanPercent = 60
	// maxGCPercent is for a server that works with little in memory: collecting less often costs it no more than
	// gcRoom.
	maxGCPercent = 400
	// gcRoom is what a busy server may allocate between two collections, whatever it holds: a burst of questions
	// allocates as much.
	gcRoom = 64 << 20
	// busyHeap tells a busy server from one at rest, whose memory stays small.
	busyHeap = 24 << 20
	// busyGoroutines does the same where much has just begun, and is not in memory yet: some tens of questions.
	busyGoroutines = 250
	// minCrowd is how many goroutines more than now there must have been before memory is given back out of turn.
	minCrowd = 2000
	// giveBackEvery is how often the crowd is counted.
	giveBackEvery = 5 * time.Second
	// workShare is how much processor time a server at rest does not take between two counts.
	workShare = 20 * time.Millisecond
	// restCounts is for how many counts a server that has worked must have rested before its memory is given back.
	restCounts = 3
	// startOver is when the work that a start leaves behind, such as a look at what was not finished, is done as a
	// rule.
	startOver = time.Second
)

// spareMemory sets how the collector works, unless GOGC does, and gives back what only the start needed. It is called
// once, when a start is over.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
		afterCollection(setGCPercent)
	}
	debug.FreeOSMemory()
}

// afterCollection calls f after each run of the collector, on the runtime's own goroutine.
func afterCollection(f func()) {
	type sentinel struct{ _ *byte }
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		f()
		afterCollection(f)
	})
}

// setGCPercent fits the pace of the collector to what the last run found in use.
func setGCPercent() {
	found := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
		{Name: "/gc/scan/heap:bytes"},
	}
	metrics.Read(found)
	debug.SetGCPercent(gcPercentFor(
		found[0].Value.Uint64(), found[1].Value.Uint64()+found[2].Value.Uint64(), found[3].Value.Uint64(),
		runtime.NumGoroutine(),
	))
}

// gcPercentFor is GOGC for so many bytes of live heap and of stacks and globals, to which it applies alike. Of the
// heap, scanned bytes may hold pointers.
func gcPercentFor(heap, roots, scanned uint64, goroutines int) int {
	if heap < busyHeap && goroutines < busyGoroutines {
		return gcPercent
	}
	all := heap + roots
	return int(min(max(gcRoom*100/all, minScanPercent*(min(scanned, heap)+roots)/all, 1), maxGCPercent))
}

// giveBackMemory returns memory to the system when the start is over, soon after many readers have left, and once a
// server that has worked is at rest, until ctx ends. Such a server allocates next to nothing, so the collector would
// come every two minutes only, and what pools keep (a buffer or two for each connection) goes at its second run.
func giveBackMemory(ctx context.Context) {
	tick, started := time.NewTicker(giveBackEvery), time.NewTimer(startOver)
	defer tick.Stop()
	defer started.Stop()
	var crowd crowdCount
	rest := restCount{worked: true}
	for {
		select {
		case <-ctx.Done():
			return
		case <-started.C:
			debug.FreeOSMemory()
			continue
		case <-tick.C:
		}
		if crowd.crowdLeft(runtime.NumGoroutine()) {
			runtime.GC()
			debug.FreeOSMemory()
		}
		if rest.restBegun(processorTime()) {
			debug.FreeOSMemory()
			rest.used = processorTime() // giving back is no work
		}
	}
}

// restCount knows whether the process has worked since memory was given back, and for how long it has not since then.
type restCount struct {
	used   time.Duration // processor time of the process at the last count
	worked bool
	counts int
}

// restBegun reports, once, that a process that had worked is at rest, from the processor time that it has used so far.
func (r *restCount) restBegun(used time.Duration) bool {
	works := used-r.used >= workShare
	r.used = used
	if works {
		r.worked, r.counts = true, 0
		return false
	}
	if r.counts++; !r.worked || r.counts < restCounts {
		return false
	}
	r.worked, r.counts = false, 0
	return true
}

// crowdCount knows the most goroutines seen since memory was given back.
type crowdCount struct{ most int }

// crowdLeft reports that a crowd has gone: fewer than a quarter of the most are left.
func (c *crowdCount) crowdLeft(now int) bool {
	if c.most-now >= minCrowd && now < c.most/4 {
		c.most = now
		return true
	}
	c.most = max(c.most, now)
	return false
}
