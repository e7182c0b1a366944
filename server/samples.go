package server

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"path"

	"github.com/labstack/echo/v4"

	"footnote/corpus"
	"footnote/server/httpio"
)

// addSamples answers POST /documents/samples: it adds every file of Config.Samples, once.
func (a *apiHandlers) addSamples(c echo.Context) error {
	if a.samples == nil {
		return httpio.NotFound("This server comes without sample documents. Add your own.")
	}
	res := uploaded{Documents: []uploadedDocument{}, Rejected: []rejectedFile{}}
	err := fs.WalkDir(a.samples, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		d, duplicate, err := a.addSample(c.Request().Context(), httpio.Scope(c).User, name)
		if err != nil {
			return fmt.Errorf("add sample %s: %w", name, err)
		}
		doc := uploadedDocument{ID: d.ID, Filename: d.Filename, State: d.State}
		if duplicate {
			doc.DuplicateOf = d.ID
		}
		res.Documents = append(res.Documents, doc)
		return nil
	})
	if err != nil {
		return err
	}
	if httpio.WantsHTML(c) && !httpio.ByHTMX(c) {
		return c.Redirect(http.StatusSeeOther, "/documents")
	}
	return c.JSON(http.StatusAccepted, res)
}

func (a *apiHandlers) addSample(ctx context.Context, user, name string) (corpus.Document, bool, error) {
	file, err := a.samples.Open(name)
	if err != nil {
		return corpus.Document{}, false, err
	}
	defer file.Close()
	return a.library.Add(ctx, corpus.Upload{User: user, Path: "samples/" + name, Filename: path.Base(name), Body: file})
}
