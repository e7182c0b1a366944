package corpus

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/fair"
	"github.com/footnote/footnote/text"
)

// Config wires a Library. Documents, Lexical, Blobs, Queue, Formats, Extractor and Renderer are required. What is
// required has no sensible substitute; all else has one, which its comment names.
type Config struct {
	Documents Documents
	Lexical   Lexical
	Vectors   Vectors  // nil: no semantic search
	Embedder  Embedder // nil: no semantic search
	// Reranker scores the best of what is found anew when a query asks for that; nil: a closer look at the words does.
	Reranker Reranker
	// RerankTime is how long it may take; the order of before stays when it takes longer. 0 means 3 s.
	RerankTime time.Duration
	Blobs      Blobs
	Queue      Queue
	Formats    Formats
	Extractor  Extractor
	Renderer   Renderer
	Office     Office // nil: Office files are not drawn as they are printed
	MaxBytes   int64  // of one file; 0 means 50 MiB
	Workers    int    // documents ingested at once; 0 means 2
	// Reserve fails with chat.CodeDiskFull while no more files may be stored, although the disk is not full. nil:
	// files may fill the disk.
	Reserve func() error
	Log     *slog.Logger
}

const (
	defaultMaxBytes = 50 << 20
	defaultWorkers  = 2
	// textParts is how many parts of texts are read at once: the database has connections left for short questions,
	// however many readers there are.
	textParts = 2
)

// checkReserve fails while the last of the disk is kept for others than files.
func (l *Library) checkReserve() error {
	if l.cfg.Reserve == nil {
		return nil
	}
	return l.cfg.Reserve()
}

// Library is everything one can do with documents. It is safe for concurrent use. Fields are grouped by what they
// remember; all of them but cfg are safe to lose, as they are made again from the stores.
type Library struct {
	cfg       Config
	changes   changes
	versions  versions
	watched   atomic.Int64 // changes of what is known of watched folders
	languages languages
	images    *images
	drawings  *drawings
	similar   *similarities
	waiting   unembedded
	embedding *fair.Slots // batches of passages
	pace      embedPace
	originals sync.RWMutex // read: a document of an original is stored; write: an original that nobody has is removed
	analysers text.Analysers
	purgeNow  chan struct{}       // something was deleted
	room      *semaphore.Weighted // textRoom
	parts     *semaphore.Weighted // textParts
}

// NewLibrary checks the wiring. Run does the background work. It fails with every mistake at once. Nothing is read or
// started.
func NewLibrary(cfg Config) (*Library, error) {
	var errs []error
	need := func(ok bool, what string) {
		if !ok {
			errs = append(errs, errors.New("corpus: a library needs "+what))
		}
	}
	need(cfg.Documents != nil, "Documents")
	need(cfg.Lexical != nil, "Lexical")
	need(cfg.Blobs != nil, "Blobs")
	need(cfg.Queue != nil, "Queue")
	need(cfg.Formats != nil, "Formats")
	need(cfg.Extractor != nil, "an Extractor")
	need(cfg.Renderer != nil, "a Renderer")
	need(cfg.MaxBytes >= 0 && cfg.Workers >= 0, "sizes that are not negative")
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = defaultMaxBytes
	}
	if cfg.Workers == 0 {
		cfg.Workers = defaultWorkers
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	embeds := embedsAtOnce(cfg.Vectors)
	return &Library{
		cfg: cfg, embedding: fair.NewSlots(embeds, embeds),
		purgeNow: make(chan struct{}, 1),
		room:     semaphore.NewWeighted(textRoom),
		parts: semaphore.NewWeighted(
			textParts,
		),
		images:   newImages(),
		drawings: newDrawings(),
		similar:  newSimilarities(),
	}, nil
}

// Run ingests, embeds, purges and repairs until ctx ends; it returns when its workers have stopped. It is called once.
// Several processes may run one library: the queue divides the work among them.
func (l *Library) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	workers.Go(func() { l.purgeDeleted(ctx) })
	if l.Semantic() {
		workers.Go(func() { l.sweepVectors(ctx) })
	}
	workers.Go(func() {
		if err := l.expectPages(ctx); err != nil && ctx.Err() == nil {
			l.cfg.Log.ErrorContext(ctx, "look for PDFs", "error", err)
		}
	})
	workers.Go(func() {
		if err := l.repairUnfinished(ctx); err != nil && ctx.Err() == nil {
			l.cfg.Log.ErrorContext(ctx, "queue unfinished documents", "error", err)
		}
	})
	defer func() {
		if err := l.drawings.close(); err != nil {
			l.cfg.Log.WarnContext(ctx, "remove the drawn pages", "error", err)
		}
	}()
	defer workers.Wait()
	return l.cfg.Queue.Work(ctx, l.jobWorkers())
}

// Semantic reports whether vectors take part in searching.
func (l *Library) Semantic() bool { return l.cfg.Vectors != nil && l.cfg.Embedder != nil }

// Document returns a document in scope.
func (l *Library) Document(ctx context.Context, s chat.Scope, id string) (Document, error) {
	return l.cfg.Documents.Get(ctx, s, id)
}

