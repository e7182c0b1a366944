package chat

import "sync"

// liveBytes bounds what is kept in memory of one run's log.
const liveBytes = 2 << 20

// A liveRun is the end of one run's log in memory, shared by all its readers. Two kinds of runs are here. A run that
// this process appends to is `owned`: its entries reach to the end of the log, so readers need no store. A run that
// another process has is only read: its entries are right as far as they go, and `current` says that nothing was
// announced since they were read to the end.
type liveRun struct {
	id        string
	users     int           // watchers and calls under way; guarded by Feed.mu
	appending sync.Mutex    // held while the store appends, so that entries come in order
	fetching  chan struct{} // holds one while a reader fetches for all what another process appended

	mu      sync.Mutex
	user    string   // who may read it; empty until a read was allowed
	entries []*Entry // without gaps; readers hold slices of it, so elements are only added
	size    int
	begun   bool          // it was just started here: its log is empty
	owned   bool          // it is appended to here, so entries reach to the end of the log
	over    bool          // the last of entries is RunDone
	told    int           // how often it was said that another process may have appended
	current bool          // nothing was said since entries were read to the end of the log
	wake    chan struct{} // closed at the next append; nil while nobody waits
}

// encodeEvents makes the form that readers share. 64 bytes are room for the field names and a number in front of the
// body, so that AppendJSON need not grow the slice.
func encodeEvents(events []Event) []*Entry {
	entries := make([]*Entry, len(events))
	for i, e := range events {
		entries[i] = &Entry{Event: e, JSON: e.AppendJSON(make([]byte, 0, len(e.Body)+len(e.RunID)+64))}
	}
	return entries
}

// entrySize is about how many bytes an entry takes in memory. The 200 bytes stand for the structs, headers and ids
// around the two texts; it only has to be near, as it bounds memory.
func (e *Entry) entrySize() int { return len(e.Body) + len(e.JSON) + 200 }

// addEntries puts newly appended entries, at least one, behind the others and wakes the readers. Entries in memory must
// be without gaps: entriesAfter computes a place from a number. So a gap drops what was there, and earlier events come
// from the store.
func (r *liveRun) addEntries(entries []*Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.entries); n > 0 && r.entries[n-1].Seq+1 != entries[0].Seq {
		r.entries, r.size = nil, 0 // another process appended in between
	}
	r.entries = append(r.entries, entries...)
	for _, e := range entries {
		r.size += e.entrySize()
	}
	r.trimOldest()
	r.begun, r.current = false, false
	r.owned, r.over = true, r.entries[len(r.entries)-1].Type == KindRunDone
	r.wakeReadersLocked()
}

// beginEmpty says that the log is empty, and that whoever appends to it does so here. If entries are there already, an
// append was faster than this call, and they say more.
func (r *liveRun) beginEmpty(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.entries) == 0 && !r.over {
		r.begun, r.owned, r.user = true, true, user
	}
}

// learnEnd keeps the end of the log, as it was read from the store, for later readers. told is what news returned
// before that read. Several readers may have read different stretches at the same time. What was read replaces what is
// known where it reaches further back or where there is a gap between the two; otherwise only its new part is added. A
// run that is owned by now is left alone: its own appends are newer than any read.
func (r *liveRun) learnEnd(entries []*Entry, told int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owned || r.over && len(r.entries) >= len(entries) {
		return
	}
	if n := len(entries); n > 0 {
		first, next := entries[0].Seq, int64(0) // next: behind what is known
		if len(r.entries) > 0 {
			first, next = r.entries[0].Seq, r.entries[len(r.entries)-1].Seq+1
		}
		switch {
		case entries[n-1].Seq < next-1: // others have read more by now
			return
		case entries[0].Seq <= first || entries[0].Seq > next:
			r.entries, r.size = entries[:n:n], 0
			for _, e := range entries {
				r.size += e.entrySize()
			}
		default:
			for _, e := range entries[next-entries[0].Seq:] {
				r.entries = append(r.entries, e)
				r.size += e.entrySize()
			}
		}
		r.trimOldest()
		r.over = r.entries[len(r.entries)-1].Type == KindRunDone
	}
	r.current = r.told == told
}

// trimOldest forgets the oldest entries of a long log. The newest entry always stays, however large it is: it says how
// far the log is. Readers that hold slices of the array keep what they have.
func (r *liveRun) trimOldest() {
	for len(r.entries) > 1 && r.size > liveBytes {
		r.size -= r.entries[0].entrySize()
		r.entries = r.entries[1:]
	}
}

// entriesAfter returns the entries in memory after a position, the number of the last entry in memory, and whether that
// is a RunDone. known reports that the log has nothing more. With trusting it also does so while nobody has told this
// process of entries that another appended. A position beyond the last entry gives nothing known, as another process
// may have gone on. The slice's capacity is cut, so that a reader's append copies and can't write into the shared
// array.
func (r *liveRun) entriesAfter(after int64, trusting bool) (recent []*Entry, last int64, over, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	trusting = trusting && r.current
	if after == 0 && (r.begun || trusting && len(r.entries) == 0) {
		return nil, 0, false, true
	}
	if len(r.entries) == 0 || after+1 < r.entries[0].Seq {
		return nil, 0, false, false
	}
	first := r.entries[0].Seq
	last = first + int64(len(r.entries)) - 1
	if after > last { // another process may have appended since
		return nil, 0, false, false
	}
	if after < last {
		recent = r.entries[after+1-first : len(r.entries) : len(r.entries)]
	}
	return recent, last, r.over, r.owned || r.over || trusting
}

// nextAppend returns the channel that the next append closes. All who wait share one channel. It is made when the first
// asks for it, so a run without readers has none.
func (r *liveRun) nextAppend() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake == nil {
		r.wake = make(chan struct{})
	}
	return r.wake
}

// wakeReaders wakes who waits for the next append.
func (r *liveRun) wakeReaders() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wakeReadersLocked()
}

// wakeReadersLocked is wakeReaders for callers that hold r.mu.
func (r *liveRun) wakeReadersLocked() {
	if r.wake != nil {
		close(r.wake)
		r.wake = nil
	}
}

// distrustMemory makes readers ask the store again. It forgets the entries in memory unless the run is over: a crash of
// the store may have lost the last of them, and others may take their numbers. A finished log can't change, so its
// entries stay.
func (r *liveRun) distrustMemory() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun, r.owned, r.current = false, false, false
	r.told++
	if !r.over {
		r.entries, r.size = nil, 0
	}
}

// forgetStored drops what was read from the store: it may have lost events since. Runs that are owned keep their
// entries: they were stored by this process, and its next append fails if they are gone.
func (r *liveRun) forgetStored() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.owned && !r.over {
		r.entries, r.size = nil, 0
	}
}

// countNews counts how often it was said that another process may have appended. Whoever reads the store compares it
// before and after, to know whether its reading is still the newest.
func (r *liveRun) countNews() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told
}

// underWay reports whether this process appends to the run and has not ended it.
func (r *liveRun) underWay() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owned && !r.over
}

// allowedUser is whose run it is, as far as somebody was let in already; empty: not known.
func (r *liveRun) allowedUser() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.user
}

// allowUser notes whose run it is, so that the store need not be asked for every reader.
func (r *liveRun) allowUser(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.user = user
}
