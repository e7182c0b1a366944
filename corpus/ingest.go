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

	"footnote/chat"
	"footnote/corpus/text"
)

const (
	lease         = 20 * time.Second // of a job; it is extended while the work goes on
	poll          = 5 * time.Second  // how often a worker looks for what other processes or a retry left
	lastWord      = 10 * time.Second // to record how a job ended after it was stopped
	progressEvery = 250 * time.Millisecond
	maxAttempts   = 4 // of a job that fails for reasons of ours
	maxBackoff    = 5 * time.Minute
)

// errStopped is the cause of a job's end when its document was cancelled or deleted.
var errStopped = errors.New("the document was cancelled or deleted")

// work takes jobs of a kind until ctx ends.
func (l *Library) work(ctx context.Context, kind JobKind, now <-chan struct{}, do func(context.Context, Job) error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		job, ok, err := l.cfg.Queue.Take(ctx, kind, lease)
		if err != nil && ctx.Err() == nil {
			l.cfg.Log.ErrorContext(ctx, "take a job", "kind", kind, "error", err)
		}
		if err == nil && ok {
			l.run(ctx, job, do)
			continue
		}
		timer.Reset(poll)
		select {
		case <-ctx.Done():
		case <-now:
		case <-timer.C:
		}
	}
}

// run does one job under its lease and puts it back or removes it.
func (l *Library) run(ctx context.Context, job Job, do func(context.Context, Job) error) {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.working.begin(job.DocumentID, stop)
	defer l.working.end(job.DocumentID)
	extended := make(chan struct{})
	go func() {
		defer close(extended)
		l.extend(work, job, stop)
	}()
	err := guard(func() error { return do(work, job) })
	cause := context.Cause(work)
	stop(nil)
	<-extended

	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
	defer cancel()
	if err := l.settle(last, job, err, cause, ctx.Err() != nil); err != nil {
		l.cfg.Log.ErrorContext(last, "end a job", "kind", job.Kind, "document", job.DocumentID, "error", err)
	}
	l.changes.tell(job.DocumentID)
}

// extend keeps a job's lease until ctx ends; work whose lease is lost stops.
func (l *Library) extend(ctx context.Context, job Job, stop context.CancelCauseFunc) {
	tick := time.NewTicker(lease / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := l.cfg.Queue.Extend(ctx, job.ID, lease); err != nil && ctx.Err() == nil {
				stop(fmt.Errorf("extend lease: %w", err))
				return
			}
		}
	}
}

// guard turns a panic over one document into its failure.
func guard(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return do()
}

// settle decides what becomes of a job that ended with err.
func (l *Library) settle(ctx context.Context, job Job, err, cause error, shutdown bool) error {
	code := chat.CodeOf(err)
	failure, broken := errors.AsType[*Failure](err)
	switch {
	case err == nil, errors.Is(cause, errStopped):
		return l.cfg.Queue.Done(ctx, job.ID)
	case shutdown:
		return l.cfg.Queue.Retry(ctx, job.ID, time.Now())
	case code == chat.CodeConflict || code == chat.CodeNotFound: // cancelled, deleted or replaced meanwhile
		return l.cfg.Queue.Done(ctx, job.ID)
	case broken && job.Kind == JobIngest:
	case job.Attempt < maxAttempts || code == chat.CodeDiskFull || code == chat.CodeUnavailable || job.Kind == JobEmbed:
		l.cfg.Log.WarnContext(ctx, "a job is tried again", "kind", job.Kind, "document", job.DocumentID, "attempt", job.Attempt, "error", err)
		return l.cfg.Queue.Retry(ctx, job.ID, time.Now().Add(backoff(job.Attempt)))
	default:
		l.cfg.Log.ErrorContext(ctx, "a document failed", "document", job.DocumentID, "error", err)
		failure = &Failure{Code: "internal", Detail: "Something went wrong while this file was read. Try again; the log has the details."}
	}
	err = l.cfg.Documents.SetState(ctx, job.DocumentID, job.SHA256, StateFailed, Progress{Stage: "parsing"}, failure)
	if code := chat.CodeOf(err); err != nil && code != chat.CodeConflict && code != chat.CodeNotFound {
		return err
	}
	return l.cfg.Queue.Done(ctx, job.ID)
}

// backoff is how long to wait after the attempt-th failure: 2 s, 4 s, 8 s … 5 min.
func backoff(attempt int) time.Duration {
	return min(time.Second<<min(max(attempt, 1), 10), maxBackoff)
}

