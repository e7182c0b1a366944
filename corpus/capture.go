package corpus

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/footnote/footnote/chat"
)

// Keys of a captured page's Meta.
const (
	MetaURL       = "url"        // where it was read
	MetaSourceURL = "source_url" // where a document is on the web, as its owner says
	MetaFetchedAt = "fetched_at" // when, RFC 3339
)

// Capture stores a page of the web in a hidden namespace and reads it in at once, so that it can be quoted like a
// document. It has no vectors. The same bytes in the same namespace return the page that is there. It fails with
// chat.CodeUnsupported for what can't be read; then nothing is kept. A run waits for it, so that it doesn't go through
// the queue. Pages are shared by nobody: each run has a namespace of its own.
func (l *Library) Capture(ctx context.Context, u Upload) (Document, error) {
	if !chat.IsInternal(u.Namespace) {
		return Document{}, fmt.Errorf("capture into %q: only hidden namespaces hold captured pages", u.Namespace)
	}
	name, body, mime, err := l.inspectUpload(u)
	if err != nil {
		return Document{}, err
	}
	sha, size, err := l.cfg.Blobs.Put(ctx, &reservedReader{r: body, reserved: l.checkReserve}, l.cfg.MaxBytes)
	if err != nil {
		return Document{}, fmt.Errorf("store captured page: %w", err)
	}
	d, _, err := l.cfg.Documents.Put(ctx, Document{
		User: u.User, Namespace: u.Namespace, Path: sha, Filename: name, Title: name, MIME: mime, SHA256: sha,
		Bytes: size, Meta: u.Meta, Semantic: SemanticOff,
	})
	if err != nil {
		return d, fmt.Errorf("store captured page: %w", err)
	}
	if d.State == StateReady {
		return d, nil
	}
	scope := chat.Scope{User: u.User, Namespaces: []string{u.Namespace}}
	if err := catchPanic(func() error { return l.readIn(ctx, d) }); err != nil {
		if gone := l.cfg.Documents.Delete(context.WithoutCancel(ctx), scope, d.ID); gone != nil {
			err = errors.Join(err, fmt.Errorf("remove captured page: %w", gone))
		}
		if failure, ok := errors.AsType[*Failure](err); ok {
			return Document{}, &chat.Error{Code: chat.CodeUnsupported, Message: failure.Detail, Err: err}
		}
		return Document{}, fmt.Errorf("read captured page: %w", err)
	}
	return l.cfg.Documents.Get(ctx, scope, d.ID)
}

// readIn makes the content of a document here and now. It is what ingestDocument does, without files inside, progress
// and vectors.
func (l *Library) readIn(ctx context.Context, d Document) error {
	e, release, err := l.extractOriginal(
		ctx,
		Job{Kind: JobIngest, DocumentID: d.ID, User: d.User, SHA256: d.SHA256},
		d,
		"",
	)
	if err != nil {
		return err
	}
	defer release()
	e.Language = languageOf(e)
	passages := Split(d.ID, d.SHA256, e)
	if len(passages) == 0 {
		return &Failure{Code: NoText, Detail: "There is no text on this page."}
	}
	err = l.cfg.Documents.PutContent(ctx, d.ID, Content{
		SHA256: d.SHA256, Extracted: e, Passages: passages, Title: cmp.Or(e.Title, d.Title, d.Filename),
	})
	if err != nil {
		return fmt.Errorf("store content: %w", err)
	}
	return nil
}
