package chat

import (
	"context"
	"sort"
	"sync"
)

// Entry is one event of a run's log with its JSON encoding. Readers share it, so it must not be modified. A run with
// a thousand readers encodes its events once, and a reader's pages are slices of one array.
type Entry struct {
	Event
	JSON []byte // encoded by AppendJSON
}

// Page is the part of a run's log after a position. Readers keep only a sequence number between two pages. A reader
// ahead of Last read a log that lost its end, for instance when a crash of PostgreSQL rolled back events not yet on
// disk. Such a reader must discard its state.
type Page struct {
	Entries []*Entry // all newer entries, oldest first; empty at the end
	Over    bool     // the run's RunDone is among Entries or before them: the log is complete
	Last    int64    // sequence number of the log's last event; a reader beyond it must start over
}

// Feed streams the runs' logs. An append through it wakes the readers, which pull new entries from their own
// position. Nothing is pushed to a reader, so a slow reader can't block a run. Recent entries are cached in memory,
// encoded once for all readers; the rest is read from the store. Feed has no goroutines and needs no closing. It is
// safe for concurrent use. A reader calls Watch, takes wake, reads to the end of the log, and waits. In that order
// it needs no buffer and misses no event. Wake announces appends of other processes, and `told` marks the cache as
// stale.
//
// Locks: mu guards the map and the runs' counts of users. A liveRun's own mutex may be locked while mu is held,
// never the other way round. During a query of the store only the run's `appending` or `fetching` is held.
type Feed struct {
	store Store

	mu   sync.Mutex
	runs map[string]*liveRun // under way here, watched, or being read

	sessions sessionWatches
}

// NewFeed returns a feed over a store. A process needs exactly one: two would each miss the other's appends.
func NewFeed(store Store) *Feed {
	return &Feed{store: store, runs: make(map[string]*liveRun)}
}

// Begin registers a run that this process just started, so that the first reader need not query the store for an
// empty log. Its first Append must follow: without it, the run is never evicted from memory, since isActive holds
// it.
func (f *Feed) Begin(run Run) {
	r := f.acquireRun(run.ID)
	r.beginEmpty(run.User)
	f.releaseRun(r)
	f.sessions.wakeWatchers(run.User, run.SessionID)
}

// HeadMoved notifies this process's watchers of a session that another branch is shown. The store wakes other
// processes.
func (f *Feed) HeadMoved(user, session string) { f.sessions.wakeWatchers(user, session) }

// Append stores the payloads as Store.Append does and then wakes the run's readers. Appends to one run are
// serialised, so readers get them in order. After an error the cache is not trusted: the append may have been stored
// although its response was lost, or another server may hold the run. The lock is held while the store works: it
// blocks other appends, but no reader.
func (f *Feed) Append(ctx context.Context, owner, runID string, ps ...Payload) error {
	if len(ps) == 0 {
		return nil
	}
	r := f.acquireRun(runID)
	defer f.releaseRun(r)
	r.appending.Lock()
	defer r.appending.Unlock()
	events, err := f.store.Append(ctx, owner, runID, ps...)
	if err != nil {
		r.invalidate() // another server may hold the run: only the store knows its end
		return err
	}
	r.addEntries(encodeEvents(events))
	return nil
}

// Watch keeps a run's recent events in memory until stop is called. wake returns a channel that the next append
// closes. Take it before Read, and wait for it after processing a page without Over: then no event is missed. Watch
// never fails: Read reports a missing run. stop may be called more than once and must be called at least once: a
// watched run stays in memory.
func (f *Feed) Watch(runID string) (wake func() <-chan struct{}, stop func()) {
	r := f.acquireRun(runID)
	return r.nextAppend, sync.OnceFunc(func() { f.releaseRun(r) })
}

// Wake notifies a run's readers that another process appended to its log. For a run without readers here it wakes
// all session watchers, since a session may have changed. Spurious calls are harmless: readers then find no new
// entries.
func (f *Feed) Wake(runID string) {
	if r := f.lookupRun(runID); r != nil {
		r.invalidate()
		r.wakeReaders()
		f.releaseRun(r)
		return
	}
	f.sessions.signalAll()
}