// ingest makes a document's content and makes it ready.
func (l *Library) ingest(ctx context.Context, job Job) error {
	s := chat.Scope{User: cmp.Or(job.User, chat.LocalUser)}
	d, err := l.cfg.Documents.Get(ctx, s, job.DocumentID)
	if err != nil {
		return err
	}
	if d.SHA256 != job.SHA256 || d.State == StateReady || d.State == StateCancelled || d.State == StateFailed {
		return nil // done, stopped or replaced before
	}
	e, err := l.extract(ctx, job, d)
	if err != nil {
		return err
	}
	e.Language = languageOf(e)
	passages := Split(d.ID, d.SHA256, e)
	if len(passages) == 0 {
		return &Failure{Code: "no_text", Detail: "There is no text in this file. If it is a scan, run it through text recognition (OCR) and add it again."}
	}
	if err := l.progress(ctx, job, StateIndexing, Progress{Stage: "indexing", Total: len(passages)}); err != nil {
		return err
	}
	err = l.cfg.Documents.PutContent(ctx, d.ID, Content{
		SHA256: d.SHA256, Extracted: e, Passages: passages, Terms: AnalysePassages(cmp.Or(e.Title, d.Title, d.Filename), e.Language, passages),
	})
	if err != nil {
		return fmt.Errorf("store content: %w", err)
	}
	l.languages.add(s.User, e.Language)
	if !l.Semantic() {
		return nil
	}
	if err := l.cfg.Documents.SetSemantic(ctx, d.ID, d.SHA256, SemanticPending); err != nil {
		return fmt.Errorf("mark vectors as pending: %w", err)
	}
	return l.enqueueEmbed(ctx, d.ID, d.SHA256)
}

// languageOf returns what a file says its language is, if that is a language's code, else what its text looks like.
func languageOf(e Extracted) string {
	code, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(e.Language, "_", "-")), "-")
	if len(code) == 2 && code[0] >= 'a' && code[0] <= 'z' && code[1] >= 'a' && code[1] <= 'z' {
		return code
	}
	return text.Detect(e.Text)
}

// extract reads the original with progress about four times a second.
func (l *Library) extract(ctx context.Context, job Job, d Document) (Extracted, error) {
	if err := l.progress(ctx, job, StateParsing, Progress{Stage: "parsing", Total: d.Pages}); err != nil {
		return Extracted{}, err
	}
	file, release, err := l.onDisk(ctx, d)
	if err != nil {
		return Extracted{}, err
	}
	defer release()
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	last := time.Now()
	e, err := l.cfg.Extractor.Extract(work, file, func(done, total int) {
		if now := time.Now(); now.Sub(last) >= progressEvery && work.Err() == nil {
			last = now
			if err := l.progress(work, job, StateParsing, Progress{Stage: "parsing", Done: done, Total: total}); err != nil {
				stop(err) // cancelled or replaced by another process
			}
		}
	})
	if err != nil && ctx.Err() == nil && work.Err() != nil {
		return e, context.Cause(work)
	}
	if err != nil {
		return e, fmt.Errorf("extract: %w", err)
	}
	if strings.TrimSpace(e.Text) == "" {
		e.Blocks = nil
	}
	return e, nil
}

func (l *Library) progress(ctx context.Context, job Job, state State, p Progress) error {
	if err := l.cfg.Documents.SetState(ctx, job.DocumentID, job.SHA256, state, p, nil); err != nil {
		return fmt.Errorf("record progress: %w", err)
	}
	l.changes.tell(job.DocumentID)
	return nil
}

// onDisk returns the original as a file with a path: the blob's own, or a copy that release removes.
func (l *Library) onDisk(ctx context.Context, d Document) (file File, release func(), err error) {
	body, err := l.cfg.Blobs.Open(ctx, d.SHA256)
	if err != nil {
		return File{}, nil, fmt.Errorf("open original: %w", err)
	}
	file = File{Filename: d.Filename, MIME: d.MIME, Bytes: d.Bytes}
	if f, ok := body.(interface{ Name() string }); ok {
		if info, err := os.Stat(f.Name()); err == nil && info.Mode().IsRegular() && info.Size() == d.Bytes {
			file.Path = f.Name()
			return file, func() { body.Close() }, nil
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
	return file, func() {
		if err := os.Remove(file.Path); err != nil {
			l.cfg.Log.WarnContext(ctx, "remove a temporary copy", "error", err)
		}
	}, nil
}