// AtPath returns the document at a path of a scope's namespaces.
func (l *Library) AtPath(ctx context.Context, s chat.Scope, path string) (Document, error) {
	return l.cfg.Documents.AtPath(ctx, s, path)
}

// List returns one page of the documents in scope and the next cursor, empty at the end.
func (l *Library) List(ctx context.Context, s chat.Scope, f Filter) ([]Document, string, error) {
	return l.cfg.Documents.List(ctx, s, f)
}

// Count says how much is in scope.
func (l *Library) Count(ctx context.Context, s chat.Scope) (Counts, error) {
	return l.cfg.Documents.Count(ctx, s)
}

// MetaTexts returns the texts that documents have under a key of Meta, or in its list, each once.
func (l *Library) MetaTexts(ctx context.Context, s chat.Scope, key string) ([]string, error) {
	return l.cfg.Documents.MetaTexts(ctx, s, key)
}

// Namespaces returns up to limit names of those that have documents in scope, in the order of their bytes.
func (l *Library) Namespaces(ctx context.Context, s chat.Scope, limit int) ([]string, error) {
	return l.cfg.Documents.Namespaces(ctx, s, limit)
}

// Version changes whenever anything that a search in scope could see changed. It is cheap. Whatever is derived from a
// search may be kept for as long as it stays the same.
func (l *Library) Version(ctx context.Context, s chat.Scope) (int64, error) {
	return l.versions.readVersion(ctx, l, s)
}

// KnownVersion is Version without asking the database each time. It sees at once what this process changed since, and
// what other replicas changed once Changed tells of it, at the latest after 20 s. Who must not miss what was changed
// before asks for Version first.
func (l *Library) KnownVersion(ctx context.Context, s chat.Scope) (int64, error) {
	if v, ok := l.versions.knownVersion(s.User); ok {
		return v, nil
	}
	return l.versions.readVersion(ctx, l, s)
}

// Delete hides a document at once and stops work on it. A minute later, unless it is restored, its text and its
// original are removed for good. Its words may stay in a segment of the index, where no search finds them, until a
// quarter of that segment's passages is gone. The files inside it go with it. It fails with chat.CodeNotFound for a
// document that is not in scope, or deleted already.
func (l *Library) Delete(ctx context.Context, s chat.Scope, id string) error {
	d, err := l.cfg.Documents.Get(ctx, s, id)
	if err != nil {
		return err
	}
	if err := l.cfg.Documents.Delete(ctx, s, id); err != nil {
		return err
	}
	members, err := l.membersOf(ctx, d)
	if err != nil {
		return err
	}
	if err := eachMember(members, func(id string) error { return l.Delete(ctx, s, id) }); err != nil {
		return err
	}
	l.stopWork(ctx, id)
	l.waiting.removeDocument(id)
	l.changes.wakeWatchers(id)
	wakeChannel(l.purgeNow)
	return nil
}

// Restore brings a deleted document back, with the files inside it, and its place in the queue. That is possible until
// it is purged.
func (l *Library) Restore(ctx context.Context, s chat.Scope, id string) error {
	if err := l.cfg.Documents.Restore(ctx, s, id); err != nil {
		return err
	}
	l.changes.wakeWatchers(id)
	d, err := l.cfg.Documents.Get(ctx, s, id)
	if err != nil {
		return err
	}
	if err := eachMember(d.MemberIDs(), func(id string) error { return l.Restore(ctx, s, id) }); err != nil {
		return err
	}
	return l.enqueueRest(ctx, d, l.cfg.Queue.Enqueue)
}

// Cancel stops the work on a document.
func (l *Library) Cancel(ctx context.Context, s chat.Scope, id string) error {
	if err := l.cfg.Documents.Cancel(ctx, s, id); err != nil {
		return err
	}
	l.stopWork(ctx, id)
	l.changes.wakeWatchers(id)
	return nil
}

// stopWork ends the jobs of a document that was cancelled or deleted. When that fails, each ends by itself as soon as
// it reports how far it is.
func (l *Library) stopWork(ctx context.Context, id string) {
	if err := l.cfg.Queue.Cancel(ctx, id); err != nil {
		l.cfg.Log.WarnContext(ctx, "stop the work on a document", "document", id, "error", err)
	}
}

// Retry queues a failed or cancelled document again, one with pages that nothing could read, or the vectors that
// failed; any other document fails with chat.CodeConflict. It does not wait for the work.
func (l *Library) Retry(ctx context.Context, s chat.Scope, id string) error {
	d, err := l.cfg.Documents.Get(ctx, s, id)
	if err != nil {
		return err
	}
	if d.State == StateReady && d.MetaText(MetaUnread) != "" {
		if err := l.cfg.Documents.Reread(ctx, s, id); err != nil {
			return err
		}
		d.State = StateQueued
		return l.enqueueRest(ctx, d, l.cfg.Queue.Enqueue)
	}
	if d.State == StateReady && d.Semantic == SemanticFailed {
		defer l.changes.wakeWatchers(d.ID)
		return l.wantVectors(ctx, d, false)
	}
	if d.State != StateFailed && d.State != StateCancelled {
		return &chat.Error{
			Code:    chat.CodeConflict,
			Message: "Only a document that failed, was cancelled or has unread pages can be tried again.",
		}
	}
	if d, _, err = l.cfg.Documents.Put(ctx, d); err != nil {
		return err
	}
	return l.enqueueRest(ctx, d, l.cfg.Queue.Enqueue)
}

