package bert

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// concurrencyLimit limits concurrent work on texts. All calls of run share its slots, so that two calls do not use
// twice the processors.
type concurrencyLimit struct {
	slots  chan struct{} // semaphore of the running work
	yields bool          // use low-priority threads
}

// newConcurrencyLimit returns a limit for background work with the given number of workers. 0 means all processors if
// low-priority threads are available, else half of them. With a CPU quota Go has fewer processors than the machine.
func newConcurrencyLimit(workers int) concurrencyLimit {
	processors := runtime.GOMAXPROCS(0)
	// a quota also counts the time of low-priority threads, which would starve queries
	yields := processors == runtime.NumCPU() && canYield()
	switch {
	case workers > 0:
	case yields:
		workers = processors
	default:
		workers = max(1, processors/2)
	}
	return concurrencyLimit{slots: make(chan struct{}, workers), yields: yields}
}

// canYield reports whether low-priority threads are available. It is tested once on a separate thread, which ends
// with its goroutine, as Go can't reset the niceness.
var canYield = sync.OnceValue(func() bool {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with this goroutine
		done <- yieldThread()
	}()
	return <-done == nil
})

// run calls do for 0 to n-1 concurrently, until one fails. Goroutines take the next index, so that long texts do
// not block short ones. It returns when all have ended.
func (c concurrencyLimit) run(ctx context.Context, n int, do func(context.Context, int) error) error {
	work, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	if c.yields {
		defer moreProcessors(cap(c.slots))()
	}
	for range min(n, cap(c.slots)) {
		work.Go(func() error {
			if c.yields {
				runtime.LockOSThread() // the thread ends with this goroutine
				if err := yieldThread(); err != nil {
					return err
				}
			}
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				select {
				case c.slots <- struct{}{}:
				case <-ctx.Done():
					return ctx.Err()
				}
				err := do(ctx, i)
				<-c.slots
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	return work.Wait()
}

// more counts the low-priority threads for which GOMAXPROCS was raised.
var more struct {
	mu      sync.Mutex
	threads int
	before  int // processors without them
}

// moreProcessors raises GOMAXPROCS by threads, so that low-priority threads do not occupy processors of the Go
// scheduler that others need. done reverts that.
func moreProcessors(threads int) (done func()) {
	more.mu.Lock()
	defer more.mu.Unlock()
	if more.threads == 0 {
		more.before = runtime.GOMAXPROCS(0)
	}
	more.threads += threads
	runtime.GOMAXPROCS(more.before + more.threads)
	return func() {
		more.mu.Lock()
		defer more.mu.Unlock()
		more.threads -= threads
		if more.threads == 0 && os.Getenv("GOMAXPROCS") == "" {
			runtime.SetDefaultGOMAXPROCS() // which follows the system's limits again
			return
		}
		runtime.GOMAXPROCS(more.before + more.threads)
	}
}
