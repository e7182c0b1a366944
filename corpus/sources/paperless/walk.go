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
	maxWalks = 3   // attempts when documents are removed during a walk
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

// run walks through the pages until all documents were seen. It first reads the names of tags and correspondents,
// which documents reference by ID. A walk is repeated when documents were removed meanwhile. After maxWalks attempts
// it fails, and the sync is retried later. Each document is yielded once.
//
// paperless-ngx paginates by offset without a snapshot. A removal on an earlier page moves an unread document onto
// that page, so the walk misses it. Unlisted items are removed from the library, so such a walk must not count as
// complete.
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

// once walks through all pages and returns errChanged when it may have missed documents. That is so if the count
// fell, fewer documents were read than counted, or an ID of the full list was not seen. Pages are ordered by ID, so
// documents that are added meanwhile come last.
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
	// Fewer were read than counted: one moved to an earlier page.
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

// ids returns the IDs of all documents as a snapshot. It detects a removal and an addition that keep the count
// equal. It returns nil for a server that paginates even this list.
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

// item converts a document into an item. The version has the server's modification time, and a hash of the file's
// checksum and the meta, which has the names of tags.
//
// The name is the title with the original file's extension, which identifies the format. A slash in a title becomes
// a hyphen, as it would separate folders. Author, type, date and tags are the document's meta and searchable.
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
		// a new file, or new names of tags, do not change the modification time
		item.Version = d.Modified + " " + sources.StateOf(d.Checksum, d.Versions, item.Name, item.Meta)
	}
	return item
}
