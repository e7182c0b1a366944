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

// directory caches which rows are visible to which user. It is read at the first search and updated at each one with
// the changes since, also those of other processes. Without changes that costs two small numbers. A search uses one
// snapshot, so its rows, lengths and counts are consistent.
type directory struct {
	mu      sync.Mutex // held while reading
	present *snapshot
}

// A snapshot is immutable. A new one shares the unchanged parts of the previous one.
type snapshot struct {
	changes, removals int64
	users             map[string]*view // users with visible passages
}

// A view is a user's visible part of the index. Only its list of segments changes when they are merged, which keeps
// the visible passages. A user whose passages changed gets a new view, which invalidates the user's cached scores,
// as their keys have the view.
type view struct {
	bm25.Directory
	mu       sync.Mutex // held while reading
	read     bool
	segments []Segment
}

// currentSegments returns the user's segments. newer is true if they have changes after the snapshot. Such a segment
// may have replaced one that the snapshot refers to, so the caller retries with a newer snapshot.
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

// forgetSegments invalidates the cached segments.
func (v *view) forgetSegments() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.read = false
}

// currentSnapshot returns an up-to-date snapshot. The counters are read before the changes, so a concurrent change
// is read twice rather than missed. The lock is held during the query: concurrent searches need the same result.
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

// updateFrom adds the changes since last. It may include changes after the counters were read: the next update adds
// them again, harmlessly. Removals leave no rows to read, so when their counter changed, all spans are compared with
// the existing contents.
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
