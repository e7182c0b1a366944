package webdav

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
)

// Limits of a walk.
//
// maxDepth ends the walk of a server whose folder contains itself.
const (
	maxDepth   = 50
	maxFolders = 50_000
	// maxEntries is the maximum number of entries of a response. With as many the walk ends in any case.
	maxEntries = sources.MaxItems + maxFolders + 10
	maxUnseen  = 5 // folders that can't be read
)

// List implements sources.Place. It walks breadth-first and releases each way after listing it. A subfolder that may
// not be read does not hide the others. The list then ends with its error, so that nothing in it is removed.
//
// Items are in the order of folders, each folder's files before those of its subfolders.
func (f *folder) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		w := walk{folder: f, yield: yield, seen: map[string]bool{"": true}, queue: []string{""}}
		f.long = map[string]string{}
		for i := 0; i < len(w.queue); i++ {
			if more, err := w.list(ctx, w.queue[i]); err != nil {
				yield(sources.Item{}, err)
				return
			} else if !more {
				return
			}
			w.queue[i] = ""
		}
		if w.closed != nil {
			yield(sources.Item{}, w.closed)
		}
	}
}

// walk is one walk through all folders. Ways are relative to the root, with slashes between names; the root's way is
// empty. It is used by one goroutine.
//
// seen and maxDepth end the walk of a server whose folder contains itself. closed is the error of an unreadable
// folder, returned after all others were listed.
type walk struct {
	*folder
	yield  func(sources.Item, error) bool
	seen   map[string]bool // ways
	queue  []string        // ways of folders
	closed error           // error of an unreadable folder
	unseen int             // such folders, except forbidden ones
	items  int
	kept   sources.ListBudget
}

// list yields a folder's files and queues its subfolders. more is false when the walk ends early. A queued folder
// that returns 404 was either removed or is hidden, so its parent is listed again. A removed one is dropped, a
// hidden one makes the list incomplete.
func (w *walk) list(ctx context.Context, way string) (more bool, err error) {
	at, err := addressOf(w.root, way)
	if err != nil {
		return false, err
	}
	at = inFolder(at)
	inside, refused := false, error(nil)
	err = w.ask(ctx, at, "1", func(e entry) error {
		name, below := nameIn(at, e.at)
		rest, itself := cutFolder(inFolder(e.at).EscapedPath(), at.EscapedPath())
		itself = itself && rest == ""
		if inside = inside || below || itself; itself && e.status > 0 {
			refused = request.Failed(e.status) // the folder's own entry has an error status
			return errEnough
		}
		if !below {
			return nil
		}
		return w.visit(strings.TrimPrefix(way+"/"+name, "/"), e)
	})
	switch code := chat.CodeOf(err); {
	case err == nil && !inside:
		return false, errStrange // a folder's response must include itself
	case err == nil:
		return true, nil
	case errors.Is(err, errEnough):
		return false, refused
	case way != "" && errors.Is(err, errNotThere):
		gone, err := w.isGone(ctx, way)
		if err != nil || gone {
			return err == nil, err
		}
		return w.leaveOut(errHidden)
	case way != "" && code == chat.CodeForbidden:
		w.closed = isPart(err)
		return true, nil
	case way != "" && code == chat.CodeUnavailable && ctx.Err() == nil:
		return w.leaveOut(err)
	default:
		return false, err
	}
}

// visit yields a file or queues a folder, each once. An entry with its own error status makes the list incomplete,
// since its type is unknown. It returns errEnough when the walk ends early.
func (w *walk) visit(way string, e entry) error {
	switch {
	case w.seen[way], e.status == http.StatusNotFound, e.status == http.StatusGone: // removed meanwhile
		return nil
	case e.status > 0: // file or folder is unknown
		w.closed = isPart(request.Failed(e.status))
		return nil
	}
	w.seen[way] = true
	if err := w.kept.Add(way); err != nil {
		return err
	}
	if e.folder {
		w.queue = append(w.queue, way)
		if len(w.queue) > maxFolders || strings.Count(way, "/") >= maxDepth {
			return errEndless
		}
		return nil
	}
	if w.items++; !w.yield(w.item(way, e), nil) || w.items > sources.MaxItems {
		return errEnough
	}
	return nil
}

