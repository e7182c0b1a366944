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

// fetchWanted fetches new and changed items in batches. Each batch is queried from the store, so settled items are
// not in the next one. It returns errMore at the end of the time slice: the place stays due, and the next slice
// continues.
func (l *syncRun) fetchWanted(ctx context.Context) error {
	for {
		items, err := l.f.Store.WantedItems(ctx, l.p.ID, l.number, placestore.MaxBatch)
		if err != nil || len(items) == 0 {
			return err
		}
		l.prefetch(items)
		for _, item := range items {
			if time.Now().After(l.until) {
				return errMore
			}
			if err := l.fetch(ctx, item); err != nil {
				return err
			}
			if err := l.reportProgress(ctx); err != nil {
				return err
			}
		}
	}
}

// prefetch announces a batch to a place that implements sources.Prefetcher, before its items are fetched.
func (l *syncRun) prefetch(items []placestore.Item) {
	ahead, ok := l.open.(sources.Prefetcher)
	if !ok {
		return
	}
	var soon []sources.Item
	for _, item := range items {
		if kept, err := readListed(item); err == nil && !kept.Bad {
			soon = append(soon, kept.of(item.Key))
		}
	}
	ahead.Prefetch(soon)
}

// readListed decodes an item's listing as encoded by describe. An error means that the store has other data.
func readListed(item placestore.Item) (kept listedItem, err error) {
	if err := json.Unmarshal(item.Listed, &kept); err != nil {
		return kept, fmt.Errorf("read a listed item: %w", err)
	}
	return kept, nil
}

// of returns the listed item with this key.
func (i listedItem) of(key string) sources.Item {
	return sources.Item{Key: key, Version: i.Version, Name: i.Name, Link: i.Link, Size: i.Size, Meta: i.Meta}
}

