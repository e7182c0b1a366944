package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/footnote/footnote/corpus/sources"
)

// mode is the type of a folder's entry: an octal number in text. 100644 and 100755 are files, 120000 is a symbolic
// link, 160000 another repository (submodule).
type mode string

// folderMode is the mode of a folder. Modes of files begin with 100; links and submodules have their own.
const folderMode mode = "40000"

// isFile reports whether the entry is a plain file, executable or not. Links (120000) and submodules (160000) have
// no content to read.
func (m mode) isFile() bool { return len(m) == 6 && strings.HasPrefix(string(m), "100") }

// entry is an entry of a folder.
type entry struct {
	mode   mode
	name   string
	object string // its hash in bytes
}

// readFolder decodes a folder's entries. An entry is a mode, a space, a name, a zero byte, and the object's hash in
// bytes. An error ends the sequence.
func readFolder(data []byte, f format) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		for len(data) > 0 {
			head, rest, found := bytes.Cut(data, []byte{0})
			m, name, parted := strings.Cut(string(head), " ")
			if !found || !parted || name == "" || len(rest) < f.size {
				yield(entry{}, errPack)
				return
			}
			data = rest[f.size:]
			if !yield(entry{mode(strings.TrimLeft(m, "0")), name, string(rest[:f.size])}, nil) {
				return
			}
		}
	}
}

// tree holds the known folders of a commit.
//
// objects indexes commits and folders by hash.
type tree struct {
	format  format
	commit  string
	objects map[string]*object // commits and folders
}

// errUnknown is returned for a folder that was not received (yet).
var errUnknown = errors.New("a folder was not sent")

// folder yields the entries of a folder until ctx is cancelled. An error ends the sequence.
func (t *tree) folder(ctx context.Context, name string) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		o := t.objects[name]
		switch {
		case o == nil:
			yield(entry{}, errUnknown)
			return
		case o.kind != treeObject:
			yield(entry{}, errPack)
			return
		}
		for e, err := range readFolder(o.data, t.format) {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// top returns the hash of the folder at a path. The first line of a commit has the hash of its root folder. It
// returns errUnknown while a folder on the path was not received, and errNoFolder when a name does not exist.
func (t *tree) top(ctx context.Context, path []string) (string, error) {
	commit := t.objects[t.commit]
	if commit == nil {
		return "", errUnknown
	}
	line, _, _ := bytes.Cut(commit.data, []byte("\n"))
	text, found := strings.CutPrefix(string(line), "tree ")
	raw, err := hex.DecodeString(text)
	if commit.kind != commitObject || !found || err != nil || len(raw) != t.format.size {
		return "", errPack
	}
	at := string(raw)
	for _, name := range path {
		below := ""
		for e, err := range t.folder(ctx, at) {
			if err != nil {
				return "", err
			}
			if e.name == name && e.mode == folderMode {
				below = e.object
			}
		}
		if at = below; at == "" {
			return "", errNoFolder
		}
	}
	return at, nil
}

// isWhole reports whether all folders below a path were received. It walks with a queue instead of recursion, visits
// each folder once, and stops at the first missing one.
func (t *tree) isWhole(ctx context.Context, path []string) (bool, error) {
	top, err := t.top(ctx, path)
	if errors.Is(err, errUnknown) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	seen, queue := map[string]bool{top: true}, []string{top}
	for i := 0; i < len(queue); i++ {
		for e, err := range t.folder(ctx, queue[i]) {
			switch {
			case err == nil && e.mode == folderMode && t.objects[e.object] == nil, errors.Is(err, errUnknown):
				return false, nil
			case err != nil:
				return false, err
			}
			if e.mode == folderMode && !seen[e.object] {
				seen[e.object] = true
				queue = append(queue, e.object)
			}
		}
	}
	return true, nil
}

// trees fetches the folders of a commit. A server with the capability “filter” omits files. Other servers send all
// folders first and then files, so reading stops when all folders were received. This is checked after 1, 2, 4, 8 …
// skipped files, so that the checks stay cheap.
func (r *repository) trees(ctx context.Context, s *server, commit string) (*tree, error) {
	w := want{
		names: []string{commit}, sent: maxSent, room: treeRoom, most: maxTree, skip: skipRoom,
		keep: func(k kind) bool { return k == commitObject || k == treeObject },
	}
	if s.can("filter") {
		w.arguments = append(w.arguments, "filter blob:none")
	}
	if s.can("shallow") {
		w.arguments = append(w.arguments, "deepen 1")
	}
	from, err := r.objects(ctx, s, w)
	if err != nil {
		return nil, err
	}
	defer from.close()
	t := &tree{s.format, commit, from.named}
	for passed := 0; ; {
		o, err := from.next()
		switch {
		case errors.Is(err, errRoom):
			return nil, errTooLarge
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		}
		if err == nil && o.kind == skipped {
			passed++
		}
		// x is a power of two, or 0, if x&(x-1) is 0: the checks become rarer.
		if ended := err != nil; ended || o.kind == skipped && passed&(passed-1) == 0 {
			whole, err := t.isWhole(ctx, r.folder)
			switch {
			case whole || err != nil:
				return t, err
			case ended:
				return nil, errUnknown
			}
		}
	}
}

// State implements sources.Stated. The state is the commit's hash.
func (r *repository) State(ctx context.Context) (string, error) {
	s, commit, err := r.find(ctx)
	if err != nil {
		return "", explain(ctx, err)
	}
	r.server, r.commit = s, commit
	return hex.EncodeToString([]byte(commit)), nil
}

// List implements sources.Place. The pack's objects are released with the list; only the server is cached for Fetch.
func (r *repository) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		s, commit, err := r.server, r.commit, error(nil)
		if r.commit = ""; commit == "" {
			s, commit, err = r.find(ctx)
		}
		var t *tree
		var top string
		if err == nil {
			t, err = r.trees(ctx, s, commit)
		}
		if err == nil {
			top, err = t.top(ctx, r.folder)
		}
		if err != nil {
			yield(sources.Item{}, explain(ctx, err))
			return
		}
		r.server, r.soon, r.held = s, nil, nil
		w := walk{tree: t, yield: yield, link: linksTo(s, hex.EncodeToString([]byte(commit)))}
		for _, name := range r.folder {
			w.above += sources.EscapeName(name) + "/"
		}
		if _, err := w.enter(ctx, top, "", 0); err != nil {
			yield(sources.Item{}, explain(ctx, err))
		}
	}
}

