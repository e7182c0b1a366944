package api

import (
	"net/http"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
)

// WatchedFolder is the body of PUT /watched: a folder that a program follows, and the files it excludes.
type WatchedFolder struct {
	Namespace string `json:"namespace" api:"form=namespace"` // Their namespace; "default" if empty.
	// Its path on the program's machine.
	Folder  string        `json:"folder" api:"need,filled,max=corpus.MaxFolder"`
	Files   int           `json:"files" api:"min=0,max=1099511627776"`  // The number of followed files.
	LeftOut []FileLeftOut `json:"left_out" api:"max=corpus.MaxLeftOut"` // The excluded files and folders.
	More    int           `json:"more" api:"min=0,max=1099511627776"`   // The number of further ones.
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

// ListWatched handles GET /watched: the folders that programs follow for the user, with the excluded files.
func (a *Handlers) ListWatched(c httpio.Context) error {
	folders, err := a.Library.Watched(c.Request().Context(), httpio.Scope(c))
	if err != nil {
		return err
	}
	if folders == nil {
		folders = []corpus.Watched{}
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, WatchedList{folders})
}

// SetWatched handles PUT /watched: it stores a program's report on a folder.
//
// It answers 204. The last report is shown on the page and has no other effect.
func (a *Handlers) SetWatched(c httpio.Context) error {
	var w WatchedFolder
	if err := a.Bodies.ReadJSON(c, &w); err != nil {
		return err
	}
	seen := corpus.Watched{Namespace: w.Namespace, Folder: w.Folder, Files: w.Files, More: w.More}
	for _, f := range w.LeftOut {
		seen.LeftOut = append(seen.LeftOut, corpus.LeftOut(f))
	}
	if err := a.Library.SetWatched(c.Request().Context(), httpio.Scope(c).User, seen); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
