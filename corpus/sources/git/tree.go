package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus/sources"
)

// entry is an entry of a folder.
//
// Its mode is an octal number in text: 40000 is a folder, 100644 and 100755 are files. Symbolic links (120000) and
// other repositories (submodules, 160000) have no content to read.
type entry struct {
	isFolder, isFile bool
	name             string
	object           string // its hash in bytes
}

// readFolder decodes a folder's entries. An entry is a mode, a space, a name, a zero byte, and the object's hash in
// bytes. An error ends the sequence.
func readFolder(data []byte, f format) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		for len(data) > 0 {
			head, rest, found := bytes.Cut(data, []byte{0})
			mode, name, parted := strings.Cut(strings.TrimLeft(string(head), "0"), " ")
			if !found || !parted || name == "" || len(rest) < f.size {
				yield(entry{}, errPack)
				return
			}
			data = rest[f.size:]
			isFile := len(mode) == 6 && strings.HasPrefix(mode, "100")
			if !yield(entry{mode == "40000", isFile, name, string(rest[:f.size])}, nil) {
				return
			}
		}
	}
}

// tree holds the known folders of a commit.
type tree struct {
	format  format
	commit  string
	objects map[string]*object // commits and folders by hash
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
			if e.name == name && e.isFolder {
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
	seen, queue := map[string]bool{top: true}, []string{top}
	for i := 0; err == nil && i < len(queue); i++ {
		var e entry
		for e, err = range t.folder(ctx, queue[i]) {
			if e.isFolder && !seen[e.object] {
				seen[e.object] = true
				queue = append(queue, e.object)
			}
		}
	}
	if errors.Is(err, errUnknown) {
		return false, nil
	}
	return err == nil, err
}

// trees fetches the folders of a commit. A server with the capability “filter” omits files. Other servers send all
// folders first and then files, so reading stops when all folders were received. This is checked after 1, 2, 4, 8 …
// skipped files, so that the checks stay cheap.
func (r *repository) trees(ctx context.Context, commit string) (*tree, error) {
	w := want{
		names: []string{commit}, sent: maxSent, room: treeRoom, most: maxTree, skip: skipRoom,
		keep: func(k kind) bool { return k == commitObject || k == treeObject },
	}
	if slices.Contains(r.server.fetch, "filter") {
		w.arguments = append(w.arguments, "filter blob:none")
	}
	if slices.Contains(r.server.fetch, "shallow") {
		w.arguments = append(w.arguments, "deepen 1")
	}
	p, err := r.objects(ctx, w)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	t := &tree{p.format, commit, p.named}
	for passed := 0; ; {
		o, err := p.next()
		ended := errors.Is(err, io.EOF)
		switch {
		case errors.Is(err, errRoom):
			return nil, errTooLarge
		case err != nil && !ended:
			return nil, err
		case !ended && o.kind != skipped:
			continue
		}
		// x is a power of two if x&(x-1) is 0: the checks become rarer.
		if passed++; !ended && passed&(passed-1) != 0 {
			continue
		}
		whole, err := t.isWhole(ctx, r.folder)
		switch {
		case whole || err != nil:
			return t, err
		case ended:
			return nil, errUnknown
		}
	}
}

// State implements sources.StateReader. The state is the commit's hash.
func (r *repository) State(ctx context.Context) (string, error) {
	commit, err := r.find(ctx)
	if err != nil {
		return "", explain(ctx, err)
	}
	r.commit = commit
	return hex.EncodeToString([]byte(commit)), nil
}

// List implements sources.Place.
func (r *repository) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		if err := r.list(ctx, yield); err != nil && !errors.Is(err, errEnough) {
			yield(sources.Item{}, explain(ctx, err))
		}
	}
}

// list yields the files of the commit. The pack's objects are released at its end; only the server is cached for
// Fetch.
func (r *repository) list(ctx context.Context, yield func(sources.Item, error) bool) (err error) {
	commit := r.commit
	if r.commit = ""; commit == "" {
		if commit, err = r.find(ctx); err != nil {
			return err
		}
	}
	t, err := r.trees(ctx, commit)
	if err != nil {
		return err
	}
	top, err := t.top(ctx, r.folder)
	if err != nil {
		return err
	}
	r.soon, r.held = nil, nil
	w := walk{tree: t, yield: yield, link: linksTo(r.server, hex.EncodeToString([]byte(commit)))}
	for _, name := range r.folder {
		w.above += sources.EscapeName(name) + "/"
	}
	return w.enter(ctx, top, "", 0)
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

// errEnough ends a walk early, without an error for the caller.
var errEnough = errors.New("no more files are wanted")

// enter yields the files of a folder and its subfolders until ctx is cancelled. Hidden entries, links and submodules
// are omitted, as for a watched folder. Depth and number of entries are limited, since a forged pack may contain a
// folder in itself, and any pack may use one many times.
func (w *walk) enter(ctx context.Context, name, way string, depth int) error {
	if depth > maxDepth {
		return errEndless
	}
	seen := map[string]bool{}
	for e, err := range w.folder(ctx, name) {
		if err != nil {
			return err
		}
		if w.entries++; w.entries > maxEntries {
			return errTooLarge
		}
		if strings.HasPrefix(e.name, ".") || seen[e.name] {
			continue
		}
		seen[e.name] = true
		child := way + sources.EscapeName(e.name)
		switch {
		case e.isFolder:
			if err := w.enter(ctx, e.object, child+"/", depth+1); err != nil {
				return err
			}
		case e.isFile:
			item := sources.Item{
				Key: sources.KeyOf(w.above + child), Version: hex.EncodeToString([]byte(e.object)),
				Name: sources.ReadablePath(child), Link: w.link(w.above + child), Size: -1,
			}
			if w.items++; !w.yield(item, nil) || w.items > sources.MaxItems {
				return errEnough
			}
		}
	}
	return nil
}