// walk is one walk through all folders.
//
// It yields files in the order of the folders' entries. items limits the files to sources.MaxItems. entries counts
// the entries that were read, for each use of a folder.
type walk struct {
	*tree
	yield   func(sources.Item, error) bool
	link    func(way string) string
	above   string // path of the walk's root, with a trailing slash
	entries int
	items   int
}

// enter yields the files of a folder and its subfolders until ctx is cancelled. Hidden entries, links and submodules
// are omitted, as for a watched folder. more is false when the walk ends early. Depth and number of entries are
// limited, since a forged pack may contain a folder in itself, and any pack may use one many times.
func (w *walk) enter(ctx context.Context, name, way string, depth int) (more bool, err error) {
	if depth > maxDepth {
		return false, errEndless
	}
	seen := map[string]bool{}
	for e, err := range w.folder(ctx, name) {
		if err != nil {
			return false, err
		}
		if w.entries++; w.entries > maxEntries {
			return false, errTooLarge
		}
		if strings.HasPrefix(e.name, ".") || seen[e.name] {
			continue
		}
		seen[e.name] = true
		child := way + sources.EscapeName(e.name)
		switch {
		case e.mode == folderMode:
			if more, err := w.enter(ctx, e.object, child+"/", depth+1); err != nil || !more {
				return more, err
			}
		case e.mode.isFile():
			if w.items++; !w.yield(w.item(child, e), nil) || w.items > sources.MaxItems {
				return false, nil
			}
		}
	}
	return true, nil
}

// item converts a file's entry into an item.
func (w *walk) item(way string, e entry) sources.Item {
	return sources.Item{
		Key: sources.KeyOf(w.above + way), Version: hex.EncodeToString([]byte(e.object)),
		Name: sources.ReadableWay(way),
		Link: w.link(w.above + way), Size: -1,
	}
}
