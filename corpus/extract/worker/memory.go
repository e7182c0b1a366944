package worker

import (
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// Memory limits of one worker process. On Linux the kernel enforces dataLimit; elsewhere the process checks itself.
// Mapped pages of the executable are not part of dataLimit, but the total stays below Limit. Of the 512 MiB, PDFium
// may use 256, and a parsed page of HTML or a large sheet the rest. The garbage collector's target is below
// dataLimit, so that it collects more often before the kernel refuses an allocation.
const (
	Limit      = 512 << 20 // bytes of resident memory of a worker at its peak
	dataLimit  = 440 << 20 // bytes that it may allocate
	heapTarget = 368 << 20 // bytes of heap and PDFium's memory together at which the collector works harder
	freshBelow = 160 << 20 // bytes; a process that has allocated more exits after its reply
	memoryExit = 9         // exit status of a worker that exceeded its memory limit
	checkEvery = 20 * time.Millisecond
)

// outside is the number of bytes that PDFium uses outside Go's heap. The garbage collector doesn't count them, so
// that they are subtracted from its target.
var outside atomic.Int64

// AddOffHeap adds change bytes to the memory that this process uses outside Go's heap. Package pdf calls it when
// PDFium's memory grows or is freed. It is safe for concurrent use.
func AddOffHeap(change int64) {
	debug.SetMemoryLimit(max(heapTarget-outside.Add(change), 64<<20))
}

// limitMemory sets the limits of the Go runtime: the collector's target and the stack size. It limits tracebacks to
// one goroutine, since all of them would fill the log.
func limitMemory() {
	AddOffHeap(0)
	debug.SetMaxStack(64 << 20) // an endless recursion in a parser fails soon
	debug.SetTraceback("single")
}

// allocated returns the bytes that the process has allocated from the system, without released heap memory.
func allocated() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()-s[1].Value.Uint64()) + outside.Load()
}

// heapGrew reports whether Go's heap is too large for another request. Mapped memory is never unmapped.
func heapGrew() bool {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()) > freshBelow
}

// watchMemory ends the process if it exceeds dataLimit, until stop is called. Where the kernel enforces a limit,
// this is the second one. The exit status reports the reason to the server.
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

// workersFor returns the number of processes for reading and for drawing on a machine with this many bytes of
// memory. They use at most half of it; the server and the file system's cache need the rest. drawing 0 means that
// the reading processes also draw. memory 0 means unknown.
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
