package corpus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
)

const (
	undoTime   = time.Minute      // how long a deleted document can be restored
	purgeEvery = 10 * time.Minute // interval for deletions of other processes, or of this one before a restart
	retryEvery = 20 * time.Second // interval while a removal fails; see Documents.Removals
)

// sweeper does a library's periodic work: it purges deleted documents, repeats unfinished removals and finds documents
// without vectors.
type sweeper struct{ *Library }

// purgeDeleted purges deleted documents until ctx ends. It runs a minute after a deletion; deletions within that
// minute are purged together.
func (l sweeper) purgeDeleted(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.purgeNow:
			if wanted := time.Now().Add(undoTime + time.Second); wanted.Before(due) {
				due = wanted
				timer.Reset(time.Until(due))
			}
			continue
		case <-timer.C:
		}
		wait := purgeEvery
		if err := l.purge(ctx, time.Now().Add(-undoTime)); err != nil && ctx.Err() == nil {
			l.cfg.Log.ErrorContext(ctx, "remove deleted documents", "error", err)
			wait = retryEvery
		}
		due = time.Now().Add(wait)
		timer.Reset(wait)
	}
}

// purge removes documents that were deleted before a time, and their data outside the database.
func (l sweeper) purge(ctx context.Context, before time.Time) error {
	err := l.cfg.Documents.Purge(ctx, before)
	return errors.Join(err, l.doRemovals(ctx, time.Now()))
}

// doRemovals executes the removals that are due: vectors, and unused originals. A failed removal is due again later
// and does not block others, except that all of them wait while the vector server is down. A removal is marked as
// done only afterwards, so that a crash repeats it.
func (l sweeper) doRemovals(ctx context.Context, now time.Time) error {
	if vectors, ok := l.cfg.Vectors.(remoteVectors); ok {
		if err := vectors.Ping(ctx); err != nil {
			return fmt.Errorf("reach the vectors: %w", err)
		}
	}
	var errs []error
	for {
		due, err := l.cfg.Documents.Removals(ctx, now)
		if err != nil || len(due) == 0 {
			return errors.Join(append(errs, err)...)
		}
		for _, r := range due {
			err := l.removeOne(ctx, r)
			if err == nil {
				err = l.cfg.Documents.Removed(ctx, r)
			}
			errs = append(errs, err)
			if err != nil && (ctx.Err() != nil || chat.CodeOf(err) == chat.CodeUnavailable) {
				return errors.Join(errs...)
			}
		}
	}
}

// removeOne removes a document's vectors, then its original. It is idempotent.
func (l sweeper) removeOne(ctx context.Context, r Removal) error {
	if r.DocumentID != "" && l.cfg.Vectors != nil {
		if err := l.cfg.Vectors.DeleteVectors(ctx, r.DocumentID, nil); err != nil {
			return fmt.Errorf("remove vectors of %s: %w", r.DocumentID, err)
		}
	}
	return l.dropOriginal(ctx, r.SHA256)
}

// repairUnfinished queues work that was unfinished when the process started: documents without content, and, with
// an embedder, documents without vectors. Ensure skips jobs that are queued or running.
func (l sweeper) repairUnfinished(ctx context.Context) error {
	states := []State{StateQueued, StateParsing, StateIndexing}
	if l.Semantic() {
		states = append(states, StateReady)
	}
	f := Filter{Everyone: true, States: states, Limit: 500, Sort: "oldest"}
	for {
		docs, next, err := l.cfg.Documents.List(ctx, chat.Scope{}, f)
		if err != nil {
			return err
		}
		for _, d := range docs {
			if err := l.enqueueRest(ctx, d, l.cfg.Queue.Ensure); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		f.Cursor = next
	}
}
