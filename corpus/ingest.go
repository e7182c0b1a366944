package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

const (
	// Both limits bound the memory of several large files at once, see extractOriginal.
	progressEvery = 250 * time.Millisecond
	textRoom      = 64 << 20 // bytes of extracted texts and blocks that may be in memory until they are stored
	smallText     = 1 << 20  // bytes of a text that is not counted
	largeText     = 16 << 20 // bytes of a text whose memory is returned to the OS at once
)

// The failures of documents that repeatedly crashed a process.
var (
	failedThrice = &Failure{Code: "internal",
		Detail: "Import failed three times because the import process was terminated. Split the file and add the " +
			"parts, or try again when the server has more free memory."}
	failedWithServer = &Failure{Code: "internal",
		Detail: "Import failed repeatedly because the server was terminated during it. Split the file and add the " +
			"parts, or try again when the server has more free memory."}
)

// ingestDocument extracts, splits and indexes a document and makes it ready. It is idempotent and may run twice, in
// two processes or after a crash. The store rejects a version that is no longer current with chat.CodeConflict,
// which ends the job. Member files are added before the content is stored, because a ready document is not
// extracted again.
func (l *Library) ingestDocument(ctx context.Context, job Job) error {
	s := chat.Scope{User: cmp.Or(job.User, chat.LocalUser)}
	d, err := l.cfg.Documents.Get(ctx, s, job.DocumentID)
	if err != nil {
		return err
	}
	// A late job is done, not failed: a failure would be retried.
	if d.SHA256 != job.SHA256 || d.State == StateCancelled || d.State == StateFailed {
		return nil // stopped or replaced before
	}
	if d.State == StateReady { // later steps may have been interrupted
		return l.requestVectors(ctx, d, false)
	}
	if job.Blame >= MostBlame {
		return failedWithServer
	}
	if err := l.checkReserve(); err != nil { // stays queued: the content needs as much disk space again
		return err
	}
	// The extractor writes member files of an archive or a mail here, and addMembers adds them to the library.
	members, err := os.MkdirTemp("", "footnote-members-*")
	if err != nil {
		return fmt.Errorf("make a directory for the files inside: %w", err)
	}
	defer l.removeTemporary(ctx, members)
	e, release, err := l.extractOriginal(ctx, job, d, members)
	if err != nil {
		return err
	}
	defer release()
	e.Language = languageOf(e)
	if err := l.addMembers(ctx, d, &e, members); err != nil {
		return err
	}
	// Passage IDs are deterministic: they are derived from document, version and range.
	passages := Split(d.ID, d.SHA256, e)
	if len(passages) == 0 {
		return &Failure{
			Code:   NoText,
			Detail: "No text found in this file. If it is a scan, run OCR on it and add it again.",
		}
	}
	if err := l.recordProgress(ctx, job, StateIndexing, Progress{Stage: "indexing", Total: len(passages)}); err != nil {
		return err
	}
	// Look up the previous version first: after PutContent its original could not be found any more.
	before, err := l.cfg.Documents.IndexedBytes(ctx, d.ID)
	if err != nil {
		return fmt.Errorf("look for an older version: %w", err)
	}
	// PutContent makes the document ready and searchable by words in the same transaction.
	err = l.cfg.Documents.PutContent(ctx, d.ID, Content{
		SHA256: d.SHA256, Extracted: e, Passages: passages, Title: cmp.Or(e.Title, d.Title, d.Filename),
	})
	if err != nil {
		return fmt.Errorf("store content: %w", err)
	}
	l.languages.addLanguage(s.User, e.Language)
	if before != "" && before != d.SHA256 {
		old := Removal{SHA256: before}
		err := sweeper{l}.removeOne(ctx, old)
		if err == nil {
			err = l.cfg.Documents.Removed(ctx, old)
		}
		if err != nil { // the new version serves all the same
			l.cfg.Log.WarnContext(ctx, "could not delete the original of an old version", "document", d.ID,
				"error", err)
		}
	}
	return l.requestVectors(ctx, d, before == "")
}

// requestVectors queues the embedding of a ready document unless it is off or done. first is true if the document had
// no content before, so that only a running embed job can have stored vectors for it. The newest document gets
// priority over the user's others, since questions are most likely about it.
func (l *Library) requestVectors(ctx context.Context, d Document, first bool) error {
	if !l.Semantic() || d.Semantic == SemanticReady {
		return nil
	}
	if err := l.cfg.Documents.SetSemantic(ctx, d.ID, d.SHA256, SemanticPending); err != nil {
		return fmt.Errorf("mark vectors as pending: %w", err)
	}
	// Enqueue adds a job even while one is running, which may have read the replaced content. For a new document
	// Ensure is enough.
	enqueue := l.cfg.Queue.Enqueue
	if first {
		enqueue = func(ctx context.Context, job Job) error {
			job.Fresh = true
			return l.cfg.Queue.Ensure(ctx, job)
		}
	}
	if err := l.enqueueEmbed(ctx, d, enqueue); err != nil {
		return err
	}
	if !l.waiting.hasPrioritised(d.User) { // documents found by searches come first, then new ones
		l.prioritiseEmbedding(ctx, d.ID)
	}
	return nil
}

