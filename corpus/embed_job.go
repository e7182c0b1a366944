package corpus

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/footnote/footnote/chat"
)

// MaxBatch is the maximum number of texts of an Embedder call. Between two batches the embedder can serve waiting
// queries.
const MaxBatch = 64

// inserter is an optional interface of Vectors whose inserts are faster than upserts.
type inserter interface {
	// Insert is Upsert for vectors whose IDs were never stored before.
	Insert(ctx context.Context, vs []Vector) error
}

// vectorJobs runs a library's jobs that make vectors.
type vectorJobs struct{ *Library }

// embedDocument embeds a ready document. It is a no-op for a replaced or already embedded version. After too many
// server crashes it gives up, and the document stays searchable by words.
func (l vectorJobs) embedDocument(ctx context.Context, job Job) error {
	d, err := l.cfg.Documents.Get(ctx, chat.Scope{User: cmp.Or(job.User, chat.LocalUser)}, job.DocumentID)
	if err != nil {
		return err
	}
	// Another process may have done the job; then this library's list still has the document.
	if d.Semantic == SemanticReady {
		l.waiting.removeDocument(d.ID)
	}
	if d.SHA256 != job.SHA256 || d.State != StateReady || d.Semantic == SemanticReady {
		return nil
	}
	if job.Blame >= MostBlame {
		l.cfg.Log.ErrorContext(ctx, "embedding failed: the server crashed each time", "document", d.ID)
		if err := l.recordProgress(
			ctx, job, StateReady, Progress{Stage: "ready", Done: d.Passages, Total: d.Passages},
		); err != nil {
			return err
		}
		l.waiting.removeDocument(d.ID)
		return l.cfg.Documents.SetSemantic(ctx, d.ID, d.SHA256, SemanticFailed)
	}
	// Wait before embedding: without it the vectors could not be stored.
	if err := l.awaitVectors(ctx); err != nil {
		return err
	}
	return l.embedAll(ctx, job, d, l.embedPrioritised)
}

