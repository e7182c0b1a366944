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
	// The two rooms bound what several large files take together, see extractOriginal.
	progressEvery = 250 * time.Millisecond
	textRoom      = 64 << 20 // bytes of texts and blocks that may be in memory on their way into the store
	smallText     = 1 << 20  // bytes of one that does not count
	largeText     = 16 << 20 // bytes of one whose memory is given back at once
)

// The failures of documents that are to blame for the ends of processes.
var (
	failedThrice = &Failure{Code: "internal",
		Detail: "Reading this file failed three times: each time the process that read it was ended. Split the file " +
			"and add the parts, or try again when the computer has more free memory."}
	failedWithServer = &Failure{Code: "internal",
		Detail: "Reading this file failed again and again: the server was ended while it did nothing else. Split the " +
			"file and add the parts, or try again when the computer has more free memory."}
)

// ingestDocument makes a document's content and makes it ready. It may be done twice, by two processes, or after a
// crash: each step is the same again, and the store refuses a version that is not wanted any more (chat.CodeConflict),
// which ends the job. Files inside come before the content is stored, because a ready document is not read again.
func (l *Library) ingestDocument(ctx context.Context, job Job) error {
	s := chat.Scope{User: cmp.Or(job.User, chat.LocalUser)}
	d, err := l.cfg.Documents.Get(ctx, s, job.DocumentID)
	if err != nil {
		return err
	}
	// A job that came late is done, not failed: a failure would have it come again.
	if d.SHA256 != job.SHA256 || d.State == StateCancelled || d.State == StateFailed {
		return nil // stopped or replaced before
	}
	if d.State == StateReady { // what comes after that may have been broken off
		return l.wantVectors(ctx, d, false)
	}
	if job.Blame >= MostBlame {
		return failedWithServer
	}
	if err := l.checkReserve(); err != nil { // it waits in the queue: what is made of a file takes as much room again
		return err
	}
	// The reader puts the files inside of an archive or a mail here, and addMembers adds them to the library.
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
	// Passages have the same ids each time, since these are made of the document, the version and the range.
	passages := Split(d.ID, d.SHA256, e)
	if len(passages) == 0 {
		return &Failure{
			Code: NoText,
			Detail: "There is no text in this file. If it is a scan, run it through text recognition (OCR) and add " +
				"it again.",
		}
	}
	if err := l.recordProgress(ctx, job, StateIndexing, Progress{Stage: "indexing", Total: len(passages)}); err != nil {
		return err
	}
	// What served so far is asked for before the content replaces it, or its original could not be found any more.
	before, err := l.cfg.Documents.IndexedBytes(ctx, d.ID)
	if err != nil {
		return fmt.Errorf("look for an older version: %w", err)
	}
	// From here on the document is ready: searches find its words in the same moment.
	err = l.cfg.Documents.PutContent(ctx, d.ID, Content{
		SHA256: d.SHA256, Extracted: e, Passages: passages, Title: cmp.Or(e.Title, d.Title, d.Filename),
	})
	if err != nil {
		return fmt.Errorf("store content: %w", err)
	}
	l.languages.addLanguage(s.User, e.Language)
	if before != "" && before != d.SHA256 {
		old := Removal{SHA256: before}
		err := l.removeOne(ctx, old)
		if err == nil {
			err = l.cfg.Documents.Removed(ctx, old)
		}
		if err != nil { // the new version serves all the same
			l.cfg.Log.WarnContext(ctx, "the original of an old version is removed later", "document", d.ID,
				"error", err)
		}
	}
	return l.wantVectors(ctx, d, before == "")
}

// wantVectors queues the vectors of a ready document, if there are to be any and they are not there. first says that
// the document had no content before: then nobody can have stored vectors of it, unless a job for them is at work
// already. The newest document goes before the user's others: it is what people ask about next.
func (l *Library) wantVectors(ctx context.Context, d Document, first bool) error {
	if !l.Semantic() || d.Semantic == SemanticReady {
		return nil
	}
	if err := l.cfg.Documents.SetSemantic(ctx, d.ID, d.SHA256, SemanticPending); err != nil {
		return fmt.Errorf("mark vectors as pending: %w", err)
	}
	// Enqueue adds a job beside one at work, which may have read what is replaced now. For a new document Ensure is
	// enough.
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
	if !l.waiting.soughtOf(d.User) { // what is asked for comes first, and then what is new
		l.hastenVectors(ctx, d.ID)
	}
	return nil
}