// Text returns the canonical text of a document's indexed version.
func (l *Library) Text(ctx context.Context, s chat.Scope, id string) (string, error) {
	return l.cfg.Documents.Text(ctx, s, id)
}

// TextPart returns a part of that text; see Documents.TextPart.
func (l *Library) TextPart(ctx context.Context, s chat.Scope, id string, at int) (TextPart, error) {
	if err := l.parts.Acquire(ctx, 1); err != nil {
		return TextPart{}, err
	}
	defer l.parts.Release(1)
	return l.cfg.Documents.TextPart(ctx, s, id, at)
}

// Blocks returns the blocks of a document's indexed version, without words.
func (l *Library) Blocks(ctx context.Context, s chat.Scope, id string) ([]Block, error) {
	return l.cfg.Documents.Blocks(ctx, s, id)
}

// Passages returns the passages that exist, in the order of ids.
func (l *Library) Passages(ctx context.Context, s chat.Scope, ids []string) ([]Passage, error) {
	return l.cfg.Documents.PassagesByID(ctx, s, ids)
}

// PageSizes returns width and height in points of each page, none for formats without pages.
func (l *Library) PageSizes(ctx context.Context, s chat.Scope, id string) ([][2]float64, error) {
	return l.cfg.Documents.PageSizes(ctx, s, id)
}

// Original opens the document's file. The caller closes it.
func (l *Library) Original(ctx context.Context, s chat.Scope, id string) (Document, io.ReadSeekCloser, error) {
	d, err := l.cfg.Documents.Get(ctx, s, id)
	if err != nil {
		return d, nil, err
	}
	body, err := l.cfg.Blobs.Open(ctx, d.SHA256)
	return d, body, err
}

const (
	versionAge  = 20 * time.Second // how long a version is believed when nobody tells of a change
	maxVersions = 10_000           // users; past it, all are forgotten
)

// versions remembers the versions of users' libraries. The zero value is ready. Almost every request asks for a
// version, and most users ask for theirs many times in a row.
type versions struct {
	mu    sync.Mutex
	users map[string]knownVersion
	last  map[string]*reading // on its way
	next  map[string]*reading // to be sent when that has come back
}

// knownVersion is a version of a user's library that was read.
type knownVersion struct {
	version int64
	read    time.Time
	changed <-chan struct{} // closed when it may be out of date
}

// knownVersion returns a version that was read a moment ago, unless a change was heard of since. ok is false when it
// has to be read again.
func (v *versions) knownVersion(user string) (int64, bool) {
	v.mu.Lock()
	k, ok := v.users[user]
	v.mu.Unlock()
	if !ok || time.Since(k.read) > versionAge {
		return 0, false
	}
	select {
	case <-k.changed:
		return 0, false
	default:
		return k.version, true
	}
}

// A reading is one question to the database, for all who asked before it was sent.
type reading struct {
	done    chan struct{} // closed when the next two hold
	version int64
	err     error
}

// readVersion asks the database. Whoever asks while a reading is on its way waits for the next one, which sees all that
// was there when they asked: the more ask at once, the less each costs. The reading goes on when its caller leaves, as
// others may wait for it.
func (v *versions) readVersion(ctx context.Context, l *Library, s chat.Scope) (int64, error) {
	v.mu.Lock()
	next := v.next[s.User]
	if next == nil {
		next = &reading{done: make(chan struct{})}
		if v.next == nil {
			v.next, v.last = make(map[string]*reading), make(map[string]*reading)
		}
		v.next[s.User] = next
		go v.sendReading(context.WithoutCancel(ctx), l, s, next, v.last[s.User])
	}
	v.mu.Unlock()
	select {
	case <-next.done:
		return next.version, next.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// sendReading sends a reading once the one before has come back, if there is any.
func (v *versions) sendReading(ctx context.Context, l *Library, s chat.Scope, r, before *reading) {
	if before != nil {
		<-before.done
	}
	v.mu.Lock()
	delete(v.next, s.User) // who comes now is too late for it
	v.last[s.User] = r
	v.mu.Unlock()
	// before the read, so that nothing falls between
	k := knownVersion{read: time.Now(), changed: l.changes.watchDocument("")}
	k.version, r.err = l.cfg.Documents.Version(ctx, s)
	r.version = k.version
	v.mu.Lock()
	defer v.mu.Unlock()
	defer close(r.done)
	if v.last[s.User] == r {
		delete(v.last, s.User)
	}
	if r.err != nil {
		return
	}
	if v.users == nil || len(v.users) >= maxVersions {
		v.users = make(map[string]knownVersion)
	}
	v.users[s.User] = k
}
