package follow

import (
	"context"
	"reflect"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/placestore"
)

// duplicateOutcome is the result for a document whose bytes equal those of an item.
//
// The library deduplicates bytes for each user, so two items with the same bytes share one document.
type duplicateOutcome int

const (
	isOwn    duplicateOutcome = iota // it was the item's document before
	isShared                         // it belongs to another item, or was added by another source
	isTaken                          // its old item is no longer listed: it belongs to this item now, at the same path
	hasMoved                         // like isTaken, at a new path
)

// takeOver handles an item whose bytes are in the library already. If the old item of that document is no longer
// listed, the item was moved or renamed, and the document gets its new path and link. This requires a complete list.
//
// A document's path is part of its identity, so a moved one is deleted and added again. The store recognises the
// bytes and does not parse them again. The original is opened before the document is deleted, so its bytes stay
// available.
//
// It returns the current document and its fate. After an error a retry finds the document at its old path, or its
// original still stored.
func (l *syncRun) takeOver(
	ctx context.Context, d corpus.Document, item placestore.Item, kept listedItem, upload corpus.Upload,
) (corpus.Document, duplicateOutcome, error) {
	if l.isOwn(d, item.Key) {
		return d, isOwn, l.updateMeta(ctx, d, upload)
	}
	if !l.whole || d.MetaText(corpus.MetaPlace) != l.p.ID {
		return d, isShared, nil
	}
	listed, err := l.f.Store.SharedItems(ctx, l.p.ID, d.ID, item.Key, l.number)
	if err != nil || listed > 0 {
		return d, isShared, err
	}
	if d.Path == l.defaultPath(item, kept) {
		return d, isTaken, l.updateMeta(ctx, d, upload)
	}
	_, original, err := l.f.Library.Original(ctx, l.scope(), d.ID)
	if err != nil {
		return d, isShared, err
	}
	defer original.Close()
	if err := l.f.Library.Delete(ctx, l.scope(), d.ID); err != nil {
		return d, isShared, err
	}
	upload.Body = original // the bytes are stored already: the document is restored at the new path
	d, _, err = l.f.Library.Add(ctx, upload)
	return d, hasMoved, err
}

// updateMeta updates the meta of a document with unchanged bytes. It adds the same bytes at the same path again, which
// sets the meta.
func (l *syncRun) updateMeta(ctx context.Context, d corpus.Document, upload corpus.Upload) error {
	same := true
	for name, value := range upload.Meta {
		same = same && reflect.DeepEqual(d.Meta[name], value)
	}
	if same {
		return nil
	}
	_, original, err := l.f.Library.Original(ctx, l.scope(), d.ID)
	if err != nil {
		return err
	}
	defer original.Close()
	upload.Body, upload.MetaIfFresh, upload.Path = original, false, d.Path
	_, _, err = l.f.Library.Add(ctx, upload)
	return err
}
