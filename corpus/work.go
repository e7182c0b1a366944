package corpus

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/footnote/footnote/chat"
)

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
