package bert

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
)

func TestACrewDoesEachTextOnceAndNotTooManyAtOnce(t *testing.T) {
	for _, yields := range []bool{false, canYield()} {
		c := crew{slots: make(chan struct{}, 3), yields: yields}
		processors := runtime.GOMAXPROCS(0)
		var done [50]atomic.Int32
		var now, most atomic.Int32
		err := c.run(t.Context(), len(done), func(_ context.Context, i int) error {
			for n := now.Add(1); ; {
				if was := most.Load(); was >= n || most.CompareAndSwap(was, n) {
					break
				}
			}
			done[i].Add(1)
			runtime.Gosched()
			now.Add(-1)
			return nil
		})
		if err != nil || most.Load() > 3 {
			t.Errorf("threads that give way %t: %v, %d at once, want at most 3", yields, err, most.Load())
		}
		for i := range done {
			if n := done[i].Load(); n != 1 {
				t.Errorf("threads that give way %t: number %d was done %d times, want once", yields, i, n)
			}
		}
		if after := runtime.GOMAXPROCS(0); after != processors {
			t.Errorf("threads that give way %t: %d processors are left, want %d", yields, after, processors)
		}
	}
}

func TestACrewEndsWithItsFirstError(t *testing.T) {
	failed := errors.New("the weights are gone")
	var begun atomic.Int32
	err := crew{slots: make(chan struct{}, 2)}.run(t.Context(), 1000, func(ctx context.Context, i int) error {
		switch n := begun.Add(1); {
		case n == 5:
			return failed
		case n > 5: // else the other thread begins many before it hears of the error
			<-ctx.Done()
		}
		return ctx.Err()
	})
	if !errors.Is(err, failed) || begun.Load() > 10 {
		t.Errorf("%d were begun, error %v; want few and %v", begun.Load(), err, failed)
	}
}