// fetch fetches one item and adds it to the library. It returns an error only when the sync can't continue with
// other items. Metadata from Fetch takes precedence over the list. A read error of the body is a failure of the
// place, although the library returned it.
func (l *syncRun) fetch(ctx context.Context, item placestore.Item) error {
	kept, err := readListed(item)
	if err != nil {
		return err
	}
	if kept.Bad {
		return l.refuse(ctx, item, kept, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "The item's name in the source is invalid or too long.",
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
	kept.Name = cmp.Or(sources.Cut(content.Name, maxName), kept.Name)
	if len(content.Link) <= maxLink {
		kept.Link = cmp.Or(chat.WebLink(content.Link), kept.Link)
	}
	if content.Meta != nil {
		kept.Meta = content.Meta
	}
	err = l.add(slow, item, kept, body)
	_ = content.Body.Close() // read-only
	if body.Err != nil && ctx.Err() == nil {
		return l.fetchFailed(ctx, item, kept, body.Err)
	}
	return err
}

// isOfItem reports whether an error concerns a single item, so that the sync continues with the others. The codes
// are those that sources.Place defines for items.
func isOfItem(err error) bool {
	e, ok := errors.AsType[*chat.Error](err)
	return ok && slices.Contains([]chat.Code{
		chat.CodeInvalid, chat.CodeTooLarge, chat.CodeUnsupported, chat.CodeForbidden,
	}, e.Code)
}

// fetchFailed handles the error of an item's fetch. An item that can't be read is settled with a refusal, so there
// is no retry until its version changes. A failure of the place postpones the item, and the sync ends after
// `patience` of them. Wrong credentials end it at once, since retries could lock the account.
func (l *syncRun) fetchFailed(ctx context.Context, item placestore.Item, kept listedItem, err error) error {
	switch {
	case errors.Is(err, sources.ErrSame):
		item.Version, item.Refusal = cmp.Or(kept.Version, item.Version), nil
		return l.storeResult(ctx, item)
	case errors.Is(err, sources.ErrGone): // still listed: its document stays
		kept.Version = ""
		return l.refuse(ctx, item, kept, &chat.Error{
			Code: chat.CodeNotFound, Message: "Listed by the source, but not found there.",
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
	l.log.InfoContext(ctx, "an item is postponed to the next sync", "error", err)
	if err := l.f.Store.PostponeItem(ctx, l.p.ID, l.lease.Owner, l.number, item.Key); err != nil {
		return err
	}
	if l.broken >= patience || chat.CodeOf(err) == chat.CodeUnauthorized {
		return err
	}
	return nil
}

// refuse records why an item is not in the library, or not in its current version. The refused version is stored, so
// a retry follows when the version changes.
func (l *syncRun) refuse(ctx context.Context, item placestore.Item, kept listedItem, err error) error {
	item.Version, item.Name, item.Link = kept.Version, cmp.Or(kept.Name, item.Key), kept.Link
	item.Refusal = failureOf(err)
	return l.storeResult(ctx, item)
}

// storeResult stores the result of an item, which is then no longer wanted. The default name is the item's key, cut to
// maxName characters.
func (l *syncRun) storeResult(ctx context.Context, item placestore.Item) error {
	item.Name = cmp.Or(item.Name, sources.Cut(item.Key, maxName))
	return l.f.Store.SettleItem(ctx, l.p.ID, l.lease.Owner, item)
}

// add stores the content of an item in the library, in place of its current document. The order makes a retry after
// a crash safe. Other items that share the old document are unsettled first, since its content is about to change.
// Then the content is added, and the old document is deleted if the item has another one now. The item is settled
// last.
func (l *syncRun) add(ctx context.Context, item placestore.Item, kept listedItem, body io.Reader) error {
	where, own, err := l.place(ctx, item, kept)
	if err != nil {
		return err
	}
	if own != "" { // other items that share the document are unsettled
		if err := l.f.Store.UnsettleItems(ctx, l.p.ID, l.lease.Owner, own, item.Key); err != nil {
			return err
		}
	}
	title, _ := kept.Meta["title"].(string)
	upload := corpus.Upload{
		User: l.p.User, Namespace: l.p.Namespace, Path: where, Filename: path.Base(where),
		Title: sources.Cut(title, 300),
		Meta:  l.meta(item.Key, kept), MetaIfFresh: true, Body: body,
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
	if err := l.storeResult(ctx, item); err != nil {
		return err
	}
	switch {
	case before == "" && fate == isTaken: // it existed under another key
	case before == "" && fate != hasMoved:
		l.p.Report.Added++
		l.addToReport(d.ID, d.DisplayTitle(), "added")
	case before != d.ID || !duplicate || fate == hasMoved:
		l.p.Report.Changed++
		l.addToReport(d.ID, d.DisplayTitle(), "changed")
	}
	return nil
}

// place returns the library path of an item's document: its current path, else a free path. own is the ID of the
// document at that path. A renamed item keeps its document's path, and so its links, unless its file extension
// changed.
func (l *syncRun) place(ctx context.Context, item placestore.Item, kept listedItem) (where, own string, err error) {
	where = l.defaultPath(item, kept)
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
	case l.isOwn(d, item.Key): // an interrupted sync added it
		return where, d.ID, nil
	}
	// The path is taken by another document: a hash of the key makes this path unique.
	return strings.TrimSuffix(where, ext) + " (" + hash(l.p.ID + item.Key)[:12] + ")" + ext, "", nil
}

// defaultPath returns the default path of an item's document. Documents of a place are in a folder with the place's
// name.
func (l *syncRun) defaultPath(item placestore.Item, kept listedItem) string {
	name := corpus.CleanPath(cmp.Or(kept.Name, item.Key))
	if name == "" {
		name = "item-" + hash(item.Key)[:8]
	}
	return corpus.CleanPath(l.p.Name + "/" + name)
}

// isOwn reports whether a document was added for an item of this place. Uploads can't set the meta keys that it
// compares.
func (l *syncRun) isOwn(d corpus.Document, key string) bool {
	return d.MetaText(corpus.MetaPlace) == l.p.ID && d.MetaText(corpus.MetaPlaceItem) == hash(key)
}

// meta returns the meta of an item's document. Reserved keys of the place's own meta are dropped.
func (l *syncRun) meta(key string, kept listedItem) map[string]any {
	meta := map[string]any{}
	if raw, err := json.Marshal(kept.Meta); err == nil && len(raw) <= maxBody {
		_ = json.Unmarshal(raw, &meta) // normalise to JSON values, as stored
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
