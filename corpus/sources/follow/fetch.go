package follow

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/placestore"
)

// fetchWanted fetches what is new or changed. The store is asked again for each batch, so what was settled is never in
// the next one. It ends with errMore when the slice is over: the place stays due, and the next slice asks the store
// again.
func (l *look) fetchWanted(ctx context.Context) error {
	for {
		items, err := l.f.Store.WantedItems(ctx, l.p.ID, l.number, placestore.MaxBatch)
		if err != nil || len(items) == 0 {
			return err
		}
		l.tellAhead(items)
		for _, item := range items {
			if time.Now().After(l.until) {
				return errMore
			}
			if err := l.fetch(ctx, item); err != nil {
				return err
			}
			if err := l.tell(ctx); err != nil {
				return err
			}
		}
	}
}

// tellAhead tells a place that wants to know it which items are fetched next.
func (l *look) tellAhead(items []placestore.Item) {
	ahead, ok := l.open.(sources.Ahead)
	if !ok {
		return
	}
	var soon []sources.Item
	for _, item := range items {
		if kept, err := readListed(item); err == nil && !kept.Bad {
			soon = append(soon, kept.of(item.Key))
		}
	}
	ahead.Soon(soon)
}

// readListed reads an item as it was listed. It was written by describe. An error would mean that the store has
// something that describe did not write.
func readListed(item placestore.Item) (kept listedItem, err error) {
	if err := json.Unmarshal(item.Listed, &kept); err != nil {
		return kept, fmt.Errorf("read a listed item: %w", err)
	}
	return kept, nil
}

// of is the item of a place that was listed with this key.
func (i listedItem) of(key string) sources.Item {
	return sources.Item{Key: key, Version: i.Version, Name: i.Name, Link: i.Link, Size: i.Size, Meta: i.Meta}
}

// fetch brings one item into the library. It fails when the others can't go on. What Fetch says of the item outranks
// the list. A failure while the body is read is the place's, although the library returned it.
func (l *look) fetch(ctx context.Context, item placestore.Item) error {
	kept, err := readListed(item)
	if err != nil {
		return err
	}
	if kept.Bad {
		return l.refuse(ctx, item, kept, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "The name that the place has for it can't be used: it is no text, or too long.",
		})
	}
	slow, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	content, err := l.open.Fetch(slow, kept.of(item.Key), item.Version)
	if err != nil {
		return l.fetchFailed(ctx, item, kept, err)
	}
	body := &sources.Reading{From: content.Body}
	kept.Version = cmp.Or(content.Version, kept.Version)
	if len(kept.Version) > maxVersion {
		kept.Version = hash(kept.Version)
	}
	kept.Name = cmp.Or(cut(content.Name, maxName), kept.Name)
	if len(content.Link) <= maxLink {
		kept.Link = cmp.Or(chat.WebLink(content.Link), kept.Link)
	}
	if content.Meta != nil {
		kept.Meta = content.Meta
	}
	err = l.add(slow, item, kept, body)
	_ = content.Body.Close() // it was only read
	if body.Err != nil && ctx.Err() == nil {
		return l.fetchFailed(ctx, item, kept, body.Err)
	}
	return err
}

// isOfItem reports whether a failure says something about one item, so that the others go on. They are the codes that
// sources.Place gives to items.
func isOfItem(err error) bool {
	e, ok := errors.AsType[*chat.Error](err)
	return ok && slices.Contains([]chat.Code{
		chat.CodeInvalid, chat.CodeTooLarge, chat.CodeUnsupported, chat.CodeForbidden,
	}, e.Code)
}

