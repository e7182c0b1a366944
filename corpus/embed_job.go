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

// MaxBatch is how many texts an Embedder takes at once. A batch is what is made between two looks at whether somebody
// waits.
const MaxBatch = 64

// inserter is implemented by Vectors that store new vectors faster than Upsert does.
type inserter interface {
	// Insert is Upsert of vectors of which none was ever stored, by anybody.
	Insert(ctx context.Context, vs []Vector) error
}

// embedDocument makes the vectors of a ready document. It does nothing for a version that was replaced or is ready. A
// document over which the server died too often is given up, and stays searchable by its words.
func (l *Library) embedDocument(ctx context.Context, job Job) error {
	d, err := l.cfg.Documents.Get(ctx, chat.Scope{User: cmp.Or(job.User, chat.LocalUser)}, job.DocumentID)
	if err != nil {
		return err
	}
	// The job may have been done by another process, whose library alone has it off its list.
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
	// Before the model works: its vectors could not be stored.
	if err := l.awaitVectors(ctx); err != nil {
		return err
	}
	return l.embedAll(ctx, job, d, l.embedSought)
}

// embedAll makes the vectors of a document, batch by batch. Between them it calls between. Vectors of passages that are
// gone are deleted last, so that a search finds something at any time. A job that was cut off begins again, but texts
// that have a vector are not embedded twice.
func (l *Library) embedAll(
	ctx context.Context, job Job, d Document, between func(context.Context, Document) error,
) error {
	// A Fresh job's document has no vectors at all, so that nothing has to be deleted, before or after.
	store, inserts := l.cfg.Vectors.Upsert, false
	if in, ok := l.cfg.Vectors.(inserter); ok && job.Fresh {
		store, inserts = in.Insert, true
	}
	s := chat.Scope{User: d.User}
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
	// The state comes last: a job that dies before is done again, and finds nearly all vectors known by their texts.
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

// embedSought makes the vectors of documents that somebody looks for, in the middle of another's: that may be a long
// one. Their own jobs find them made. Where several documents are at work at once, it leaves them to those.
func (l *Library) embedSought(ctx context.Context, present Document) error {
	if _, several := l.cfg.Vectors.(inserter); several {
		return nil
	}
	for id, user := range l.waiting.soughtBeside(present.ID) {
		d, err := l.cfg.Documents.Get(ctx, chat.Scope{User: user}, id)
		if err == nil && d.State == StateReady && d.Semantic != SemanticReady {
			job := Job{Kind: JobEmbed, DocumentID: id, User: user, SHA256: d.SHA256}
			err = catchPanic(func() error { // of the other document, not of the present one
				return l.embedAll(ctx, job, d, func(context.Context, Document) error { return nil })
			})
			l.changes.wakeWatchers(id)
		}
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			l.cfg.Log.WarnContext(ctx, "vectors of a document that is looked for wait", "document", id, "error", err)
		}
		l.waiting.unseek(id)
	}
	return nil
}

// embedBatch makes the vectors of some passages and stores them. Users take turns, a batch at a time. A batch is stored
// as a whole, so an interrupted job goes on after the last one.
func (l *Library) embedBatch(
	ctx context.Context, d Document, batch []Passage, store func(context.Context, []Vector) error,
) error {
	if len(batch) == 0 {
		return nil
	}
	if err := l.embedding.Enter(ctx, d.User); err != nil {
		return err
	}
	defer l.embedding.Leave(d.User)
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

// embedTexts sets the values of vectors of texts. A text that has a vector already, in this or another document, is not
// embedded again. Values of known texts come from the store, whoever they belong to: a vector gives nothing away but
// what its text is like.
func (l *Library) embedTexts(ctx context.Context, vs []Vector, texts []string) (err error) {
	hashes := make([]string, len(vs))
	for i, v := range vs {
		hashes[i] = v.TextHash
	}
	known, err := l.cfg.Vectors.VectorsOf(ctx, hashes)
	if err != nil { // then they are made again
		if ctx.Err() != nil {
			return err
		}
		l.cfg.Log.WarnContext(ctx, "looking for vectors of the same texts failed", "error", err)
	}
	// The same text may stand in a batch several times, such as a running head: it is embedded once.
	made := make(map[string][]float32) // nil until it is
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

// hashText is 128 bits of a text's SHA-256. Two texts with the same 128 bits don't happen by chance.
func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:16])
}

// EmbeddedText is the text that the vector of a passage is made of: the title of its document, its section, and below
// them its own text. A passage alone often doesn't say what it is about.
func EmbeddedText(title string, p Passage) string {
	if name := joinSection(title, p.Section); name != "" {
		return name + "\n" + p.Text
	}
	return p.Text
}

// paceMemory is how much of the time measured before a batch still counts after it. About ten batches are remembered,
// so that a pause or another model is soon forgotten.
const paceMemory = 0.9

// embedPace is how fast this process makes vectors of late. It is for telling people how long something will take.
type embedPace struct {
	mu       sync.Mutex
	passages float64
	spent    time.Duration
}

// addBatch notes how long a batch took.
func (p *embedPace) addBatch(passages int, spent time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passages = p.passages*paceMemory + float64(passages)
	p.spent = time.Duration(float64(p.spent)*paceMemory) + spent
}

// timeFor is how long so many passages will take; 0 if that is not known.
func (p *embedPace) timeFor(passages int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.passages == 0 {
		return 0
	}
	return time.Duration(float64(p.spent) * float64(passages) / p.passages)
}

// EmbedTime is about how long the vectors of so many passages will take this process; 0 before any were made.
func (l *Library) EmbedTime(passages int) time.Duration { return l.pace.timeFor(passages) }
