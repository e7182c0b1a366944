package bert

import (
	"context"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// crew embeds texts, some at once. The slots are shared by all calls of run, so that two of them don't take twice as
// many processors.
type crew struct {
	slots  chan struct{} // holds what is at work
	yields bool          // on threads that give way to others
}

// newCrew makes one for texts that nobody waits for, so many at once; 0: as many as the machine has processors where
// threads can be made to give way to others, else half as many. A quota shows as fewer processors for Go than the
// machine has.
func newCrew(workers int) crew {
	processors := runtime.GOMAXPROCS(0)
	// a quota counts the time of such threads too: they would use up what questions need
	yields := processors == runtime.NumCPU() && canYield()
	switch {
	case workers > 0:
	case yields:
		workers = processors
	default:
		workers = max(1, processors/2)
	}
	return crew{slots: make(chan struct{}, workers), yields: yields}
}

// canYield reports whether threads can be made to give way here. It is tried once on a thread of its own, which ends
// with its goroutine, as Go can't take the niceness back.
var canYield = sync.OnceValue(func() bool {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and it ends with this goroutine
		done <- yieldThread()
	}()
	return <-done == nil
})

// run calls do for 0 to n-1, some at once, until one fails. Goroutines take the next index, so that long texts don't
// keep short ones waiting. It returns when all have ended.
func (c crew) run(ctx context.Context, n int, do func(context.Context, int) error) error {
	work, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	if c.yields {
		defer moreProcessors(cap(c.slots))()
	}
	for range min(n, cap(c.slots)) {
		work.Go(func() error {
			if c.yields {
				runtime.LockOSThread() // and it ends with this goroutine
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

// more is how many such threads the Go scheduler was given processors for.
var more struct {
	mu      sync.Mutex
	threads int
	before  int // processors without them
}

// moreProcessors lets so many such threads run beside all others: with as many processors as the machine has, Go itself
// would have others wait for them. done takes that back.
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
