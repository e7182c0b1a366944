package follow

import (
	"context"
	"reflect"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/placestore"
)

// fate is what becomes of a document whose bytes an item has too.
//
// Bytes are in the library once for each user, so two items with the same bytes have one document, and the question is
// whose it is.
type fate int

const (
	isOwn    fate = iota // it was the item's before
	isShared             // it is another item's, or somebody else's
	isTaken              // its item is not listed any more: it is this one's now, and lies where it did
	hasMoved             // the same, and it lies elsewhere now
)

// takeOver deals with bytes that are in the library already. The document of an item that is not listed any more was
// moved or named anew: it follows, so that it lies and leads where the place has it. It must know that the old item is
// not listed any more, so it does so only in a look whose list is whole. A document's path is part of what it is, so a
// moved one is deleted and added again with the same bytes, which the store recognises and does not read anew. The
// original is opened before the document is deleted, so that its bytes can't be lost in between.
//
// What it returns is the document as it is now, with what became of it. An error leaves the document where it was, or
// with its original at hand for the next try.
func (l *look) takeOver(
	ctx context.Context, d corpus.Document, item placestore.Item, kept listedItem, upload corpus.Upload,
) (corpus.Document, fate, error) {
	if l.isOwn(d, item.Key) {
		return d, isOwn, l.retell(ctx, d, upload)
	}
	if !l.whole || d.MetaText(corpus.MetaPlace) != l.p.ID {
		return d, isShared, nil
	}
	listed, err := l.f.Store.SharedItems(ctx, l.p.ID, d.ID, item.Key, l.number)
	if err != nil || listed > 0 {
		return d, isShared, err
	}
	if d.Path == l.natural(item, kept) {
		return d, isTaken, l.retell(ctx, d, upload)
	}
	_, original, err := l.f.Library.Original(ctx, l.scope(), d.ID)
	if err != nil {
		return d, isShared, err
	}
	defer original.Close()
	if err := l.f.Library.Delete(ctx, l.scope(), d.ID); err != nil {
		return d, isShared, err
	}
	upload.Body = original // its bytes are there: the document comes back at the other path
	d, _, err = l.f.Library.Add(ctx, upload)
	return d, hasMoved, err
}

// retell gives a document whose bytes are the same what the place says of it now. Meta is given by adding the same
// bytes at the same path once more.
func (l *look) retell(ctx context.Context, d corpus.Document, upload corpus.Upload) error {
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
