package chat

import (
	"context"
	"sort"
	"sync"
)

// Entry is one event of a run's log with its JSON form. All readers share it: nothing in it may be changed. A run with
// a thousand readers so has its events encoded once, and a reader's pages are slices of one array.
type Entry struct {
	Event
	JSON []byte // as AppendJSON makes it
}

// Page is what a run's log holds behind a position. Readers keep only a number between two pages. A reader that is
// ahead of Last read a log that lost its end, for instance because a crash of PostgreSQL took back events that were not
// yet on disk; what it has is wrong and must go.
type Page struct {
	Entries []*Entry // all that is newer, oldest first; empty at the end
	Over    bool     // the run's RunDone is among Entries or before them: nothing will follow
	Last    int64    // the number of the log's last event. A position beyond it can't be: the reader must start over
}

// Feed is the live side of the runs' logs: who appends through it wakes the readers, who pull what is new from their
// own position. Nothing is sent to a reader, so none can hold up a run. What was appended lately stays in memory,
// encoded once for all; the rest comes from the store. It has no goroutines and needs no closing. It is safe for
// concurrent use. A reader calls Watch, then takes wake, reads to the end of the log, and waits; with that order it
// needs no buffer and misses nothing. That the memory may be out of date is known from `told`: other processes' appends
// are announced by Wake, and only the store knows what they were.
//
// Locks: mu guards the map and the runs' counts of users. A liveRun's own mutex may be taken while mu is held, never
// the other way round. While the store is asked, a run's `appending` or `fetching` is held and nothing else.
type Feed struct {
	store Store

	mu   sync.Mutex
	runs map[string]*liveRun // under way here, or watched, or being read

	sessions sessionWatches
}

// NewFeed returns a feed over a store. One feed serves a process: two would each miss what the other appends.
func NewFeed(store Store) *Feed {
	return &Feed{store: store, runs: make(map[string]*liveRun)}
}

// Begin tells of a run that was just started here, so that the first reader need not ask the store for a log that is
// empty. Its first Append must follow. If that Append never comes, the run stays in memory, since underWay keeps it
// there.
func (f *Feed) Begin(run Run) {
	r := f.acquireRun(run.ID)
	r.beginEmpty(run.User)
	f.releaseRun(r)
	f.sessions.wakeWatchers(run.User, run.SessionID)
}

// HeadMoved tells those who watch a session here that another version of it is shown. Other processes are woken by
// the store.
func (f *Feed) HeadMoved(user, session string) { f.sessions.wakeWatchers(user, session) }

// Append stores the payloads as Store.Append does and then wakes the run's readers. Appends to one run take turns, so
// readers see them in order. An error means that memory can't be trusted: the append may have been stored although its
// answer was lost, or another server may have the run now. The lock is held while the store works, so an append waits
// for the one before it, and no reader for either.
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
		r.distrustMemory() // whoever has the run now, its end is only known to the store
		return err
	}
	r.addEntries(encodeEvents(events))
	return nil
}

// Watch keeps a run's recent events in memory until stop is called. wake returns a channel that is closed at the next
// append: take it before Read, and wait for it after a page without Over has been worked off, then nothing falls
// between. It never fails: whether the run exists is Read's to say. stop may be called more than once and must be
// called at least once: a run that somebody watches stays in memory.
func (f *Feed) Watch(runID string) (wake func() <-chan struct{}, stop func()) {
	r := f.acquireRun(runID)
	return r.nextAppend, sync.OnceFunc(func() { f.releaseRun(r) })
}

// Wake tells the readers of a run that another process appended to its log. One that nobody reads here may have changed
// a session: all who watch one look. It may be called for nothing: readers then look once and find what they have.
func (f *Feed) Wake(runID string) {
	if r := f.lookupRun(runID); r != nil {
		r.distrustMemory()
		r.wakeReaders()
		f.releaseRun(r)
		return
	}
	f.sessions.signalAll()
}

