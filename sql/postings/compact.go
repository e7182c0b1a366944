package postings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

const (
	// Segments of a tier that are merged into one; a tier's segments are four times as large as those of the tier
	// below.
	fanIn     = 4
	deadShare = 4  // a segment is rewritten when one of 4 of its passages was removed
	pagesRead = 64 // in one batch
	maxPut    = 512 << 10
)

// Compact merges an owner's segments when there are enough of one tier. So n passages are in O(log n) segments, and
// each is written O(log n) times. With removals it also rewrites segments with a large share of removed passages.
//
// Concurrent calls are safe: one of them wins. A call may be interrupted, as readers never see an incomplete
// segment. It is the size-tiered compaction of an LSM-tree: with a fan-in of four, a passage is written once for
// each power of four that the segment grows by.
func Compact(ctx context.Context, store Store, owner string, removals bool) error {
	for {
		segments, err := store.Segments(ctx, owner)
		if err != nil {
			return fmt.Errorf("segments of the index: %w", err)
		}
		chosen := crowdedTier(segments)
		if len(chosen) == 0 && removals {
			if chosen, err = mostlyGone(ctx, store, segments); err != nil {
				return err
			}
		}
		if len(chosen) == 0 {
			return nil
		}
		ok, err := mergeSegments(ctx, store, owner, chosen)
		if err != nil || !ok { // another process compacts
			return err
		}
	}
}

// Sweep deletes unfinished segments of crashed processes and compacts removed passages, for all owners. It reads the
// rows of every segment, so it belongs to the purge, not to a search.
func Sweep(ctx context.Context, store Store) error {
	left, err := store.Unfinished(ctx)
	if err != nil {
		return fmt.Errorf("sweep the index: %w", err)
	}
	for _, n := range left {
		if err := store.Drop(ctx, n); err != nil {
			return fmt.Errorf("sweep the index: %w", err)
		}
	}
	owners, err := store.Owners(ctx)
	if err != nil {
		return fmt.Errorf("sweep the index: %w", err)
	}
	for _, owner := range owners {
		if err := Compact(ctx, store, owner, true); err != nil {
			return err
		}
	}
	return nil
}

// crowdedTier returns the segments of the lowest tier with enough to merge. A tier is the logarithm of the number of
// passages to base four: segments of 4 to 15 passages are in one, those of 16 to 63 in the next.
func crowdedTier(segments []Segment) []Segment {
	tiers := make([][]Segment, bits.UintSize)
	for _, s := range segments {
		tier := bits.Len(uint(s.Passages)) / 2 // two bits: fanIn is 4
		tiers[tier] = append(tiers[tier], s)
	}
	i := slices.IndexFunc(tiers, func(tier []Segment) bool { return len(tier) >= fanIn })
	if i < 0 {
		return nil
	}
	return tiers[i]
}

// mostlyGone returns a segment with a large share of removed passages, or nil. Until it is rewritten, removed terms
// may still be in the file (docs/decisions/search.md).
func mostlyGone(ctx context.Context, store Store, segments []Segment) ([]Segment, error) {
	for _, s := range segments {
		_, left, err := rowsLeft(ctx, store, s)
		if err != nil {
			return nil, err
		}
		if n := countRows(left); (s.Passages-n)*deadShare >= s.Passages {
			return []Segment{s}, nil
		}
	}
	return nil, nil
}

// rowsLeft returns all rows of a segment, and the remaining ones. The segment's first page has its rows; the
// database has the existing contents.
func rowsLeft(ctx context.Context, store Store, s Segment) (all, left []RowRange, err error) {
	first, err := store.Pages(ctx, s.Number, []byte{}, lastKey, 1)
	if err != nil {
		return nil, nil, err
	}
	if len(first) == 0 {
		return nil, nil, errMoved
	}
	if all, err = readRows(first[0]); err != nil || len(all) == 0 {
		return nil, nil, err
	}
	end := all[len(all)-1]
	there, err := store.Contents(ctx, all[0].First, end.First+end.Count-1)
	if err != nil {
		return nil, nil, err
	}
	return all, commonRows(all, there), nil
}

func countRows(runs []RowRange) (n int) {
	for _, r := range runs {
		n += int(r.Count)
	}
	return n
}

