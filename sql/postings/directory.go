package postings

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/footnote/footnote/sql/bm25"
)

// directory knows which rows can be seen, and by whom. It is read at the first search and brought up to date at each,
// with what changed since; reading costs two small numbers when nothing did. Other processes may write as well. A
// search takes the snapshot that is there at its beginning and keeps it to its end, so its rows, lengths and counts
// belong together.
type directory struct {
	mu      sync.Mutex // held while reading
	present *snapshot
}

// A snapshot never changes. A new one shares what did not change with the one before.
type snapshot struct {
	changes, removals int64
	users             map[string]*view // of those who have visible passages
}

// A view is what a user can see. Only its list of segments changes, when they are merged: what they hold of visible
// passages does not. A view is made anew for a user whose passages changed, and with it go all cached scores of the
// user, whose keys hold the view.
type view struct {
	bm25.Directory
	mu       sync.Mutex // held while reading
	read     bool
	segments []Segment
}

// currentSegments returns the user's segments. newer is true if they hold changes that the view does not know. A
// segment that is newer than the snapshot may have replaced one that the snapshot's rows rest on, so the caller begins
// again with a newer snapshot.
func (v *view) currentSegments(
	ctx context.Context, store Store, user string, changes int64,
) (list []Segment, newer bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.read {
		return v.segments, false, nil
	}
	if v.segments, err = store.Segments(ctx, user); err != nil {
		return nil, false, err
	}
	newer = slices.ContainsFunc(v.segments, func(s Segment) bool { return s.Changed > changes })
	v.read = !newer
	return v.segments, newer, nil
}

// forgetSegments lets the segments be read again.
func (v *view) forgetSegments() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.read = false
}

// The counters are read before what they count, so a change in between is read twice rather than missed. The lock is
// held while the database is read: searches that come meanwhile need the same result.
func (d *directory) currentSnapshot(ctx context.Context, store Store) (*snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	changes, removals, err := store.State(ctx)
	if err != nil {
		return nil, err
	}
	last := d.present
	if last == nil {
		last = &snapshot{}
	} else if last.changes == changes && last.removals == removals {
		return last, nil
	}
	next := &snapshot{changes: changes, removals: removals, users: maps.Clone(last.users)}
	if next.users == nil {
		next.users = make(map[string]*view)
	}
	if err := next.updateFrom(ctx, store, last); err != nil {
		return nil, fmt.Errorf("directory of the index: %w", err)
	}
	d.present = next
	return next, nil
}

// updateFrom adds to s what changed since last. It may also add changes made after the counters were read: the next
// update adds them again, which does no harm. Removals have no rows of their own to be read, so when their counter
// moved, all spans are compared with the contents that are there.
func (s *snapshot) updateFrom(ctx context.Context, store Store, last *snapshot) error {
	changed, err := store.Spans(ctx, last.changes)
	if err != nil {
		return err
	}
	var there []RowRange
	checks := s.removals != last.removals && len(last.users) > 0
	if checks {
		if there, err = store.Contents(ctx, 0, math.MaxUint32); err != nil {
			return err
		}
	}
	anew := make(map[string][]bm25.Span) // by user
	gone := make(map[int64]bool, len(changed))
	for _, c := range changed {
		gone[c.Content] = true
		list := anew[c.Document.User]
		if len(c.Lengths) > 0 {
			list = append(list, c)
		}
		anew[c.Document.User] = list
	}
	stays := func(span bm25.Span) bool { return !gone[span.Content] && (!checks || holdsRow(there, span.First)) }
	for user, d := range last.users {
		list, touched := anew[user]
		if !touched && !slices.ContainsFunc(d.Spans, func(span bm25.Span) bool { return !stays(span) }) {
			continue
		}
		for _, span := range d.Spans {
			if stays(span) {
				list = append(list, span)
			}
		}
		anew[user] = list
	}
	for user, spans := range anew {
		if s.users[user] = (&view{Directory: bm25.NewDirectory(slices.Clip(spans))}); len(spans) == 0 {
			delete(s.users, user)
		}
	}
	return nil
}
