package corpus

import (
	"context"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
)

// changes notifies watchers of documents. The zero value is ready to use. A channel is closed once; a watcher then
// requests the next.
type changes struct {
	mu  sync.Mutex
	one map[string]chan struct{} // by document; closed and removed at its next change
	any chan struct{}
}

// watchDocument returns a channel that is closed at the next change of a document, or of any for the empty id.
func (c *changes) watchDocument(id string) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if id == "" {
		if c.any == nil {
			c.any = make(chan struct{})
		}
		return c.any
	}
	if c.one == nil {
		c.one = make(map[string]chan struct{})
	}
	ch, ok := c.one[id]
	if !ok {
		ch = make(chan struct{})
		c.one[id] = ch
	}
	return ch
}

// wakeWatchers notifies the watchers of a document.
func (c *changes) wakeWatchers(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch, ok := c.one[id]; ok {
		close(ch)
		delete(c.one, id)
	}
	if c.any != nil {
		close(c.any)
		c.any = nil
	}
}

// notifyAll notifies all watchers.
func (c *changes) notifyAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.one {
		close(ch)
	}
	clear(c.one)
	if c.any != nil {
		close(c.any)
		c.any = nil
	}
}

// wakeChannel puts a token into ch unless it is full.
func wakeChannel(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// Watch returns the document and a channel that is closed at the next change of its state or progress. It covers
// changes of this process, and those reported to Changed.
func (l *Library) Watch(ctx context.Context, s chat.Scope, id string) (Document, <-chan struct{}, error) {
	if _, err := l.cfg.Documents.Get(ctx, s, id); err != nil {
		return Document{}, nil, err // do not allocate a channel for an unknown ID
	}
	changed := l.changes.watchDocument(id) // before the read, so that no change is missed
	d, err := l.cfg.Documents.Get(ctx, s, id)
	return d, changed, err
}

// Changes returns a channel that is closed at the next change of any document's state or progress, of any user. It
// covers the same changes as Watch.
func (l *Library) Changes() <-chan struct{} { return l.changes.watchDocument("") }

// Changed notifies the watchers of a document, or all for the empty ID, of a change by another replica.
func (l *Library) Changed(id string) {
	if id == "" {
		l.changes.notifyAll()
		return
	}
	l.changes.wakeWatchers(id)
}

// Wait blocks until the queue is empty or ctx ends, and reports the counts each time they change. It is for
// commands and tests. Changes of other processes are seen within a second.
func (l *Library) Wait(ctx context.Context, s chat.Scope, report func(Counts)) error {
	var last Counts
	for first := true; ; first = false {
		changed := l.changes.watchDocument("")
		counts, err := l.cfg.Documents.Count(ctx, s)
		if err != nil {
			return err
		}
		if (first || counts != last) && report != nil {
			report(counts)
		}
		last = counts
		waiting, err := l.cfg.Queue.Waiting(ctx)
		if err != nil {
			return err
		}
		if waiting == 0 && counts.Working == 0 {
			return nil
		}
		pause := time.Second // polls the changes of other processes
		if counts.Working == 0 {
			pause = 20 * time.Millisecond // a job ends right after its document is ready, without a notification
		}
		select {
		case <-changed:
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
