package chat

import "sync"

// liveBytes limits the memory of one run's cached log.
const liveBytes = 2 << 20

// A liveRun caches the end of one run's log in memory, shared by all readers. An `owned` run is appended to by this
// process: its entries reach to the end of the log, so readers need no store. A run of another process is only read:
// `current` means that no notification arrived since its entries were read to the end.
type liveRun struct {
	id        string
	users     int           // watchers and calls under way; guarded by Feed.mu
	appending sync.Mutex    // locked while the store appends, to keep entries in order
	fetching  chan struct{} // holds one token while a reader fetches another process's entries for all

	mu      sync.Mutex
	user    string   // owner; empty until a read was authorised
	entries []*Entry // without gaps; readers hold slices of it, so elements are only added
	size    int
	begun   bool          // just started by this process: its log is empty
	owned   bool          // appended to by this process, so entries reach to the end of the log
	over    bool          // the last of entries is RunDone
	wakes   int           // number of notifications of appends by other processes
	current bool          // no notification since entries were read to the end of the log
	wake    chan struct{} // closed at the next append; nil without waiting readers
}

// encodeEvents encodes events into the form that readers share. The buffer has 64 spare bytes for field names and a
// number, so that AppendJSON need not grow it.
func encodeEvents(events []Event) []*Entry {
	entries := make([]*Entry, len(events))
	for i, e := range events {
		entries[i] = &Entry{Event: e, JSON: e.AppendJSON(make([]byte, 0, len(e.Body)+len(e.RunID)+64))}
	}
	return entries
}

// entrySize returns the approximate memory of an entry in bytes. The 200 bytes are an estimate for structs, headers
// and ids around the two texts.
func (e *Entry) entrySize() int { return len(e.Body) + len(e.JSON) + 200 }

// addEntries appends at least one new entry and wakes the readers. Cached entries must have no gaps, since
// entriesAfter computes an index from a sequence number. A gap drops the cache, and earlier events are read from the
// store.
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

// beginEmpty marks the log as empty and owned by this process. It does nothing if an append has already cached
// entries.
func (r *liveRun) beginEmpty(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.entries) == 0 && !r.over {
		r.begun, r.owned, r.user = true, true, user
	}
}

// cacheEnd caches the end of the log, as read from the store, for later readers. told is the value of countWakes
// before that read. Concurrent readers may have read different ranges. The read entries replace the cache if they
// start earlier or leave a gap; otherwise only the new part is appended. An owned run is left unchanged: its own
// appends are newer.
func (r *liveRun) cacheEnd(entries []*Entry, told int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owned || r.over && len(r.entries) >= len(entries) {
		return
	}
	if n := len(entries); n > 0 {
		first, next := entries[0].Seq, int64(0) // next: after the last cached entry
		if len(r.entries) > 0 {
			first, next = r.entries[0].Seq, r.entries[len(r.entries)-1].Seq+1
		}
		switch {
		case entries[n-1].Seq < next-1: // other readers have read more
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
	r.current = r.wakes == told
}

// trimOldest evicts the oldest entries of a long log beyond liveBytes. The newest entry always stays, since it holds
// the log's position. Readers keep their slices of the array.
func (r *liveRun) trimOldest() {
	for len(r.entries) > 1 && r.size > liveBytes {
		r.size -= r.entries[0].entrySize()
		r.entries = r.entries[1:]
	}
}

// entriesAfter returns the cached entries after a position, the sequence number of the last cached entry, and
// whether that is a RunDone. known reports that the log has no further entries. With trusting, an unowned cache
// without a newer notification also counts as complete. A position beyond the last entry is not known, since another
// process may have appended. The slice's capacity is clipped, so a reader's append copies the shared array.
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

// nextAppend returns the channel that the next append closes. All waiting readers share it. It is created on demand.
func (r *liveRun) nextAppend() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wake == nil {
		r.wake = make(chan struct{})
	}
	return r.wake
}

// wakeReaders wakes all readers that wait for the next append.
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

// invalidate makes readers ask the store again. It drops the cached entries unless the run is over: a crash of
// the store may have lost the last of them, and their numbers may be reused. A finished log can't change, so its
// entries stay cached.
func (r *liveRun) invalidate() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun, r.owned, r.current = false, false, false
	r.wakes++
	if !r.over {
		r.entries, r.size = nil, 0
	}
}

// forgetStored drops entries that were read from the store, which may have lost events since. An owned run keeps its
// entries: this process stored them, and its next append fails if they are lost.
func (r *liveRun) forgetStored() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.owned && !r.over {
		r.entries, r.size = nil, 0
	}
}

// countWakes returns the number of notifications of appends by other processes. A reader compares it before and after
// a read of the store to detect a stale result.
func (r *liveRun) countWakes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wakes
}

// isActive reports whether this process appends to the run and has not ended it.
func (r *liveRun) isActive() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.owned && !r.over
}

// allowedUser returns the owner of the run, empty before the first authorised read.
func (r *liveRun) allowedUser() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.user
}

// allowUser caches the owner of the run, to save a store query per reader.
func (r *liveRun) allowUser(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.user = user
}