// prioritiseEmbedding moves a document's embed job ahead of the user's other documents.
func (l *Library) prioritiseEmbedding(ctx context.Context, id string) {
	if err := l.cfg.Queue.Prioritise(ctx, JobEmbed, id); err != nil && ctx.Err() == nil {
		l.cfg.Log.WarnContext(ctx, "could not speed up embedding", "document", id, "error", err)
	}
}

// languageOf returns the ISO 639-1 language declared in the file, or the detected language of its text, or "".
func languageOf(e Extracted) string {
	// Files declare "en-US" or "en_US"; values that are not two-letter codes, such as "English", are ignored.
	code, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(e.Language, "_", "-")), "-")
	if len(code) == 2 && code[0] >= 'a' && code[0] <= 'z' && code[1] >= 'a' && code[1] <= 'z' {
		return code
	}
	return text.Detect(e.Text)
}

// extractOriginal extracts the original and records progress at most four times a second. On success the caller
// must call release once the result is no longer in use. members is a directory for member files; empty: they are
// skipped. The extractor calls Room with the size of the result, which blocks until enough earlier results are
// stored.
func (l *Library) extractOriginal(
	ctx context.Context, job Job, d Document, members string,
) (_ Extracted, release func(), err error) {
	if err := l.recordProgress(ctx, job, StateParsing, Progress{Stage: "parsing", Total: d.Pages}); err != nil {
		return Extracted{}, nil, err
	}
	file, remove, err := l.onDisk(ctx, d)
	if err != nil {
		return Extracted{}, nil, err
	}
	defer remove()
	file.Members, file.Depth = members, d.depth()
	var held int64
	file.Room = func(ctx context.Context, bytes int64) error {
		if bytes < smallText { // small texts do not wait behind a large one
			return nil
		}
		// A text larger than the whole limit waits for all of it and is loaded alone.
		bytes = min(bytes, textRoom)
		if err := l.room.Acquire(ctx, bytes); err != nil {
			return err
		}
		held += bytes
		return nil
	}
	release = func() {
		if held >= largeText { // return the memory before the next large text is loaded
			debug.FreeOSMemory()
		}
		l.room.Release(held)
	}
	e, err := l.readFile(ctx, job, file)
	if err != nil {
		release()
	}
	return e, release, err
}

// readFile calls the extractor. Recording progress also checks that the version is still current; if not,
// extraction is cancelled with that error.
func (l *Library) readFile(ctx context.Context, job Job, file File) (Extracted, error) {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	last := time.Now()
	e, err := l.cfg.Extractor.Extract(work, file, func(done, total int) {
		// Each report is a database write and a notification to all watchers.
		if now := time.Now(); now.Sub(last) >= progressEvery && work.Err() == nil {
			last = now
			if err := l.recordProgress(
				work, job, StateParsing, Progress{Stage: "parsing", Done: done, Total: total},
			); err != nil {
				stop(err) // cancelled or replaced by another process
			}
		}
	})
	// Extraction was cancelled from here: the cause is the more specific error.
	if err != nil && ctx.Err() == nil && work.Err() != nil {
		return e, context.Cause(work)
	}
	if err != nil {
		return e, fmt.Errorf("extract: %w", err)
	}
	// Text of white space only counts as empty; without blocks there are no passages, which fails as NoText.
	if strings.TrimSpace(e.Text) == "" {
		e.Blocks = nil
	}
	return e, nil
}

// recordProgress stores the progress of a document and wakes its watchers. It fails if the version is no longer
// current, which ends the job.
func (l *Library) recordProgress(ctx context.Context, job Job, state State, p Progress) error {
	if err := l.cfg.Documents.SetState(ctx, job.DocumentID, job.SHA256, state, p, nil); err != nil {
		return fmt.Errorf("record progress: %w", err)
	}
	l.changes.wakeWatchers(job.DocumentID)
	return nil
}

