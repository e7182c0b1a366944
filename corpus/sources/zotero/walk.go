package zotero

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
)

const (
	maxWalks = 3   // attempts when the library is changed during a walk
	maxTags  = 100 // of a document, and as many authors
	maxText  = 300 // characters of a title, and of all authors
	// maxEntries is the maximum number of entries of a list, including linked files.
	maxEntries = 4 * sources.MaxItems
)

// errEnough stops the reading of a list early.
var errEnough = errors.New("nothing more is wanted")

// walk yields each file once. It belongs to one call of List; yielded has the keys of files.
type walk struct {
	*library
	yield   func(sources.Item, error) bool
	yielded map[string]bool
	state   string // of the library at the walk's start
	begun   bool
}

// run repeats the walk until the library does not change between the first page and the last, so that no item moved
// to an earlier page. Each file is yielded once, so a second walk yields only further ones. After maxWalks attempts
// it returns errChanged.
//
// Zotero's state is a number that grows with each change of the library, and each page has it. So two pages with the
// same number are of the same snapshot.
func (w *walk) run(ctx context.Context) (err error) {
	for range maxWalks {
		if err = w.once(ctx); !errors.Is(err, errChanged) {
			return err
		}
	}
	return err
}

// once walks through the pages of the parents, and then of the files. Files take title, authors and date from their
// parents, which are buffered in memory by key.
//
// Linked files are skipped, since Zotero does not have them. A file without a known parent uses its own metadata.
// More than sources.MaxItems parents return errMany; more files end the walk.
func (w *walk) once(ctx context.Context) error {
	w.begun = false
	known, kept := map[string]about{}, sources.ListBudget(0)
	if err := w.each(ctx, parents, func(e entry) error {
		a := aboutOf(e)
		if known[e.Key] = a; len(known) > sources.MaxItems {
			return errMany
		}
		return errors.Join(kept.Add(a.title, a.author, a.date, a.doi, a.url), kept.Add(a.authors...),
			kept.Add(a.tags...))
	}); err != nil {
		return err
	}
	return w.each(ctx, attachments, func(e entry) error {
		if e.Data.LinkMode != "imported_file" && e.Data.LinkMode != "imported_url" || w.yielded[e.Key] {
			return nil // a linked file is stored elsewhere
		}
		w.yielded[e.Key] = true
		parent, _ := e.Data.Parent.(string)
		// A file without a parent has its own metadata.
		a, ok := known[parent]
		if !ok {
			a = aboutOf(e)
		}
		if !w.yield(itemOf(e, a), nil) || len(w.yielded) > sources.MaxItems {
			return errEnough
		}
		return nil
	})
}

// each calls do with all entries of a list. The program on this machine sends a list as one page. A page without new
// entries before the end is an error, as the walk would not end.
//
// do may stop it early with errEnough. Duplicate entries, as when a list shifted, are skipped.
func (w *walk) each(ctx context.Context, list string, do func(entry) error) error {
	limit := pageSize
	if w.local { // its state changes only at synchronisation, but one page is one snapshot
		limit = 0
	}
	seen := map[string]bool{}
	for start := 0; ; {
		p, err := w.ask(ctx, list, start, limit)
		if err != nil {
			return err
		}
		if w.begun && p.state != w.state {
			_ = p.reply.Body.Close()
			return errChanged
		}
		w.begun, w.state = true, p.state
		before, count := len(seen), 0
		err = p.read(func(e entry) error {
			if count++; seen[e.Key] {
				return nil
			}
			if seen[e.Key] = true; len(seen) > maxEntries {
				return errMany
			}
			return do(e)
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return err
		}
		if start += count; start >= p.total {
			return nil
		}
		if count == 0 || w.local {
			return errChanged
		}
		if len(seen) == before {
			return errEndless
		}
	}
}

// about is the metadata of a work, for the meta of all its files.
type about struct {
	title, author, date, doi, url string
	year                          int
	authors, tags                 []string
}

// aboutOf extracts the metadata of a work, each text as one line of limited length. Without authors it uses editors
// or other contributors. An incomplete date gives only the year.
func aboutOf(e entry) about {
	a := about{title: sources.OneLine(e.Data.Title, maxText), doi: sources.OneLine(e.Data.DOI, maxText)}
	if len(e.Data.URL) <= request.MaxURL { // a truncated URL would be broken
		a.url = strings.TrimSpace(e.Data.URL)
	}
	var authors, others []string
	for _, c := range e.Data.Creators {
		name := cmp.Or(sources.OneLine(c.Name, maxText), sources.OneLine(c.First+" "+c.Last, maxText))
		switch {
		case name == "":
		case c.Type == "author":
			authors = append(authors, name)
		default:
			others = append(others, name)
		}
	}
	if authors == nil {
		authors = others
	}
	a.author = sources.OneLine(strings.Join(authors, ", "), maxText)
	a.authors = authors[:min(len(authors), maxTags)]
	if year, err := strconv.Atoi(e.Meta.ParsedDate[:min(4, len(e.Meta.ParsedDate))]); err == nil && year > 0 {
		a.year = year
	}
	if _, err := time.Parse(time.DateOnly, e.Meta.ParsedDate); err == nil {
		a.date = e.Meta.ParsedDate
	}
	for _, t := range e.Data.Tags {
		if tag := sources.OneLine(t.Tag, maxText); tag != "" && len(a.tags) < maxTags {
			a.tags = append(a.tags, tag)
		}
	}
	slices.Sort(a.tags)
	return a
}

// itemOf converts a file of a work into an item. Only links to zotero.org are used. The name is the file name, else
// its title, else its key, each truncated.
//
// The version has the file's state and a hash of its meta, so a new title or author triggers another fetch.
func itemOf(e entry, a about) sources.Item {
	item := sources.Item{Key: e.Key, Size: -1, Meta: map[string]any{}}
	for name, value := range map[string]string{
		"title": a.title, "author": a.author, "date": a.date, "doi": a.doi, "url": a.url,
	} {
		if value != "" {
			item.Meta[name] = value
		}
	}
	if len(a.authors) > 1 { // citation exports need separate names
		item.Meta["authors"] = a.authors
	}
	if a.year > 0 {
		item.Meta["year"] = a.year
	}
	if len(a.tags) > 0 {
		item.Meta["tags"] = a.tags
	}
	name := cmp.Or(sources.OneLine(e.Data.Filename, maxText), sources.OneLine(e.Data.Title, maxText), e.Key)
	item.Name = strings.ReplaceAll(name, "/", "-")
	if u, err := url.Parse(e.Links.Alternate.Href); err == nil && u.Scheme == "https" && u.User == nil &&
		strings.HasSuffix("."+u.Host, ".zotero.org") {
		item.Link = u.String()
	}
	// Zotero's version of a file changes only at synchronisation, and does not include its parent's changes.
	item.Version = strconv.FormatInt(e.Version, 10) + " " +
		sources.StateOf(e.Data.MD5, e.Data.MTime, item.Name, item.Meta)
	return item
}