// commonRows returns the intersection of two ascending lists.
func commonRows(a, b []RowRange) (both []RowRange) {
	for len(a) > 0 && len(b) > 0 {
		first, end := max(a[0].First, b[0].First), min(a[0].First+a[0].Count, b[0].First+b[0].Count)
		if first < end {
			both = joinRun(both, RowRange{first, end - first})
		}
		if a[0].First+a[0].Count <= end {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return both
}

// joinRun appends a run, or extends the last one if it is adjacent.
func joinRun(runs []RowRange, r RowRange) []RowRange {
	if n := len(runs); n > 0 && runs[n-1].First+runs[n-1].Count == r.First {
		runs[n-1].Count += r.Count
		return runs
	}
	return append(runs, r)
}

// mergeSegments replaces segments by a merged one. ok is false if they have changed meanwhile. The order matters:
// the new segment is written invisibly, Replace swaps it for the old ones in one transaction, and then the invisible
// ones are dropped. If Replace fails, the new one is dropped instead.
//
// An invalid page may be from a segment that another process is dropping, so it is an error only if all segments
// still exist. Drops continue after the caller's context is cancelled, or the next sweep would have to find them.
func mergeSegments(ctx context.Context, store Store, owner string, old []Segment) (ok bool, err error) {
	merged := Segment{Owner: owner}
	var all, left []RowRange
	var numbers []int64
	for _, s := range old {
		has, keeps, err := rowsLeft(ctx, store, s)
		if err != nil {
			return false, ignoreMoved(err)
		}
		numbers, all, left = append(numbers, s.Number), append(all, has...), append(left, keeps...)
		merged.Changed = max(merged.Changed, s.Changed)
	}
	slices.SortFunc(left, func(a, b RowRange) int { return int(int64(a.First) - int64(b.First)) })
	merged.Passages = countRows(left)
	if merged.Passages > 0 {
		if merged.Number, err = store.Begin(ctx, owner); err != nil {
			return false, err
		}
		err = writeMerged(ctx, store, merged.Number, numbers, left, countRows(all) == merged.Passages)
		if errors.Is(err, errBadPage) {
			if there, failed := allThere(ctx, store, owner, numbers); failed == nil && !there {
				err = errMoved
			}
		}
	}
	if err == nil {
		ok, err = store.Replace(ctx, merged, numbers)
	}
	unseen := numbers
	if !ok {
		unseen = []int64{merged.Number}
	}
	for _, n := range unseen {
		if n > 0 {
			err = errors.Join(err, store.Drop(context.WithoutCancel(ctx), n))
		}
	}
	return ok, ignoreMoved(err)
}

// errMoved is returned when another process merged a segment during a read. The caller retries; users never see it.
var errMoved = errors.New("the index of words changed meanwhile")

// allThere reports whether an owner's segments are all still visible.
func allThere(ctx context.Context, store Store, owner string, numbers []int64) (bool, error) {
	segments, err := store.Segments(ctx, owner)
	for _, n := range numbers {
		if !slices.ContainsFunc(segments, func(s Segment) bool { return s.Number == n }) {
			return false, err
		}
	}
	return true, err
}

// ignoreMoved drops errMoved: the result of the other process is equivalent.
func ignoreMoved(err error) error {
	if errors.Is(err, errMoved) {
		return nil
	}
	return err
}

// writeMerged writes the remaining rows of segments into a new one. Without removed rows it skips the filter.
func writeMerged(ctx context.Context, store Store, to int64, from []int64, left []RowRange, all bool) error {
	put := newBatch(func(pages []Page) error { return store.Put(ctx, to, pages) })
	w := &pageWriter{yield: put.addPage}
	if err := w.writeRows(left); err != nil {
		return err
	}
	var cursors []*cursor
	for _, n := range from {
		cursors = append(cursors, newCursor(termPages(ctx, store, n)))
	}
	var keep func(uint32) bool
	if !all {
		keep = func(row uint32) bool { return holdsRow(left, row) }
	}
	if err := mergeTerms(cursors, keep, w); err != nil {
		return err
	}
	return put.flushPages()
}

// holdsRow reports whether a row is in one of the ascending runs. It uses binary search, as it is called for each
// posting.
func holdsRow(runs []RowRange, row uint32) bool {
	_, ok := slices.BinarySearchFunc(runs, row, func(r RowRange, row uint32) int {
		switch {
		case r.First+r.Count <= row:
			return -1
		case r.First > row:
			return 1
		}
		return 0
	})
	return ok
}

// termPages yields the pages of a segment except that of its rows. Each batch is a separate query after the last
// key, so no transaction is open while the pages are processed.
func termPages(ctx context.Context, store Store, segment int64) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		from := []byte{0}
		for {
			pages, err := store.Pages(ctx, segment, from, lastKey, pagesRead)
			if err != nil {
				yield(Page{}, err)
				return
			}
			for _, p := range pages {
				if !yield(p, nil) {
					return
				}
				from = append(bytes.Clone(p.Key), 0)
			}
			if len(pages) < pagesRead {
				return
			}
		}
	}
}

// batch collects pages for a transaction. maxPut limits its size, so that other writers are not blocked for long.
type batch struct {
	put   func([]Page) error
	pages []Page
	size  int
}

func newBatch(put func([]Page) error) *batch { return &batch{put: put} }

// addPage adds a page, and writes the batch when it has maxPut bytes.
func (b *batch) addPage(p Page) error {
	b.pages = append(b.pages, p)
	if b.size += len(p.Key) + len(p.Body); b.size < maxPut {
		return nil
	}
	return b.flushPages()
}

// flushPages writes the batch. It must be called once at the end.
func (b *batch) flushPages() error {
	if len(b.pages) == 0 {
		return nil
	}
	pages := b.pages
	b.pages, b.size = nil, 0
	return b.put(pages)
}
