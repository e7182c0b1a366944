package fair

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Loop processes due work from a store, with fair scheduling by user. A free slot is assigned immediately, without
// waiting for other slots. All exported fields are required.
type Loop[T any] struct {
	Slots  *Slots
	Every  time.Duration                                           // polling interval
	Due    func(ctx context.Context) (users []string, err error)   // users with due work
	Claim  func(ctx context.Context, user string) (T, bool, error) // claims a user's next work; false: none
	Do     func(ctx context.Context, work T) error                 // processes it
	Failed func(ctx context.Context, err error)                    // reports an error; not called once ctx has ended
	wake   chan struct{}                                           // buffered signal
	once   sync.Once
}

// Wake triggers an immediate check. It never blocks.
func (l *Loop[T]) Wake() {
	select {
	case l.signal() <- struct{}{}:
	default:
	}
}

// signal returns the channel of Wake.
func (l *Loop[T]) signal() chan struct{} {
	l.once.Do(func() { l.wake = make(chan struct{}, 1) })
	return l.wake
}

// Run processes due work until ctx ends, and returns when all work has ended.
func (l *Loop[T]) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	tick := time.NewTicker(l.Every)
	defer tick.Stop()
	for ctx.Err() == nil {
		l.begin(ctx, &all)
		select {
		case <-ctx.Done():
		case <-tick.C:
		case <-l.signal():
		}
	}
}

// Once processes the work that is due now, within the free slots, and returns when that has ended. It reports
// whether there was any.
func (l *Loop[T]) Once(ctx context.Context) (some bool) {
	var all sync.WaitGroup
	defer all.Wait()
	return l.begin(ctx, &all)
}

// begin starts due work within the free slots. It calls Due again after each claim, since the user may have no more
// work.
func (l *Loop[T]) begin(ctx context.Context, all *sync.WaitGroup) (some bool) {
	for ctx.Err() == nil {
		users, err := l.Due(ctx)
		if err != nil {
			l.report(ctx, err)
			return some
		}
		work, user, ok := l.claim(ctx, users)
		if !ok {
			return some
		}
		some = true
		all.Go(func() {
			defer l.Wake()
			defer l.Slots.Release(user)
			l.report(ctx, l.Do(ctx, work))
		})
	}
	return some
}

// claim takes a slot and claims work for one of the users. It skips users whose work another process has just
// claimed.
func (l *Loop[T]) claim(ctx context.Context, users []string) (work T, user string, ok bool) {
	for {
		if user, ok = l.Slots.TryAcquire(users); !ok {
			return work, "", false
		}
		work, ok, err := l.Claim(ctx, user)
		if err == nil && ok {
			return work, user, true
		}
		l.report(ctx, err)
		l.Slots.Release(user)
		users = slices.DeleteFunc(users, func(u string) bool { return u == user })
	}
}

// report reports an error unless ctx has ended.
func (l *Loop[T]) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		l.Failed(ctx, err)
	}
}
