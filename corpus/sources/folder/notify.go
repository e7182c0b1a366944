package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Watcher signals that a file in a folder may have changed. Close it. The zero value never signals. Events are not
// inspected for their file (docs/decisions/sources.md): a listing follows each signal.
type Watcher struct {
	C       <-chan struct{} // has a token after changes; several events may share one
	watcher *fsnotify.Watcher
	folders map[string]fs.FileInfo // by path, as of the last Watch
}

// OpenWatcher opens a file system watcher without folders; Watch adds them.
func OpenWatcher() (*Watcher, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	c := make(chan struct{}, 1)
	n := &Watcher{C: c, watcher: watcher}
	go func() { // ends with Close, which closes both channels
		for events, errs := watcher.Events, watcher.Errors; events != nil || errs != nil; {
			var open bool
			select {
			case _, open = <-events:
				if !open {
					events = nil
				}
			case _, open = <-errs: // events may be lost: rescan everything
				if !open {
					errs = nil
				}
			}
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}()
	return n, nil
}

// Close closes the watcher and ends its goroutine.
func (n *Watcher) Close() error {
	if n.watcher == nil {
		return nil
	}
	return n.watcher.Close()
}

// errNone is the error of Watch for the zero value.
var errNone = errors.New("there are no notices of changes")

// Watch watches the folders of a listing for direct changes. It reports whether any watch was new: earlier changes
// there need another listing. It fails when the system's limit of watches is reached. Folders are identified by file
// identity, not by path: a folder that replaced another one of the same name needs a new watch.
func (n *Watcher) Watch(dir string, l *Listing) (more bool, err error) {
	if n.watcher == nil {
		return false, errNone
	}
	looking := map[string]bool{} // watched paths; a removed folder's watch is gone, even if a new folder has its name
	for _, whole := range n.watcher.WatchList() {
		looking[whole] = true
	}
	known := n.folders
	n.folders = make(map[string]fs.FileInfo, len(l.Folders))
	for name, info := range l.Folders {
		whole := filepath.Join(dir, filepath.FromSlash(name))
		before, ok := known[whole]
		n.folders[whole] = info
		if looking[whole] && ok && os.SameFile(before, info) {
			delete(looking, whole)
			continue
		}
		if looking[whole] { // another folder had this path
			_ = n.watcher.Remove(whole) // it may be gone, and its watch with it
			delete(looking, whole)
		}
		if err := n.watcher.Add(whole); err != nil {
			if errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
				more = true
				continue
			}
			return more, fmt.Errorf("ask for notices of changes: %w", err)
		}
		more = true
	}
	for whole := range looking {
		_ = n.watcher.Remove(whole)
	}
	return more, nil
}
