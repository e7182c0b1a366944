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
func (s *Server) addSamples(c echo.Context) error {
	if s.cfg.Samples == nil {
		return httpio.NotFound("This server comes without sample documents. Add your own.")
	}
	res := uploaded{Documents: []uploadedDocument{}, Rejected: []rejectedFile{}}
	err := fs.WalkDir(s.cfg.Samples, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		d, duplicate, err := s.addSample(c.Request().Context(), httpio.Scope(c).User, name)
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

func (s *Server) addSample(ctx context.Context, user, name string) (corpus.Document, bool, error) {
	file, err := s.cfg.Samples.Open(name)
	if err != nil {
		return corpus.Document{}, false, err
	}
	defer file.Close()
	return s.library.Add(ctx, corpus.Upload{User: user, Path: "samples/" + name, Filename: path.Base(name), Body: file})
}