// leaveOut skips an unreadable folder. More than maxUnseen of them end the walk, as the server is then out of order.
func (w *walk) leaveOut(err error) (more bool, _ error) {
	if w.unseen++; w.unseen > maxUnseen {
		return false, err
	}
	w.closed = isPart(err)
	return true, nil
}

// isPart wraps an error with sources.ErrPart, with its code and message for the owner.
func isPart(err error) error {
	return &chat.Error{Code: chat.CodeOf(err), Message: chat.MessageOf(err), Err: errors.Join(sources.ErrPart, err)}
}

// isGone reports whether a missing folder is no longer listed by its parent, so that it was removed. If the parent
// is missing too, the check continues with its own parent, up to the root.
func (w *walk) isGone(ctx context.Context, way string) (bool, error) {
	parent, name := "", way
	if i := strings.LastIndexByte(way, '/'); i >= 0 {
		parent, name = way[:i], way[i+1:]
	}
	at, err := addressOf(w.root, parent)
	if err != nil {
		return false, err
	}
	at = inFolder(at)
	listed, gone := false, true
	err = w.ask(ctx, at, "1", func(e entry) error {
		listed = true
		if there, ok := nameIn(at, e.at); ok && there == name {
			gone = e.status == http.StatusNotFound || e.status == http.StatusGone
			return errEnough
		}
		return nil
	})
	switch {
	case parent != "" && errors.Is(err, errNotThere):
		return w.isGone(ctx, parent)
	case err != nil && !errors.Is(err, errEnough):
		return false, err
	case !listed:
		return false, errStrange
	}
	return gone, nil
}

// errHidden is returned for a folder that its parent lists but that returns 404. It may have files, so nothing in it
// may be removed.
var errHidden = &chat.Error{
	Code:    chat.CodeUnavailable,
	Message: sources.Retried("A folder listed by the server was not found."),
}

// item converts a file's entry into an item.
func (w *walk) item(way string, e entry) sources.Item {
	key := sources.KeyOf(way)
	if key != way {
		w.long[key] = way
	}
	return sources.Item{Key: key, Version: e.etag, Name: sources.ReadablePath(way), Link: w.linkOf(e, e.at),
		Size: e.size}
}

// nameIn returns the escaped name of an entry directly in a folder. Deeper entries, as from servers that ignore
// Depth, are excluded.
func nameIn(folder, at *url.URL) (string, bool) {
	inside, below := cutFolder(at.EscapedPath(), folder.EscapedPath())
	inside = strings.TrimSuffix(inside, "/")
	if !below || inside == "" || strings.Contains(inside, "/") {
		return "", false
	}
	name, err := url.PathUnescape(inside)
	if err != nil || name == "." || name == ".." {
		return "", false
	}
	return sources.EscapeName(name), true
}

// cutFolder removes a folder's path from the path of an entry below it. Names are compared unescaped, since servers
// may escape them differently from the request.
func cutFolder(at, folder string) (string, bool) {
	for folder != "" {
		one, rest, more := strings.Cut(folder, "/")
		first, others, also := strings.Cut(at, "/")
		a, err := url.PathUnescape(one)
		b, err2 := url.PathUnescape(first)
		if err != nil || err2 != nil || a != b || more != also {
			return "", false
		}
		folder, at = rest, others
	}
	return at, true
}

// addressOf returns the URL of a way below root. A way with “.” or “..” is rejected.
func addressOf(root *url.URL, way string) (*url.URL, error) {
	names := strings.Split(way, "/")
	for i, name := range names {
		plain, err := url.PathUnescape(name)
		if err != nil {
			return nil, err
		}
		if plain == "." || plain == ".." {
			return nil, errors.New("a path leaves the root")
		}
		names[i] = url.PathEscape(plain)
	}
	inside := strings.Join(names, "/")
	plain, err := url.PathUnescape(inside)
	if err != nil {
		return nil, err
	}
	return &url.URL{
		Scheme: root.Scheme, Host: root.Host, Path: root.Path + plain, RawPath: root.EscapedPath() + inside,
	}, nil
}
