package paperless

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus/sources"
)

const (
	maxWalks = 3   // through all pages, when documents are removed meanwhile
	maxTags  = 100 // of a document
	maxTitle = 200 // characters of a title or another name
)

// walk yields each document once. It belongs to one call of List and is used by one goroutine.
type walk struct {
	*server
	yield                        func(sources.Item, error) bool
	yielded                      map[int64]bool
	correspondents, types, marks map[int64]string
}

// run walks until all documents have been seen. When one is removed, those behind it move up, maybe from a page that
// is still to be read to one that was read: then it walks again. Names of tags and correspondents are read first:
// documents name them by number. After maxWalks it gives up, and the look is tried again later. A document that was
// yielded is not yielded again.
//
// paperless-ngx pages a list by number and keeps no state between two pages, so a removal on a page that was read
// moves a document from the next page onto it, unseen. An item that is not listed is removed from the library, so a
// walk that may have missed one must not count as whole.
func (w *walk) run(ctx context.Context) (err error) {
	if w.correspondents, err = names(ctx, w.server, "correspondents"); err != nil {
		return err
	}
	if w.types, err = names(ctx, w.server, "document_types"); err != nil {
		return err
	}
	if w.marks, err = names(ctx, w.server, "tags"); err != nil {
		return err
	}
	for range maxWalks {
		if err = w.once(ctx); !errors.Is(err, errChanged) {
			return err
		}
	}
	return err
}

// once walks through all pages. It fails with errChanged when documents may have been passed over. Three signs say
// that documents may have been missed: the count fell, fewer came than were counted, or the list of all ids has one
// that was not seen. Pages are in the order of ids, so what is added meanwhile is behind the others.
func (w *walk) once(ctx context.Context) (err error) {
	seen, count, all := map[int64]bool{}, 0, []int64(nil)
	for p, err := range pages[document](ctx, w.server, documents) {
		if err != nil {
			return err
		}
		if *p.Count < count {
			return errChanged
		}
		count, all = *p.Count, p.All
		before := len(seen)
		for _, d := range p.Results {
			if d.ID < 1 {
				return errNoPaperless
			}
			seen[d.ID] = true
			if w.yielded[d.ID] {
				continue
			}
			w.yielded[d.ID] = true
			if !w.yield(w.item(d), nil) || len(w.yielded) > sources.MaxItems {
				return nil
			}
		}
		if p.Next != "" && len(seen) == before {
			return errEndless
		}
	}
	// Fewer came than the server counts: one moved to a page that was read.
	if len(seen) < count {
		return errChanged
	}
	if all == nil && count > pageSize {
		if all, err = w.ids(ctx); err != nil {
			return err
		}
	}
	for _, id := range all {
		if !seen[id] {
			return errChanged
		}
	}
	return nil
}

// ids are those of all documents as they are at one moment: as many as were seen may be others, when one was removed
// and another one added meanwhile. There are none of a server that parts even them into pages.
func (w *walk) ids(ctx context.Context) (all []int64, err error) {
	p, err := ask[document](ctx, w.server, documents, 1, sources.MaxItems, "id")
	if err != nil || p.Next != "" {
		return nil, err
	}
	for _, d := range p.Results {
		all = append(all, d.ID)
	}
	return all, nil
}

// item describes a document. A tag's new name changes the meta, so it is part of the version. The version has the
// server's time of change, and a hash of the file and of what is in the meta.
//
// The name has the title with the original file's ending, so that the library knows the format; a slash in a title
// would be a folder and becomes a hyphen. Author, type, date and tags become the document's meta, by which it can be
// found.
func (w *walk) item(d document) sources.Item {
	key := strconv.FormatInt(d.ID, 10)
	item := sources.Item{
		Key: key, Link: w.root.JoinPath("documents", key, "details").String(), Size: -1, Meta: map[string]any{},
	}
	title := sources.OneLine(d.Title, maxTitle)
	if title != "" {
		item.Meta["title"] = title
	} else {
		title = key
	}
	item.Name = strings.ReplaceAll(title, "/", "-")
	if ext := path.Ext(d.Original); len(ext) <= 10 && !strings.EqualFold(path.Ext(title), ext) {
		item.Name += ext
	}
	if name := w.correspondents[d.Correspondent]; name != "" {
		item.Meta["author"] = name
	}
	if name := w.types[d.DocumentType]; name != "" {
		item.Meta["document_type"] = name
	}
	if date := d.Created[:min(len(d.Created), len(time.DateOnly))]; date != "" {
		if _, err := time.Parse(time.DateOnly, date); err == nil {
			item.Meta["date"] = date
		}
	}
	var tags []string
	for _, id := range d.Tags {
		if name := w.marks[id]; name != "" && len(tags) < maxTags {
			tags = append(tags, name)
		}
	}
	if len(tags) > 0 {
		slices.Sort(tags)
		item.Meta["tags"] = tags
	}
	if d.Modified != "" {
		// another file, and new names of its tags, do not change the time
		item.Version = d.Modified + " " + sources.StateOf(d.Checksum, d.Versions, item.Name, item.Meta)
	}
	return item
}
