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

// Config configures a Library. Documents, Lexical, Blobs, Queue, Formats, Extractor and Renderer are required. All
// other fields have a default, named in their comments.
type Config struct {
	Documents Documents
	Lexical   Lexical
	Vectors   Vectors  // nil: no semantic search
	Embedder  Embedder // nil: no semantic search
	// Reranker rescores the best hits if the query requests it; nil: search.Scorer reranks by words.
	Reranker Reranker
	// RerankTime is the timeout of the Reranker; after it the original order is kept. 0 means 3 s.
	RerankTime time.Duration
	Blobs      Blobs
	Queue      Queue
	Formats    Formats
	Extractor  Extractor
	Renderer   Renderer
	Office     Office // nil: Office files are not converted for display
	MaxBytes   int64  // maximum size of a file; 0 means 50 MiB
	Workers    int    // concurrent ingestion jobs of a user; 0 means 2
	// Reserve returns chat.CodeDiskFull if the disk space left is reserved and no more files may be stored. nil:
	// files may fill the disk.
	Reserve func() error
	Log     *slog.Logger
}

const (
	defaultMaxBytes = 50 << 20
	defaultWorkers  = 2
	// textParts limits concurrent reads of text parts, so that the database has connections left for short queries.
	textParts = 2
)

// checkReserve returns an error if the remaining disk space is reserved.
func (l *Library) checkReserve() error {
	if l.cfg.Reserve == nil {
		return nil
	}
	return l.cfg.Reserve()
}

// Library is the API of the document library. It is safe for concurrent use. All fields except cfg are caches or
// synchronisation; they can be rebuilt from the stores.
type Library struct {
	cfg       Config
	changes   changes
	versions  versions
	watched   atomic.Int64 // counts changes of the watched folders
	languages languages
	images    *images
	drawings  *drawings
	similar   *similarities
	waiting   unembedded
	embedding *fair.Slots // slots for batches of passages
	pace      embedPace
	originals sync.RWMutex // read lock: storing a document of an original; write lock: removing an unused original
	analysers text.Analysers
	purgeNow  chan struct{}       // signals that something was deleted
	room      *semaphore.Weighted // textRoom
	parts     *semaphore.Weighted // textParts
}

// NewLibrary validates the configuration and returns all errors at once. It reads and starts nothing; Run does the
// background work.
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

// Run ingests, embeds, purges and repairs until ctx ends; it returns when its workers have stopped. Call it once.
// Several processes may serve one library: the queue distributes the jobs.
func (l *Library) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	workers.Go(func() { (sweeper{l}).purgeDeleted(ctx) })
	if l.Semantic() {
		workers.Go(func() { (sweeper{l}).sweepVectors(ctx) })
	}
	workers.Go(func() {
		if err := l.expectPages(ctx); err != nil && ctx.Err() == nil {
			l.cfg.Log.ErrorContext(ctx, "look for PDFs", "error", err)
		}
	})
	workers.Go(func() {
		if err := (sweeper{l}).repairUnfinished(ctx); err != nil && ctx.Err() == nil {
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

// Semantic reports whether vector search is configured.
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

// Count returns the number of documents, passages and pages in scope.
func (l *Library) Count(ctx context.Context, s chat.Scope) (Counts, error) {
	return l.cfg.Documents.Count(ctx, s)
}

// MetaTexts returns the distinct string values of a metadata key, or of its list.
func (l *Library) MetaTexts(ctx context.Context, s chat.Scope, key string) ([]string, error) {
	return l.cfg.Documents.MetaTexts(ctx, s, key)
}

// Namespaces returns up to limit namespaces with documents in scope, in byte order.
func (l *Library) Namespaces(ctx context.Context, s chat.Scope, limit int) ([]string, error) {
	return l.cfg.Documents.Namespaces(ctx, s, limit)
}

// Version returns a number that changes whenever a search in scope may return other results. It is cheap. Data
// derived from a search can be cached while the version stays the same.
func (l *Library) Version(ctx context.Context, s chat.Scope) (int64, error) {
	return l.versions.readVersion(ctx, l, s)
}

// KnownVersion is Version with a cache. It reflects changes of this process immediately, and changes of other
// replicas after a notification through Changed, or after 20 s at most. Call Version first if earlier changes must
// be visible.
func (l *Library) KnownVersion(ctx context.Context, s chat.Scope) (int64, error) {
	if v, ok := l.versions.knownVersion(s.User); ok {
		return v, nil
	}
	return l.versions.readVersion(ctx, l, s)
}

// Delete hides a document immediately and cancels its jobs. Its text and original are purged a minute later, unless
// it is restored. Its words may stay in an index segment, without being found, until a quarter of that segment's
// passages is deleted. Member documents are deleted too. It returns chat.CodeNotFound for a document that is out of
// scope or already deleted.
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

// Restore restores a deleted document with its members and its job. It is possible until the document is purged.
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

// Cancel cancels the ingestion of a document.
func (l *Library) Cancel(ctx context.Context, s chat.Scope, id string) error {
	if err := l.cfg.Documents.Cancel(ctx, s, id); err != nil {
		return err
	}
	l.stopWork(ctx, id)
	l.changes.wakeWatchers(id)
	return nil
}

// stopWork cancels the jobs of a cancelled or deleted document. If that fails, each job ends at its next progress
// report.
func (l *Library) stopWork(ctx context.Context, id string) {
	if err := l.cfg.Queue.Cancel(ctx, id); err != nil {
		l.cfg.Log.WarnContext(ctx, "stop the work on a document", "document", id, "error", err)
	}
}

// Retry queues a failed or cancelled document, one with pages that OCR could not read, or failed embedding. Any
// other document returns chat.CodeConflict. It does not wait for the job.
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
		return l.requestVectors(ctx, d, false)
	}
	if d.State != StateFailed && d.State != StateCancelled {
		return &chat.Error{
			Code:    chat.CodeConflict,
			Message: "Only documents that failed, were canceled or have unread pages can be retried.",
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

// TextPart returns a part of the canonical text; see Documents.TextPart.
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
	versionAge  = 20 * time.Second // maximum age of a cached version without a change notification
	maxVersions = 10_000           // maximum cached users; beyond it the cache is cleared
)

// versions caches the versions of users' libraries. The zero value is ready to use. Almost every request needs a
// version, and most users need theirs many times in a row.
type versions struct {
	mu    sync.Mutex
	users map[string]knownVersion
	last  map[string]*reading // in progress
	next  map[string]*reading // to be started when the current one has finished
}

// knownVersion is a cached version of a user's library.
type knownVersion struct {
	version int64
	read    time.Time
	changed <-chan struct{} // closed when the version may be outdated
}

// knownVersion returns a recently read version, unless a change was notified since. ok is false if it must be read
// again.
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

// reading is one database query, shared by all callers that arrived before it started.
type reading struct {
	done    chan struct{} // closed when version and err are set
	version int64
	err     error
}

// readVersion queries the database. A caller during a running query waits for the next one, which reflects all
// changes before the call; concurrent callers share it. The query continues when its caller leaves, since others
// may wait for it.
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

// sendReading runs a query after the previous one, if any, has finished.
func (v *versions) sendReading(ctx context.Context, l *Library, s chat.Scope, r, before *reading) {
	if before != nil {
		<-before.done
	}
	v.mu.Lock()
	delete(v.next, s.User) // later callers need another query
	v.last[s.User] = r
	v.mu.Unlock()
	// watch before the query, so that no change is missed in between
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
