package corpus

import (
	"context"
	"errors"
	"fmt"

	"github.com/footnote/footnote/chat"
)

// storeOriginal stores the document of an original that was just put. It returns chat.CodeUnavailable if the
// original was removed meanwhile, with another document that had it. A read lock prevents removal between the check
// and the write. Across processes, the minute before a purge does.
func (l *Library) storeOriginal(ctx context.Context, d Document) (stored Document, duplicate bool, err error) {
	l.originals.RLock()
	defer l.originals.RUnlock()
	body, err := l.cfg.Blobs.Open(ctx, d.SHA256)
	if chat.CodeOf(err) == chat.CodeNotFound && err != nil {
		return d, false, &chat.Error{
			Code: chat.CodeUnavailable, Message: "The file was deleted while it was being added. Add it again.",
			Err: err,
		}
	}
	if err != nil {
		return d, false, fmt.Errorf("look for the original: %w", err)
	}
	if err := body.Close(); err != nil {
		return d, false, fmt.Errorf("look for the original: %w", err)
	}
	return l.cfg.Documents.Put(ctx, d)
}

// dropOriginal removes an original unless a document has it. It checks this under the write lock, and accepts any
// hash.
func (l *Library) dropOriginal(ctx context.Context, sha256 string) error {
	l.originals.Lock()
	defer l.originals.Unlock()
	used, err := l.cfg.Documents.BytesInUse(ctx, sha256)
	if err != nil {
		return fmt.Errorf("look for other documents with the bytes %s: %w", sha256, err)
	}
	if used {
		return nil
	}
	l.drawings.forget(sha256)
	if err := l.cfg.Blobs.Delete(ctx, sha256); err != nil && chat.CodeOf(err) != chat.CodeNotFound {
		return fmt.Errorf("remove the original %s: %w", sha256, err)
	}
	return nil
}

// abandonOriginal removes an unused original, and adds a Removal if that fails.
func (l *Library) abandonOriginal(ctx context.Context, sha256 string) error {
	err := l.dropOriginal(ctx, sha256)
	if err != nil {
		err = errors.Join(err, l.cfg.Documents.Abandon(ctx, Removal{SHA256: sha256}))
	}
	return err
}