// onDisk returns the original as a file with a path: the blob's own file if the blob store is on local disk,
// otherwise a temporary copy that release removes.
func (l *Library) onDisk(ctx context.Context, d Document) (file File, release func(), err error) {
	body, err := l.cfg.Blobs.Open(ctx, d.SHA256)
	if err != nil {
		return File{}, nil, fmt.Errorf("open original: %w", err)
	}
	file = File{User: d.User, Filename: d.Filename, MIME: d.MIME, Bytes: d.Bytes}
	if f, ok := body.(interface{ Name() string }); ok {
		// Another process opens the file by name, so the name must refer to the same bytes.
		if info, err := os.Stat(f.Name()); err == nil && info.Mode().IsRegular() && info.Size() == d.Bytes {
			file.Path = f.Name()
			return file, func() { _ = body.Close() }, nil
		}
	}
	defer body.Close()
	dst, err := os.CreateTemp("", "footnote-*")
	if err != nil {
		return File{}, nil, fmt.Errorf("copy original: %w", err)
	}
	file.Path = dst.Name()
	_, err = io.Copy(dst, body)
	if err := errors.Join(err, dst.Close()); err != nil {
		return File{}, nil, errors.Join(fmt.Errorf("copy original: %w", err), os.Remove(file.Path))
	}
	return file, func() { l.removeTemporary(ctx, file.Path) }, nil
}

// removeTemporary removes a temporary file or directory. It logs errors as warnings.
func (l *Library) removeTemporary(ctx context.Context, name string) {
	if err := os.RemoveAll(name); err != nil {
		l.cfg.Log.WarnContext(ctx, "remove a temporary copy", "error", err)
	}
}

const (
	lastWord    = 10 * time.Second // timeout for recording how a job ended after it was stopped
	maxAttempts = 4                // attempts of an ingest job with an internal error
	// concurrent embed jobs of a user with a remote vector store: most of the time is waiting for it
	embedsApart = 4
	// concurrent jobs of all users. Users take turns for the scarce resources: reader processes, OCR by pages and
	// the embedding model by batches. So a long document does not block other users.
	jobsAtOnce = 16
)

// jobWorkers returns the workers for the library's background work, by kind of job.
func (l *Library) jobWorkers() map[JobKind]Worker {
	all := map[JobKind]Worker{
		JobIngest: {Jobs: jobsAtOnce, PerUser: l.cfg.Workers, Do: l.guardedWork(l.ingestDocument)},
	}
	if l.Semantic() {
		all[JobEmbed] = Worker{
			Jobs: jobsAtOnce, PerUser: embedsAtOnce(l.cfg.Vectors), Do: l.guardedWork(vectorJobs{l}.embedDocument),
		}
	}
	return all
}

// embedsAtOnce returns the number of concurrent embedding batches, which is also the limit of documents per user.
func embedsAtOnce(vectors Vectors) int {
	if _, away := vectors.(remoteVectors); away {
		return embedsApart
	}
	return 1
}

