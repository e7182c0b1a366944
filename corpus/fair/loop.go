package fair

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Loop does work of users that a store has due, in turns by user. A slot that becomes free is given away at once:
// nothing waits for the work of other slots. All exported fields are required.
type Loop[T any] struct {
	Slots  *Slots
	Every  time.Duration                                           // between two looks without a reason
	Due    func(ctx context.Context) (users []string, err error)   // who has work that is due
	Claim  func(ctx context.Context, user string) (T, bool, error) // takes a user's next work; false: there is none
	Do     func(ctx context.Context, work T) error                 // does it
	Failed func(ctx context.Context, err error)                    // reports an error; not called once ctx has ended
	wake   chan struct{}                                           // holds one
	once   sync.Once
}

// Wake has Run look at once. It never blocks.
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

// Run does due work until ctx ends, and returns when all work has ended.
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

// Once does the work that is due now, as far as there are slots, and returns when that has ended. It reports whether
// there was any.
func (l *Loop[T]) Once(ctx context.Context) (some bool) {
	var all sync.WaitGroup
	defer all.Wait()
	return l.begin(ctx, &all)
}

// begin begins due work, as far as there are slots. Who has something due is asked anew after each claim: the user
// may have no more.
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
			defer l.Slots.Leave(user)
			l.report(ctx, l.Do(ctx, work))
		})
	}
	return some
}

// claim takes a slot and a piece of work for one of some users. Users whose work another process has just claimed are
// passed over.
func (l *Loop[T]) claim(ctx context.Context, users []string) (work T, user string, ok bool) {
	for {
		if user, ok = l.Slots.Take(users); !ok {
			return work, "", false
		}
		work, ok, err := l.Claim(ctx, user)
		if err == nil && ok {
			return work, user, true
		}
		l.report(ctx, err)
		l.Slots.Leave(user)
		users = slices.DeleteFunc(users, func(u string) bool { return u == user })
	}
}

// report reports an error unless ctx has ended.
func (l *Loop[T]) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		l.Failed(ctx, err)
	}
}
