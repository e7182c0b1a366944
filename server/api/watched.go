package api

import (
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
)

// WatchedFolder is the body of PUT /watched: a folder that a program follows, and the files it excludes.
type WatchedFolder struct {
	Namespace string `json:"namespace" api:"form=namespace"` // The namespace of its documents; "default" if empty.
	// The path on the machine of the program.
	Folder  string        `json:"folder" api:"need,filled,max=corpus.MaxFolder"`
	Files   int           `json:"files" api:"min=0,max=1099511627776"`  // The number of followed files.
	LeftOut []FileLeftOut `json:"left_out" api:"max=corpus.MaxLeftOut"` // The excluded files and folders.
	More    int           `json:"more" api:"min=0,max=1099511627776"`   // The number of further entries.
}

// FileLeftOut is an excluded file or folder of a followed folder.
type FileLeftOut struct {
	Path   string `json:"path" api:"need,filled,max=corpus.MaxFolder"`   // Its path below the folder.
	Reason string `json:"reason" api:"need,filled,max=corpus.MaxReason"` // Why it is excluded.
}

// WatchedList is the response of GET /watched.
type WatchedList struct {
	Folders []corpus.Watched `json:"folders"` // The folders.
}

// Watched handles GET /watched: the folders that programs follow for the user, with the excluded files.
func (a *Documents) Watched(c httpio.Context) (WatchedList, error) {
	folders, err := a.Library.Watched(c.Request().Context(), httpio.Scope(c))
	return WatchedList{httpio.NotNil(folders)}, err
}

// SetWatched handles PUT /watched: the last report on a folder is shown on the page and has no other effect.
func (a *Documents) SetWatched(c httpio.Context, w WatchedFolder) (any, error) {
	seen := corpus.Watched{Namespace: w.Namespace, Folder: w.Folder, Files: w.Files, More: w.More}
	for _, f := range w.LeftOut {
		seen.LeftOut = append(seen.LeftOut, corpus.LeftOut(f))
	}
	return nil, a.Library.SetWatched(c.Request().Context(), httpio.Scope(c).User, seen)
}