// guardedWork wraps do as Worker.Do: it recovers panics and decides which errors end a job. It records the result
// with its own timeout, so that this does not fail because the job was stopped.
func (l *Library) guardedWork(do func(context.Context, Job) error) func(context.Context, Job) error {
	return func(ctx context.Context, job Job) error {
		defer l.changes.wakeWatchers(job.DocumentID)
		err := catchPanic(func() error { return do(ctx, job) })
		if err == nil || ctx.Err() != nil {
			return err
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
		defer cancel()
		return l.settleJob(last, job, err)
	}
}

// catchPanic calls do and returns a panic as an error.
func catchPanic(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}

// settleJob returns nil if a job that failed with err is final, or the error to retry it for. A *Failure and
// repeated crashes of reader processes are blamed on the file and final. Embed jobs, and jobs with disk or server
// errors, are retried without limit. Other errors of ingest jobs are attempted maxAttempts times.
func (l *Library) settleJob(ctx context.Context, job Job, err error) error {
	code := chat.CodeOf(err)
	failure, broken := errors.AsType[*Failure](err)
	switch {
	case ignoreGone(err) == nil:
		return nil
	case broken && job.Kind == JobIngest:
		if dropped, err := l.deleteEmptyMember(ctx, job, failure); dropped || err != nil {
			return ignoreGone(err)
		}
	case errors.Is(err, ErrReaderDied) && job.Blame+ReaderBlame >= MostBlame:
		l.cfg.Log.ErrorContext(ctx, "a document failed", "document", job.DocumentID, "error", err)
		failure = failedThrice
	case errors.Is(err, ErrReaderDied) || job.Attempt < maxAttempts || code == chat.CodeDiskFull ||
		code == chat.CodeUnavailable || job.Kind == JobEmbed:
		l.cfg.Log.WarnContext(
			ctx, "retrying a job", "kind", job.Kind, "document", job.DocumentID, "attempt", job.Attempt, "error",
			err,
		)
		return err
	default:
		l.cfg.Log.ErrorContext(ctx, "a document failed", "document", job.DocumentID, "error", err)
		failure = &Failure{
			Code:   "internal",
			Detail: "Something went wrong during the import. Try again; the log has the details.",
		}
	}
	err = l.cfg.Documents.SetState(ctx, job.DocumentID, job.SHA256, StateFailed, Progress{Stage: "parsing"}, failure)
	return ignoreGone(err)
}

// ignoreGone returns nil for errors of a document that was cancelled, deleted or replaced meanwhile, otherwise err.
func ignoreGone(err error) error {
	if code := chat.CodeOf(err); code == chat.CodeConflict || code == chat.CodeNotFound {
		return nil
	}
	return err
}

// Job is a unit of background work on a document. The queue stores it, except for Attempt, Blame and Fresh, which
// the queue sets itself.
type Job struct {
	Kind       JobKind
	DocumentID string
	User       string // owner of the document; empty means chat.LocalUser
	SHA256     string // of the version to work on
	Attempt    int    // from 1; 0 when queued. Attempts that ended with the process do not count.
	// Blame is the sum for failed earlier attempts: ReaderBlame for each crash of the reader process
	// (ErrReaderDied), ServerBlame for each crash of the queue worker's process while this was its only running job
	// of the kind. After the latter the job waits for DeathBackoff.
	Blame int
	// Fresh reports that embedding of the document was never attempted. At most one call of Do gets a Fresh job,
	// even if it fails; a queue may lose the mark.
	Fresh bool
}

// JobKind is the kind of a job.
type JobKind string

// The kinds of job.
const (
	JobIngest JobKind = "ingest" // extract, split, index
	JobEmbed  JobKind = "embed"  // embed a ready document
)

// Worker processes the jobs of a kind. Do may be called concurrently.
type Worker struct {
	Jobs    int // concurrency limit, at least 1
	PerUser int // concurrency limit per user; 0: same as Jobs
	// Do processes a job. nil completes it; after an error it is retried with the backoff JobBackoff(job.Attempt).
	// If the job is cancelled, ctx is cancelled with the cause ErrCancelled, and the job is over, whatever Do
	// returns. ctx is also cancelled when the ctx of Work ends or another replica takes over the job. Then the job
	// is retried in any process, and this attempt does not count.
	Do func(ctx context.Context, job Job) error
}

// JobLease is the lease of a job: after a process dies, its jobs are taken over when their leases expire. The lease
// is renewed while a job is running. (The lease of a run, agent.Config.Lease, is a different one.)
const JobLease = 20 * time.Second

// The blame that a document gets for a crash. A server may also have been killed by an operator, which looks like a
// crash, so it takes more server deaths to blame the document.
const (
	ReaderBlame = 2
	ServerBlame = 1
	MostBlame   = 6 // with this a document is no longer retried automatically
)

// DeathBackoff returns the backoff of a job whose server died, so that a job that crashes servers leaves time for
// others: 4 s after the first death, then 8 s, 16 s …
func DeathBackoff(blame int) time.Duration { return JobBackoff(blame + 1) }

// ErrCancelled is the context cause of a cancelled job.
var ErrCancelled = errors.New("the job was canceled")

// JobBackoff returns the backoff after the attempt-th failure: 2 s, 4 s, 8 s … 5 min. It doubles with each attempt
// up to the ninth, which exceeds the maximum.
func JobBackoff(attempt int) time.Duration {
	return min(time.Second<<min(max(attempt, 1), 10), 5*time.Minute)
}

// Queue is a persistent job queue. corpustest.TestQueue tests this contract. Implementations are safe for
// concurrent use.
type Queue interface {
	// Enqueue adds a job unless the same (Kind, DocumentID, SHA256) is waiting; a running one is no obstacle. The
	// job survives power loss.
	Enqueue(ctx context.Context, job Job) error
	// Ensure is like Enqueue, but adds no job if the same one is running.
	Ensure(ctx context.Context, job Job) error
	// Work processes jobs until ctx ends, and returns when all of them have stopped. Scheduling is fair per
	// process: the next job is of the user with the fewest running and, among equals, the least recently served. A
	// user's jobs are processed oldest first, except for prioritised ones. Any number of processes may work on the
	// same queue. Jobs that were running in a process that died come first; each runs alone among jobs of its kind
	// in its process, until an attempt ends.
	Work(ctx context.Context, workers map[JobKind]Worker) error
	// Prioritise swaps a document's waiting job of a kind with its user's first waiting one. It is a no-op if no job
	// waits.
	Prioritise(ctx context.Context, kind JobKind, documentID string) error
	// Cancel cancels all jobs of a document, including running ones in other processes. It does not wait for them.
	Cancel(ctx context.Context, documentID string) error
	// Waiting returns the number of waiting and running jobs.
	Waiting(ctx context.Context) (int, error)
}