// fetchFailed deals with an item that was not fetched. Items that can't be read are settled with a refusal, so that
// they are not tried again until their version changes. Failures of the place put the item off, and after `patience` of
// them the look ends. Wrong credentials end it at once: further tries could lock the account.
func (l *look) fetchFailed(ctx context.Context, item placestore.Item, kept listedItem, err error) error {
	switch {
	case errors.Is(err, sources.ErrSame):
		item.Version, item.Refusal = cmp.Or(kept.Version, item.Version), nil
		return l.settle(ctx, item)
	case errors.Is(err, sources.ErrGone): // and yet it is listed: what the library has of it stays
		kept.Version = ""
		return l.refuse(ctx, item, kept, &chat.Error{
			Code: chat.CodeNotFound, Message: "The place lists it, but says that it is not there.",
		})
	case isOfItem(err):
		if errors.Is(err, sources.ErrAgain) {
			kept.Version = ""
		}
		return l.refuse(ctx, item, kept, err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	l.broken++
	l.why = err
	l.log.InfoContext(ctx, "an item waits for the next look", "error", err)
	if err := l.f.Store.PutOffItem(ctx, l.p.ID, l.lease.Owner, l.number, item.Key); err != nil {
		return err
	}
	if l.broken >= patience || chat.CodeOf(err) == chat.CodeUnauthorized {
		return err
	}
	return nil
}

// refuse notes why an item is not in the library, or not as it is now. The version that was refused is kept, so the
// item is tried again when it has another.
func (l *look) refuse(ctx context.Context, item placestore.Item, kept listedItem, err error) error {
	item.Version, item.Name, item.Link = kept.Version, cmp.Or(kept.Name, item.Key), kept.Link
	item.Refusal = failureOf(err)
	return l.settle(ctx, item)
}

// settle stores what became of an item, so that it is not wanted any more. An item without a name is called by its key,
// cut to what may be shown.
func (l *look) settle(ctx context.Context, item placestore.Item) error {
	item.Name = cmp.Or(item.Name, cut(item.Key, maxName))
	return l.f.Store.SettleItem(ctx, l.p.ID, l.lease.Owner, item)
}

// add puts the content of an item into the library, in the place of what is there of it. The order matters. Other items
// that share this one's old document lose it first, since the document is about to hold something else; then the
// content is added; then the old document goes, if the item has another one now; and only then is the item settled. A
// process that dies in between does the same again.
func (l *look) add(ctx context.Context, item placestore.Item, kept listedItem, body io.Reader) error {
	where, own, err := l.place(ctx, item, kept)
	if err != nil {
		return err
	}
	if own != "" { // others that share the document lose it
		if err := l.f.Store.UnsettleItems(ctx, l.p.ID, l.lease.Owner, own, item.Key); err != nil {
			return err
		}
	}
	title, _ := kept.Meta["title"].(string)
	upload := corpus.Upload{
		User: l.p.User, Namespace: l.p.Namespace, Path: where, Filename: path.Base(where), Title: cut(title, 300),
		Meta: l.meta(item.Key, kept), MetaIfFresh: true, Body: body,
	}
	d, duplicate, err := l.f.Library.Add(ctx, upload)
	if err != nil {
		if _, over := errors.AsType[*chat.OverLimit](err); !over && isOfItem(err) {
			return l.refuse(ctx, item, kept, err)
		}
		return err
	}
	fate := isOwn
	if duplicate {
		if d, fate, err = l.takeOver(ctx, d, item, kept, upload); err != nil {
			return err
		}
	}
	before := item.Document
	if before != "" && before != d.ID {
		if _, err := l.dropDocument(ctx, before, item.Key); err != nil {
			return err
		}
	}
	item.Version, item.Document, item.Name, item.Link = kept.Version, d.ID, kept.Name, kept.Link
	item.Refusal = nil
	if err := l.settle(ctx, item); err != nil {
		return err
	}
	switch {
	case before == "" && fate == isTaken: // it was there under another key
	case before == "" && fate != hasMoved:
		l.p.Report.Added++
		l.touch(d.ID, d.DisplayTitle(), "added")
	case before != d.ID || !duplicate || fate == hasMoved:
		l.p.Report.Changed++
		l.touch(d.ID, d.DisplayTitle(), "changed")
	}
	return nil
}

// place says where an item's document lies in the library: where it is, else where nothing is. own is the document that
// is there. A document stays where it is unless its format changed, however the item is called now: links to it stay
// good.
func (l *look) place(ctx context.Context, item placestore.Item, kept listedItem) (where, own string, err error) {
	where = l.natural(item, kept)
	ext := path.Ext(where)
	if item.Document != "" {
		d, err := l.f.Library.Document(ctx, l.scope(), item.Document)
		switch {
		case err == nil && l.isOwn(d, item.Key) && strings.EqualFold(path.Ext(d.Path), ext):
			return d.Path, d.ID, nil
		case err != nil && chat.CodeOf(err) != chat.CodeNotFound:
			return "", "", err
		}
	}
	d, err := l.f.Library.AtPath(ctx, l.scope(), where)
	switch {
	case err != nil && chat.CodeOf(err) == chat.CodeNotFound:
		return where, "", nil
	case err != nil:
		return "", "", err
	case l.isOwn(d, item.Key): // a look that was interrupted added it
		return where, d.ID, nil
	}
	// another document is there; the key makes this one's name its own
	return strings.TrimSuffix(where, ext) + " (" + hash(l.p.ID + item.Key)[:12] + ")" + ext, "", nil
}

// natural is where an item's document lies if nothing else is there. Documents of a place lie in a folder of its name.
func (l *look) natural(item placestore.Item, kept listedItem) string {
	name := corpus.CleanPath(cmp.Or(kept.Name, item.Key))
	if name == "" {
		name = "item-" + hash(item.Key)[:8]
	}
	return corpus.CleanPath(l.p.Name + "/" + name)
}

// isOwn reports whether a document was added for an item of this place. The meta is the program's own, and no upload
// can set it.
func (l *look) isOwn(d corpus.Document, key string) bool {
	return d.MetaText(corpus.MetaPlace) == l.p.ID && d.MetaText(corpus.MetaPlaceItem) == hash(key)
}

// meta is the meta of an item's document. What a place says may not pretend to be the program's own meta.
func (l *look) meta(key string, kept listedItem) map[string]any {
	meta := map[string]any{}
	if raw, err := json.Marshal(kept.Meta); err == nil && len(raw) <= maxBody {
		_ = json.Unmarshal(raw, &meta) // as it is stored: plain values
	}
	if meta == nil {
		meta = map[string]any{}
	}
	maps.DeleteFunc(meta, func(name string, _ any) bool { return corpus.IsOwnMeta(name) })
	if kept.Link != "" {
		meta[corpus.MetaSourceURL] = kept.Link
	}
	meta[corpus.MetaPlace], meta[corpus.MetaPlaceItem] = l.p.ID, hash(key)
	return meta
}