// WakeAll is Wake for every run here, if other processes' appends are not known. The runs are collected first and
// woken after Feed.mu is unlocked, since each has its own lock.
func (f *Feed) WakeAll() {
	f.sessions.signalAll()
	f.mu.Lock()
	runs := make([]*liveRun, 0, len(f.runs))
	for _, r := range f.runs {
		r.users++
		runs = append(runs, r)
	}
	f.mu.Unlock()
	for _, r := range runs {
		r.forgetStored()
		r.invalidate()
		r.wakeReaders()
		f.releaseRun(r)
	}
}

// Read returns all entries after a position, to the end of the log, in one page of any length. It fails as
// Store.Events does, except that a hidden session is noticed only without watchers of the run. Without a watcher it
// reads the store and caches nothing.
func (f *Feed) Read(ctx context.Context, s Scope, runID string, after int64) (Page, error) {
	after = max(after, 0)
	r := f.lookupRun(runID)
	if r == nil {
		return f.readStore(ctx, s, runID, after, nil)
	}
	defer f.releaseRun(r)
	if err := f.checkReader(ctx, s, r); err != nil {
		return Page{}, err
	}
	return f.readStore(ctx, s, runID, after, r)
}

// ReadWatched is Read for readers that already watch the run. After a Wake one reader queries the store for all, so
// a thousand readers cost the store as much as one. Before the Wake, it may miss another process's appends.
// `fetching` is a channel of capacity one instead of a mutex, so that a waiting reader can be cancelled by its
// context. After acquiring it, a reader checks the cache again, since another may have fetched the same entries.
//
// It trusts the cache where Read does not, since watchers are notified of appends and read again.
func (f *Feed) ReadWatched(ctx context.Context, s Scope, runID string, after int64) (Page, error) {
	r := f.lookupRun(runID)
	if r == nil {
		return f.readStore(ctx, s, runID, after, nil)
	}
	defer f.releaseRun(r)
	if err := f.checkReader(ctx, s, r); err != nil {
		return Page{}, err
	}
	if recent, last, over, known := r.entriesAfter(after, true); known || len(recent) > 0 {
		return Page{Entries: recent, Last: last, Over: over}, nil
	}
	select {
	case r.fetching <- struct{}{}:
	case <-ctx.Done():
		return Page{}, ctx.Err()
	}
	defer func() { <-r.fetching }()
	told := r.countWakes()
	recent, last, over, known := r.entriesAfter(after, true)
	if known || len(recent) > 0 { // another reader fetched it meanwhile
		return Page{Entries: recent, Last: last, Over: over}, nil
	}
	// Includes the last known event: a page without it means that the log lost its end.
	events, err := f.store.Events(ctx, s, runID, max(after, last, 1)-1, MaxPage)
	if err != nil {
		return Page{}, err
	}
	if n := len(events); n > 0 && n < MaxPage {
		r.cacheEnd(encodeEvents(events), told)
		if recent, last, over, _ = r.entriesAfter(after, true); last > 0 {
			return Page{Entries: recent, Last: last, Over: over}, nil
		}
	}
	return f.readStore(ctx, s, runID, after, r)
}

// checkReader authorises a reader of a run. A run's owner never changes, so the result is cached while the run is in
// memory, and further readers cost no query. It must run before any entry is returned.
func (f *Feed) checkReader(ctx context.Context, s Scope, r *liveRun) error {
	if r.allowedUser() == s.User {
		return nil
	}
	if _, err := f.store.Run(ctx, s, r.id); err != nil {
		return err
	}
	r.allowUser(s.User)
	return nil
}