// hastenVectors puts a document's vectors before the others of its user.
func (l *Library) hastenVectors(ctx context.Context, id string) {
	if err := l.cfg.Queue.Hasten(ctx, JobEmbed, id); err != nil && ctx.Err() == nil {
		l.cfg.Log.WarnContext(ctx, "vectors come later than they could", "document", id, "error", err)
	}
}

// languageOf returns what a file says its language is, if that is a language's code, else what its text looks like. It
// is ISO 639-1, or empty.
func languageOf(e Extracted) string {
	// Files say "en-US" or "en_US"; a word such as "English" has more than two letters, and is passed over.
	code, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(e.Language, "_", "-")), "-")
	if len(code) == 2 && code[0] >= 'a' && code[0] <= 'z' && code[1] >= 'a' && code[1] <= 'z' {
		return code
	}
	return text.Detect(e.Text)
}

// extractOriginal reads the original with progress about four times a second. release is called when what was read is
// no longer needed, unless it fails. members is a directory for the files inside; empty: they are left out. Room is
// asked for by the reader once it knows how large the result is, which waits until other results were stored.
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
		if bytes < smallText { // those need not wait behind a large one
			return nil
		}
		// A text larger than the whole room waits until it is empty, and then is read alone.
		bytes = min(bytes, textRoom)
		if err := l.room.Acquire(ctx, bytes); err != nil {
			return err
		}
		held += bytes
		return nil
	}
	release = func() {
		if held >= largeText { // the next one comes when the memory of this one is there again
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

// readFile has a file read. Recording progress also finds out whether the version is still wanted; if not, the reading
// is stopped with that error.
func (l *Library) readFile(ctx context.Context, job Job, file File) (Extracted, error) {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	last := time.Now()
	e, err := l.cfg.Extractor.Extract(work, file, func(done, total int) {
		// Each report is a write to the database and a message to all who watch.
		if now := time.Now(); now.Sub(last) >= progressEvery && work.Err() == nil {
			last = now
			if err := l.recordProgress(
				work, job, StateParsing, Progress{Stage: "parsing", Done: done, Total: total},
			); err != nil {
				stop(err) // cancelled or replaced by another process
			}
		}
	})
	// The reader was stopped from here: what stopped it says more than that it was stopped.
	if err != nil && ctx.Err() == nil && work.Err() != nil {
		return e, context.Cause(work)
	}
	if err != nil {
		return e, fmt.Errorf("extract: %w", err)
	}
	// Pages without words are no text; without blocks there are no passages, which fails as NoText.
	if strings.TrimSpace(e.Text) == "" {
		e.Blocks = nil
	}
	return e, nil
}

// recordProgress stores how far a document is and wakes who watches it. It fails when the document does not want this
// version any more, which ends the job.
func (l *Library) recordProgress(ctx context.Context, job Job, state State, p Progress) error {
	if err := l.cfg.Documents.SetState(ctx, job.DocumentID, job.SHA256, state, p, nil); err != nil {
		return fmt.Errorf("record progress: %w", err)
	}
	l.changes.wakeWatchers(job.DocumentID)
	return nil
}

// onDisk returns the original as a file with a path: the blob's own, or a copy that release removes. A blob store on
// this disk has files with names; of one elsewhere the bytes are copied.
func (l *Library) onDisk(ctx context.Context, d Document) (file File, release func(), err error) {
	body, err := l.cfg.Blobs.Open(ctx, d.SHA256)
	if err != nil {
		return File{}, nil, fmt.Errorf("open original: %w", err)
	}
	file = File{User: d.User, Filename: d.Filename, MIME: d.MIME, Bytes: d.Bytes}
	if f, ok := body.(interface{ Name() string }); ok {
		// The reader opens the file by its name in another process, so that the name has to lead to these very bytes.
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

// removeTemporary removes a file or a directory that was only needed for a while.
func (l *Library) removeTemporary(ctx context.Context, name string) {
	if err := os.RemoveAll(name); err != nil {
		l.cfg.Log.WarnContext(ctx, "remove a temporary copy", "error", err)
	}
}

const (
	lastWord    = 10 * time.Second // to record how a job ended after it was stopped
	maxAttempts = 4                // of a job that fails for reasons of ours
	// documents embedded at once when a server keeps the vectors: most of the time is waiting for it
	embedsApart = 4
	// documents of all users at work at once. They share what is scarce, which users take turns for: the processes that
	// read files, text recognition by pages, and the embedding model by batches. So a long document keeps no other
	// user's waiting.
	jobsAtOnce = 16
)

// jobWorkers returns the workers for the library's background work, by kind of job.
func (l *Library) jobWorkers() map[JobKind]Worker {
	all := map[JobKind]Worker{
		JobIngest: {Jobs: jobsAtOnce, PerUser: l.cfg.Workers, Do: l.guardedWork(l.ingestDocument)},
	}
	if l.Semantic() {
		all[JobEmbed] = Worker{
			Jobs: jobsAtOnce, PerUser: embedsAtOnce(l.cfg.Vectors), Do: l.guardedWork(l.embedDocument),
		}
	}
	return all
}

// embedsAtOnce is how many batches of passages are embedded at once, and documents of one user.
func embedsAtOnce(vectors Vectors) int {
	if _, away := vectors.(remoteVectors); away {
		return embedsApart
	}
	return 1
}

// guardedWork makes a Worker's Do of what may panic, and decides which errors end a job. Recording how a job ended must
// not fail because the job was stopped, for which it has time of its own.
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

// catchPanic turns a panic over one document into its failure.
func catchPanic(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}

// settleJob returns nil when a job that failed with err is over, or why it has to be tried again. The file is to blame
// for a *Failure, and for killing its readers often enough. Whatever passes by itself is tried again, for ever if it is
// the disk or a server; other errors are tried maxAttempts times.
func (l *Library) settleJob(ctx context.Context, job Job, err error) error {
	code := chat.CodeOf(err)
	failure, broken := errors.AsType[*Failure](err)
	switch {
	case goneIsDone(err) == nil:
		return nil
	case broken && job.Kind == JobIngest:
		if dropped, err := l.dropWordless(ctx, job, failure); dropped || err != nil {
			return goneIsDone(err)
		}
	case errors.Is(err, ErrReaderDied) && job.Blame+ReaderBlame >= MostBlame:
		l.cfg.Log.ErrorContext(ctx, "a document failed", "document", job.DocumentID, "error", err)
		failure = failedThrice
	case errors.Is(err, ErrReaderDied) || job.Attempt < maxAttempts || code == chat.CodeDiskFull ||
		code == chat.CodeUnavailable || job.Kind == JobEmbed:
		l.cfg.Log.WarnContext(
			ctx, "a job is tried again", "kind", job.Kind, "document", job.DocumentID, "attempt", job.Attempt, "error",
			err,
		)
		return err
	default:
		l.cfg.Log.ErrorContext(ctx, "a document failed", "document", job.DocumentID, "error", err)
		failure = &Failure{
			Code:   "internal",
			Detail: "Something went wrong while this file was read. Try again; the log has the details.",
		}
	}
	err = l.cfg.Documents.SetState(ctx, job.DocumentID, job.SHA256, StateFailed, Progress{Stage: "parsing"}, failure)
	return goneIsDone(err)
}

// goneIsDone is nil for the errors of a document that was cancelled, deleted or replaced meanwhile.
func goneIsDone(err error) error {
	if code := chat.CodeOf(err); code == chat.CodeConflict || code == chat.CodeNotFound {
		return nil
	}
	return err
}

// Job is a piece of background work on a document. It is what is stored in the queue, but for Attempt, Blame and Fresh,
// which the queue counts itself.
type Job struct {
	Kind       JobKind
	DocumentID string
	User       string // who owns the document; empty means chat.LocalUser
	SHA256     string // of the version to work on
	Attempt    int    // from 1; 0 when it is queued. Attempts that a process died in do not count.
	// Blame adds up what attempts before this one ended with: ReaderBlame for each in which the process that read the
	// document was ended (ErrReaderDied), ServerBlame for each in which the process that worked on the queue died while
	// this was the only job of its kind at work there. After the latter the job waits for BlameWait.
	Blame int
	// Fresh says that nobody ever worked on the document's vectors. At most one call of Do gets a Fresh job, even if
	// it fails; a queue may lose the mark.
	Fresh bool
}

// JobKind says what a job does.
type JobKind string

// The kinds of job.
const (
	JobIngest JobKind = "ingest" // extract, split, index
	JobEmbed  JobKind = "embed"  // vectors of a ready document
)

// Worker does the jobs of a kind. Do may be called by several goroutines.
type Worker struct {
	Jobs    int // at once, at least 1
	PerUser int // of them, of one user; 0: all
	// Do does a job. nil ends it; after an error it comes again, JobBackoff(job.Attempt) later. ctx ends with the
	// cause ErrCancelled when the job was cancelled: then the job is over, whatever Do returns. ctx also ends when
	// Work's ends, or when another replica took the job over: then the job comes again, in any process, and this
	// attempt does not count.
	Do func(ctx context.Context, job Job) error
}

// JobLease is how long a job rests when the process that worked on it has died. Then another does it. (The lease of a
// run, agent.Config.Lease, is another one.) It is renewed while a job is at work.
const JobLease = 20 * time.Second

// What a document is blamed for the end of a process. A server also dies when somebody kills it, and can't tell that
// from a crash: it takes more of its deaths to say that the document is the cause.
const (
	ReaderBlame = 2
	ServerBlame = 1
	MostBlame   = 6 // with this a document is not tried again by itself
)

// BlameWait is how long a job waits that a server died over, so that one which is the cause leaves it time for others:
// 4 s after the first death, then 8 s, 16 s …
func BlameWait(blame int) time.Duration { return JobBackoff(blame + 1) }

// ErrCancelled is the cause of a cancelled job's end.
var ErrCancelled = errors.New("the job was cancelled")

// JobBackoff is how long a job waits after its attempt-th failure: 2 s, 4 s, 8 s … 5 min. It doubles with each attempt
// up to the ninth, which is beyond the bound.
func JobBackoff(attempt int) time.Duration {
	return min(time.Second<<min(max(attempt, 1), 10), 5*time.Minute)
}

// Queue keeps background work across restarts. corpustest.TestQueue is this contract as tests. Safe for concurrent use.
type Queue interface {
	// Enqueue adds a job unless the same (Kind, DocumentID, SHA256) is waiting; one that is at work does not keep it
	// out. It survives power loss.
	Enqueue(ctx context.Context, job Job) error
	// Ensure is Enqueue unless the same job is at work.
	Ensure(ctx context.Context, job Job) error
	// Work has jobs done until ctx ends, and returns when all of them have stopped. Users take turns in each process:
	// the next job is of the user who has the fewest at work and, among equals, was served least recently. A user's own
	// come oldest first, but for hastened ones. Any number of processes may work on the same queue. Jobs that were at
	// work in a process that died come first, each while no other of its kind is at work in its process, until an
	// attempt ends.
	Work(ctx context.Context, workers map[JobKind]Worker) error
	// Hasten gives a document's waiting job of a kind the place of its user's first waiting one, which gets its place.
	// It does nothing where none waits.
	Hasten(ctx context.Context, kind JobKind, documentID string) error
	// Cancel ends all jobs of a document, those at work in other processes too. It does not wait for them.
	Cancel(ctx context.Context, documentID string) error
	// Waiting returns how many jobs wait or are at work.
	Waiting(ctx context.Context) (int, error)
}
