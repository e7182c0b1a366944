package corpus

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
)

// A complete sweep reads each document's state and counts its vectors, so it is rare while nothing is missing.
const (
	sweepEvery = 10 * time.Minute // interval while nothing is missing
	sweepSoon  = 2 * time.Second  // interval after a sweep that found something missing; doubled up to sweepLate
	sweepLate  = time.Minute
	sweepPage  = 500             // batch size of documents
	reachEvery = 2 * time.Second // polling interval of a job while the server is down
)

// remoteVectors is an optional interface of Vectors on a remote server. It can be down or lose data; the database
// knows the expected vectors.
type remoteVectors interface {
	// Ping returns an error unless the server responds; CodeUnavailable is temporary.
	Ping(ctx context.Context) error
	// Lost receives a signal after possible data loss.
	Lost() <-chan struct{}
}

// modelless is an optional interface of Vectors that may hold vectors of an earlier version, without a model name.
type modelless interface {
	// Unnamed returns up to k of these; none if the store's own model has vectors.
	Unnamed(ctx context.Context, k int) ([]Embedded, error)
	// Name assigns them to the store's model.
	Name(ctx context.Context) error
}

// sweepVectors queues the embedding of missing vectors, after a change of the embedding model or data loss, until
// ctx ends. It compares counts, not vectors: a document with another number of vectors than passages is embedded
// again.
func (l sweeper) sweepVectors(ctx context.Context) {
	var lost <-chan struct{}
	if vectors, ok := l.cfg.Vectors.(remoteVectors); ok {
		lost = vectors.Lost()
	}
	named := false
	// Run the first sweep at once: the embedding model may have been changed while the program was off.
	timer := time.NewTimer(0)
	defer timer.Stop()
	wait := sweepSoon
	for {
		select {
		case <-ctx.Done():
			return
		// Possible data loss triggers an extra sweep, and the next ones follow soon.
		case <-lost:
			wait = sweepSoon
		case <-timer.C:
		}
		var err error
		// Only once in a process: named vectors stay named.
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
		// Nothing is missing: reset wait for the next time.
		case whole:
			wait = sweepSoon
			timer.Reset(sweepEvery)
			continue
		}
		timer.Reset(wait)
		wait = min(2*wait, sweepLate)
	}
}

// sweepOnce queues every ready document with missing vectors. whole reports that nothing is missing or in progress.
// It calls Complete only then, because that drops the vectors of earlier models.
func (l sweeper) sweepOnce(ctx context.Context) (whole bool, err error) {
	whole = true
	// Documents that were waiting at the start, and are not found waiting by the sweep, have their vectors now.
	done := l.waiting.presentOwners() // later reduced to those no longer waiting
	// Oldest first, so that documents added meanwhile are last and shift no page.
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
			if d.Semantic == SemanticFailed { // retried on request only
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

// missingVectors returns the docs without exactly one vector per passage.
func (l sweeper) missingVectors(ctx context.Context, docs []Document) ([]Document, error) {
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

// embedAgain queues the embedding of a document whose vectors are missing. It ignores documents deleted or replaced
// meanwhile.
func (l sweeper) embedAgain(ctx context.Context, d Document) error {
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

// awaitVectors waits while the vector server is down, since embeddings could not be stored. It polls, so that work
// continues soon after the server is back, and logs the outage once.
func (l vectorJobs) awaitVectors(ctx context.Context) error {
	vectors, ok := l.cfg.Vectors.(remoteVectors)
	if !ok {
		return nil
	}
	every := time.NewTicker(reachEvery)
	defer every.Stop()
	for told := false; ; told = true {
		err := vectors.Ping(ctx)
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
