package corpus

import (
	"context"
	"sync"
	"time"

	"footnote/chat"
)

const (
	versionAge  = 20 * time.Second // how long a version is believed when nobody tells of a change
	maxVersions = 10_000           // users; past it, all are forgotten
)

// versions remembers the versions of users' libraries. The zero value is ready.
type versions struct {
	mu    sync.Mutex
	users map[string]knownVersion
}

type knownVersion struct {
	version int64
	read    time.Time
	changed <-chan struct{} // closed when it may be out of date
}

func (v *versions) known(user string) (int64, bool) {
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

// read asks the database.
func (v *versions) read(ctx context.Context, l *Library, s chat.Scope) (int64, error) {
	k := knownVersion{read: time.Now(), changed: l.changes.of("")} // before the read, so that nothing falls between
	var err error
	if k.version, err = l.cfg.Documents.Version(ctx, s); err != nil {
		return 0, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.users == nil || len(v.users) >= maxVersions {
		v.users = make(map[string]knownVersion)
	}
	if v.users[s.User].read.Before(k.read) {
		v.users[s.User] = k
	}
	return k.version, nil
}
