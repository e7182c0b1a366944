package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Notices tells when something in a folder may have changed. Close it. The zero value never tells of anything. Which
// files a notice is about is not looked at (docs/decisions/sources.md). A listing follows each.
type Notices struct {
	C       <-chan struct{} // has a token after changes; many may be one
	watcher *fsnotify.Watcher
	folders map[string]fs.FileInfo // by their path when they were last looked for
}

// OpenNotices asks the system to tell of changes; Look says where.
func OpenNotices() (*Notices, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	c := make(chan struct{}, 1)
	n := &Notices{C: c, watcher: watcher}
	go func() { // ends with Close, which closes both channels
		for events, errs := watcher.Events, watcher.Errors; events != nil || errs != nil; {
			var open bool
			select {
			case _, open = <-events:
				if !open {
					events = nil
				}
			case _, open = <-errs: // notices were lost: look at everything
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

// Close ends the notices.
func (n *Notices) Close() error {
	if n.watcher == nil {
		return nil
	}
	return n.watcher.Close()
}

// errNone is Look's failure for the zero value.
var errNone = errors.New("there are no notices of changes")

// Look asks for notices of changes directly in the folders of a listing, and reports whether any of them was new: what
// happened there before has to be looked for. It fails where the system has no notices left to give. Folders are told
// apart by their identity, not by their path: one that was replaced by another of its name has lost its notices.
func (n *Notices) Look(dir string, l *Listing) (more bool, err error) {
	if n.watcher == nil {
		return false, errNone
	}
	looking := map[string]bool{} // without those that are gone, though there may be new ones of their name
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
			_ = n.watcher.Remove(whole) // it may be gone, and its notices with it
			delete(looking, whole)
		}
		if err := n.watcher.Add(whole); err != nil {
			if errors.Is(err, fs.ErrNotExist) { // it went meanwhile
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
