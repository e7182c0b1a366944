package corpus

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"footnote/chat"
)

// MaxBatch is how many texts an Embedder takes at once.
const MaxBatch = 64

// inserter is implemented by Vectors that store new vectors faster than Upsert does.
type inserter interface {
	// Insert is Upsert of vectors of which none was ever stored, by anybody.
	Insert(ctx context.Context, vs []Vector) error
}

// embedDocument makes the vectors of a ready document.
func (l *Library) embedDocument(ctx context.Context, job Job) error {
	s := chat.Scope{User: cmp.Or(job.User, chat.LocalUser)}
	d, err := l.cfg.Documents.Get(ctx, s, job.DocumentID)
	if err != nil {
		return err
	}
	if d.Semantic == SemanticReady {
		l.waiting.removeDocument(d.ID)
	}
	if d.SHA256 != job.SHA256 || d.State != StateReady || d.Semantic == SemanticReady {
		return nil
	}
	if job.Blame >= MostBlame {
		l.cfg.Log.ErrorContext(ctx, "making vectors failed: each time the server died", "document", d.ID)
		if err := l.recordProgress(
			ctx, job, StateReady, Progress{Stage: "ready", Done: d.Passages, Total: d.Passages},
		); err != nil {
			return err
		}
		l.waiting.removeDocument(d.ID)
		return l.cfg.Documents.SetSemantic(ctx, d.ID, d.SHA256, SemanticFailed)
	}
	if err := l.awaitVectors(ctx); err != nil {
		return err
	}
	store, inserts := l.cfg.Vectors.Upsert, false
	if in, ok := l.cfg.Vectors.(inserter); ok && job.Fresh {
		store, inserts = in.Insert, true
	}
	var keep []string
	last := time.Now()
	for whole := false; !whole; {
		// never all of a large document
		batch, err := l.cfg.Documents.Passages(ctx, s, d.ID, len(keep), len(keep)+MaxBatch)
		if err != nil {
			return fmt.Errorf("read passages: %w", err)
		}
		whole = len(batch) < MaxBatch
		if err := l.embedBatch(ctx, d, batch, store); err != nil {
			return err
		}
		for _, p := range batch {
			keep = append(keep, p.ID)
		}
		if now := time.Now(); now.Sub(last) >= progressEvery {
			last = now
			if err := l.recordProgress(
				ctx, job, StateReady, Progress{Stage: "embedding", Done: len(keep), Total: d.Passages},
			); err != nil {
				return err
			}
		}
	}
	if !inserts {
		if err := l.cfg.Vectors.DeleteVectors(ctx, d.ID, keep); err != nil {
			return fmt.Errorf("remove old vectors: %w", err)
		}
	}
	if err := l.recordProgress(
		ctx, job, StateReady, Progress{Stage: "ready", Done: len(keep), Total: len(keep)},
	); err != nil {
		return err
	}
	if err := l.cfg.Documents.SetSemantic(ctx, d.ID, d.SHA256, SemanticReady); err != nil {
		return err
	}
	l.waiting.removeDocument(d.ID)
	// now, rather than in the first search
	if _, err := l.similar.scaleOf(ctx, l.cfg.Embedder); err != nil && ctx.Err() == nil {
		l.cfg.Log.DebugContext(ctx, "the embedding model's scores are not measured yet", "error", err)
	}
	return nil
}

// embedBatch makes the vectors of some passages and stores them. A batch is stored as a whole, so an interrupted job
// goes on after the last one.
func (l *Library) embedBatch(
	ctx context.Context, d Document, batch []Passage, store func(context.Context, []Vector) error,
) error {
	if len(batch) == 0 {
		return nil
	}
	begun := time.Now()
	texts := make([]string, len(batch))
	for i, p := range batch {
		texts[i] = EmbeddedText(d.Title, p)
	}
	values, err := l.cfg.Embedder.Embed(ctx, texts)
	if err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	if len(values) != len(texts) {
		return fmt.Errorf("embed: %d vectors for %d texts", len(values), len(texts))
	}
	vs := make([]Vector, len(batch))
	for i, p := range batch {
		vs[i] = Vector{PassageID: p.ID, DocumentID: d.ID, Namespace: d.Namespace, User: d.User, Values: values[i]}
	}
	if err := store(ctx, vs); err != nil {
		return fmt.Errorf("store vectors: %w", err)
	}
	l.pace.addBatch(len(batch), time.Since(begun))
	return nil
}

// EmbeddedText is what the vector of a passage is made of: its text below the title of its document and its section.
func EmbeddedText(title string, p Passage) string {
	if name := joinSection(title, p.Section); name != "" {
		return name + "\n" + p.Text
	}
	return p.Text
}
