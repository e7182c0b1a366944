package bert

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// lazyModel loads a model on demand and unloads it when idle. It is safe for concurrent use. It counts its users;
// the timer runs only while there are none.
type lazyModel struct {
	dir     string
	folder  folder
	floats  bool          // compute in float32 instead of 8 bits
	changes *weights      // of a model that was trained further; nil: none
	idle    time.Duration // how long the model stays in memory after its last use

	mu     sync.Mutex
	model  *model // nil: not loaded
	users  int
	closed bool
	unload *time.Timer // nil: never idle yet
}

// Close unloads the model once its last user is done. Later calls fail. It is safe to call twice.
func (l *lazyModel) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.unload != nil {
		l.unload.Stop()
	}
	return l.dropUnused()
}

// useModel returns the model and keeps it in memory until release. The first user loads it while others wait. An
// error is not cached: the next call retries.
func (l *lazyModel) useModel() (_ *model, release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, errors.New("the model is closed")
	}
	if l.model == nil {
		if l.model, err = loadModel(l.dir, l.folder, l.floats, l.changes); err != nil {
			return nil, nil, fmt.Errorf("model in %s: %w", l.dir, err)
		}
	}
	l.users++
	if l.unload != nil {
		l.unload.Stop()
	}
	return l.model, sync.OnceFunc(l.releaseModel), nil
}

// releaseModel removes a user. The last one starts the timer, or unloads the model if it was closed meanwhile.
func (l *lazyModel) releaseModel() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.users--
	switch {
	case l.users > 0:
	case l.closed:
		_ = l.dropUnused() // of a mapping that is no longer used
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

// dropUnused unloads the model unless it is in use. The caller holds mu.
func (l *lazyModel) dropUnused() error {
	if l.users > 0 || l.model == nil {
		return nil
	}
	m := l.model
	l.model = nil
	return m.weights.close()
}
