package corpus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"footnote/chat"
)

const (
	undoTime   = time.Minute      // how long a deleted document can be restored
	purgeEvery = 10 * time.Minute // for what other processes and earlier lives deleted
)

// purgeDeleted removes deleted documents for good until ctx ends.
func (l *Library) purgeDeleted(ctx context.Context) {
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
		if err := l.purge(ctx, time.Now().Add(-undoTime)); err != nil && ctx.Err() == nil {
			l.cfg.Log.ErrorContext(ctx, "remove deleted documents", "error", err)
		}
		due = time.Now().Add(purgeEvery)
		timer.Reset(purgeEvery)
	}
}

// purge removes what was deleted before a time: content, vectors, and originals that no other document has. The
// documents' rows go first, so nothing comes back to what fails here: one failure must not keep the rest.
func (l *Library) purge(ctx context.Context, before time.Time) error {
	if vectors, ok := l.cfg.Vectors.(apart); ok {
		if err := vectors.Reach(ctx); err != nil { // later: nobody knows the documents' vectors after this
			return fmt.Errorf("reach the vectors: %w", err)
		}
	}
	gone, err := l.cfg.Documents.Purge(ctx, before)
	errs := []error{err}
	for _, d := range gone {
		if l.cfg.Vectors != nil {
			if err := l.cfg.Vectors.DeleteVectors(ctx, d.ID, nil); err != nil {
				errs = append(errs, fmt.Errorf("remove vectors of %s: %w", d.ID, err))
			}
		}
		errs = append(errs, l.dropOriginal(ctx, d.SHA256))
	}
	return errors.Join(errs...)
}

// repair queues what an earlier life left unfinished: documents without content, and vectors since an embedder is set.
func (l *Library) repair(ctx context.Context) error {
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