// WakeAll is Wake for every run here: for when it is not known what other processes appended. The runs are counted in
// first and looked at after Feed.mu is free, since each has a lock of its own.
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
		r.distrustMemory()
		r.wakeReaders()
		f.releaseRun(r)
	}
}

// Read returns everything behind the position after, to the end of the log. It fails as Store.Events does, but that a
// session was hidden is noticed only once nobody watches the run. Without a watcher the store is read and nothing is
// kept. A page can be long: it has all that is newer, however much that is.
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

// ReadWatched is Read for readers that already watch the run. After a Wake one of them reads the store for all, so that
// a thousand readers cost the store no more than one. Before the Wake, ReadWatched may miss what another process
// appended. `fetching` is a channel of one instead of a mutex, so that whoever waits for it can give up with its
// context. Whoever gets it looks into memory again first, as the reader before it may have fetched the same.
//
// It trusts memory where Read does not, which is why it is for those who watch: they are told of appends, so they come
// back.
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
	told := r.countNews()
	recent, last, over, known := r.entriesAfter(after, true)
	if known || len(recent) > 0 { // another reader fetched it meanwhile
		return Page{Entries: recent, Last: last, Over: over}, nil
	}
	// From the last known event on: a page without it would be of a log that lost its end.
	events, err := f.store.Events(ctx, s, runID, max(after, last, 1)-1, MaxPage)
	if err != nil {
		return Page{}, err
	}
	if n := len(events); n > 0 && n < MaxPage {
		r.learnEnd(encodeEvents(events), told)
		if recent, last, over, _ = r.entriesAfter(after, true); last > 0 {
			return Page{Entries: recent, Last: last, Over: over}, nil
		}
	}
	return f.readStore(ctx, s, runID, after, r)
}

// checkReader refuses whoever may not read a run. Who may read a run never changes, so the answer is remembered for as
// long as the run is in memory, and further readers cost the store nothing. It must come before anything of the run's
// entries is handed out.
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

// readStore collects pages until the end of the log. What r, if there is one, has in memory it takes from there, and
// keeps what it lacks. The news are counted before each read of the store: what is appended while it reads makes
// learnEnd's result out of date, and the count then differs. The capacity of page.Entries is cut before it is appended
// to, as its array may be that of the shared entries. A page of less than MaxPage events ended at the log's end when it
// was read.
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
			told = r.countNews()
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
			r.learnEnd(page.Entries, told)
		}
		return page, nil
	}
}

// endPage returns an empty page with the log's last number, for a log that has nothing after a position. The position
// is the last number or beyond it. A reader at a position beyond the end has to learn the last number. It is searched
// for by halves, with one event a step: a log has no gaps, so whether an event exists falls from yes to no once. 40
// steps at most, which happens only to logs that lost their end.
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
	if last.Seq == 0 { // beyond the end, which happens after a lost disk only: searching is good enough
		n := sort.Search(int(min(after, 1<<40)), func(i int) bool { return at(int64(i)+1).Seq == 0 })
		if n > 0 {
			last = at(int64(n))
		}
	}
	return Page{Last: last.Seq, Over: last.Type == KindRunDone}, err
}

// lookupRun returns a run that somebody watches already, and counts the caller in; nil for another one. releaseRun must
// follow. A run in the map has users or is under way.
func (f *Feed) lookupRun(runID string) *liveRun {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.runs[runID]
	if r != nil {
		r.users++
	}
	return r
}

// acquireRun returns the run's memory, made new if nobody watches it yet. releaseRun must follow.
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

// releaseRun forgets a run that nobody uses any more, unless more of it will be appended here. The count and the
// deletion are under one lock, so no caller can take hold of a run that is being forgotten.
func (f *Feed) releaseRun(r *liveRun) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.users--; r.users == 0 && !r.underWay() {
		delete(f.runs, r.id)
	}
}

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
