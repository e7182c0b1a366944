package corpus

import (
	"context"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
)

const (
	versionAge  = 20 * time.Second // how long a version is believed when nobody tells of a change
	maxVersions = 10_000           // users; past it, all are forgotten
)

// versions remembers the versions of users' libraries. The zero value is ready. Almost every request asks for a
// version, and most users ask for theirs many times in a row.
type versions struct {
	mu    sync.Mutex
	users map[string]knownVersion
	last  map[string]*reading // on its way
	next  map[string]*reading // to be sent when that has come back
}

// knownVersion is a version of a user's library that was read.
type knownVersion struct {
	version int64
	read    time.Time
	changed <-chan struct{} // closed when it may be out of date
}

// knownVersion returns a version that was read a moment ago, unless a change was heard of since. ok is false when it
// has to be read again.
func (v *versions) knownVersion(user string) (int64, bool) {
	v.mu.Lock()
	k, ok := v.users[user]
	v.mu.Unlock()
	if !ok || time.Since(k.read) > versionAge {
		return 0, false
	}
	select {
	case <-k.changed:
		return 0, false
	default:
		return k.version, true
	}
}

// A reading is one question to the database, for all who asked before it was sent.
type reading struct {
	done    chan struct{} // closed when the next two hold
	version int64
	err     error
}

// readVersion asks the database. Whoever asks while a reading is on its way waits for the next one, which sees all that
// was there when they asked: the more ask at once, the less each costs. The reading goes on when its caller leaves, as
// others may wait for it.
func (v *versions) readVersion(ctx context.Context, l *Library, s chat.Scope) (int64, error) {
	v.mu.Lock()
	next := v.next[s.User]
	if next == nil {
		next = &reading{done: make(chan struct{})}
		if v.next == nil {
			v.next, v.last = make(map[string]*reading), make(map[string]*reading)
		}
		v.next[s.User] = next
		go v.sendReading(context.WithoutCancel(ctx), l, s, next, v.last[s.User])
	}
	v.mu.Unlock()
	select {
	case <-next.done:
		return next.version, next.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// sendReading sends a reading once the one before has come back, if there is any.
func (v *versions) sendReading(ctx context.Context, l *Library, s chat.Scope, r, before *reading) {
	if before != nil {
		<-before.done
	}
	v.mu.Lock()
	delete(v.next, s.User) // who comes now is too late for it
	v.last[s.User] = r
	v.mu.Unlock()
	// before the read, so that nothing falls between
	k := knownVersion{read: time.Now(), changed: l.changes.watchDocument("")}
	k.version, r.err = l.cfg.Documents.Version(ctx, s)
	r.version = k.version
	v.mu.Lock()
	defer v.mu.Unlock()
	defer close(r.done)
	if v.last[s.User] == r {
		delete(v.last, s.User)
	}
	if r.err != nil {
		return
	}
	if v.users == nil || len(v.users) >= maxVersions {
		v.users = make(map[string]knownVersion)
	}
	v.users[s.User] = k
}
