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
	// gcPercent trades some CPU time for less memory at rest.
	gcPercent = 75
	// minScanPercent trades more CPU time when memory is full: a thousand concurrent answers stay below 300 MiB. It
	// is relative to the scanned heap: texts and embeddings contain no pointers, so they cost the collector almost
	// nothing.
	minScanPercent = 60
	// maxGCPercent applies to a busy server with little memory in use: a less frequent collection costs at most
	// gcRoom.
	maxGCPercent = 400
	// gcRoom is the minimum allocation between two collections of a busy server: a burst of questions allocates as
	// much.
	gcRoom = 64 << 20
	// busyHeap is the minimum heap size of a busy server. An idle server stays below it.
	busyHeap = 24 << 20
	// busyGoroutines is the same threshold for much work that has just started and is not in memory yet: some tens
	// of questions.
	busyGoroutines = 250
	// minCrowd is the minimum decrease in goroutines before memory is returned early.
	minCrowd = 2000
	// giveBackEvery is the interval between two counts of goroutines.
	giveBackEvery = 5 * time.Second
	// workShare is the maximum CPU time of an idle server between two counts.
	workShare = 20 * time.Millisecond
	// restCounts is the number of idle counts after work before memory is returned.
	restCounts = 3
	// startOver is the usual time until the work after a start, such as the recovery of unfinished runs, is done.
	startOver = time.Second
)

// spareMemory tunes the garbage collector, unless GOGC does, and returns the memory that only the start needed. It
// is called once, after the start.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
		afterCollection(setGCPercent)
	}
	debug.FreeOSMemory()
}

// afterCollection calls f after each garbage collection, on the runtime's own goroutine.
func afterCollection(f func()) {
	type sentinel struct{ _ *byte }
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		f()
		afterCollection(f)
	})
}

// setGCPercent adapts GOGC to the live heap of the last collection.
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

// gcPercentFor returns GOGC for the live heap and the stacks and globals, in bytes: it applies to both. scanned is
// the part of the heap that may contain pointers.
func gcPercentFor(heap, roots, scanned uint64, goroutines int) int {
	if heap < busyHeap && goroutines < busyGoroutines {
		return gcPercent
	}
	all := heap + roots
	return int(min(max(gcRoom*100/all, minScanPercent*(min(scanned, heap)+roots)/all, 1), maxGCPercent))
}

// releaseMemory returns memory to the operating system after the start, soon after many readers have left, and
// once a busy server is idle, until ctx ends. An idle server allocates almost nothing: collections are only every
// two minutes, and pools (some buffers for each connection) are freed at the second one.
func releaseMemory(ctx context.Context) {
	tick, started := time.NewTicker(giveBackEvery), time.NewTimer(startOver)
	defer tick.Stop()
	defer started.Stop()
	var crowd peakDetector
	rest := idleDetector{worked: true}
	for {
		select {
		case <-ctx.Done():
			return
		case <-started.C:
			debug.FreeOSMemory()
			continue
		case <-tick.C:
		}
		if crowd.hasDropped(runtime.NumGoroutine()) {
			runtime.GC()
			debug.FreeOSMemory()
		}
		if rest.becameIdle(processorTime()) {
			debug.FreeOSMemory()
			rest.used = processorTime() // returning memory is not work
		}
	}
}

// idleDetector records whether the process has worked since memory was returned, and how long it has been idle.
type idleDetector struct {
	used   time.Duration // CPU time of the process at the last count
	worked bool
	counts int
}

// becameIdle reports, once, that a busy process has become idle, by the CPU time that it has used so far.
func (r *idleDetector) becameIdle(used time.Duration) bool {
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

// peakDetector holds the maximum number of goroutines since memory was returned.
type peakDetector struct{ most int }

// hasDropped reports whether a crowd has left: less than a quarter of the maximum remains.
func (c *peakDetector) hasDropped(now int) bool {
	if c.most-now >= minCrowd && now < c.most/4 {
		c.most = now
		return true
	}
	c.most = max(c.most, now)
	return false
}
