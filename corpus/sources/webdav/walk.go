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
// Without maxDepth a server that shows a folder in itself would be walked for ever.
const (
	maxDepth   = 50
	maxFolders = 50_000
	// maxEntries is how many entries an answer may have: with as many, the walk ends in any case.
	maxEntries = sources.MaxItems + maxFolders + 10
	maxUnseen  = 5 // folders that can't be read
)

// List implements sources.Place. A folder inside that may not be read does not hide the others; the walk then ends with
// its error, so that nothing in it is taken for removed. It goes breadth first and frees each way when it was listed.
//
// Items come folder by folder, the files of each before those of folders in it.
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

// walk is one walk through all folders. Ways are below the root, with slashes and without one at the ends; the root's
// own is empty. It is used by one goroutine.
//
// seen keeps a server that shows a folder below itself from being walked for ever, together with maxDepth. closed is
// the failure of a folder that is returned when all others were listed.
type walk struct {
	*folder
	yield  func(sources.Item, error) bool
	seen   map[string]bool // ways
	queue  []string        // ways of folders
	closed error           // of a folder that can't be read
	unseen int             // such folders, but for those that may not be read
	items  int
	kept   sources.Kept
}

// list yields a folder's files and queues its folders. more is false when nothing more is wanted. A folder that was
// listed a moment ago and is not there is either removed or hidden: its parent is asked once more to tell. The first
// kind is dropped, the second makes the list one that lacks a part.
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
			refused = request.Failed(e.status) // it has more than the server tells
			return errEnough
		}
		if !below {
			return nil
		}
		return w.see(strings.TrimPrefix(way+"/"+name, "/"), e)
	})
	switch code := chat.CodeOf(err); {
	case err == nil && !inside:
		return false, errStrange // a folder's entries begin with itself
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

// see yields a file or queues a folder, if it is new. What has a status of its own in the list may be anything, so it
// counts as a part that can't be seen. It fails with errEnough when nothing more is wanted.
func (w *walk) see(way string, e entry) error {
	switch {
	case w.seen[way], e.status == http.StatusNotFound, e.status == http.StatusGone: // removed meanwhile
		return nil
	case e.status > 0: // whatever it is, and whatever is in it
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

// leaveOut goes on without a folder, unless there are many of them: then the server is out of order.
func (w *walk) leaveOut(err error) (more bool, _ error) {
	if w.unseen++; w.unseen > maxUnseen {
		return false, err
	}
	w.closed = isPart(err)
	return true, nil
}

// isPart says of an error that all else was listed. The code and sentence stay, so that the owner learns what it was.
func isPart(err error) error {
	return &chat.Error{Code: chat.CodeOf(err), Message: chat.MessageOf(err), Err: errors.Join(sources.ErrPart, err)}
}

// isGone reports whether a folder that is not there is not listed any more either: it was removed meanwhile. If the
// parent is gone as well, its own parent is asked. It ends at the root, which must answer.
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

// errHidden is a folder that its parent lists and that is not there by itself. It may hold files, so nothing in it may
// be taken for removed.
var errHidden = &chat.Error{
	Code:    chat.CodeUnavailable,
	Message: "A folder that the server lists is not there when it is asked for. It is asked again later.",
}

// item describes a file.
func (w *walk) item(way string, e entry) sources.Item {
	key := sources.KeyOf(way)
	if key != way {
		w.long[key] = way
	}
	return sources.Item{Key: key, Version: e.etag, Name: sources.ReadableWay(way), Link: w.linkOf(e, e.at),
		Size: e.size}
}

// nameIn is the name of what lies at an address, as it is in a way, if it lies right in a folder. What lies deeper, as
// from servers that ignore Depth, does not count.
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

// cutFolder cuts a folder's path, however both are escaped, off one below it. Each name is compared unescaped, as
// servers escape their answers otherwise than the address that was asked.
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

// addressOf is where a way leads to. A way that leads upwards is refused.
func addressOf(root *url.URL, way string) (*url.URL, error) {
	names := strings.Split(way, "/")
	for i, name := range names {
		plain, err := url.PathUnescape(name)
		if err != nil {
			return nil, err
		}
		if plain == "." || plain == ".." {
			return nil, errors.New("a way leads out of its root")
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