// embedAll embeds a document in batches and calls between after each. It deletes the vectors of removed passages
// last, so that a search always finds something. An interrupted job starts again, but reuses stored vectors of the
// same texts.
func (l vectorJobs) embedAll(
	ctx context.Context, job Job, d Document, between func(context.Context, Document) error,
) error {
	// The document of a Fresh job has no vectors, so nothing needs deleting, before or after.
	store, inserts := l.cfg.Vectors.Upsert, false
	if in, ok := l.cfg.Vectors.(inserter); ok && job.Fresh {
		store, inserts = in.Insert, true
	}
	s := chat.Scope{User: d.User}
	var keep []string
	last := time.Now()
	for whole := false; !whole; {
		// bounds memory for a large document
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
		if !whole {
			if err := between(ctx, d); err != nil {
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
	// Set the state last: a job that dies before is retried, and finds nearly all vectors by their text hashes.
	if err := l.cfg.Documents.SetSemantic(ctx, d.ID, d.SHA256, SemanticReady); err != nil {
		return err
	}
	l.waiting.removeDocument(d.ID)
	// measure now, rather than in the first search
	if _, err := l.similar.scaleOf(ctx, l.cfg.Embedder); err != nil && ctx.Err() == nil {
		l.cfg.Log.DebugContext(ctx, "the embedding model is not calibrated yet", "error", err)
	}
	return nil
}

// embedPrioritised embeds documents that searches wait for, between the batches of another document. Their own jobs
// then find the vectors. With concurrent embed jobs it does nothing: those jobs run by themselves.
func (l vectorJobs) embedPrioritised(ctx context.Context, present Document) error {
	if _, several := l.cfg.Vectors.(inserter); several {
		return nil
	}
	for id, user := range l.waiting.otherPrioritised(present.ID) {
		d, err := l.cfg.Documents.Get(ctx, chat.Scope{User: user}, id)
		if err == nil && d.State == StateReady && d.Semantic != SemanticReady {
			job := Job{Kind: JobEmbed, DocumentID: id, User: user, SHA256: d.SHA256}
			err = catchPanic(func() error { // contain a panic of the other document
				return l.embedAll(ctx, job, d, func(context.Context, Document) error { return nil })
			})
			l.changes.wakeWatchers(id)
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			l.cfg.Log.WarnContext(ctx, "could not prioritize the vectors of a document", "document", id, "error", err)
		}
		l.waiting.unprioritise(id)
	}
	return nil
}

// embedBatch embeds some passages and stores the vectors. Users take turns by batches. A batch is stored as a
// whole, so an interrupted job continues after the last one.
func (l vectorJobs) embedBatch(
	ctx context.Context, d Document, batch []Passage, store func(context.Context, []Vector) error,
) error {
	if len(batch) == 0 {
		return nil
	}
	if err := l.embedding.Acquire(ctx, d.User); err != nil {
		return err
	}
	defer l.embedding.Release(d.User)
	begun := time.Now()
	vs, texts := make([]Vector, len(batch)), make([]string, len(batch))
	for i, p := range batch {
		texts[i] = EmbeddedText(d.Title, p)
		vs[i] = Vector{
			PassageID: p.ID, DocumentID: d.ID, Namespace: d.Namespace, User: d.User, TextHash: hashText(texts[i]),
		}
	}
	if err := l.embedTexts(ctx, vs, texts); err != nil {
		return err
	}
	if err := store(ctx, vs); err != nil {
		return fmt.Errorf("store vectors: %w", err)
	}
	l.pace.addBatch(len(batch), time.Since(begun))
	return nil
}

// embedTexts sets the values of the vectors of texts. It reuses stored vectors of the same text, also from other
// documents and users: a vector reveals only what its text is like.
func (l vectorJobs) embedTexts(ctx context.Context, vs []Vector, texts []string) (err error) {
	hashes := make([]string, len(vs))
	for i, v := range vs {
		hashes[i] = v.TextHash
	}
	known, err := l.cfg.Vectors.VectorsOf(ctx, hashes)
	if err != nil { // fall back to embedding all texts
		if ctx.Err() != nil {
			return err
		}
		l.cfg.Log.WarnContext(ctx, "could not reuse vectors of equal texts", "error", err)
	}
	// Deduplicate texts in the batch, such as a running header.
	made := make(map[string][]float32) // nil until embedded
	var missing []string
	hashes = hashes[:0]
	for i, v := range vs {
		if _, listed := made[v.TextHash]; !listed && known[v.TextHash] == nil {
			made[v.TextHash] = nil
			missing, hashes = append(missing, texts[i]), append(hashes, v.TextHash)
		}
	}
	if len(missing) > 0 {
		vectors, err := l.cfg.Embedder.Embed(ctx, missing)
		if err != nil {
			return fmt.Errorf("embed: %w", err)
		}
		if len(vectors) != len(missing) {
			return fmt.Errorf("embed: %d vectors for %d texts", len(vectors), len(missing))
		}
		for i, hash := range hashes {
			made[hash] = vectors[i]
		}
	}
	for i, v := range vs {
		if vs[i].Values = known[v.TextHash]; vs[i].Values == nil {
			vs[i].Values = made[v.TextHash]
		}
	}
	return nil
}

// hashText returns the first 128 bits of a text's SHA-256. Accidental collisions do not occur.
func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:16])
}

// EmbeddedText returns the text to embed for a passage: document title and section, followed by its own text. A
// passage alone often does not name its subject.
func EmbeddedText(title string, p Passage) string {
	if name := joinSection(title, p.Section); name != "" {
		return name + "\n" + p.Text
	}
	return p.Text
}

// paceMemory is the weight of earlier measurements after each batch. About ten batches count, so that a pause or
// another model is soon forgotten.
const paceMemory = 0.9

// embedPace is a moving average of this process's embedding speed, for time estimates.
type embedPace struct {
	mu       sync.Mutex
	passages float64
	spent    time.Duration
}

// addBatch records the duration of a batch.
func (p *embedPace) addBatch(passages int, spent time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passages = p.passages*paceMemory + float64(passages)
	p.spent = time.Duration(float64(p.spent)*paceMemory) + spent
}

// timeFor estimates the time to embed that many passages; 0 if unknown.
func (p *embedPace) timeFor(passages int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.passages == 0 {
		return 0
	}
	return time.Duration(float64(p.spent) * float64(passages) / p.passages)
}

// EmbedTime estimates how long this process needs to embed that many passages; 0 before the first batch.
func (l *Library) EmbedTime(passages int) time.Duration { return l.pace.timeFor(passages) }
