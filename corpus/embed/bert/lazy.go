package bert

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// lazyModel is a model that is in memory while it is used, and for a while after. It is safe for concurrent use. Its
// users are counted; the timer runs only while there are none.
type lazyModel struct {
	dir    string
	folder folder
	floats bool          // it runs in floats instead of 8 bits
	idle   time.Duration // how long it stays after its last use

	mu     sync.Mutex
	model  *model // nil: not in memory
	users  int
	closed bool
	unload *time.Timer // nil: never unused yet
}

// Close gives the model's memory back when nobody uses it any more. Nothing can be computed after it. It is safe to
// call it twice.
func (l *lazyModel) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.unload != nil {
		l.unload.Stop()
	}
	return l.dropUnused()
}

// useModel returns the model, and keeps it in memory until release. The first user loads it while others wait. An error
// is not kept: the next one tries again.
func (l *lazyModel) useModel() (_ *model, release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, errors.New("the model is closed")
	}
	if l.model == nil {
		if l.model, err = loadModel(l.dir, l.folder, l.floats); err != nil {
			return nil, nil, fmt.Errorf("model in %s: %w", l.dir, err)
		}
	}
	l.users++
	if l.unload != nil {
		l.unload.Stop()
	}
	return l.model, sync.OnceFunc(l.releaseModel), nil
}

// releaseModel counts a user out. The last one starts the timer, or drops the model if it was closed meanwhile.
func (l *lazyModel) releaseModel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users--
	switch {
	case l.users > 0:
	case l.closed:
		_ = l.dropUnused() // of a mapping that is not used any more
	case l.unload == nil:
		l.unload = time.AfterFunc(l.idle, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			_ = l.dropUnused()
		})
	default:
		l.unload.Reset(l.idle)
	}
}

// dropUnused gives the model's memory back unless somebody uses it. The caller holds mu.
func (l *lazyModel) dropUnused() error {
	if l.users > 0 || l.model == nil {
		return nil
	}
	m := l.model
	l.model = nil
	return m.weights.close()
}
