package corpus

import (
	"context"
	"errors"
	"time"
)

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