// readStore collects pages until the end of the log. It takes entries from r's cache, if r is not nil, and adds the
// missing ones to it. Notifications are counted before each read of the store: an append during the read makes the
// result stale, and cacheEnd compares the count. The capacity of page.Entries is clipped before appending, since it
// may share the cache's array. A page of fewer than MaxPage events ends at the log's end at that time.
func (f *Feed) readStore(ctx context.Context, s Scope, runID string, after int64, r *liveRun) (Page, error) {
	var page Page
	for at := after; ; at = page.Last {
		told := 0
		if r != nil {
			recent, last, over, known := r.entriesAfter(at, false)
			if page.Entries == nil {
				page.Entries = recent // the common case copies nothing
			} else {
				page.Entries = append(page.Entries, recent...)
			}
			if known {
				page.Last, page.Over = last, over
				return page, nil
			}
			at += int64(len(recent))
			told = r.countWakes()
		}
		events, err := f.store.Events(ctx, s, runID, at, MaxPage)
		if err != nil {
			return Page{}, err
		}
		page.Entries = append(page.Entries[:len(page.Entries):len(page.Entries)], encodeEvents(events)...)
		if n := len(page.Entries); n > 0 {
			page.Last, page.Over = page.Entries[n-1].Seq, page.Entries[n-1].Type == KindRunDone
		}
		if len(events) == MaxPage {
			continue
		}
		if len(page.Entries) == 0 && after > 0 {
			return f.endPage(ctx, s, runID, after)
		}
		if r != nil {
			r.cacheEnd(page.Entries, told)
		}
		return page, nil
	}
}

// endPage returns an empty page with the log's last sequence number, for a position at or beyond it. A reader beyond
// the end needs that number. It is found by binary search, reading one event per step: a log has no gaps. It takes
// at most 40 steps, and only for logs that lost their end.
func (f *Feed) endPage(ctx context.Context, s Scope, runID string, after int64) (page Page, err error) {
	at := func(seq int64) (last Event) {
		if err != nil {
			return Event{}
		}
		var events []Event
		if events, err = f.store.Events(ctx, s, runID, seq-1, 1); len(events) > 0 {
			last = events[0]
		}
		return last
	}
	last := at(after)
	if last.Seq == 0 { // beyond the end, after a loss of data only: a search is sufficient
		n := sort.Search(int(min(after, 1<<40)), func(i int) bool { return at(int64(i)+1).Seq == 0 })
		if n > 0 {
			last = at(int64(n))
		}
	}
	return Page{Last: last.Seq, Over: last.Type == KindRunDone}, err
}

// lookupRun returns a run in memory and increments its users; nil if it is not in memory. releaseRun must follow. A
// run in the map has users or is under way.
func (f *Feed) lookupRun(runID string) *liveRun {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runs[runID]
	if r != nil {
		r.users++
	}
	return r
}

// acquireRun returns the run's cache, created on demand. releaseRun must follow.
func (f *Feed) acquireRun(runID string) *liveRun {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runs[runID]
	if r == nil {
		r = &liveRun{id: runID, fetching: make(chan struct{}, 1)}
		f.runs[runID] = r
	}
	r.users++
	return r
}

// releaseRun evicts a run without users, unless this process still appends to it. Count and deletion are under one
// lock, so no caller can acquire a run during eviction.
func (f *Feed) releaseRun(r *liveRun) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.users--; r.users == 0 && !r.isActive() {
		delete(f.runs, r.id)
	}
}

// watched is a session whose watchers wait for new runs. Each close replaces the channel: one close wakes any number
// of readers.
type watched struct {
	users int
	wake  chan struct{} // closed when a run may have started
}

// sessionWatches holds the watched sessions. Its zero value is ready to use. It has its own lock, which is never
// held together with Feed.mu.
type sessionWatches struct {
	mu   sync.Mutex
	open map[[2]string]*watched // by user and session
}

// WatchSession notifies of new runs in a session. wake returns a channel that is closed when one may have started:
// take it before reading the session from the store, and wait for it afterwards. It may be closed spuriously: of
// other processes only appends to some run are known. stop must be called once. A session is identified with its
// user, since session ids are unique per user only. The caller must have authorised the user for the session; the
// watch reveals no content.
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

// wakeWatchers wakes the watchers of a session.
func (s *sessionWatches) wakeWatchers(user, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.open[[2]string{user, session}]; w != nil {
		w.wakeAll()
	}
}

// signalAll wakes all watchers. Each of them then reads its session, so they limit their rate: pages read at most
// once a second.
func (s *sessionWatches) signalAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.open {
		w.wakeAll()
	}
}

// wakeAll wakes the waiting watchers. The caller holds the mutex of the watches.
func (w *watched) wakeAll() {
	close(w.wake)
	w.wake = make(chan struct{})
}
