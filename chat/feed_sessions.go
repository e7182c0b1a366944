package chat

import "sync"

// watched is a session that somebody waits for new runs of. The channel is replaced each time that it is closed: one
// close wakes any number of readers, and none of them has to be known.
type watched struct {
	users int
	wake  chan struct{} // closed when a run may have begun
}

// sessionWatches are the sessions that are watched. Its zero value is ready to use. Its lock is its own; Feed.mu is
// never held together with it.
type sessionWatches struct {
	mu   sync.Mutex
	open map[[2]string]*watched // by user and session
}

// WatchSession tells of runs that begin in a session. wake returns a channel that is closed when one may have begun:
// take it before looking at the session in the store, and wait for it afterwards. It may be closed for nothing: of
// another process it is only known that it appended to some run. stop must be called once. A session is named with its
// user because session ids are unique only for each user. The caller must have checked that the user may see the
// session; the watch itself tells nothing but that it is time to look.
func (f *Feed) WatchSession(user, session string) (wake func() <-chan struct{}, stop func()) {
	s, key := &f.sessions, [2]string{user, session}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.open[key]
	if w == nil {
		if s.open == nil {
			s.open = map[[2]string]*watched{}
		}
		w = &watched{wake: make(chan struct{})}
		s.open[key] = w
	}
	w.users++
	wake = func() <-chan struct{} {
		s.mu.Lock()
		defer s.mu.Unlock()
		return w.wake
	}
	stop = sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if w.users--; w.users == 0 {
			delete(s.open, key)
		}
	})
	return wake, stop
}

// wakeWatchers wakes who watches a session.
func (s *sessionWatches) wakeWatchers(user, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.open[[2]string{user, session}]; w != nil {
		w.wakeAll()
	}
}

// signalAll wakes everybody. Each of them then reads its session, so watchers bound how often they do: pages read at
// most once a second.
func (s *sessionWatches) signalAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.open {
		w.wakeAll()
	}
}

// wakeAll wakes who waits. The caller holds the mutex of the watches.
func (w *watched) wakeAll() {
	close(w.wake)
	w.wake = make(chan struct{})
}
