package worker

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// Memory of one worker process. On Linux the kernel holds dataLimit; elsewhere the process looks after itself. What it
// maps of the program's file comes on top of its data, and all of it stays below Limit. Of the 512 MiB, PDFium may have
// 256, and a parsed page of HTML or a large sheet takes the rest. The collector's target lies below what may be
// allocated, so that it works hard before the kernel refuses anything.
const (
	Limit      = 512 << 20 // resident memory of a worker at its peak
	dataLimit  = 440 << 20 // what it may allocate
	heapTarget = 368 << 20 // the collector works harder when heap and PDFium's memory together come near this
	freshBelow = 160 << 20 // a process that has allocated more ends after its answer
	memoryExit = 9         // exit status of a worker that ended itself because of its memory
	checkEvery = 20 * time.Millisecond
)

// outside is what PDFium's memory takes beside Go's. Go's collector doesn't see it, for which reason it is taken off
// the target.
var outside atomic.Int64

// Outside says how many bytes more, or less, this process holds outside of Go's heap. Package pdf calls it whenever
// PDFium's memory grows or goes. It is safe for concurrent use.
func Outside(change int64) {
	debug.SetMemoryLimit(max(heapTarget-outside.Add(change), 64<<20))
}

// limitMemory sets what Go itself can hold: the collector's target and the size of a stack. Traces of all goroutines
// would only fill the log.
func limitMemory() {
	Outside(0)
	debug.SetMaxStack(64 << 20) // a parser that calls itself without end fails soon
	debug.SetTraceback("single")
}

// allocated is what the process has taken from the system by now. What Go has given back to the system is taken off.
func allocated() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()-s[1].Value.Uint64()) + outside.Load()
}

// heapGrew reports whether Go's heap has become so large that little is left for what comes next: what was mapped
// once is never given up.
func heapGrew() bool {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()) > freshBelow
}

// watchMemory ends the process when it holds more than it may, until stop is called. Where the kernel holds a limit,
// this is the second one. The exit status tells the server why.
func watchMemory() (stop func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(checkEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			if allocated() > dataLimit {
				fmt.Fprintln(os.Stderr, "out of memory: the worker's limit")
				os.Exit(memoryExit)
			}
		}
	}()
	return func() { close(done) }
}

// workersFor returns how many processes read and draw on a machine with so much memory, of which they take half at
// most: 0 for drawing means that those who read also draw. memory 0 means that it is not known. The other half is for
// the server itself and for the file system's cache.
func workersFor(memory int64) (reading, drawing int) {
	switch n := memory / 2 / Limit; {
	case memory == 0 || n >= 3:
		return 2, 1
	case n == 2:
		return 1, 1
	default:
		return 1, 0
	}
}
