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
