package corpus

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
)

// A whole sweep reads each document's state and counts its vectors, so that it is rare while nothing is missing.
const (
	sweepEvery = 10 * time.Minute // while nothing is missing
	sweepSoon  = 2 * time.Second  // after a sweep that found something missing; doubled up to sweepLate
	sweepLate  = time.Minute
	sweepPage  = 500             // documents compared at once
	reachEvery = 2 * time.Second // how often a job asks for a server that is away
)

// remoteVectors is what Vectors have that are kept on a server of their own. It can be away, or lose what it had; the
// database knows what ought to be there.
type remoteVectors interface {
	// Reach reports whether the server answers; CodeUnavailable will pass.
	Reach(ctx context.Context) error
	// Lost yields when something may have gone missing.
	Lost() <-chan struct{}
}

// modelless is what Vectors have that may hold some of an earlier version, which did not note the model.
type modelless interface {
	// Unnamed returns up to k of them; none where the store's own model has some.
	Unnamed(ctx context.Context, k int) ([]Embedded, error)
	// Name makes them the store's own.
	Name(ctx context.Context) error
}

// sweepVectors has missing vectors made, those of a new embedding model and those that were lost, until ctx ends. It
// compares counts, not vectors: a document has as many as it has passages, or it is embedded again.
func (l *Library) sweepVectors(ctx context.Context) {
	var lost <-chan struct{}
	if vectors, ok := l.cfg.Vectors.(remoteVectors); ok {
		lost = vectors.Lost()
	}
	named := false
	// The first sweep comes at once: the embedding model may have been changed while the program was off.
	timer := time.NewTimer(0)
	defer timer.Stop()
	wait := sweepSoon
	for {
		select {
		case <-ctx.Done():
			return
		// Something may have gone missing: this is a sweep out of turn, and the next ones follow soon.
		case <-lost:
			wait = sweepSoon
		case <-timer.C:
		}
		var err error
		// Only once in a process: vectors that are named stay so.
		if !named {
			err = l.nameVectors(ctx)
			named = err == nil
		}
		whole := false
		if err == nil {
			whole, err = l.sweepOnce(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && chat.CodeOf(err) != chat.CodeUnavailable:
			l.cfg.Log.ErrorContext(ctx, "compare the vectors with the documents", "error", err)
		case err != nil:
			l.cfg.Log.DebugContext(ctx, "the vectors can't be compared now", "error", err)
		// Everything is there: wait is for the next time that something is missing.
		case whole:
			wait = sweepSoon
			timer.Reset(sweepEvery)
			continue
		}
		timer.Reset(wait)
		wait = min(2*wait, sweepLate)
	}
}

// sweepOnce queues every ready document whose vectors are not all there. whole means that there was none, and none on
// its way. Complete is called only when nothing is missing, because it lets the vectors of earlier models go.
func (l *Library) sweepOnce(ctx context.Context) (whole bool, err error) {
	whole = true
	// Documents that were waiting when the sweep began and are not met as such have their vectors now.
	done := l.waiting.presentOwners() // and then those of them that are not met again as waiting
	// The oldest first, so that documents which are added meanwhile come at the end and shift no page.
	f := Filter{Everyone: true, States: []State{StateReady}, Limit: sweepPage, Sort: "oldest"}
	for {
		docs, next, err := l.cfg.Documents.List(ctx, chat.Scope{}, f)
		if err != nil {
			return false, fmt.Errorf("list documents: %w", err)
		}
		var ready []Document
		for _, d := range docs {
			if d.Semantic == SemanticReady {
				ready = append(ready, d)
				continue
			}
			if d.Semantic == SemanticFailed { // it is tried again when somebody asks for that
				continue
			}
			whole = false
			delete(done, d.ID)
			if err := l.enqueueEmbed(ctx, d, l.cfg.Queue.Ensure); err != nil {
				return false, err
			}
		}
		missing, err := l.missingVectors(ctx, ready)
		if err != nil {
			return false, err
		}
		for _, d := range missing {
			whole = false
			delete(done, d.ID)
			if err := l.embedAgain(ctx, d); err != nil {
				return false, err
			}
		}
		if f.Cursor = next; next == "" {
			break
		}
	}
	for id := range done {
		l.waiting.removeDocument(id)
	}
	if !whole {
		return false, nil
	}
	if err := l.cfg.Vectors.Complete(ctx); err != nil {
		return false, fmt.Errorf("complete the vectors: %w", err)
	}
	return true, nil
}

// missingVectors returns those of docs that do not have one vector for each passage.
func (l *Library) missingVectors(ctx context.Context, docs []Document) ([]Document, error) {
	if len(docs) == 0 {
		return nil, nil
	}
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
	}
	counts, err := l.cfg.Vectors.CountVectors(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("count vectors: %w", err)
	}
	var out []Document
	for _, d := range docs {
		// More vectors than passages are wrong too: they are of an older version.
		if counts[d.ID] != d.Passages {
			out = append(out, d)
		}
	}
	return out, nil
}

// embedAgain queues a document whose vectors are gone. One that was deleted or replaced meanwhile is left alone.
func (l *Library) embedAgain(ctx context.Context, d Document) error {
	err := l.cfg.Documents.SetSemantic(ctx, d.ID, d.SHA256, SemanticPending)
	if code := chat.CodeOf(err); err != nil && (code == chat.CodeNotFound || code == chat.CodeConflict) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mark vectors as pending: %w", err)
	}
	l.cfg.Log.InfoContext(ctx, "vectors are missing and are made again", "document", d.ID, "passages", d.Passages)
	d.Semantic = SemanticPending
	return l.enqueueEmbed(ctx, d, l.cfg.Queue.Ensure)
}

// awaitVectors waits for a server of vectors that is away: nothing is embedded that can't be kept, and the work goes on
// as soon as it is back. It is told once in the log.
func (l *Library) awaitVectors(ctx context.Context) error {
	vectors, ok := l.cfg.Vectors.(remoteVectors)
	if !ok {
		return nil
	}
	every := time.NewTicker(reachEvery)
	defer every.Stop()
	for told := false; ; told = true {
		err := vectors.Reach(ctx)
		if err == nil || chat.CodeOf(err) != chat.CodeUnavailable {
			return err
		}
		if !told {
			l.cfg.Log.WarnContext(ctx, "vectors wait for their server", "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-every.C:
		}
	}
}
